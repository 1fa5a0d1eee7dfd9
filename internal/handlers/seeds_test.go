//go:build linux

package handlers

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/load"
	"gate/scopes"
)

// A story is one case of testdata/seeds.txt or testdata/spec.txt: files of hooks
// as other systems print them, and events that happen one after another.
type story struct {
	home    string
	options Options
	hooks   []*hook.Hook
	done    map[*hook.Hook]bool // of hooks that run once
	heard   []string            // requests to webhooks
	out     strings.Builder
}

// TestSeeds runs the files and scripts that the systems' own documents print,
// and holds that they behave as it says there.
func TestSeeds(t *testing.T) { stories(t, "testdata/seeds.txt") }

// TestSpec runs the scenarios of MassGen's specification, each of them.
func TestSpec(t *testing.T) {
	ran := stories(t, "testdata/spec.txt")
	spec, err := os.ReadFile("testdata/seeds/massgen/spec.md")
	if err != nil {
		t.Fatal(err)
	}
	scenarios := regexp.MustCompile(`(?m)^#### Scenario: (.*)$`).FindAllStringSubmatch(string(spec), -1)
	for _, s := range scenarios {
		if !ran[s[1]] {
			t.Errorf("no case for %q", s[1])
		}
	}
	if len(scenarios) < 20 {
		t.Errorf("only %d scenarios", len(scenarios))
	}
}

func stories(t *testing.T, file string) (ran map[string]bool) {
	tab := readTable(t, file)
	found := make([]string, len(tab.rows))
	ran = map[string]bool{}
	t.Run("cases", func(t *testing.T) {
		for i, r := range tab.rows {
			found[i], ran[r.name] = r.means, true
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				found[i] = tell(t, r)
			})
		}
	})
	tab.hold(t, found)
	return ran
}

func tell(t *testing.T, r row) string {
	needPython(t)
	s := &story{home: t.TempDir(), done: map[*hook.Hook]bool{}}
	s.options = seedOptions(t, s.home)
	for _, f := range r.fields {
		s.step(t, f[0], f[1])
	}
	out := strings.ReplaceAll(s.out.String(), s.home, "HOME")
	return strings.TrimSpace(strings.ReplaceAll(out, s.options.Dirs["own"], "SOURCE"))
}

// step does what one line of a story says.
func (s *story) step(t *testing.T, key, value string) {
	t.Helper()
	switch key {
	case "file": // path and dialect
		path, dialect, _ := strings.Cut(value, " ")
		data, err := os.ReadFile(filepath.Join("testdata/seeds", path))
		if err != nil {
			t.Fatal(err)
		}
		s.options.Dirs["own"] = filepath.Join(s.options.Dirs["own"], filepath.Dir(path))
		s.load(t, filepath.Base(path), data, dialect)
	case "massgen": // a file on one line
		s.options.Dirs["own"] = filepath.Join(s.options.Dirs["own"], "massgen")
		s.load(t, "config.yaml", []byte(value), "massgen")
	case "prepare":
		cmd := exec.Command("/bin/sh", "-c", value)
		cmd.Dir, cmd.Env = s.home, append(os.Environ(), "SOURCE="+s.options.Dirs["own"])
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", value, err, out)
		}
	case "event":
		name, fields, _ := strings.Cut(value, " ")
		ev, err := testEventOf(hook.Name(name), fields)
		if err != nil {
			t.Fatalf("%s: %v", value, err)
		}
		if ev.Fields["cwd"] == nil {
			ev = ev.With("cwd", s.home)
		}
		d := s.decide(t, ev)
		s.out.WriteString(describeDecision(&d))
		for _, request := range s.heard {
			fmt.Fprintf(&s.out, "  sent %s\n", request)
		}
	case "show": // a file below the home directory; what is different each day is a …
		text, err := os.ReadFile(filepath.Join(s.home, value))
		if err != nil {
			text = []byte("there is none")
		}
		day := regexp.MustCompile(`(?m)^.*: File edited`)
		shown := day.ReplaceAllString(strings.TrimSpace(string(text)), "…: File edited")
		fmt.Fprintf(&s.out, "%s:\n  %s\n", value, strings.ReplaceAll(shown, "\n", "\n  "))
	case "timeout": // of the first hook
		s.hooks[0].Timeout = must(time.ParseDuration(value))
	case "timeouts":
		for _, h := range s.hooks {
			fmt.Fprintf(&s.out, "  %s %s\n", h.Matcher, h.Timeout)
		}
	default:
		t.Fatalf("unknown %q", key)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// load reads a file. What it sends to other machines goes to a server of the
// test's, which answers as Slack's webhooks do.
func (s *story) load(t *testing.T, name string, data []byte, dialect string) {
	t.Helper()
	src := scopes.Source{Name: "own", Scope: hook.Session, Authority: hook.User}
	f, err := load.ReadHooks(name, data, dialect, src)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.heard = append(s.heard, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("Authorization"), bytes.TrimSpace(body)))
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "ok")
	}))
	t.Cleanup(server.Close)
	for i, h := range f.Hooks {
		h.ID = fmt.Sprintf("h%d", i+1)
		if address, ok := h.Config["url"].(string); ok {
			u := must(url.Parse(address))
			h.Config["url"] = server.URL + u.Path
		}
	}
	s.hooks = f.Hooks
}

// decide asks an engine that has nothing but the story's hooks.
func (s *story) decide(t *testing.T, ev hook.Event) hook.Decision {
	t.Helper()
	h := New(s.options)
	set, err := scopes.New([]scopes.Source{{Name: "own", Scope: hook.Session, Authority: hook.User, Hooks: s.hooks}}, scopes.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	opts := []engine.Option{
		engine.WithFacts(func(*hook.Event) *hook.Facts { return &hook.Facts{} }),
		engine.WithDone(func(_ *hook.Event, h *hook.Hook) bool { return s.done[h] }),
	}
	for _, kind := range []hook.Kind{hook.Command, hook.Webhook, hook.Inline} {
		opts = append(opts, engine.WithEvaluator(kind, h.Evaluator(kind)))
	}
	e, err := engine.New(set, opts...)
	if err != nil {
		t.Fatal(err)
	}
	s.heard = nil
	d := e.Decide(context.Background(), ev)
	for _, step := range d.Steps {
		if step.Hook.Once && step.Outcome == hook.Success {
			s.done[step.Hook] = true
		}
	}
	return d
}

// TestCustomPermission is the inline hook that cocode prints.
func TestCustomPermission(t *testing.T) {
	o := Options{Inline: map[string]Inline{"custom": func(_ context.Context, ev *hook.Event) (v hook.Verdict, _ error) {
		path, _ := ev.ToolInput()["file_path"].(string)
		if strings.Contains(path, ".env") || strings.Contains(path, "credentials") {
			v.Reasons = []hook.Reason{{Effect: hook.Deny, Reason: "Cannot write to sensitive files"}}
		}
		return v, nil
	}}}
	hooks := []*hook.Hook{{
		ID: "custom", Kind: hook.Inline, Source: "own", Scope: hook.Session, Authority: hook.User,
		Events: []hook.Name{hook.PreToolUse}, Matcher: "Write",
	}}
	for path, want := range map[string]hook.Result{"/home/dev/app/.env": hook.Reject, "/home/dev/app/main.go": hook.Continue} {
		ev, err := testEventOf(hook.PreToolUse, `{"tool_name": "Write", "tool_input": {"file_path": "`+path+`"}}`)
		if err != nil {
			t.Fatal(err)
		}
		if d := decide(t, o, hooks, ev); d.Result(true) != want {
			t.Errorf("%s: %s", path, describeDecision(&d))
		}
	}
}
