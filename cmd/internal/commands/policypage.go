package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/policies"
	"gate/scopes"
)

// printPolicy prints the page of one policy or hook: what it stops and how, what can be
// tuned and where it was, and examples out of its tests.
func printPolicy(ctx context.Context, p process, dirs dirFlags, g *setup.Gate, r scopes.PolicyRow) error {
	var b strings.Builder
	page := p.page()
	if r.Title != "" {
		fmt.Fprintf(&b, "%s\n", page.Strong(visible(r.Title)))
	}
	fmt.Fprintf(&b, "  %s, of %s", visible(r.ID), visible(r.Source))
	if pos := r.Pos(); pos != "" {
		fmt.Fprintf(&b, " (%s)", visible(p.tilde(g.Position(r.Source, pos))))
	}
	b.WriteString("\n")
	if r.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", visible(strings.TrimSpace(r.Description)))
	}
	b.WriteString("\n")
	fmt.Fprintf(&b, "level: %s\n", visible(levelOf(p, r)))
	if effects := effectsOf(g, r); len(effects) > 0 {
		fmt.Fprintf(&b, "effect: %s\n", strings.Join(effects, ", "))
	}
	var events []string
	for _, e := range r.Events {
		events = append(events, string(e))
	}
	fmt.Fprintf(&b, "events: %s\n", visible(strings.Join(events, ", ")))
	if len(r.Serves) > 0 {
		fmt.Fprintf(&b, "serves: %s\n", visible(strings.Join(r.Serves, ", ")))
	}
	if err := printReviews(&b, p, dirs, r.ID); err != nil {
		return err
	}
	rows := g.Set.Explain()
	for _, name := range slices.Sorted(maps.Keys(r.Hook.Params)) {
		printParam(&b, p, r, name, rows)
	}
	for _, row := range rows {
		printException(&b, p, r.ID, row, time.Now())
	}
	if err := printExamples(ctx, &b, g, r); err != nil {
		return err
	}
	return printAll(p, b.String())
}

// printReviews prints what people said of the policy's decisions.
func printReviews(b *strings.Builder, p process, dirs dirFlags, id string) error {
	s, err := viewer{p, dirs}.stats(policyDays)
	if err != nil {
		return err
	}
	if t := s.reviewed[id]; t != nil {
		fmt.Fprintf(b, "reviews: %s, %d missed, in the last %d days\n", screen.Counted(t.falseAlarms, "false alarm"), t.missed, policyDays)
	}
	return nil
}

// levelOf is the level of a policy, with the place where it was set or the reason why it
// does not run.
func levelOf(p process, r scopes.PolicyRow) string {
	level := string(r.Level)
	switch {
	case r.Inactive != "" && r.LevelPos == "":
		return "off: " + r.Inactive
	case r.Inactive != "":
		level = "off"
	case r.Level == setting.LevelNone:
		return "on, as written"
	}
	return fmt.Sprintf("%s (%s)", level, p.tilde(r.LevelPos))
}

// effectsOf are the rules that a policy has, in the order of their table.
func effectsOf(g *setup.Gate, r scopes.PolicyRow) []string {
	var effects []string
	text := textOf(g, r)
	for _, rule := range load.Rules() {
		if strings.Contains("\n"+text, "\n"+rule+" contains ") {
			effects = append(effects, rule)
		}
	}
	return effects
}

// textOf is the module of a policy, "" if it has none.
func textOf(g *setup.Gate, r scopes.PolicyRow) string {
	for _, src := range g.Set.Sources() {
		for _, m := range src.Modules {
			if src.Name == r.Source && m.File == r.File {
				return m.Text
			}
		}
	}
	return ""
}

// printParam prints a parameter: its meaning, its default, and the value that counts,
// with its place.
func printParam(b *strings.Builder, p process, r scopes.PolicyRow, name string, rows []setting.Row) {
	param := r.Hook.Params[name]
	fmt.Fprintf(b, "\nparameter %s, %s: %s\n", visible(name), visible(param.Type), visible(param.Description))
	fmt.Fprintf(b, "  default: %s\n", document.Line(param.Default))
	for _, row := range rows {
		if row.Key == "params."+r.ID+"."+name {
			note := ""
			if !row.Counts {
				note = "; it does not count: " + row.Why
			}
			fmt.Fprintf(b, "  set: %s (%s)%s\n", document.Line(row.Value), visible(p.tilde(row.Pos)), visible(note))
		}
	}
	fmt.Fprintf(b, "  hint: gate set params.%s.%s VALUE\n", visible(r.ID), visible(name))
}

// printException prints an exception to the policy, if the row is one that is in force.
func printException(b *strings.Builder, p process, id string, row setting.Row, now time.Time) {
	if until, unless, ok := exceptionOf(id, row, now); ok {
		fmt.Fprintf(b, "\nexception until %s: %s (%s)\n", visible(until), document.Line(unless), visible(p.tilde(row.Pos)))
	}
}

// exceptionOf reads an exception to a policy, if the row is one that is in force.
func exceptionOf(id string, row setting.Row, now time.Time) (until string, of any, ok bool) {
	e, ok := row.Value.(map[string]any)
	if !ok || !strings.HasPrefix(row.Key, setting.KeyExceptions+".") || e["policy"] != id || !row.Counts {
		return "", nil, false
	}
	until, _ = e["until"].(string)
	if end, err := time.Parse(time.RFC3339, until); err == nil && !now.Before(end) {
		return "", nil, false // which doctor tells
	}
	return until, e["if"], true
}

// How many lines of a policy's tests are decided about, and how many are shown of each
// effect.
const (
	mostTried = 60
	mostShown = 2
)

// exampleLine is a shell line that stands by itself in a list of a test.
var exampleLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\t+"((?:[^"\\\n]|\\")+)",$`) })

// printExamples shows some lines that a policy objects to and some that it lets be.
func printExamples(ctx context.Context, b *strings.Builder, g *setup.Gate, r scopes.PolicyRow) error {
	list, err := examplesOf(ctx, g, r)
	if len(list) > 0 {
		b.WriteString("\nexamples, as gate decides them here:\n")
	}
	for _, e := range list {
		fmt.Fprintf(b, "  %-5s %s\n", e.effect, visible(e.line))
	}
	return err
}

// An example is a line out of a policy's tests, as it would be decided.
type example struct{ effect, line string }

// examplesOf decides lines out of the policy's own tests as they would be here, and chooses
// some of each effect.
func examplesOf(ctx context.Context, g *setup.Gate, r scopes.PolicyRow) ([]example, error) {
	tests, err := testsBeside(g, r)
	if err != nil || tests == "" || !slices.Contains(r.Events, hook.PreToolUse) || r.Kind != hook.Rego {
		return nil, err
	}
	judge, err := g.WithoutHandlers()
	if err != nil {
		return nil, err
	}
	call := callFlags{tool: "Bash", cwd: g.Project}
	shown := map[string]int{}
	var list []example
	for _, m := range exampleLine().FindAllStringSubmatch(tests, mostTried) {
		line := strings.ReplaceAll(m[1], `\"`, `"`)
		ev, err := call.event(line)
		if err != nil {
			return nil, err
		}
		d := judge.Decide(ctx, ev)
		effect := d.Effect.String()
		if d.Effect >= hook.Ask && !slices.ContainsFunc(d.Reasons, func(why hook.Reason) bool { return why.ID == r.ID && why.Effect == d.Effect }) {
			continue // another policy's
		}
		if shown[effect]++; shown[effect] <= mostShown {
			list = append(list, example{effect, line})
		}
	}
	slices.SortStableFunc(list, func(a, b example) int { return strings.Compare(a.effect, b.effect) })
	return list, nil
}

// testsBeside is the Rego test that stands beside a policy, "" if there is none.
func testsBeside(g *setup.Gate, r scopes.PolicyRow) (string, error) {
	file := testFile(r)
	var data []byte
	var err error
	if r.Library {
		data, err = fs.ReadFile(policies.FS(), file)
	} else {
		data, err = os.ReadFile(filepath.Join(g.Where[r.Source], filepath.FromSlash(file)))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(data), err
}

// testFile is where the tests of a policy stand: beside it, in its source.
func testFile(r scopes.PolicyRow) string {
	return path.Clean(strings.TrimSuffix(r.File, ".rego") + "_test.rego")
}
