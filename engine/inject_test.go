package engine_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/setting"
	"gate/scopes"
)

// A failingFS fails the n-th thing that is done to it, and everything after if
// it stays broken.
type failingFS struct {
	fs.FS
	left *int
	stay bool
}

var errInjected = errors.New("input/output error")

func (f failingFS) fail(op, name string) error {
	*f.left--
	if *f.left == 0 || *f.left < 0 && f.stay {
		return &fs.PathError{Op: op, Path: name, Err: errInjected}
	}
	return nil
}

func (f failingFS) Open(name string) (fs.File, error) {
	if err := f.fail("open", name); err != nil {
		return nil, err
	}
	file, err := f.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if dir, ok := file.(fs.ReadDirFile); ok {
		return failingDir{dir, f}, nil
	}
	return failingFile{file, f}, nil
}

func (f failingFS) Lstat(name string) (fs.FileInfo, error) {
	if err := f.fail("lstat", name); err != nil {
		return nil, err
	}
	return fs.Lstat(f.FS, name)
}

func (f failingFS) ReadLink(name string) (string, error) { return fs.ReadLink(f.FS, name) }

type failingFile struct {
	fs.File
	fs failingFS
}

func (f failingFile) Read(p []byte) (int, error) {
	if err := f.fs.fail("read", ""); err != nil {
		return 0, err
	}
	return f.File.Read(p[:min(len(p), 64)])
}

func (f failingFile) Stat() (fs.FileInfo, error) {
	if err := f.fs.fail("stat", ""); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

type failingDir struct {
	fs.ReadDirFile
	fs failingFS
}

func (f failingDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if err := f.fs.fail("readdir", ""); err != nil {
		return nil, err
	}
	return f.ReadDirFile.ReadDir(n)
}

// Whatever fails while managed and user files are read, no call of theirs is
// judged more leniently.
func TestFailingFiles(t *testing.T) {
	m, probes := base(t)
	m = m.with(machine{
		"managed/settings.d/10.toml": "[policies]\n\"acme.push\" = \"deny\"\n",
		"managed/hooks.json":         `{"hooks": []}`,
		"user/settings.yaml":         "policies: {mine: deny}\n",
	})
	before := m.load(t, asIs)
	for _, stay := range []bool{false, true} {
		steps := 0
		for n := 1; ; n++ {
			left := n
			e := m.load(t, func(dir string, fsys fs.FS) fs.FS {
				if strings.HasPrefix(dir, "project") || strings.HasPrefix(dir, "plugin") {
					return fsys
				}
				return failingFS{fsys, &left, stay}
			})
			if left > 0 {
				break // it was done before the n-th
			}
			steps++
			for _, p := range probes {
				was, is := before.Decide(t.Context(), p.event()), e.Decide(t.Context(), p.event())
				if is.Effect < was.Effect {
					t.Fatalf("step %d fails: %s: %v instead of %v", n, p.text, is.Effect, was.Effect)
				}
			}
		}
		if steps < 40 {
			t.Errorf("only %d steps", steps)
		}
	}
}

// failing breaks the n-th question to an evaluator in one of several ways.
type failing struct {
	engine.Evaluator
	left *int
	how  string
}

func (f failing) Evaluate(ctx context.Context, hooks []*hook.Hook, ev *hook.Event) []engine.Answer {
	if *f.left--; *f.left != 0 {
		return f.Evaluator.Evaluate(ctx, hooks, ev)
	}
	answers := make([]engine.Answer, len(hooks))
	switch f.how {
	case "panic":
		panic("injected")
	case "short":
		return nil
	case "long":
		return make([]engine.Answer, len(hooks)+1)
	case "hang":
		<-ctx.Done()
	}
	for i := range answers {
		answers[i] = engine.Answer{
			Fault:   hook.Faultf(hook.FaultKind(f.how), "injected"),
			Verdict: hook.Verdict{Reasons: []hook.Reason{{Effect: hook.Allow, Reason: "and yet"}}, Rewrites: []hook.Rewrite{{Input: map[string]any{"command": "x"}}}},
		}
	}
	return answers
}

// Whatever goes wrong in a run of managed hooks, the call is not judged more
// leniently; of lower ones the call goes on without them, never with a yes of
// theirs.
func TestFailingEvaluator(t *testing.T) {
	managed := source("managed", hook.Policy, hook.Managed)
	second := source("other", hook.Policy, hook.Managed)
	project := source("project", hook.Session, hook.Project)
	sources := []scopes.Source{managed, second, project}
	for _, effect := range []hook.Effect{hook.Pass, hook.Allow, hook.Ask, hook.Deny} {
		answer := evalFunc(func(_ context.Context, h *hook.Hook, _ *hook.Event) engine.Answer {
			if h.Source == "project" {
				return engine.Answer{}
			}
			return engine.Answer{Verdict: hook.Verdict{Reasons: []hook.Reason{{Effect: effect, Reason: "r"}}}}
		})
		for _, how := range []string{"panic", "short", "long", "hang", "timeout", "memory", "eval", "output", "internal"} {
			for n := range 6 {
				left, options := 1+n/2, []engine.Option{}
				if n%2 > 0 {
					options = append(options, engine.WithInline())
				}
				e := newEngine(t, sources, scopes.Settings{}, append(options, engine.WithEvaluator(hook.Rego, failing{answer, &left, how}))...)
				ctx, cancel := context.WithTimeout(t.Context(), 40*time.Millisecond)
				d := e.Decide(ctx, call("ls"))
				cancel()
				if n < 4 && d.Effect != hook.Deny || d.Effect < effect || d.Rewrite != nil {
					t.Errorf("%s at question %d: %v where %v is said", how, 1+n/2, d.Effect, effect)
				}
			}
		}
	}
}

// With faults: deny, what breaks below closes, too.
func TestFaultsClose(t *testing.T) {
	settings, err := setting.Combine(scopes.Layer{Authority: hook.User, File: "u", Faults: hook.FaultDeny})
	if err != nil {
		t.Fatal(err)
	}
	fault := evalFunc(func(_ context.Context, h *hook.Hook, _ *hook.Event) engine.Answer {
		if h.Source == "project" {
			return engine.Answer{Fault: hook.Faultf(hook.FaultEval, "failed")}
		}
		return engine.Answer{}
	})
	broken := source("plugin:x", hook.Plugin, hook.PluginAuthor)
	broken.Faults = []hook.Fault{*hook.Faultf(hook.FaultLoad, "x.rego:1: broken")}
	for name, sources := range map[string][]scopes.Source{
		"run":  {nobody, source("project", hook.Session, hook.Project)},
		"load": {nobody, broken},
	} {
		for _, s := range []scopes.Settings{{}, settings} {
			d := newEngine(t, sources, s, engine.WithEvaluator(hook.Rego, fault)).Decide(t.Context(), call("ls"))
			want := hook.Pass
			if s.FaultsClose {
				want = hook.Deny
			}
			if d.Effect != want || want == hook.Deny && !strings.Contains(d.Reason(), "could not") {
				t.Errorf("%s, faults close %v: %v %q", name, s.FaultsClose, d.Effect, d.Reason())
			}
		}
	}
}

// The deadline of settings cuts the caller's, and closes.
func TestDeadlineOfSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := evalFunc(func(ctx context.Context, _ *hook.Hook, _ *hook.Event) engine.Answer {
			<-ctx.Done()
			return engine.Answer{Fault: &hook.Fault{Kind: hook.FaultTimeout, Err: ctx.Err()}}
		})
		settings, err := setting.Combine(scopes.Layer{Authority: hook.Managed, Deadline: 2 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		e := newEngine(t, []scopes.Source{source("managed", hook.Policy, hook.Managed)}, settings, engine.WithEvaluator(hook.Rego, hangs))
		start := time.Now()
		if d := e.Decide(t.Context(), call("ls")); d.Effect != hook.Deny || time.Since(start) >= 2*time.Second {
			t.Errorf("%v after %v", d.Effect, time.Since(start))
		}
	})
}
