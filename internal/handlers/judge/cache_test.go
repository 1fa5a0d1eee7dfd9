package judge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/engine/models"
	"gate/hook"
	"gate/internal/handlers/judge"
	"gate/internal/setting"
	"gate/scopes"
)

// A keeper asks a server through a judge that keeps verdicts.
type keeper struct {
	t       *testing.T
	s       *server
	dir     string
	now     time.Time
	options judge.Options
}

func newKeeper(t *testing.T, text string) *keeper {
	k := &keeper{t: t, dir: filepath.Join(t.TempDir(), "judge"), now: time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)}
	k.s = newServer(t, func(*turn) answer { return answer{text: text} })
	k.options = judge.Options{
		Models:   models.Connect,
		Settings: settings(t, map[string]setting.Provider{"p": k.s.provider("openai"), "q": k.s.provider("anthropic")}, setting.Judges{Provider: "p"}),
		Getenv:   getenv, Dir: k.dir, Now: func() time.Time { return k.now },
	}
	return k
}

// ask returns the ruling, and whether the model was asked.
func (k *keeper) ask(q judge.Question) (r judge.Ruling, asked bool) {
	k.t.Helper()
	if q.Authority == 0 {
		q.Authority = hook.User
	}
	before := len(k.s.asked())
	r, fault := judge.New(k.options).Ask(k.t.Context(), q)
	if fault != nil {
		k.t.Fatal(fault)
	}
	if asked = len(k.s.asked()) > before; asked == r.Usage.Cached {
		k.t.Errorf("asked %v, and %+v", asked, r.Usage)
	}
	return r, asked
}

// TestKept keeps verdicts for the same question only, and for a while.
func TestKept(t *testing.T) {
	for _, text := range []string{`{"ok": true}`, `{"ok": false, "reason": "it deletes\nthe \u001b database"}`} {
		k := newKeeper(t, text)
		same := judge.Question{Prompt: "Safe?", Event: bash("ls")}
		first, asked := k.ask(same)
		if !asked {
			t.Fatal("nobody was asked")
		}
		again, asked := k.ask(same)
		if asked || again.OK != first.OK || again.Reason != first.Reason || again.Usage.InputTokens != 100 || !again.Usage.Cached || again.Usage.Model != "m" {
			t.Errorf("%+v, then %+v", first, again)
		}
		other := bash("ls") // another moment of the same call
		other.Fields["session_id"], other.Fields["tool_use_id"], other.Fields["transcript_path"] = "s-2", "toolu_2", "/t"
		if _, asked := k.ask(judge.Question{Prompt: "Safe?", Event: other}); asked {
			t.Error("the same call of another session was asked about")
		}
		elsewhere, mode := bash("ls"), bash("ls")
		elsewhere.Fields["cwd"], mode.Fields["permission_mode"] = "/elsewhere", "plan"
		for name, q := range map[string]judge.Question{
			"call":       {Prompt: "Safe?", Event: bash("ls -l")},
			"directory":  {Prompt: "Safe?", Event: elsewhere},
			"mode":       {Prompt: "Safe?", Event: mode},
			"prompt":     {Prompt: "Safe? ", Event: bash("ls")},
			"model":      {Prompt: "Safe?", Model: "p/other", Event: bash("ls")},
			"provider":   {Prompt: "Safe?", Model: "q", Event: bash("ls")},
			"transcript": {Prompt: "Safe?", Event: bash("ls"), Transcript: true},
		} {
			if _, asked := k.ask(q); !asked {
				t.Errorf("another %s was not asked about", name)
			}
		}
		for _, age := range []time.Duration{setting.DefaultKeep + time.Second, -time.Second} {
			k.now = k.now.Add(age)
			if _, asked := k.ask(same); !asked {
				t.Errorf("a verdict is good after %s", age)
			}
		}
		entries, err := os.ReadDir(k.dir)
		if err != nil || len(entries) != 8 {
			t.Errorf("%d files: %v", len(entries), err)
		}
		for _, e := range entries {
			if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 || strings.HasPrefix(e.Name(), "new-") {
				t.Errorf("%s: %v %v", e.Name(), info.Mode(), err)
			}
		}
	}
}

// TestNotKept asks again where nothing may be kept: hooks of the administrator,
// settings that say so, investigations, faults.
func TestNotKept(t *testing.T) {
	k := newKeeper(t, `{"ok": true}`)
	managed, err := setting.Combine(scopes.Layer{Authority: hook.Managed, File: "m", Providers: map[string]setting.Provider{"p": k.s.provider("openai")}})
	if err != nil {
		t.Fatal(err)
	}
	off := settings(t, map[string]setting.Provider{"p": k.s.provider("openai")}, setting.Judges{KeepSet: true})
	for _, row := range []struct {
		settings scopes.Settings
		of       hook.Authority
	}{{managed, hook.Managed}, {off, hook.User}} {
		k.options.Settings = row.settings
		for range 2 {
			if _, asked := k.ask(judge.Question{Prompt: "Safe?", Event: bash("ls"), Authority: row.of}); !asked {
				t.Errorf("%s: a verdict was kept", row.of)
			}
		}
	}
	if _, err := os.Stat(k.dir); err == nil {
		t.Error("something is in the directory")
	}
}

// TestKeptBroken takes nothing for a verdict that is not one of this account's,
// whole and of the right form.
func TestKeptBroken(t *testing.T) {
	k := newKeeper(t, `{"ok": false, "reason": "no"}`)
	q := judge.Question{Prompt: "Safe?", Event: bash("ls")}
	k.ask(q)
	entries, err := os.ReadDir(k.dir)
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}
	path := filepath.Join(k.dir, entries[0].Name())
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set := func(old, with string) []byte {
		s := strings.Replace(string(good), old, with, 1)
		if s == string(good) {
			t.Fatalf("no %s in %s", old, good)
		}
		return []byte(s)
	}
	for name, data := range map[string][]byte{
		"empty": nil, "half": good[:len(good)/2], "twice": append(append([]byte(nil), good...), good...), "huge": append(good, make([]byte, 1<<20)...),
		"ok without reason": set(`"reason":"no"`, `"reason":""`), "ok with reason": set(`"ok":false`, `"ok":true`),
		"ok as text": set(`"ok":false`, `"ok":"true"`), "another form": set(`"v":1`, `"v":2`), "from the future": set("2027", "2127"),
		"long ago": set("2027", "2026"), "no time": set("2027", "x"), "more": set(`"v":1`, `"v":1,"w":1`), "duplicate": set(`"ok":false`, `"ok":false,"ok":true`),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if r, asked := k.ask(q); !asked || r.OK {
			t.Errorf("%s is taken for a verdict: %+v", name, r)
		}
	}
	if os.Getuid() < 0 {
		return
	}
	for name, spoil := range map[string]func() error{
		"readable for others": func() error { return os.Chmod(path, 0o644) },
		"a link": func() error {
			other := write(t, t.TempDir(), "x", string(good))
			os.Remove(path)
			return os.Symlink(other, path)
		},
		"a second name":       func() error { return os.Link(path, filepath.Join(t.TempDir(), "x")) },
		"a directory":         func() error { os.Remove(path); return os.Mkdir(path, 0o700) },
		"everybody's storage": func() error { os.RemoveAll(path); return os.Chmod(k.dir, 0o777) },
	} {
		os.RemoveAll(path)
		os.Chmod(k.dir, 0o700)
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if _, asked := k.ask(q); !asked {
			t.Errorf("%s is taken for a verdict", name)
		}
	}
}

// TestKeptMany bounds what is kept, and survives many at once.
func TestKeptMany(t *testing.T) {
	k := newKeeper(t, `{"ok": true}`)
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 1200 {
		write(t, k.dir, fmt.Sprintf("old%d", i), "x")
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 5 {
				r, fault := judge.New(k.options).Ask(t.Context(), judge.Question{Prompt: "Safe?", Authority: hook.User, Event: bash(fmt.Sprint("ls ", (i+n)%7))})
				if fault != nil || !r.OK {
					t.Errorf("%+v %v", r, fault)
				}
			}
		})
	}
	wg.Wait()
	entries, err := os.ReadDir(k.dir)
	if err != nil || len(entries) > 1000 || len(k.s.asked()) < 7 {
		t.Errorf("%d files, %d asked, %v", len(entries), len(k.s.asked()), err)
	}
}
