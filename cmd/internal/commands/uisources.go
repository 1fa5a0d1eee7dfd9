package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/cmd/internal/document"
	"gate/cmd/internal/tell"
	"gate/engine"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/consent"
	"gate/internal/page"
	"gate/internal/setup"
	"gate/internal/strictjson"
)

// A viewer gives the page what the commands of the same names print.
type viewer struct {
	process
	dirs dirFlags // absolute
}

// sources are all views of the page.
func (v viewer) sources() page.Sources {
	return page.Sources{
		Now: v.now, Feed: v.feed, Decision: v.decision, WhatIf: v.whatIf, Session: v.session,
		Policies: v.policies, Policy: v.policy, Coverage: v.coverage(make(chan struct{}, 1)), Settings: v.settings, Figures: v.figures, Machine: v.guards,
	}
}

// outcomes are what can become of a call.
func outcomes() []string {
	return texts([]audit.Outcome{audit.CallPassed, audit.CallAllowed, audit.CallChanged, audit.CallAsked, audit.CallApproved, audit.CallDenied})
}

// Limits of what a view looks at.
const (
	pageRows     = 100  // calls of the list
	pageSessions = 20   // that are named beside the one that is shown
	pageRecent   = 2000 // records for the words that can be filtered for
	policyDays   = 30   // how far back a policy's calls are counted
)

// logOf is the list of calls that a filter of the page wants.
func (v viewer) logOf(f page.Filter) (logFlags, func(*audit.Record) bool, error) {
	l := logFlags{dirs: v.dirs, most: pageRows, format: "text"}
	if f.Policy != "" {
		l.filter.policies = []string{f.Policy}
	}
	wanted, err := l.filter.compile(time.Now())
	fits := func(r *audit.Record) bool {
		return wanted(r) && (f.Agent == "" || r.Agent == f.Agent) && below(filepath.ToSlash(f.Project), cmp.Or(r.Project, r.Dir)) && says(r, f.Text)
	}
	l.filter.calls = func(c *audit.Call) bool { return f.Outcome == "" || string(c.Outcome()) == f.Outcome }
	return l, fits, err
}

// says reports whether a text is in what the log shows of a call or of its reasons.
func says(r *audit.Record, text string) bool {
	text = strings.ToLower(text)
	if text == "" {
		return true
	}
	in := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	return in(tell.RecordRow(r, nil).Asked()) || in(r.ID) || in(r.Session) || in(r.Tool) || slices.ContainsFunc(r.Reasons, func(why audit.Reason) bool { return in(why.Reason) || in(why.ID) })
}

// now are the newest calls and what waits for a person.
func (v viewer) now(_ context.Context, f page.Filter) (page.Document, error) {
	l, fits, err := v.logOf(f)
	if err != nil {
		return nil, err
	}
	h, err := openHistory(v.process, v.dirs)
	if err != nil {
		return nil, err
	}
	found, torn, err := l.newest(h, fits)
	if err != nil {
		return nil, err
	}
	calls, newest := []any{}, time.Now().UTC().Format(time.RFC3339Nano)
	for _, row := range slices.Backward(found) {
		calls = append(calls, rowDocument(row))
	}
	doc := page.Document{"calls": calls, "newest": newest, "notes": []any{}}
	if torn.lines > 0 {
		doc["notes"] = []any{fmt.Sprintf("lines of the log that are no record of a decision: %d, such as %s", torn.lines, oneLine(torn.first.Error()))}
	}
	ran, err := v.words(h, doc)
	if err != nil {
		return nil, err
	}
	if doc["waiting"], doc["waiting_off"], err = v.waiting(ran); err != nil {
		doc["notes"] = append(doc["notes"].([]any), "what waits is not known as a whole: "+err.Error())
	}
	return doc, nil
}

// words adds what the newest records can be filtered for. ran are their decisions that
// asked about a call which ran all the same.
func (v viewer) words(h *audit.History, doc page.Document) (ran map[string]bool, err error) {
	ran = map[string]bool{}
	var calls audit.Calls
	agents, projects, policies := map[string]bool{}, map[string]bool{}, map[string]bool{}
	seen := 0
	for r, err := range h.Newest() {
		var t torn
		if err != nil {
			if err = t.count(err); err != nil {
				return nil, err
			}
			continue
		}
		if seen++; seen > pageRecent {
			break
		}
		if c := calls.Add(r); c != nil && c.Outcome() == audit.CallApproved {
			ran[c.Deciding().ID] = true
		}
		agents[r.Agent], projects[r.Project] = true, true
		for _, o := range tell.Objections(&r) {
			policies[o.ID] = true
		}
	}
	for name, words := range map[string]map[string]bool{"agents": agents, "projects": projects, "policies": policies} {
		delete(words, "")
		doc[name] = sortedNames(words)
	}
	return ran, nil
}

func sortedNames(set map[string]bool) []any {
	var list []string
	for name := range set {
		list = append(list, name)
	}
	slices.Sort(list)
	return document.Strings(list)
}

// rowDocument is one line of the list of calls.
func rowDocument(r tell.Row) page.Document {
	var policies []string
	objections := []any{}
	for _, o := range tell.Objections(r.Record) {
		objections = append(objections, page.Document{"id": o.ID, "note": o.Note})
		if !slices.Contains(policies, o.ID) {
			policies = append(policies, o.ID)
		}
	}
	event := string(r.Event)
	if r.Sync != nil {
		event = "gate sync"
	}
	return page.Document{
		"id": r.ID, "time": r.Time.UTC().Format(time.RFC3339Nano), "begun": r.Time.UTC().Format(time.RFC3339Nano), "outcome": r.Outcome, "effect": r.Effect.String(),
		"agent": r.Agent, "session": r.Session, "project": r.Project, "dir": r.Dir, "event": event, "tool": r.Tool, "call": r.Asked(), "policies": document.Strings(policies), "objections": objections, "faults": len(r.Faults), "review": reviewWord(r.Review),
	}
}

// reviewWord is what a person said of a call in one word, null where nobody said anything.
func reviewWord(v *audit.Review) any {
	if v == nil {
		return nil
	}
	return v.Says.String()
}

// feed hands over each call that is decided, from a moment on.
func (v viewer) feed(ctx context.Context, f page.Filter, yield func(page.Document) error) error {
	l, fits, err := v.logOf(f)
	if err != nil {
		return err
	}
	after := time.Now()
	if f.After != "" {
		if after, err = time.Parse(time.RFC3339Nano, f.After); err != nil {
			return page.FormError("after is a time such as 2026-11-28T07:00:00Z")
		}
	}
	h, err := openHistory(v.process, v.dirs)
	if err != nil {
		return err
	}
	more := follow(ctx, h) // before the list is read, so that nothing falls between
	l.filter.from = after
	missed, _, err := l.newest(h, func(r *audit.Record) bool { return r.Time.After(after) && fits(r) })
	if err != nil {
		return err
	}
	for _, row := range missed {
		if err := yield(rowDocument(row)); err != nil {
			return err
		}
	}
	for r, err := range more {
		if err != nil || !fits(&r) || slices.ContainsFunc(missed, func(o tell.Row) bool { return o.ID == r.ID }) {
			continue // a torn line shows in the list
		}
		row, ok := l.fresh(&r)
		if !ok || f.Outcome != "" && row.Outcome != f.Outcome {
			continue
		}
		if err := yield(rowDocument(row)); err != nil {
			return err
		}
	}
	return nil
}

// waiting are the calls that a person may approve at a terminal, but for those that ran:
// somebody has answered in the agent's own dialog.
func (v viewer) waiting(ran map[string]bool) (list []any, off any, err error) {
	place := placeFlags{dirs: v.dirs}
	d, _, err := place.places()
	if err != nil {
		return []any{}, nil, err
	}
	list = []any{}
	waiting, err := d.Grants().AllPending()
	for _, w := range slices.Backward(waiting) {
		if !ran[w.ID] {
			list = append(list, waitingDocument(w))
		}
	}
	g, gateErr := place.gate(v.process)
	if gateErr != nil {
		return list, nil, errors.Join(err, gateErr)
	}
	rules, rulesErr := setup.ApprovalRules(g.Set.Settings().Approvals)
	if rulesErr == nil && !rules.Enabled {
		off = oneLine("A question is not kept: " + consent.Off.Error() + ".")
	}
	return list, off, errors.Join(err, rulesErr)
}

// waitingDocument is a call that waits, without its secrets: to approve it, a person sees
// it whole at a terminal.
func waitingDocument(w consent.Pending) page.Document {
	input, _ := strictjson.Object([]byte(w.Call.Input), strictjson.Limits{Bytes: len(w.Call.Input) + 1, Depth: 100})
	ev := hook.Event{Agent: w.Call.Agent, Name: w.Call.Event, Fields: map[string]any{"tool_name": w.Call.Tool, "tool_input": input, "cwd": w.Call.Dir}}
	m := audit.NewMasker(&ev)
	text := m.Text(w.Call.Input)
	if input != nil {
		masked, _ := m.Value(input).(map[string]any)
		text = document.Line(masked)
		if line, ok := masked["command"].(string); ok && len(masked) == 1 {
			text = line
		}
	}
	reasons := []any{}
	for _, why := range w.Reasons {
		reasons = append(reasons, page.Document{"id": why.ID, "reason": m.Text(why.Text)})
	}
	return page.Document{"id": w.ID, "agent": w.Call.Agent, "tool": w.Call.Tool, "dir": w.Call.Dir, "text": text, "asked": w.Asked.UTC().Format(time.RFC3339Nano), "reasons": reasons}
}

// decision explains one decision of the log.
func (v viewer) decision(ctx context.Context, id string) (page.Document, error) {
	ctx, cancel := context.WithTimeout(ctx, explainLimit)
	defer cancel()
	r, err := findRecord(v.process, v.dirs, id)
	var several *audit.AmbiguousError
	if errors.Is(err, audit.ErrNoRecord) || errors.As(err, &several) {
		return nil, saying{page.ErrNotFound, err.Error()}
	}
	if err != nil {
		return nil, err
	}
	f := explainFlags{callFlags: callFlags{dirs: v.dirs, tool: "Bash"}, agent: "claude"}
	m, err := f.remake(ctx, v.process, &r)
	if err != nil {
		return nil, err
	}
	doc := page.Document{"recorded": recordDocument(&r)}
	if m.lost == nil {
		e, since, err := m.explain(ctx, &r)
		if err != nil {
			return nil, err
		}
		doc = withoutSecrets(&m.event, withProfile(m.document(&r, &e, &since), m.gate, &m.event, &m.now))
		doc["question"] = questionAbout(&m.event)
	} else {
		doc["why_not"] = "It cannot be explained: " + m.lost.Error()
	}
	doc["record"], doc["review"], doc["objected"] = recordSummary(&r), reviewDocument(m.said), len(tell.Objections(&r)) > 0 || r.HeldBack()
	return doc, nil
}

// recordSummary is a record in short.
func recordSummary(r *audit.Record) page.Document {
	reasons := []any{}
	for _, why := range r.Reasons {
		reasons = append(reasons, page.Document{"id": why.ID, "effect": why.Effect.String(), "reason": why.Reason, "source": why.Source})
	}
	return page.Document{
		"id": r.ID, "time": r.Time.UTC().Format(time.RFC3339Nano), "agent": r.Agent, "session": r.Session, "event": string(r.Event), "tool": r.Tool, "dir": r.Dir, "project": r.Project,
		"call": r.Call, "effect": r.Effect.String(), "result": string(r.Result), "approved": r.Approved, "confined": document.OrNull(r.Confined), "reasons": reasons,
		"took_us": r.Took.Microseconds(), "whole_us": r.Whole.Microseconds(),
	}
}

// questionAbout is the same call, to be changed and judged; nil for what is no call.
func questionAbout(ev *hook.Event) any {
	input, ok := ev.Fields["tool_input"].(map[string]any)
	if !ok || ev.Name != hook.PreToolUse {
		return nil
	}
	text := string(strictjson.Append(nil, document.Value(input)))
	if line, ok := input["command"].(string); ok && ev.Tool() == "Bash" {
		text = line
	}
	return page.Document{"tool": ev.Tool(), "input": text, "dir": ev.Dir()}
}

// whatIf judges a call as gate try does: it is not run, no handler is, and nothing is
// written down.
func (v viewer) whatIf(ctx context.Context, q page.Question) (page.Document, error) {
	ctx, cancel := context.WithTimeout(ctx, explainLimit)
	defer cancel()
	if q.Dir != "" && !filepath.IsAbs(q.Dir) {
		return nil, page.FormError("give the directory as an absolute path")
	}
	f := callFlags{dirs: v.dirs, tool: q.Tool, cwd: q.Dir}
	ev, err := f.event(q.Input)
	if usage := usageError(""); errors.As(err, &usage) {
		return nil, page.FormError(err.Error())
	}
	if err != nil {
		return nil, err
	}
	g, d, err := f.decide(ctx, v.process, ev, engine.WithAllSteps())
	if err != nil {
		return nil, err
	}
	x, err := explainerOf(g)
	if err != nil {
		return nil, err
	}
	e := explanationOf(ctx, g, x, ev, d)
	doc := withoutSecrets(&e.Event, withProfile(document.Explanation(&e, g), g, &ev, &d))
	doc["text"] = audit.NewMasker(&e.Event).Text(audit.Summary(&ev))
	return doc, nil
}

// withoutSecrets masks a document about a call as the decision log would. Marks count the
// characters of a text, so a text that lost a secret has none.
func withoutSecrets(ev *hook.Event, doc page.Document) page.Document {
	m := audit.NewMasker(ev)
	var unmark func(v any) any
	unmark = func(v any) any {
		switch v := v.(type) {
		case []any:
			out := make([]any, len(v))
			for i, e := range v {
				out[i] = unmark(e)
			}
			return out
		case map[string]any:
			out := make(map[string]any, len(v))
			for key, e := range v {
				out[key] = unmark(e)
			}
			if text, ok := v["text"].(string); ok && v["marks"] != nil && m.Text(text) != text {
				out["marks"] = []any{}
			}
			return out
		}
		return v
	}
	masked, _ := m.Value(unmark(doc)).(map[string]any)
	return masked
}

// session is the story of a session.
func (v viewer) session(_ context.Context, id string) (page.Document, error) {
	f := sessionShowFlags{dirs: v.dirs, session: id}
	s, holds, unknown, err := f.told(v.process)
	if errors.Is(err, errNoSession) {
		return nil, saying{page.ErrNotFound, err.Error()}
	}
	if err != nil {
		return nil, err
	}
	doc := toldDocument(s, holds)
	doc["notes"] = []any{}
	if unknown != nil {
		doc["notes"] = []any{"which files hold a secret is not known: " + unknown.Error()}
	}
	doc["others"], err = v.sessions(doc["session"])
	return doc, err
}

// sessions are the newest sessions of the log but for one.
func (v viewer) sessions(but any) ([]any, error) {
	h, err := openHistory(v.process, v.dirs)
	if err != nil {
		return nil, err
	}
	list, seen, read := []any{}, map[string]bool{"": true}, 0
	for r, err := range h.Newest() {
		var t torn
		if err != nil {
			if err = t.count(err); err != nil {
				return nil, err
			}
			continue
		}
		if read++; read > pageRecent || len(list) == pageSessions {
			break
		}
		if !seen[r.Session] && r.Session != but {
			list = append(list, page.Document{"session": r.Session, "agent": r.Agent, "project": r.Project, "time": r.Time.UTC().Format(time.RFC3339Nano)})
		}
		seen[r.Session] = true
	}
	return list, nil
}

// figures are the calls of the last days.
func (v viewer) figures(_ context.Context, days int) (page.Document, error) {
	s, err := v.stats(days)
	if err != nil {
		return nil, err
	}
	doc := s.document()
	doc["days"] = days
	doc["per_day"], doc["per_policy"] = tallyRows(s.byDay, daysSince(s.since, days)), tallyRows(s.byPolicy, sortedTallies(s.byPolicy))
	return doc, nil
}

// stats counts the calls since the beginning of a day.
func (v viewer) stats(days int) (*logStats, error) {
	h, err := openHistory(v.process, v.dirs)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	l := logFlags{dirs: v.dirs, format: "json"}
	l.filter.since = time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location()).AddDate(0, 0, 1-days).Format(time.RFC3339)
	wanted, err := l.filter.compile(now)
	if err != nil {
		return nil, err
	}
	return l.sum(v.process, h, wanted)
}

// tallyRows are tallies in an order, with their names.
func tallyRows(of map[string]*tally, names []string) []any {
	rows := []any{}
	for _, name := range names {
		doc := cmp.Or(of[name], &tally{}).document()
		doc["name"] = name
		rows = append(rows, doc)
	}
	return rows
}

// daysSince names so many days, those without a call too.
func daysSince(from time.Time, days int) []string {
	list := make([]string, days)
	for i := range list {
		list[i] = from.Local().AddDate(0, 0, i).Format(time.DateOnly)
	}
	return list
}

// treeOf is a value of a package of ours as a JSON tree.
func treeOf(value any) (map[string]any, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return strictjson.Object(data, strictjson.Limits{Bytes: len(data) + 1, Depth: 100})
}
