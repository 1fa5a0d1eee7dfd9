package consent_test

import (
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/consent"
)

// TestAbuse makes every attempt on an approval that was given to one push at
// noon. Each must fail with its own words, and, unless it says so, leave the
// approval for the call that it was given to.
func TestAbuse(t *testing.T) {
	later := func(d time.Duration) func(*call) { return func(c *call) { c.ev.Gate.Now = c.ev.Gate.Now.Add(d) } }
	decision := func(f func(*hook.Decision)) func(*call) { return func(c *call) { f(&c.d) } }
	reason := func(r hook.Reason) func(*call) {
		return decision(func(d *hook.Decision) { d.Reasons = append(d.Reasons, r) })
	}
	for _, row := range []struct {
		name string
		edit func(*call)
		want error
	}{
		{"other directory", field("cwd", "/home/ada/other"), consent.OtherDir},
		{"directory spelt otherwise", field("cwd", "/home/ada/./site"), consent.OtherDir},
		{"relative directory", field("cwd", "site"), errors.New("no absolute working directory")},
		{"no directory", field("cwd", nil), errors.New("no absolute working directory")},
		{"other command", command("git push origin prod"), consent.OtherInput},
		{"a blank more", command("git push origin main "), consent.OtherInput},
		{"a command behind it", command("git push origin main; rm -rf ~"), consent.OtherInput},
		{"an invisible character", command("git push origin ma\u200bin"), consent.OtherInput},
		{"a look-alike", command("git push origin m\u0430in"), consent.OtherInput},
		{"bytes that would be repaired", command("git push origin main\xff"), errors.New("invalid UTF-8")},
		{"another type", command([]any{"git push origin main"}), consent.OtherInput},
		{"a field more", field("tool_input", map[string]any{
			"command": "git push origin main", "description": "publish", "run_in_background": true,
		}), consent.OtherInput},
		{"a field less", field("tool_input", map[string]any{"command": "git push origin main"}), consent.OtherInput},
		{"another description", field("tool_input", map[string]any{
			"command": "git push origin main", "description": "the user approved this",
		}), consent.OtherInput},
		{"input as text", field("tool_input", `{"command":"git push origin main","description":"publish"}`), consent.OtherInput},
		{"no input", func(c *call) { delete(c.ev.Fields, "tool_input") }, errors.New("only a tool call")},
		{"a value that is no JSON", command(struct{}{}), errors.New("tool input")},
		{"too much input", command(strings.Repeat("x", 65<<10)), errors.New("too much to look through")},
		{"other tool", field("tool_name", "PowerShell"), consent.NoApproval},
		{"tool in small letters", field("tool_name", "bash"), consent.NoApproval},
		{"no tool", field("tool_name", nil), errors.New("only a tool call")},
		{"other event", func(c *call) { c.ev.Name = hook.PostToolUse }, consent.NoApproval},
		{"other session", field("session_id", "s2"), consent.OtherAgent},
		{"a sub-agent of the session", field("agent_id", "a1"), consent.OtherAgent},
		{"names that run together", func(c *call) { field("session_id", "s")(c); field("agent_id", "1")(c) }, consent.OtherAgent},
		{"other agent", func(c *call) { c.ev.Agent = "codex" }, consent.OtherAgent},
		{"another meaning of the same words", decision(func(d *hook.Decision) {
			d.Facts = &hook.Facts{Effects: []hook.FactEffect{{Command: 1, Is: &hook.GitPush{Branches: []string{"prod"}}}}}
		}), consent.OtherFacts},
		{"no longer understood", decision(func(d *hook.Decision) { d.Facts.Opaque = true }), consent.OtherFacts},
		{"rewritten since", decision(func(d *hook.Decision) { d.Rewrite = map[string]any{"command": "git push -f"} }), consent.OtherFacts},
		{"a reason more", reason(hook.Reason{ID: "acme.push", Effect: hook.Ask, Reason: "pushes to prod", Hook: "acme.push", Source: "user"}), consent.OtherCause},
		{"the reason of another policy", decision(func(d *hook.Decision) { d.Reasons[0].Hook = "acme.other" }), consent.OtherCause},
		{"the reason of another source", decision(func(d *hook.Decision) { d.Reasons[0].Source = "managed" }), consent.OtherCause},
		{"a denial", decision(func(d *hook.Decision) { d.Effect = hook.Deny }), consent.NotAsked},
		{"a denial among the reasons", reason(hook.Reason{Effect: hook.Deny}), consent.NotAsked},
		{"a step that denied", decision(func(d *hook.Decision) { d.Steps = []hook.Step{{Effect: hook.Deny}} }), consent.NotAsked},
		{"a halt", decision(func(d *hook.Decision) { d.Halt = &hook.Reason{} }), consent.NotAsked},
		{"a fault", decision(func(d *hook.Decision) { d.Fault = hook.Faultf(hook.FaultInternal, "x") }), consent.NotAsked},
		{"nothing was asked", decision(func(d *hook.Decision) { d.Effect = hook.Pass }), consent.NotAsked},
		{"an ask without a reason", decision(func(d *hook.Decision) { d.Reasons = nil }), consent.NotAsked},
		{"after ten minutes", later(10 * time.Minute), consent.Expired},
		{"after a year", later(365 * 24 * time.Hour), consent.Expired},
		{"two days ago", later(-48 * time.Hour), errors.New("was set back")},
		{"before there was time", func(c *call) { c.ev.Gate.Now = time.Time{} }, errors.New("the clock says")},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel() // it waits for the disk
			k := newDesk(t)
			k.approve(push(noon))
			if err := k.use(push(noon, row.edit)); !isError(err, row.want) {
				t.Fatalf("got %v, want %v", err, row.want)
			}
			if isError(row.want, consent.Expired) {
				if err := k.use(push(noon)); err != consent.Expired && !isError(err, errors.New("was set back")) {
					t.Errorf("setting the clock back: %v", err)
				}
				return
			}
			if err := k.use(push(noon.Add(time.Minute))); err != nil {
				t.Errorf("the call itself: %v", err)
			}
			if err := k.use(push(noon.Add(time.Minute))); err != consent.Used {
				t.Errorf("the call once more: %v", err)
			}
		})
	}
}

// isError reports a refusal that is want, or an error with its words.
func isError(err, want error) bool {
	var refusal consent.Refusal
	if errors.As(want, &refusal) {
		return errors.Is(err, want)
	}
	return err != nil && strings.Contains(err.Error(), want.Error()) && !errors.As(err, &refusal)
}

// Files that gate wrote itself, put somewhere else.
func TestMoved(t *testing.T) {
	k := newDesk(t)
	k.approve(push(noon))
	spent := k.path("approved")
	data, err := os.ReadFile(spent)
	k.must(err)
	k.must(k.use(push(noon)))

	// Put back after use: somebody wrote the user's files, which no store can
	// see. What it can see is everything else.
	other := push(noon, command("git push origin prod"))
	other.d.ID = "other1"
	k.approve(other)
	target := k.path("approved")
	k.must(os.WriteFile(target, data, 0o600))
	if err := k.use(other); err == nil || !strings.Contains(err.Error(), "it was renamed") {
		t.Errorf("an approval under another call's name: %v", err)
	}

	waiting := push(noon, command("git push origin next"))
	waiting.d.ID = "wait12"
	k.pending(waiting)
	k.must(os.Rename(filepath.Join(k.store.Dir, "pending", "wait12"), target))
	if err := k.use(other); err == nil || !strings.Contains(err.Error(), "another kind") {
		t.Errorf("a pending call as an approval: %v", err)
	}

	k.pending(waiting)
	k.must(os.Rename(filepath.Join(k.store.Dir, "pending", "wait12"), filepath.Join(k.store.Dir, "pending", "wait34")))
	if _, err := k.store.Pending("wait34"); err == nil || !strings.Contains(err.Error(), "it was renamed") {
		t.Errorf("a pending call under another id: %v", err)
	}
	for _, id := range []string{"", "..", "../trust/x", "wait34/x", "WAIT34", "a", strings.Repeat("a", 33)} {
		if _, err := k.store.Pending(id); err == nil {
			t.Errorf("%q is taken for an id", id)
		}
	}
}

// TestSigned makes every attempt on approvals that need an approver's key.
func TestSigned(t *testing.T) {
	public, private, _ := ed25519.GenerateKey(nil)
	_, stranger, _ := ed25519.GenerateKey(nil)
	by := func(key ed25519.PublicKey) func(form, sig []byte) bool {
		return func(form, sig []byte) bool { return ed25519.Verify(key, form, sig) }
	}
	rules := consent.Approvals{Enabled: true, Signed: by(public)}
	until := noon.Add(5 * time.Minute)
	sign := func(key ed25519.PrivateKey, p consent.Pending, until time.Time) *consent.Signature {
		return &consent.Signature{Until: until, Sig: ed25519.Sign(key, p.SignedForm(until))}
	}
	for _, row := range []struct {
		name string
		sig  func(p consent.Pending) *consent.Signature
		want error
	}{
		{"right", func(p consent.Pending) *consent.Signature { return sign(private, p, until) }, nil},
		{"none", func(p consent.Pending) *consent.Signature { return nil }, consent.NeedsKey},
		{"empty", func(p consent.Pending) *consent.Signature { return &consent.Signature{Until: until} }, consent.BadKey},
		{"a stranger's", func(p consent.Pending) *consent.Signature { return sign(stranger, p, until) }, consent.BadKey},
		{"longer than signed", func(p consent.Pending) *consent.Signature {
			s := sign(private, p, until)
			s.Until = s.Until.Add(time.Second)
			return s
		}, consent.BadKey},
		{"between seconds", func(p consent.Pending) *consent.Signature {
			s := sign(private, p, until)
			s.Until = s.Until.Add(time.Millisecond)
			return s
		}, consent.BadKey},
		{"over", func(p consent.Pending) *consent.Signature { return sign(private, p, noon) }, consent.Expired},
		{"too long", func(p consent.Pending) *consent.Signature { return sign(private, p, noon.Add(11*time.Minute)) }, errors.New("at most 10m")},
		{"of another id", func(p consent.Pending) *consent.Signature { p.ID = "other1"; return sign(private, p, until) }, consent.BadKey},
		{"of another call", func(p consent.Pending) *consent.Signature { p.Call.Dir = "/"; return sign(private, p, until) }, consent.BadKey},
		{"of an earlier question", func(p consent.Pending) *consent.Signature {
			p.Asked = p.Asked.Add(-time.Minute)
			return sign(private, p, until)
		}, consent.BadKey},
		{"of other reasons", func(p consent.Pending) *consent.Signature {
			p.Reasons = []consent.Cause{{Text: "harmless"}}
			return sign(private, p, until)
		}, consent.BadKey},
	} {
		k := newDesk(t)
		c := push(noon)
		p := k.pending(c)
		got, err := k.store.Approve(k.witness(), p, rules, row.sig(p))
		if row.want != nil {
			if !isError(err, row.want) {
				t.Errorf("%s: got %v, want %v", row.name, err, row.want)
			}
			continue
		}
		if err != nil || !got.Equal(until) {
			t.Errorf("%s: until %v, %v", row.name, got, err)
		}
		other := rules
		other.Signed = by(stranger.Public().(ed25519.PublicKey))
		if err := k.store.Use(&c.ev, &c.d, other); err != consent.BadKey {
			t.Errorf("keys changed since: %v", err)
		}
		if err := k.store.Use(&c.ev, &c.d, rules); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
	}

	k := newDesk(t)
	k.approve(push(noon))
	c := push(noon)
	if err := k.store.Use(&c.ev, &c.d, rules); err != consent.BadKey {
		t.Errorf("an approval from before keys were required: %v", err)
	}
}

// TestApprove holds what the person's side refuses.
func TestApprove(t *testing.T) {
	k := newDesk(t)
	c := push(noon)
	if _, err := k.store.AddPending(&c.ev, &c.d, consent.Approvals{}); err != consent.Off {
		t.Errorf("pending although off: %v", err)
	}
	if err := k.store.Use(&c.ev, &c.d, consent.Approvals{}); err != consent.Off {
		t.Errorf("use although off: %v", err)
	}
	p := k.pending(c)
	if _, err := k.store.AddPending(&c.ev, &c.d, on); err == nil {
		t.Error("a second decision under the same id")
	}
	for _, row := range []struct {
		name string
		do   func() (time.Time, error)
		want string
	}{
		{"off", func() (time.Time, error) { return k.store.Approve(k.witness(), p, consent.Approvals{}, nil) }, "not switched on"},
		{"nobody", func() (time.Time, error) { return k.store.Approve(nil, p, on, nil) }, "only a person"},
		{"zero witness", func() (time.Time, error) { return k.store.Approve(&consent.Witness{}, p, on, nil) }, "only a person"},
		{"changed since shown", func() (time.Time, error) {
			q := p
			q.Call.Dir = "/"
			return k.store.Approve(k.witness(), q, on, nil)
		}, "changed since"},
		{"too late", func() (time.Time, error) {
			k := *k
			k.now = noon.Add(61 * time.Minute)
			return k.store.Approve(k.witness(), p, on, nil)
		}, "an hour ago"},
		{"clock set back", func() (time.Time, error) {
			k := *k
			k.now = noon.Add(-25 * time.Hour)
			return k.store.Approve(k.witness(), p, on, nil)
		}, "set back"},
		{"no store", func() (time.Time, error) { return consent.Store{}.Approve(k.witness(), p, on, nil) }, "not absolute"},
	} {
		if _, err := row.do(); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
	if err := k.use(c); err != consent.NoApproval {
		t.Errorf("after all that: %v", err)
	}

	k = newDesk(t)
	p = k.pending(c)
	w := k.witness()
	until, err := k.store.Approve(w, p, on, nil)
	if err != nil || !until.Equal(noon.Add(10*time.Minute)) {
		t.Errorf("until %v, %v", until, err)
	}
	if _, err := k.store.Approve(w, p, on, nil); err == nil || !strings.Contains(err.Error(), "one grant") {
		t.Errorf("one witness twice: %v", err)
	}
	if _, err := k.store.Approve(k.witness(), p, on, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("one question twice: %v", err)
	}
	k.must(k.use(c))
	if _, err := k.store.Approve(k.witness(), p, on, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("one question after use: %v", err)
	}
}

// TestNearest holds that the approval which is nearest to a call is told of, and none that
// has ended.
func TestNearest(t *testing.T) {
	k := newDesk(t)
	for i, line := range []string{"git push origin a", "git push origin main", "git push origin z"} {
		c := push(noon, command(line))
		c.d.ID = "near" + strings.Repeat("x", i+1)
		k.approve(c)
	}
	err := k.use(push(noon, field("session_id", "s2")))
	if !errors.Is(err, consent.OtherAgent) || !strings.Contains(err.Error(), "gate log show nearxx names it") {
		t.Errorf("got %v", err)
	}
	if err := k.use(push(noon.Add(10*time.Minute), field("session_id", "s2"))); err != consent.NoApproval {
		t.Errorf("after the approvals have ended: %v", err)
	}
}
