package commands

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/cmd/internal/document"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/page"
	"gate/internal/setup"
	"gate/scopes"
)

// projects are those of the newest records, which policies and settings can be shown for.
func (v viewer) projects() ([]any, error) {
	h, err := openHistory(v.process, v.dirs)
	if err != nil {
		return nil, err
	}
	doc := page.Document{}
	_, err = v.words(h, doc)
	list, _ := doc["projects"].([]any)
	return list, err
}

// at sets gate up as it would answer an agent in a project of the log; "" is where the
// server was started.
func (v viewer) at(project string) (f placeFlags, g *setup.Gate, projects []any, err error) {
	f = placeFlags{dirs: v.dirs, dir: project}
	if projects, err = v.projects(); err != nil {
		return f, nil, nil, err
	}
	if project != "" && !slices.Contains(projects, any(project)) {
		return f, nil, nil, saying{page.ErrNotFound, "the newest decisions know no project " + quoted(project)}
	}
	g, err = f.gate(v.process)
	return f, g, projects, err
}

// policies lists the policies, with how often each spoke.
func (v viewer) policies(_ context.Context, project string) (page.Document, error) {
	_, g, projects, err := v.at(project)
	if err != nil {
		return nil, err
	}
	s, err := v.stats(policyDays)
	if err != nil {
		return nil, err
	}
	rows := g.Set.Policies()
	doc := policiesDocument(g, rows)
	for i, row := range doc["policies"].([]any) {
		row := row.(map[string]any)
		tests, err := testsBeside(g, rows[i])
		row["tested"], row["spoke"], row["reviewed"] = err == nil && tests != "", spokeOf(s, rows[i].ID), reviewedOf(s, rows[i].ID)
	}
	doc["projects"], doc["days"] = projects, policyDays
	return maskedTree(doc), nil
}

// spokeOf counts the calls that a policy held back or changed; nil: none.
func spokeOf(s *logStats, id string) any {
	if t := s.byPolicy[id]; t != nil {
		return t.document()
	}
	return nil
}

// reviewedOf counts the calls of which a person said that the policy was wrong.
func reviewedOf(s *logStats, id string) page.Document {
	t := cmp.Or(s.reviewed[id], &tally{})
	return page.Document{"false_alarms": t.falseAlarms, "missed": t.missed}
}

// policy is the page of one policy.
func (v viewer) policy(ctx context.Context, project, id string) (page.Document, error) {
	_, g, _, err := v.at(project)
	if err != nil {
		return nil, err
	}
	r, err := policyNamed(g, id)
	if err != nil {
		return nil, err
	}
	s, err := v.stats(policyDays)
	if err != nil {
		return nil, err
	}
	doc := policiesDocument(g, []scopes.PolicyRow{r})["policies"].([]any)[0].(map[string]any)
	tests, err := testsBeside(g, r)
	if err != nil {
		return nil, err
	}
	examples, err := examplesOf(ctx, g, r)
	if err != nil {
		return nil, err
	}
	lines := []any{}
	for _, e := range examples {
		lines = append(lines, page.Document{"effect": e.effect, "line": e.line})
	}
	m := audit.NewMasker(&hook.Event{})
	doc["description"], doc["level_text"], doc["effects"] = document.OrNull(strings.TrimSpace(r.Description)), levelOf(v.process, r), document.Strings(effectsOf(g, r))
	doc["text"], doc["tests"], doc["examples"] = document.OrNull(m.Text(textOf(g, r))), document.OrNull(m.Text(tests)), lines
	doc["parameters"], doc["exceptions"] = v.parameters(g, r), v.exceptions(g, r)
	doc["spoke"], doc["reviewed"], doc["days"] = spokeOf(s, r.ID), reviewedOf(s, r.ID), policyDays
	return doc, nil
}

// parameters are those of a policy: what each means, and what it is set to where.
func (v viewer) parameters(g *setup.Gate, r scopes.PolicyRow) []any {
	list := []any{}
	for _, name := range slices.Sorted(maps.Keys(r.Hook.Params)) {
		param, set := r.Hook.Params[name], []any{}
		for _, row := range g.Set.Explain() {
			if row.Key == "params."+r.ID+"."+name {
				set = append(set, page.Document{"value": maskedValue(name, row.Value), "pos": v.tilde(row.Pos), "counts": row.Counts, "why": document.OrNull(row.Why)})
			}
		}
		list = append(list, page.Document{
			"name": name, "type": param.Type, "description": param.Description, "default": document.Value(param.Default), "value": maskedValue(name, r.Params[name]), "set": set,
		})
	}
	return list
}

// exceptions are those to a policy that are in force.
func (v viewer) exceptions(g *setup.Gate, r scopes.PolicyRow) []any {
	list := []any{}
	for _, row := range g.Set.Explain() {
		if until, of, ok := exceptionOf(r.ID, row, time.Now()); ok {
			list = append(list, page.Document{"until": until, "if": document.Value(of), "pos": v.tilde(row.Pos)})
		}
	}
	return list
}

// settings lists every value, where it is from, and what it overrode.
func (v viewer) settings(_ context.Context, project string) (page.Document, error) {
	f, g, projects, err := v.at(project)
	if err != nil {
		return nil, err
	}
	doc := settingsDocument(g, settingsFaults(g), f.beside(v.process, g))
	for _, row := range doc["settings"].([]any) {
		row := row.(map[string]any)
		key, _ := row["key"].(string)
		row["value"] = maskedValue(key[strings.LastIndexByte(key, '.')+1:], row["value"])
	}
	doc["projects"] = projects
	return doc, nil
}

// maskedValue is the value of a setting, without secrets, as the log would have it under
// that name.
func maskedValue(name string, value any) any {
	doc := maskedTree(page.Document{name: document.Value(value)})
	for _, v := range doc {
		return v
	}
	return nil
}

// maskedTree masks a document that is about no call.
func maskedTree(doc page.Document) page.Document {
	masked, _ := audit.NewMasker(&hook.Event{}).Value(doc).(map[string]any)
	return masked
}

// guards are what guards this machine, and what is wrong with that.
func (v viewer) guards(context.Context) (page.Document, error) {
	f := installFlags{dirs: v.dirs}
	m, err := f.machine(v.process)
	if err != nil {
		return nil, err
	}
	found := m.Doctor()
	f.all(v.process, m, &found)
	clients, err := f.hosts(m, nil)
	if err != nil {
		return nil, err
	}
	doc, err := treeOf(diagnosed{found, f.inventory(v.process, m), clients})
	if err != nil {
		return nil, err
	}
	status, err := treeOf(m.Status())
	if err != nil {
		return nil, err
	}
	doc["agents"] = status["agents"]
	return maskedTree(doc), nil
}
