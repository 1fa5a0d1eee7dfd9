package policies_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/policytest/attack"
)

// The files of testdata/threats hold the tests of the threat model's cases, each under
// the number of its case; docs/threats.md says which test holds which case.

// threatTemplates are the lines of a file in which {} or its like stands for a command.
func threatTemplates(t *testing.T, name string) []string {
	t.Helper()
	return corpus(t, "../threats/"+name)
}

// TestThreatLines runs judged lines: T8, T10, T11, T12, T15, T18, T19, T21, T22.
func TestThreatLines(t *testing.T) {
	decide := decider(t)
	files, err := filepath.Glob("testdata/threats/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(text), "## ") {
			continue // templates
		}
		for _, l := range linesOf(t, file) {
			ran++
			d := decide(l.shell)
			if got := d.Effect.String(); got != l.want && (l.want != "ask" || got != "deny") {
				t.Errorf("%s: %s: got %s, want %s: %q", filepath.Base(file), l.shell, got, l.want, said(d))
			}
		}
	}
	if ran < 200 {
		t.Errorf("%d lines only", ran)
	}
}

// TestThreatChaining puts a harmful part behind each separator, and a harmless one: T1.
func TestThreatChaining(t *testing.T) {
	decide := decider(t)
	templates := threatTemplates(t, "t01_separators.txt")
	if len(templates) < 12 {
		t.Fatalf("%d separators", len(templates))
	}
	for _, template := range templates {
		if d := decide(attack.Fill(template, "rm -rf ~")); d.Effect != hook.Deny {
			t.Errorf("%s: %s", attack.Fill(template, "rm -rf ~"), d.Effect)
		}
		if d := decide(attack.Fill(template, "git diff")); d.Effect != hook.Pass {
			t.Errorf("%s: %s: %q", attack.Fill(template, "git diff"), d.Effect, said(d))
		}
	}
}

// maxNested is how long a line of this test may become: quotes within quotes double it.
const maxNested = 200 << 10

// TestThreatDepth puts interpreters into themselves 1, 5 and 50 times: T7. A harmful
// core is never let through, and a harmless one passes as deep as people write.
func TestThreatDepth(t *testing.T) {
	decide := decider(t)
	deepest := 0
	for _, template := range threatTemplates(t, "t07_interpreters.txt") {
		for _, core := range []string{"rm -rf ~", "ls"} {
			line := core
			for depth := 1; depth <= 50; depth++ {
				if line = attack.Fill(template, line); len(line) > maxNested {
					break
				}
				if depth != 1 && depth != 5 && depth != 50 {
					continue
				}
				switch d := decide(line); {
				case core != "ls" && d.Effect < hook.Ask:
					t.Errorf("%s, %d deep: %s", template, depth, d.Effect)
				case core == "ls" && depth < 50 && d.Effect != hook.Pass:
					t.Errorf("%s, %d deep: %s: %q", template, depth, d.Effect, said(d))
				}
				if depth == 50 {
					deepest++
				}
			}
		}
	}
	if deepest < 10 {
		t.Errorf("%d lines are 50 deep", deepest)
	}
}

// invisible are the characters that nobody sees and controls that no line has: T16.
const invisible = "\x01\x07\x08\x0b\x0c\r\x1b\x7f\u0085\u00a0\u00ad\u061c\u1680\u180e\u2000\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202e\u202f\u2060" +
	"\u2066\u2069\u3000\u3164\ufe0f\ufeff\ufff9\U000e0041"

// TestThreatBytes puts each of them, and NUL, at each position of two lines: T16. No
// message has them as they are.
func TestThreatBytes(t *testing.T) {
	decide := decider(t)
	for _, core := range []string{"ls; rm -rf ~", "git status"} {
		for _, c := range "\x00" + invisible {
			for at := range len(core) + 1 {
				d := decide(core[:at] + string(c) + core[at:])
				if d.Effect < hook.Ask {
					t.Errorf("%U at %d of %s: %s", c, at, core, d.Effect)
				}
				for _, r := range d.Reasons {
					if strings.ContainsRune(r.Reason+r.Help, c) {
						t.Errorf("%U at %d of %s stands in the reason %q", c, at, core, r.Reason)
					}
				}
			}
		}
	}
}

// TestThreatPadding moves a payload out of sight: the verdict and the place that the
// reason points to stay those of the payload, T3. It counts commands before one, T2.
func TestThreatPadding(t *testing.T) {
	decide := decider(t)
	const payload = "rm -rf ~"
	for _, before := range []string{
		"ls;" + strings.Repeat(" ", 6000), "ls" + strings.Repeat("\n", 400), "ls #" + strings.Repeat("x", 9000) + "\n", "ls;" + strings.Repeat("\t", 500),
		strings.Repeat("true && ", 1), strings.Repeat("true && ", 49), strings.Repeat("true && ", 50), strings.Repeat("true && ", 499),
	} {
		d := decide(before + payload)
		at := []int{len(before), len(before) + len(payload)}
		if d.Effect != hook.Deny || len(d.Reasons) == 0 || d.Reasons[0].Span == nil || !slices.Equal(d.Reasons[0].Span[:], at) {
			t.Errorf("%.20q…, %d before: %s %q", before, len(before), d.Effect, said(d))
		}
	}
	if d := decide(strings.Repeat("true && ", 4999) + payload); d.Effect != hook.Deny {
		t.Errorf("after 4999 commands: %s", d.Effect)
	}
}

// TestThreatCut cuts lines behind a harmful part at every byte: what does not parse is
// not allowed, T14.
func TestThreatCut(t *testing.T) {
	decide := decider(t)
	_, cores := harmfulCores(t, "harmful.txt")
	lines := 0
	for i, core := range cores {
		for _, rest := range []string{"; if true; then echo \"$(ls \"a b\")\"; fi", " && cat <<E\n$(pwd)\nE\n", "; case x in (a) ls;; esac; f() { echo '}'; }", "\n[[ a == b ]] && echo ${x:-$((1+2))}"} {
			lines++
			for at := 1 + i%3; at <= len(rest); at += 3 { // each byte, in a third of the lines
				if d := decide(core + rest[:at]); d.Effect < hook.Ask {
					t.Errorf("%q: %s", core+rest[:at], d.Effect)
				}
			}
		}
	}
	t.Logf("%d lines", lines)
}

// TestThreatTwoSteps writes a file with one call and runs it with the next, and the other
// way round: T18.
func TestThreatTwoSteps(t *testing.T) {
	decide := decider(t)
	for _, step := range []struct{ file, text, runs, harmless string }{
		{"x.sh", "rm -rf ~\n", "sh x.sh", "go test ./...\n"},
		{"x.sh", "#!/bin/bash\nrm -rf ~\n", "./x.sh", "#!/bin/bash\ngo vet\n"},
		{"x.sh", "rm -rf ~\n", ". ./x.sh", "export A=1\n"},
		{"package.json", `{"scripts": {"test": "rm -rf ~"}}`, "npm test", `{"scripts": {"test": "jest"}}`},
		{"wipe.py", "import os\nos.system('rm -rf ~')\n", "python3 wipe.py", "print(1)\n"},
	} {
		write := func(text string) map[string]any {
			return map[string]any{"tool": "Write", "input": map[string]any{"file_path": step.file, "content": text}}
		}
		run := func(text string) map[string]any {
			return map[string]any{"bash": step.runs, "files": map[string]any{"/home/dev/project/" + step.file: text}}
		}
		if d := decide(run(step.text)); d.Effect != hook.Deny {
			t.Errorf("%s after %s was written: %s", step.runs, step.file, d.Effect)
		}
		for _, call := range []map[string]any{write(step.harmless), run(step.harmless)} {
			if d := decide(call); d.Effect != hook.Pass {
				t.Errorf("%v: %s: %q", call, d.Effect, said(d))
			}
		}
	}
	hookFile := map[string]any{"tool": "Write", "input": map[string]any{"file_path": ".git/hooks/pre-commit", "content": "#!/bin/sh\nrm -rf ~\n"}}
	if d := decide(hookFile); d.Effect < hook.Ask {
		t.Errorf("a hook of git is written: %s", d.Effect)
	}
}

// TestThreatFamily denies ten and more spellings of one intent by one rule: T19.
func TestThreatFamily(t *testing.T) {
	decide := decider(t)
	family := linesOf(t, "testdata/threats/t19_family.txt")
	if len(family) < 10 {
		t.Fatalf("%d spellings", len(family))
	}
	for _, l := range family {
		d := decide(l.shell)
		denied := slices.ContainsFunc(d.Reasons, func(r hook.Reason) bool {
			return r.Effect == hook.Deny && r.ID == "gate.filesystem.delete" && strings.HasPrefix(r.Reason, "deletes the home directory")
		})
		if !denied {
			t.Errorf("%s: %q", l.shell, said(d))
		}
	}
}
