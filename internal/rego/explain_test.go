package rego_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/hook"
	"gate/internal/rego"
	"gate/internal/strictjson"
	"gate/scopes"
)

// explained writes definitions one thing a line.
func explained(b *strings.Builder, list []rego.Definition, indent string) {
	for _, d := range list {
		fmt.Fprintf(b, "%s%s %s %v", indent, d.Pos, d.Rule, d.Met)
		if d.Library {
			b.WriteString(" (library)")
		}
		if d.Met {
			fmt.Fprintf(b, " = %s", strictjson.Append(nil, d.Value))
		}
		if d.Left > 0 {
			fmt.Fprintf(b, ", %d left", d.Left)
		}
		b.WriteString("\n")
		for _, c := range d.Conditions {
			fmt.Fprintf(b, "%s  %v: %s\n", indent, c.Met, c.Text)
			for _, v := range c.Values {
				value := string(strictjson.Append(nil, v.Value))
				if v.Absent {
					value = "(undefined)"
				}
				if v.Path != "" {
					value += " at " + v.Path
				}
				fmt.Fprintf(b, "%s    %s = %s\n", indent, v.Text, value)
			}
			explained(b, c.Helpers, indent+"    ")
		}
	}
}

// TestExplain explains the policies of testdata/explain. Each file has a policy,
// the library if it needs one, the facts, and what is found.
func TestExplain(t *testing.T) {
	names, err := filepath.Glob("testdata/explain/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			s := newSource("user", hook.User)
			var lib []scopes.Module
			var ev *hook.Event
			for _, f := range a.Files[:len(a.Files)-1] {
				switch m := module(f.Name, string(f.Data)); {
				case f.Name == "line":
					ev = bash(strings.TrimSpace(string(f.Data)))
				case m.Package == "gate.lib":
					lib = append(lib, m)
				default:
					s.Modules = append(s.Modules, m)
					s.Hooks = append(s.Hooks, newHook(&s, m))
				}
			}
			ev.Facts = pushes(ev.Fields["tool_input"].(map[string]any)["command"].(string))
			list, err := rego.New(lib, []scopes.Source{s}).Explain(context.Background(), s.Hooks[0], ev)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			explained(&b, list, "")
			want := &a.Files[len(a.Files)-1]
			if *update {
				want.Data = []byte(b.String())
				if err := os.WriteFile(name, txtar.Format(a), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if b.String() != string(want.Data) {
				t.Errorf("got\n%s\nwant\n%s", b.String(), want.Data)
			}
		})
	}
}

// pushes makes an effect of each word of a line: remote/branch, forced with +.
func pushes(line string) *hook.Facts {
	f := &hook.Facts{}
	for i, w := range strings.Fields(line) {
		remote, branch, _ := strings.Cut(strings.TrimPrefix(w, "+"), "/")
		var branches any = []any{branch}
		if branch == "?" {
			branches = nil
		}
		f.Effects = append(f.Effects, hook.FactEffect{Command: i + 1, Is: &hook.OwnEffect{Name: "git.push", Fields: []hook.OwnField{
			{Name: "branches", Value: branches}, {Name: "force", Value: strings.HasPrefix(w, "+")}, {Name: "remote", Value: remote},
		}}})
	}
	return f
}

// TestExplainAgrees holds an explanation against the evaluation itself: a rule
// has members if and only if a definition of it is met.
func TestExplainAgrees(t *testing.T) {
	for _, body := range []string{
		"true", "false", "input.nothing", "not input.nothing", `input.tool_name == "Bash"`, `input.tool_name != "Bash"`,
		`x := input.tool_name; x == "Bash"`, `some x in [1, 2]; x > 1`,
		`some x in [1, 2]; x > 2`, `some i; [1, 2][i] == 2`, `every x in [1, 2] { x > 0 }`, `every x in [1, 2] { x > 1 }`,
		`f(1)`, `f(3)`, `g(2) == 4`, `not f(1)`, `{x | x := [1, 2][_]} == {1, 2}`, `startswith(input.tool_name, "Ba")`,
		`input.tool_name == "x" with input.tool_name as "x"`, `h`, `not h`, `[a, b] := [1, 2]; a < b`, `data.acme.p.h`,
		`count(input.facts.effects) > 0`, `input.facts.effects[_].force`, `e := input.facts.effects[i]; i == 0; e.force`,
		`sprintf("%s", [input.tool_name]) == "Bash"`, `{"a": v} = {"a": 1}; v == 1`, `time.now_ns() > 0`,
	} {
		text := "package acme.p\n\ndeny contains \"x\" if { " + body + " }\n\n" +
			"f(n) if n == 1\n\nf(n) if n == 2\n\ng(n) := 4 if n > 1\n\nelse := 0\n\ndefault h := false\n\nh if input.tool_name == \"Edit\"\n"
		s := sourceOf("user", hook.User, text)
		ev := bash("git push")
		ev.Facts = pushes("+origin/main")
		e := rego.New(nil, []scopes.Source{s})
		answer := e.Evaluate(context.Background(), s.Hooks, ev)[0]
		if answer.Fault != nil {
			t.Errorf("%s: %v", body, answer.Fault)
			continue
		}
		list, err := e.Explain(context.Background(), s.Hooks[0], ev)
		if err != nil || len(list) != 1 {
			t.Errorf("%s: %d definitions, %v", body, len(list), err)
			continue
		}
		if met := len(answer.Verdict.Reasons) > 0; list[0].Met != met {
			t.Errorf("%s: met is %v, the policy says %v", body, list[0].Met, met)
		}
		if conditions := list[0].Conditions; !list[0].Met && len(conditions) > 0 && conditions[len(conditions)-1].Met {
			t.Errorf("%s: the last condition that was looked at is true", body)
		}
	}
}

func TestExplainRefuses(t *testing.T) {
	s := sourceOf("user", hook.User, "package acme.p\n\ndeny contains \"x\"\n", "package acme.q\n\ndeny contains x\n")
	e := rego.New(nil, []scopes.Source{s})
	if _, err := e.Explain(context.Background(), s.Hooks[1], bash("ls")); err == nil || !strings.Contains(err.Error(), "p1.rego:3") {
		t.Errorf("a policy that does not compile: %v", err)
	}
	other := *s.Hooks[0]
	other.Source = "nobody"
	if _, err := e.Explain(context.Background(), &other, bash("ls")); err == nil {
		t.Error("a source that is not there: no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if list, err := e.Explain(ctx, s.Hooks[0], bash("ls")); len(list) > 0 {
		t.Errorf("without time: %v, %v", list, err)
	}
}

// TestExplainEnds has a policy that would take for ever to explain: what was not
// found in time is left out.
func TestExplainEnds(t *testing.T) {
	s := sourceOf("project", hook.Project, "package acme.p\n\ndeny contains \"x\" if {\n"+
		"\txs := split(input.tool_input.command, \"\")\n\tsome a in xs\n\tsome b in xs\n\tsome c in xs\n\tconcat(a, [b, c]) == \"\"\n}\n")
	list, err := rego.New(nil, []scopes.Source{s}).Explain(context.Background(), s.Hooks[0], bash(strings.Repeat("ab", 5000)))
	if err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestTrace(t *testing.T) {
	s := sourceOf("user", hook.User, "package acme.p\n\ndeny contains \"x\" if { input.agent; input.tool_name == \"Edit\" }\n")
	e := rego.New(nil, []scopes.Source{s})
	for _, row := range []struct{ mode, has, lacks string }{
		{"full", "Eval input.agent", "Unify"},
		{"notes", "", "Enter"}, // policies may not call trace, which makes notes
		{"fails", `Fail input.tool_name = "Edit"`, "Eval"},
	} {
		text, err := e.Trace(context.Background(), s.Hooks[0], bash("ls"), row.mode)
		if err != nil || !strings.Contains(text, row.has) || strings.Contains(text, row.lacks) {
			t.Errorf("%s: %v\n%s", row.mode, err, text)
		}
	}
	if _, err := e.Trace(context.Background(), s.Hooks[0], bash("ls"), "loud"); err == nil {
		t.Error("an unknown mode: no error")
	}
}
