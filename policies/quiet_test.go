package policies_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/policytest"
	"gate/internal/policytest/attack"
	"gate/internal/rego"
	"gate/internal/setting"
	"gate/scopes"
)

// quietly is the library with every policy that allows switched on; alone leaves all
// others out.
func quietly(t testing.TB, alone bool) func(spec any) hook.Decision {
	t.Helper()
	lib, src := library(t)
	if alone {
		src.Hooks = slices.DeleteFunc(slices.Clone(src.Hooks), func(h *hook.Hook) bool { return !strings.HasPrefix(h.ID, "gate.quiet.") })
	}
	on := map[string]map[string]any{}
	for _, h := range src.Hooks {
		if strings.HasPrefix(h.ID, "gate.quiet.") {
			on[h.ID] = map[string]any{"on": true}
		}
	}
	on["gate.quiet.remote"]["remotes"] = []any{"github.com/acme/*"}
	settings, err := setting.Combine(scopes.Layer{Authority: hook.User, File: "settings.json", Params: on})
	if err != nil {
		t.Fatal(err)
	}
	set, err := scopes.New([]scopes.Source{src}, settings)
	if err != nil {
		t.Fatal(err)
	}
	var sources []scopes.Source
	for _, s := range set.Sources() {
		sources = append(sources, *s)
	}
	evaluator := rego.New(lib, sources, rego.WithCompileTime(time.Minute))
	return func(spec any) hook.Decision {
		t.Helper()
		ev, w, err := policytest.Event(spec)
		if err != nil {
			t.Fatal(err)
		}
		en, err := engine.New(set, engine.WithFacts(func(ev *hook.Event) *hook.Facts { return factsIn(w, ev) }), engine.WithEvaluator(hook.Rego, evaluator))
		if err != nil {
			t.Fatal(err)
		}
		return en.Decide(t.Context(), *ev)
	}
}

// workplace are the files of a repository in which git starts nothing.
func workplace() map[string]any {
	const git = "/home/dev/project/.git/"
	return map[string]any{
		git + "HEAD": "ref: refs/heads/fix\n", git + "objects/x": "", git + "refs/heads/fix": "",
		git + "config": "[remote \"origin\"]\n\turl = git@github.com:acme/app.git\n",
	}
}

// at is a line or a call of a tool in that repository.
func at(spec map[string]any) map[string]any {
	spec = maps.Clone(spec)
	files := workplace()
	if own, ok := spec["files"].(map[string]any); ok {
		maps.Copy(files, own)
	}
	spec["files"] = files
	return spec
}

// harmfulCalls are all calls of the tree's collections that somebody is to hold up.
// They are the corpus, plain and in each disguise, the judged cases and tools, lines of
// classes and of threats, and calls of the policies' own tests.
func harmfulCalls(t *testing.T) (calls []map[string]any) {
	t.Helper()
	line := func(text string) { calls = append(calls, at(map[string]any{"bash": text})) }
	_, cores := harmfulCores(t, "harmful.txt")
	for _, core := range cores {
		line(core)
	}
	for i, template := range attack.Disguises() {
		for j, core := range cores {
			if (i+j)%4 == 0 { // each disguise, each core
				line(attack.Fill(template, core))
			}
		}
	}
	verdicts, probes := harmfulCores(t, "probe.txt")
	for i, text := range probes {
		if verdicts[i] == "stop" {
			line(text)
		}
	}
	lines := judgedLines(t)
	for _, template := range threatTemplates(t, "t01_separators.txt") {
		line(strings.ReplaceAll(template, "{}", "rm -rf ~"))
	}
	files, err := filepath.Glob("testdata/threats/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && regexp.MustCompile(`(?m)^(deny|ask|pass) `).Match(text) {
			lines = append(lines, linesOf(t, file)...)
		}
	}
	for _, l := range lines {
		if l.want != "pass" {
			line(l.shell)
		}
	}
	for _, c := range judgedCases(t, "testdata/cases.jsonl") {
		if strings.HasPrefix(c.ID, "H") {
			calls = append(calls, at(map[string]any{"tool": c.Tool, "input": c.Input, "cwd": c.Dir}))
		}
	}
	for _, c := range judgedCases(t, "testdata/tools.jsonl") {
		if c.Expect != "allow" {
			calls = append(calls, at(map[string]any{"tool": c.Tool, "input": c.Input}))
		}
	}
	return calls
}

// TestQuietAllowsNoHarm holds that the policies that allow, with nobody beside them to
// object, allow no harmful call, in a repository in which git starts nothing.
func TestQuietAllowsNoHarm(t *testing.T) {
	alone, together := quietly(t, true), quietly(t, false)
	calls := harmfulCalls(t)
	if len(calls) < 2000 {
		t.Fatalf("%d calls", len(calls))
	}
	for _, spec := range calls {
		d := alone(spec)
		for _, s := range d.Steps {
			if s.Fault != nil {
				t.Errorf("%v: %s: %v", spec, s.Hook.ID, s.Fault)
			}
		}
		// A push to a branch that is protected is harmless by itself.
		if d.Effect == hook.Allow && (!strings.Contains(d.Reasons[0].ID, "quiet.remote") || together(spec).Effect < hook.Ask) {
			t.Errorf("%v %v: %s", spec["bash"], spec["input"], d.Reasons[0].Reason)
		}
	}
	for _, spec := range []any{"ls", at(map[string]any{"bash": "git status"}), at(map[string]any{"bash": "git push origin fix"})} {
		if d := alone(spec); d.Effect != hook.Allow {
			t.Errorf("%v is not allowed, and this test means nothing: %+v", spec, d)
		}
	}
	t.Logf("%d calls", len(calls))
}

// TestQuietLookalikes holds that no line of testdata/quiet.txt is allowed, where secrets,
// programs and links of an agent's lie about. A build is not confined here.
func TestQuietLookalikes(t *testing.T) {
	text, err := os.ReadFile("testdata/quiet.txt")
	if err != nil {
		t.Fatal(err)
	}
	alone, lines := quietly(t, true), 0
	files := map[string]any{}
	for _, name := range []string{".env", "main.go", "src/x.go", "conf/credentials.json", "bin/ls", "x", "a.txt", "paths.txt", "package.json"} {
		files["/home/dev/project/"+name] = ""
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line == "" || line[0] == '#' {
			continue
		}
		lines++
		d := alone(at(map[string]any{"bash": line, "files": files}))
		if d.Effect == hook.Allow {
			t.Errorf("%s: %s", line, d.Reasons[0].Reason)
		}
	}
	if lines < 500 {
		t.Errorf("%d lines", lines)
	}
}

// TestQuietPages compares the lists of the pages with those of the policies.
func TestQuietPages(t *testing.T) {
	text, err := os.ReadFile("gate/proof/proof.rego")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ list, page string }{{"programs", "quiet-look.md"}, {"own_verbs", "quiet-git.md"}, {"peer_verbs", "quiet-remote.md"}} {
		_, rest, _ := strings.Cut(string(text), "\n"+c.list+" := {")
		rest, _, _ = strings.Cut(rest, "\n}")
		var want []string
		for _, m := range regexp.MustCompile(`"([^"]+)": (?:set\(\)|\{([^}]*)\})`).FindAllStringSubmatch(rest, -1) {
			var options []string
			for _, o := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(m[2], -1) {
				options = append(options, "`"+o[1]+"`")
			}
			slices.Sort(options)
			want = append(want, "| `"+m[1]+"` | "+strings.Join(options, " ")+" |")
		}
		page, err := os.ReadFile("../docs/policies/" + c.page)
		if err != nil || len(want) == 0 {
			t.Fatalf("%d rows, %v", len(want), err)
		}
		table := "\n" + strings.ReplaceAll(strings.Join(want, "\n"), " |  |", " | |") + "\n\n"
		if !strings.Contains(string(page), table) {
			t.Errorf("%s: its table is not\n%s", c.page, table)
		}
	}
}
