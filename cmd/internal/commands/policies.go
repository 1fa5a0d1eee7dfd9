package commands

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/hook"
	"gate/internal/framework"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/scopes"
)

func newPolicies(p process) *cobra.Command {
	var f placeFlags
	var list string
	cmd := &cobra.Command{
		Use:   "policies [POLICY|GROUP]...",
		Short: "list all policies and hooks, their levels and parameters",
		Long: "Lists every policy and hook for an agent in this directory. Each has its level (on: as\n" +
			"written), its owner, its parameters from settings and, if it does not run, the reason.\n" +
			"With names, it lists only those and everything below them. With the name of one policy\n" +
			"it shows the policy's page: what it stops, its effect, its parameters with their\n" +
			"defaults and places, exceptions in force, and examples. With --framework it shows what\n" +
			"of a published list of risks the policies serve, which tests prove it, and the gaps.",
		Example: "  gate policies\n  gate policies gate.git\n  gate policies gate.git.push\n  gate policies --framework owasp-mcp\n  gate set policies.gate.git.push ask",
		RunE: func(cmd *cobra.Command, names []string) error {
			g, err := f.gate(p)
			if err != nil {
				return err
			}
			rows, err := policyRows(g, names)
			if err != nil {
				return err
			}
			switch {
			case list != "":
				err = printFramework(p, g, rows, list, f.json)
			case f.json:
				err = printJSON(p, policiesDocument(g, rows))
			case len(names) == 1 && len(rows) == 1 && rows[0].ID == names[0]:
				err = printPolicy(cmd.Context(), p, f.dirs, g, rows[0])
			default:
				err = printPolicies(p, g, rows)
			}
			if err == nil && slices.ContainsFunc(g.Set.Sources(), func(s *scopes.Source) bool { return len(s.Faults) > 0 }) {
				err = exitWith(exitFailed)
			}
			return err
		},
	}
	cmd.ValidArgsFunction = each(func() []string { return f.policyNames(p) })
	f.add(cmd)
	f.addJSON(cmd)
	cmd.Flags().StringVar(&list, "framework", "", "show what the policies serve of the list `NAME`: "+strings.Join(framework.Names(), ", ")+", or one of your own")
	cmd.RegisterFlagCompletionFunc("framework", each(framework.Names))
	return cmd
}

// policyRows are the policies of some names, all without names. A name that is
// nobody's is an error.
func policyRows(g *setup.Gate, names []string) ([]scopes.PolicyRow, error) {
	all := g.Set.Policies()
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, r := range all {
		known = append(known, r.ID)
	}
	of := func(id, name string) bool { return id == name || strings.HasPrefix(id, name+".") }
	for _, name := range names {
		if !slices.ContainsFunc(known, func(id string) bool { return of(id, name) }) {
			return nil, errors.New("there is no policy " + quoted(name) + " here" + didYouMean(name, known, strings.Clone))
		}
	}
	return slices.DeleteFunc(all, func(r scopes.PolicyRow) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return of(r.ID, name) })
	}), nil
}

func printPolicies(p process, g *setup.Gate, rows []scopes.PolicyRow) error {
	var b strings.Builder
	width := 0
	for _, r := range rows {
		width = max(width, len(r.ID))
	}
	for _, r := range rows {
		level := string(r.Level)
		if r.Level == setting.LevelNone {
			level = "on"
		}
		if r.Inactive != "" {
			level = "off"
		}
		kind := ""
		if r.Kind != hook.Rego {
			kind = " " + string(r.Kind)
		}
		if r.Parallel {
			kind += ", in parallel"
		}
		fmt.Fprintf(&b, "%-*s  %-6s  %s%s\n", width, visible(r.ID), level, visible(r.Source), kind)
		switch {
		case r.Inactive != "" && r.LevelPos != "":
			fmt.Fprintf(&b, "  does not run: %s\n", visible(p.tilde(r.LevelPos)))
		case r.Inactive != "":
			fmt.Fprintf(&b, "  does not run: %s\n", visible(r.Inactive))
		case r.LevelPos != "":
			fmt.Fprintf(&b, "  level: %s\n", visible(p.tilde(r.LevelPos)))
		}
		for _, name := range slices.Sorted(maps.Keys(r.Params)) {
			if value := document.Line(r.Params[name]); value != document.Line(r.Hook.Params[name].Default) {
				fmt.Fprintf(&b, "  %s = %s\n", visible(name), value)
			}
		}
	}
	for _, src := range g.Set.Sources() {
		for _, f := range src.Faults {
			fmt.Fprintf(&b, "error: %s: %s\n", visible(src.Name), visible(f.Error()))
		}
		for _, note := range src.Notes {
			fmt.Fprintf(&b, "warning: %s: %s\n", visible(src.Name), visible(p.tilde(note)))
		}
	}
	for _, n := range slices.Concat(g.Notices, g.Untrusted(), g.Held()) {
		fmt.Fprintf(&b, "note: %s\n", visible(n))
	}
	return printAll(p, b.String())
}

func policiesDocument(g *setup.Gate, list []scopes.PolicyRow) map[string]any {
	rows := []any{}
	for _, r := range list {
		params := map[string]any{}
		for name, value := range r.Params {
			params[name] = document.Value(value)
		}
		events := []any{}
		for _, e := range r.Events {
			events = append(events, string(e))
		}
		rows = append(rows, map[string]any{
			"id": r.ID, "kind": string(r.Kind), "title": document.OrNull(r.Title), "events": events,
			"scope": r.Scope.String(), "authority": r.Authority.String(), "source": r.Source,
			"pos": g.Position(r.Source, r.Pos()), "level": document.OrNull(string(r.Level)), "level_pos": document.OrNull(r.LevelPos),
			"params": params, "serves": document.Strings(r.Serves), "parallel": r.Parallel, "inactive": document.OrNull(r.Inactive),
		})
	}
	sources := []any{}
	for _, src := range g.Set.Sources() {
		sources = append(sources, map[string]any{
			"name": src.Name, "scope": src.Scope.String(), "authority": src.Authority.String(), "dir": document.OrNull(g.Where[src.Name]),
			"digest": document.OrNull(src.Digest), "trusted": src.Runs(), "inactive": src.Inactive(), "faults": document.Faults(src.Faults), "notes": document.Strings(src.Notes),
		})
	}
	return map[string]any{"policies": rows, "sources": sources, "off": document.OrNull(g.Set.Off()), "notices": document.Strings(slices.Concat(g.Notices, g.Held()))}
}
