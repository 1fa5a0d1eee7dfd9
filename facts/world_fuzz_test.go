package facts_test

import (
	"slices"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/strictjson"
)

// deletes reports that facts have the deletion of a path, or say that they
// stopped before it.
func deletes(f *hook.Facts, path string) bool {
	return has(f, "limit") || slices.ContainsFunc(f.Effects, func(e hook.FactEffect) bool { return e.Kind() == "fs.delete" && hook.Tree(&e)["path"] == path })
}

// FuzzWorld puts anything into the files that decide what a line means. What
// the line does besides must still be found.
func FuzzWorld(f *testing.F) {
	for _, text := range []string{
		"ref: refs/heads/main\n", "gitdir: /home/dev/project/.git/worktrees/w\n", "gitdir: ../../..\n", "0123456789abcdef0123456789abcdef01234567 refs/heads/x\n",
		`{"scripts": {"test": "rm -rf build", "pretest": "npm test", "x": "sh script.sh"}}`, "#!/bin/sh\nexit 0\n", "npm test\n. ./script.sh\n", "case x in", "[remote \"origin\"]\nmirror = true", "set -e; cd /; exec true",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const project = "/home/dev/project/"
		w := world()
		w.Files = files{
			project + ".git": text, project + ".git/HEAD": text, project + ".git/config": text, project + ".git/packed-refs": text,
			project + "package.json": text, project + "script.sh": text, "/home/dev/.gitconfig": text, "/home/dev/.kube/config": text,
		}
		reader := facts.New(w)
		for _, before := range []string{"git push", "git checkout x; git push", "npm test", "npm run x", "sh script.sh", "./script.sh", "kubectl get pods"} {
			line := before + "; rm -rf /home/dev/precious"
			got := reader.Of(event(line))
			consistent(t, line, got)
			if !deletes(got, "/home/dev/precious") {
				t.Errorf("%q hides the rest of %q: %s", text, line, document(got))
			}
		}
	})
}

// FuzzProgram adds a row for a program that gate does not know. A line that
// calls it, in whatever way, does not lose the rest.
func FuzzProgram(f *testing.F) {
	for _, row := range []string{
		`{"options": "-e,--environment=text --key=use -n,--dry-run", "operands": ["text"], "effects": [{"kind": "acme.deploy", "environment": "$opt:environment", "if": ["!has:dry-run"]}]}`,
		`{"operands": ["delete*"], "when": {"x+y": ["write:append", "url*"]}}`, `{"stop": true, "operands": ["text", "command*"]}`, `{"verbs": true, "style": "raw", "output": "copy"}`,
		`{"operands": ["shell", "code:python", "sql:postgres", "assign"], "effects": [{"kind": "x", "y": "$operand:0", "if": ["operand:1=b", "opt:x=y"]}]}`, `{"options": "-a=shell --b=cd*"}`,
	} {
		f.Add(row, "-e prod --x a 'rm -rf /' b=c https://x")
	}
	f.Fuzz(func(t *testing.T, text, words string) {
		entry, err := strictjson.Object([]byte(text), strictjson.Limits{})
		if err != nil {
			return
		}
		rows, _ := catalogue.Read(map[string]any{"acme": entry, "acmectl": "acme"}, func(string, error) { entry = nil })
		if entry == nil {
			return
		}
		w := world()
		reader := facts.New(w)
		if alone := reader.Of(event("(acme " + words + "\n)")); alone.Opaque {
			return // what the words are is not known
		}
		w.Programs = rows
		line := "(acme " + words + "\n); rm -rf /home/dev/precious"
		got := facts.New(w).Of(event(line))
		consistent(t, line, got)
		if !deletes(got, "/home/dev/precious") {
			t.Errorf("%s hides the rest of %q: %s", text, line, document(got))
		}
	})
}
