package engine_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/scopes"
)

// TestCommandEdits edits real lines by meaning. A want that begins with "!" is the
// part of a Reject's reason.
func TestCommandEdits(t *testing.T) {
	for _, row := range []struct{ line, edits, want string }{
		// options
		{"npm install x", `[{"Command": 1, "Options": {"registry": "https://npm.acme.example"}}]`, "npm install --registry https://npm.acme.example x"},
		{"npm install --registry=https://evil.example x", `[{"Command": 1, "Options": {"registry": "https://npm.acme.example"}}]`, "npm install --registry=https://npm.acme.example x"},
		{"npm install --registry https://evil.example x", `[{"Command": 1, "Options": {"registry": "https://a b"}}]`, "npm install --registry 'https://a b' x"},
		{"npm install --registry=$R x", `[{"Command": 1, "Options": {"registry": "https://a"}}]`, "npm install --registry=https://a x"},
		{"npm install x --registry $R", `[{"Command": 1, "Options": {"registry": null}}]`, "npm install x"},
		{"npm install --registry=https://a x", `[{"Command": 1, "Options": {"registry": "https://a"}}]`, "npm install --registry=https://a x"},
		{"npm i --registry a --registry b x", `[{"Command": 1, "Options": {"registry": "c"}}]`, "npm i --registry c x"},
		{"git push -f origin main", `[{"Command": 1, "Options": {"force": null, "force-with-lease": true}}]`, "git push --force-with-lease origin main"},
		{"git -C d push origin", `[{"Command": 1, "Options": {"C": "e"}}]`, "git -C e push origin"},
		{"git push origin", `[{"Command": 1, "Options": {"C": "e f"}}]`, "git -C 'e f' push origin"},
		{"git commit -am 'x y'", `[{"Command": 1, "Options": {"all": null}}]`, "git commit -m 'x y'"},
		{"git commit -am 'x y'", `[{"Command": 1, "Options": {"message": "z"}}]`, "git commit -am z"},
		{"git commit -amx", `[{"Command": 1, "Options": {"message": "it's"}}]", `[:0] + `[{"Command": 1, "Options": {"message": "it's"}}]`, `git commit '-amit'\''s'`},
		{"rm -rf x", `[{"Command": 1, "Options": {"force": null}}]`, "rm -r x"},
		{"rm -rf x", `[{"Command": 1, "Options": {"force": null, "recursive": null}}]`, "rm x"},
		{"rm -f x", `[{"Command": 1, "Options": {"force": true}}]`, "rm -f x"},
		{"terraform -chdir=x apply -auto-approve p", `[{"Command": 1, "Options": {"auto-approve": null, "lock": "false"}}]`, "terraform -chdir=x apply -lock=false p"},
		{"x=$(npm ci); sudo npm ci", `[{"Command": 2, "Options": {"ignore-scripts": true}}]`, "x=$(npm ci); sudo npm ci --ignore-scripts"},
		{"x=`npm ci`", `[{"Command": 1, "Options": {"registry": "a$b"}}]`, "!cannot be quoted inside a nested command"},
		{"npm ci --prefix \"$@\"", `[{"Command": 1, "Options": {"registry": "a"}}]`, "npm ci --registry a --prefix \"$@\""},
		{"find . -name x -delete", `[{"Command": 1, "Options": {"depth": true}}]`, "!form of its own"},
		{"tar xzf a.tar", `[{"Command": 1, "Options": {"gzip": null}}]`, "!does not stand in the line"},
		{"rm -r x", `[{"Command": 1, "Options": {"force": "yes"}}]`, "!it takes no value"},
		{"npm ci", `[{"Command": 1, "Options": {"registry": true}}]`, "!it takes a value"},
		{"unheard-of --x y", `[{"Command": 1, "Options": {"x": null}}]`, "!no row in gate's catalogue"},
		{"f() { npm ci \"$@\"; }; f --registry x", `[{"Command": 1, "Options": {"registry": "y"}}]`, "!several words of one"},
		{"for i in a b; do npm i $i; done", `[{"Command": 1, "Options": {"registry": "y"}}]`, "!command 2 would change, too"},
		{"for i in a b; do npm i $i; done", `[{"Command": 1, "Options": {"registry": "y"}}, {"Command": 2, "Options": {"registry": "y"}}]`, "for i in a b; do npm i --registry y $i; done"},
		{"sh -c 'npm ci'", `[{"Command": 2, "Options": {"ignore-scripts": true}}]`, "!does not stand in the line itself"},
		{"cd x", `[{"Command": 1, "Options": {"P": true}}]`, "!run by the shell itself"},
		{"npm ci", `[{"Command": 2, "Options": {"x": true}}]`, "!there is no command 2"},
		// the environment
		{"npm ci", `[{"Command": 1, "Env": {"CI": "1", "B": "a b"}}]`, "B='a b' CI=1 npm ci"},
		{"cd x && A=$B npm ci", `[{"Command": 2, "Env": {"A": "~"}}]`, "cd x && A='~' npm ci"},
		{"A=1 B=2 npm ci", `[{"Command": 1, "Env": {"A": null}}]`, "B=2 npm ci"},
		{"ls; A=1 npm ci", `[{"Command": 2, "Env": {"A": null, "C": ""}}]`, "ls; C= npm ci"},
		{"npm ci", `[{"Command": 1, "Env": {"A": null}}]`, "npm ci"},
		{"sudo npm ci", `[{"Command": 1, "Env": {"A": "1", "B": "x y"}}]`, "sudo env A=1 B='x y' npm ci"},
		{"timeout 5 env C=3 npm ci", `[{"Command": 1, "Env": {"A": "1", "C": "4"}}]`, "timeout 5 env C=4 A=1 npm ci"},
		{"unheard-of x", `[{"Command": 1, "Env": {"A": "1"}}]`, "A=1 unheard-of x"},
		// operands and programs
		{"npm i a b > log", `[{"Command": 1, "Operands": {"add": ["c d"], "remove": ["a"]}}]`, "npm i b 'c d' > log"},
		{"npm i a", `[{"Command": 1, "Operands": {"add": ["a"]}}]`, "npm i a"},
		{"npm i a", `[{"Command": 1, "Operands": {"add": ["-g"]}}]`, "!the operands would not be what was asked for"},
		{"npm i a | cat", `[{"Command": 1, "Operands": {"add": ["x", "y"]}}]`, "npm i a x y | cat"},
		{"sudo npm ci", `[{"Command": 1, "Program": "pnpm"}]`, "sudo pnpm ci"},
		{"A=1 unheard-of 'x y' | cat", `[{"Command": 1, "Program": "heard of", "Env": {"A": "2"}}]`, "A=2 'heard of' 'x y' | cat"},
		{"npm ci", `[{"Command": 1, "Program": "sudo"}]`, "!the wrappers would not be"},
		{"npm ci", `[{"Command": 1, "Program": "pnpm", "Options": {"x": true}}]`, "!they would be that program's"},
		// several at once
		{"npm i", `[{"Command": 1, "Options": {"registry": "a"}}, {"Command": 1, "Options": {"prefix": "a"}}, {"Command": 1, "Operands": {"add": ["x"]}}]`, "npm --prefix a i --registry a x"},
		{"git push -fu origin", `[{"Command": 1, "Options": {"force": null}}, {"Command": 1, "Options": {"set-upstream": null}}]`, "!edit the same part"},
		{"npm ci; ls", `[{"Command": 1, "Options": {"registry": "a"}}, {"Span": [8, 10], "Text": "pwd"}]`, "npm ci --registry a; pwd"},
	} {
		var read []struct {
			hook.CommandEdit
			Span     hook.Span
			Text     string
			Operands struct{ Add, Remove []string }
		}
		if err := json.Unmarshal([]byte(row.edits), &read); err != nil {
			t.Fatalf("%s: %v", row.edits, err)
		}
		var edits []hook.Edit
		for _, e := range read {
			if e.Command == 0 {
				edits = append(edits, hook.Edit{Span: e.Span, Text: e.Text})
				continue
			}
			e.Add, e.Remove = e.Operands.Add, e.Operands.Remove
			edits = append(edits, hook.Edit{Command: &e.CommandEdit})
		}
		if got := edited(t, "Bash", row.line, edits); got != row.want && (row.want[0] != '!' || got[0] != '!' || !strings.Contains(got, row.want[1:])) {
			t.Errorf("%s with %s:\n got %s\nwant %s", row.line, row.edits, got, row.want)
		}
	}
}

// TestCommandEditsPowerShell edits what PowerShell runs, in its own quotes.
func TestCommandEditsPowerShell(t *testing.T) {
	for _, row := range []struct {
		line string
		edit hook.Edit
		want string
	}{
		{"npm install x; ls", hook.Edit{Command: &hook.CommandEdit{Command: 1, Options: map[string]any{"registry": "it's"}}}, "npm install --registry 'it''s' x; ls"},
		{"Remove-Item -Recurse -Force x", hook.Edit{Command: &hook.CommandEdit{Command: 1, Options: map[string]any{"force": nil}}}, "Remove-Item -Recurse x"},
		{"Remove-Item x", hook.Edit{Command: &hook.CommandEdit{Command: 1, Options: map[string]any{"whatif": true}}}, "Remove-Item -whatif x"},
		{"npm ci", hook.Edit{Command: &hook.CommandEdit{Command: 1, Add: []string{"a b"}}}, "npm ci 'a b'"},
		{"npm ci", hook.Edit{Command: &hook.CommandEdit{Command: 1, Add: []string{`say "x"`}}}, "!cannot be quoted for PowerShell"},
		{"npm ci", hook.Edit{Command: &hook.CommandEdit{Command: 1, Env: map[string]*string{"A": new("1")}}}, "!is not run by bash"},
		{"npm ci", hook.Edit{Span: hook.Span{4, 6}, Text: "it's"}, "npm 'it''s'"},
	} {
		if got := edited(t, "PowerShell", row.line, []hook.Edit{row.edit}); got != row.want && (row.want[0] != '!' || !strings.Contains(got, row.want[1:])) {
			t.Errorf("%s with %+v: got %s, want %s", row.line, row.edit.Command, got, row.want)
		}
	}
}

// edited is what a line becomes by edits, or the reason of a Reject after "!".
func edited(t *testing.T, tool, line string, edits []hook.Edit) string {
	t.Helper()
	rewrite := evalFunc(func(context.Context, *hook.Hook, *hook.Event) engine.Answer {
		return engine.Answer{Verdict: hook.Verdict{Rewrites: []hook.Rewrite{{Reason: "edited", Edits: edits}}}}
	})
	e := newEngine(t, []scopes.Source{source("managed", hook.Policy, hook.Managed)}, scopes.Settings{},
		engine.WithEvaluator(hook.Rego, rewrite), engine.WithFacts(siteFacts), engine.WithSpelling(site().Respell))
	d := e.Decide(t.Context(), hook.Event{Name: hook.PreToolUse, Fields: map[string]any{
		"hook_event_name": "PreToolUse", "tool_name": tool, "cwd": home, "tool_input": map[string]any{"command": line},
	}})
	switch rewritten, ok := d.Rewrite.(map[string]any); {
	case d.Effect == hook.Deny:
		return "!" + d.Reasons[0].Reason
	case ok:
		return rewritten["command"].(string)
	}
	return line
}

// TestCommandEditsHold makes random edits of random lines. What is not refused shows
// in the facts of the new line, of this command and no other.
func TestCommandEditsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 3))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	value := func() string {
		return pick("x", "https://a.example/b", "it's", "a b", "$HOME", "`ls`", "*", "~/y", "é", "-1", "a=b", "#", "{a,b}", "\n")
	}
	command := func() string {
		words := []string{pick("npm install", "npm ci", "git push", "git commit -am 'a b'", "rm -rf", "kubectl delete pod", "terraform apply",
			"curl -sSL", "sudo rm -f", "A=1 B=\"$C\" make", "timeout 5 npm ci", "env -u X docker run --rm", "unheard-of")}
		for range r.IntN(4) {
			words = append(words, pick("x", "--force", "-f", "--registry=https://r", "--registry r", "-n ns", "'a b'", "$Y", "-o out", "--", "2>err",
				"\"$(id)\"", "-C dir"))
		}
		return strings.Join(words, " ")
	}
	done, refused := 0, 0
	for range 3000 {
		line := command()
		for range r.IntN(3) {
			line += pick(" && ", "; ", " | ", " || ", " &\n") + command()
		}
		e := &hook.CommandEdit{Command: 1 + r.IntN(2)}
		switch r.IntN(4) {
		case 0:
			e.Program = pick("true", "pnpm", "a b")
		case 1:
			e.Env = map[string]*string{pick("A", "B", "NEW"): nil, "CI": new(value())}
		case 2:
			e.Options = map[string]any{pick("force", "registry", "namespace", "all"): nil, pick("output", "message", "C", "var"): value(), "verbose": true}
			delete(e.Options, pick("output", "verbose", "force"))
		default:
			e.Add, e.Remove = []string{value()}, []string{pick("x", "a b")}
			if e.Add[0] == e.Remove[0] {
				continue
			}
		}
		got := edited(t, "Bash", line, []hook.Edit{{Command: e}})
		if got[0] == '!' {
			refused++
			continue
		}
		done++
		holds(t, line, got, e)
	}
	if done < 500 || refused < 100 {
		t.Errorf("%d edits were made and %d refused", done, refused)
	}
}

// holds compares the facts of two lines, of which the second is to have an edit.
func holds(t *testing.T, before, after string, e *hook.CommandEdit) {
	t.Helper()
	commands := func(line string) []hook.ShellCommand {
		facts := siteFacts(&hook.Event{Name: hook.PreToolUse, Fields: map[string]any{
			"tool_name": "Bash", "cwd": home, "tool_input": map[string]any{"command": line},
		}})
		return slices.DeleteFunc(facts.Shell.Commands, func(c hook.ShellCommand) bool { return c.Span == nil })
	}
	was, is := commands(before), commands(after)
	if len(was) != len(is) {
		t.Fatalf("%q with %+v has %d commands and not %d: %q", before, e, len(is), len(was), after)
	}
	for i := range was {
		c := is[i]
		if was[i].ID != e.Command {
			if a, b := described(was[i]), described(c); a != b {
				t.Errorf("%q with %+v changes another command:\n%s\n%s\n%s", before, e, after, a, b)
			}
			continue
		}
		for name, want := range e.Env {
			if got, there := c.Env[name]; there != (want != nil) || there && textOf(got) != textOf(want) {
				t.Errorf("%q with %+v: %s is %v in %s", before, e, name, textOf(got), after)
			}
		}
		for name, want := range e.Options {
			if got, there := c.Options[name]; there != (want != nil) || there && (len(got) != 1 || got[0] != want) {
				t.Errorf("%q with %+v: the option %s is %v in %s", before, e, name, got, after)
			}
		}
		is := func(text string) func(*string) bool { return func(o *string) bool { return textOf(o) == text } }
		for _, text := range e.Add {
			if !slices.ContainsFunc(c.Operands, is(text)) {
				t.Errorf("%q with %+v has no operand %s in %s", before, e, text, after)
			}
		}
		for _, text := range e.Remove {
			if slices.ContainsFunc(c.Operands, is(text)) {
				t.Errorf("%q with %+v has an operand %s in %s", before, e, text, after)
			}
		}
		if first := textOf(c.Words[0].Value); e.Program != "" && first != e.Program {
			t.Errorf("%q with %+v runs %v in %s", before, e, first, after)
		}
	}
}

// textOf is the text of an optional one.
func textOf(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// described is all that the facts say of a command but for its place and the numbers
// of commands, which count what others run, too.
func described(c hook.ShellCommand) string {
	c.ID, c.PipeTo, c.Stdin = 0, 0, nil
	c.Span, c.Words, c.Redirects = nil, slices.Clone(c.Words), slices.Clone(c.Redirects)
	for i := range c.Words {
		c.Words[i].Span = nil
	}
	for i := range c.Redirects {
		c.Redirects[i].Span = nil
	}
	text, _ := json.Marshal(c)
	return string(text)
}
