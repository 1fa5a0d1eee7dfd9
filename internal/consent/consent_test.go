package consent_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/consent"
)

// noon is when everything here happens, unless a test moves it.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// on are the rules of a machine that has approvals.
var on = consent.Approvals{Enabled: true}

// A desk is a store with somebody in front of it.
type desk struct {
	t     testing.TB
	store consent.Store
	now   time.Time
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	state := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	return &desk{t, consent.Store{Dir: filepath.Join(state, "consent")}, noon}
}

// person types back every code.
type person struct {
	bytes.Buffer
	typed string
}

var codePattern = regexp.MustCompile(`Type ([0-9a-z]{6}) to agree: $`)

func (p *person) Read(b []byte) (int, error) {
	if p.typed == "" {
		m := codePattern.FindStringSubmatch(p.String())
		if m == nil {
			return 0, fmt.Errorf("no code in %q", p.String())
		}
		p.typed = " " + strings.ToUpper(m[1]) + "\n"
	}
	n := copy(b, p.typed)
	p.typed = p.typed[n:]
	return n, nil
}

func unset(string) (string, bool) { return "", false }

// terminal is one that a person sits at.
func terminal(now time.Time) consent.Terminal {
	p := &person{}
	return consent.Terminal{In: p, Err: p, IsTerminal: true, Lookup: unset, Account: "ada", Now: now}
}

func (k *desk) witness() *consent.Witness {
	k.t.Helper()
	w, err := consent.Confirm(terminal(k.now), "grant something")
	if err != nil {
		k.t.Fatal(err)
	}
	return w
}

// call is a call with an answer that asks about it.
type call struct {
	ev hook.Event
	d  hook.Decision
}

// push asks about a push: edit changes it.
func push(now time.Time, edit ...func(*call)) *call {
	branch := "main"
	c := &call{
		ev: hook.Event{
			Agent: "claude", Name: hook.PreToolUse, Gate: hook.Gate{Now: now},
			Fields: map[string]any{
				"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/home/ada/site", "tool_name": "Bash",
				"tool_input": map[string]any{"command": "git push origin main", "description": "publish"},
			},
		},
		d: hook.Decision{
			ID: "k3v9qx", Event: hook.PreToolUse, Tool: "Bash", Effect: hook.Ask,
			Reasons: []hook.Reason{{ID: "acme.push", Effect: hook.Ask, Reason: "pushes to main", Hook: "acme.push", Source: "user"}},
			Facts: &hook.Facts{Effects: []hook.FactEffect{
				{Command: 1, Is: &hook.GitPush{Branches: []string{branch}}},
			}},
		},
	}
	for _, e := range edit {
		e(c)
	}
	return c
}

func field(name string, value any) func(*call) {
	return func(c *call) { c.ev = c.ev.With(name, value) }
}

func command(line any) func(*call) {
	return field("tool_input", map[string]any{"command": line, "description": "publish"})
}

func (k *desk) pending(c *call) consent.Pending {
	k.t.Helper()
	p, err := k.store.AddPending(&c.ev, &c.d, on)
	if err != nil {
		k.t.Fatal(err)
	}
	return p
}

// approve records the call and approves it.
func (k *desk) approve(c *call) {
	k.t.Helper()
	k.pending(c)
	p, err := k.store.Pending(c.d.ID)
	if err == nil {
		_, err = k.store.Approve(k.witness(), p, on, nil)
	}
	if err != nil {
		k.t.Fatal(err)
	}
}

func (k *desk) use(c *call) error { return k.store.Use(&c.ev, &c.d, on) }

// path returns the only file of one of the store's directories.
func (k *desk) path(dir string) string {
	k.t.Helper()
	files, _ := filepath.Glob(filepath.Join(k.store.Dir, dir, "*"))
	if len(files) != 1 {
		k.t.Fatalf("%s holds %q", dir, files)
	}
	return files[0]
}

func (k *desk) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}
