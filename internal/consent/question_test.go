package consent_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/consent"
)

// An approver is somebody elsewhere with a key.
type approver struct{ key ed25519.PrivateKey }

func newApprover() approver {
	_, key, _ := ed25519.GenerateKey(nil)
	return approver{key}
}

func (a approver) sign(statement []byte) []byte {
	return hex.AppendEncode(nil, ed25519.Sign(a.key, statement))
}

// rules let the approver answer as ana until a time.
func (a approver) rules(until time.Time) consent.Approvals {
	return consent.Approvals{Enabled: true, Elsewhere: func(statement, signature []byte, at time.Time) (string, error) {
		raw, err := hex.DecodeString(string(signature))
		switch {
		case err != nil || !ed25519.Verify(a.key.Public().(ed25519.PublicKey), statement, raw):
			return "", errors.New("a signature by a key that is not among them")
		case !at.Before(until):
			return "", errors.New("the key of ana has expired")
		}
		return "ana", nil
	}}
}

const shownText = "may it push?"

// ask puts the question of a call.
func (k *desk) ask(c *call, rules consent.Approvals) consent.Question {
	k.t.Helper()
	q, text, err := k.store.Ask(k.pending(c), func(time.Time) string { return shownText }, rules, k.now)
	if err != nil || text != shownText {
		k.t.Fatal(text, err)
	}
	return q
}

func (k *desk) useAnswer(c *call, rules consent.Approvals) (string, error) {
	return k.store.UseAnswer(&c.ev, &c.d, rules)
}

// TestAnswer lets one call pass once by an approver's signature, and says no by one.
func TestAnswer(t *testing.T) {
	k, ana, c := newDesk(t), newApprover(), push(noon)
	rules := ana.rules(noon.Add(time.Hour))
	q := k.ask(c, rules)
	for _, want := range []string{"decision k3v9qx\n", `directory "/home/ada/site"` + "\n", "session " + q.Pending.Call.Session, "input ", "facts " + q.Pending.Call.Facts, "expires 2026-11-21T12:10:00Z\n", "nonce " + q.Nonce, "shown " + consent.ShownDigest(shownText)} {
		if !strings.Contains(string(q.Statement(true)), want) {
			t.Errorf("the statement lacks %q:\n%s", want, q.Statement(true))
		}
	}
	if _, err := k.useAnswer(c, rules); !errors.Is(err, consent.NoApproval) {
		t.Errorf("silence: %v", err)
	}
	a, err := k.store.Answer("k3v9qx", true, ana.sign(q.Statement(true)), rules, noon.Add(time.Minute))
	if err != nil || a.Who != "ana" || !a.Yes {
		t.Fatal(a, err)
	}
	if _, err := k.store.Answer("k3v9qx", false, ana.sign(q.Statement(false)), rules, noon.Add(time.Minute)); !errors.Is(err, consent.Answered) || !strings.Contains(err.Error(), "ana said yes at 2026-11-21T12:01:00Z") {
		t.Errorf("a second answer: %v", err)
	}
	if _, asked, err := k.store.Asked(&c.ev, &c.d); err != nil || asked == nil || !asked.Yes {
		t.Errorf("what was answered: %v %v", asked, err)
	}
	if who, err := k.useAnswer(c, rules); err != nil || who != "ana" {
		t.Fatal(who, err)
	}
	if _, err := k.useAnswer(c, rules); err == nil {
		t.Error("it was used twice")
	}
	if _, err := k.store.Answer("k3v9qx", true, ana.sign(q.Statement(true)), rules, noon.Add(time.Minute)); !errors.Is(err, consent.NoQuestion) {
		t.Errorf("replayed: %v", err)
	}

	again := push(noon, func(c *call) { c.d.ID = "aaaaaa" })
	second := k.ask(again, rules)
	if _, err := k.store.Answer("aaaaaa", true, ana.sign(q.Statement(true)), rules, noon); !errors.Is(err, consent.BadKey) {
		t.Errorf("the answer to an earlier question about the same call: %v", err)
	}
	if _, err := k.store.Answer("aaaaaa", false, ana.sign(second.Statement(false)), rules, noon); err != nil {
		t.Fatal(err)
	}
	if who, err := k.useAnswer(again, rules); !errors.Is(err, consent.SaidNo) || who != "ana" {
		t.Errorf("no: %v %v", who, err)
	}
}

// TestAnswerRefused makes every attempt on one question. None may let a call pass.
func TestAnswerRefused(t *testing.T) {
	ana, mallory := newApprover(), newApprover()
	good := ana.rules(noon.Add(time.Hour))
	for _, row := range []struct {
		name   string
		sign   func(consent.Question) []byte // nil: as ana does
		yes    bool
		at     time.Duration
		rules  func() consent.Approvals // of the answer; nil: good
		later  func() consent.Approvals // of the use; nil: good
		use    func(*call)
		answer error // of Answer; nil: it is taken
		want   error // of UseAnswer
	}{
		{name: "right", yes: true},
		{name: "a no turned into a yes", yes: true, sign: func(q consent.Question) []byte { return ana.sign(q.Statement(false)) }, answer: consent.BadKey, want: consent.NoApproval},
		{name: "by another key", yes: true, sign: func(q consent.Question) []byte { return mallory.sign(q.Statement(true)) }, answer: consent.BadKey, want: consent.NoApproval},
		{name: "nothing", yes: true, sign: func(consent.Question) []byte { return nil }, answer: consent.BadKey, want: consent.NoApproval},
		{name: "a long signature", yes: true, sign: func(consent.Question) []byte { return make([]byte, 1<<20) }, answer: consent.BadKey, want: consent.NoApproval},
		{name: "altered", yes: true, sign: func(q consent.Question) []byte {
			return ana.sign(bytes.Replace(q.Statement(true), []byte("/home/ada/site"), []byte("/home/ada/else"), 1))
		}, answer: consent.BadKey, want: consent.NoApproval},
		{name: "another text was shown", yes: true, sign: func(q consent.Question) []byte {
			q.Shown = consent.ShownDigest("may it look?")
			return ana.sign(q.Statement(true))
		}, answer: consent.BadKey, want: consent.NoApproval},
		{name: "a longer life", yes: true, sign: func(q consent.Question) []byte {
			q.Until = q.Until.Add(time.Hour)
			return ana.sign(q.Statement(true))
		}, answer: consent.BadKey, want: consent.NoApproval},
		{name: "late", yes: true, at: 10 * time.Minute, answer: consent.Expired, want: consent.NoApproval},
		{name: "in time and used late", yes: true, use: func(c *call) { c.ev.Gate.Now = noon.Add(10 * time.Minute) }, want: consent.Expired},
		{name: "late, and the clock is set back", yes: true, at: 10 * time.Minute, answer: consent.Expired, use: func(c *call) { c.ev.Gate.Now = noon }, want: consent.NoApproval},
		{name: "an expired key", yes: true, rules: func() consent.Approvals { return ana.rules(noon) }, answer: consent.BadKey, want: consent.NoApproval},
		{name: "a key that is revoked before it is used", yes: true, later: func() consent.Approvals { return mallory.rules(noon.Add(time.Hour)) }, want: consent.BadKey},
		{name: "nobody may answer any more", yes: true, later: func() consent.Approvals { return on }, want: consent.NoApprovers},
		{name: "approvals are off", yes: true, rules: func() consent.Approvals { return consent.Approvals{Elsewhere: good.Elsewhere} }, answer: consent.Off, want: consent.NoApproval},
		{name: "another input", yes: true, use: command("git push origin prod"), want: consent.NoApproval},
		{name: "another directory", yes: true, use: field("cwd", "/home/ada/other"), want: consent.NoApproval},
		{name: "another session", yes: true, use: field("session_id", "s2"), want: consent.NoApproval},
		{name: "other facts", yes: true, use: func(c *call) { c.d.Facts = &hook.Facts{Opaque: true} }, want: consent.NoApproval},
		{name: "a further reason", yes: true, use: func(c *call) {
			c.d.Reasons = append(c.d.Reasons, hook.Reason{ID: "x", Effect: hook.Ask, Reason: "more", Hook: "x", Source: "user"})
		}, want: consent.OtherCause},
		{name: "a denial", yes: true, use: func(c *call) { c.d.Effect = hook.Deny }, want: consent.NotAsked},
		{name: "a halt", yes: true, use: func(c *call) { c.d.Halt = &hook.Reason{} }, want: consent.NotAsked},
		{name: "a no", want: consent.SaidNo},
	} {
		k, c := newDesk(t), push(noon)
		q := k.ask(c, good)
		sign, rules, later := row.sign, good, good
		if sign == nil {
			sign = func(q consent.Question) []byte { return ana.sign(q.Statement(row.yes)) }
		}
		if row.rules != nil {
			rules = row.rules()
		}
		if row.later != nil {
			later = row.later()
		}
		if _, err := k.store.Answer("k3v9qx", row.yes, sign(q), rules, noon.Add(row.at)); !errors.Is(err, row.answer) {
			t.Errorf("%s: answered: %v, want %v", row.name, err, row.answer)
		}
		if row.use != nil {
			row.use(c)
		}
		if _, err := k.useAnswer(c, later); !errors.Is(err, row.want) {
			t.Errorf("%s: used: %v, want %v", row.name, err, row.want)
		}
	}
}

// TestAnswersAtOnce has many answer and many use at the same time: one of each counts.
func TestAnswersAtOnce(t *testing.T) {
	k, ana, c := newDesk(t), newApprover(), push(noon)
	rules := ana.rules(noon.Add(time.Hour))
	q := k.ask(c, rules)
	var taken, used atomic.Int32
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			yes := i%2 == 0
			_, err := k.store.Answer("k3v9qx", yes, ana.sign(q.Statement(yes)), rules, noon)
			if err == nil {
				taken.Add(1)
			} else if !errors.Is(err, consent.Answered) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if taken.Load() != 1 {
		t.Errorf("%d answers counted", taken.Load())
	}
	_, a, err := k.store.Asked(&c.ev, &c.d)
	k.must(err)
	for range 16 {
		all.Go(func() {
			if _, err := k.useAnswer(c, rules); err == nil {
				used.Add(1)
			}
		})
	}
	all.Wait()
	want := int32(0)
	if a.Yes {
		want = 1
	}
	if used.Load() != want {
		t.Errorf("answered %v and used %d times", a.Yes, used.Load())
	}
}

// TestAnswerUnwritten keeps a question open whose answer cannot be written down.
func TestAnswerUnwritten(t *testing.T) {
	k, ana, c := newDesk(t), newApprover(), push(noon)
	rules := ana.rules(noon.Add(time.Hour))
	q := k.ask(c, rules)
	claims := filepath.Join(k.store.Dir, "claims")
	k.must(os.RemoveAll(claims))
	k.must(os.WriteFile(claims, nil, 0o600))
	if _, err := k.store.Answer("k3v9qx", true, ana.sign(q.Statement(true)), rules, noon); err == nil {
		t.Fatal("it was taken")
	}
	if _, err := k.useAnswer(c, rules); !errors.Is(err, consent.NoApproval) {
		t.Error(err)
	}
	k.must(os.Remove(claims))
	if _, err := k.store.Answer("k3v9qx", true, ana.sign(q.Statement(true)), rules, noon); err != nil {
		t.Errorf("with room again: %v", err)
	}
}

// TestQuestionsBounded asks nobody more than they can look at.
func TestQuestionsBounded(t *testing.T) {
	k, ana := newDesk(t), newApprover()
	rules := ana.rules(noon.Add(time.Hour))
	for i := range 16 {
		k.ask(push(noon, field("session_id", string(rune('a'+i))), func(c *call) { c.d.ID = "aaaa" + string(rune('a'+i)) }), rules)
	}
	more := push(noon, func(c *call) { c.d.ID = "zzzzzz" })
	p := k.pending(more)
	text := func(time.Time) string { return shownText }
	if _, _, err := k.store.Ask(p, text, rules, noon); err == nil || !strings.Contains(err.Error(), "16 questions are open") {
		t.Errorf("the 17th: %v", err)
	}
	if _, _, err := k.store.Ask(p, text, rules, noon.Add(11*time.Minute)); err != nil {
		t.Errorf("when their time is over: %v", err)
	}
	if _, said, err := k.store.Ask(p, text, rules, noon.Add(11*time.Minute)); err != nil || said != "" {
		t.Errorf("once more: %q %v", said, err)
	}
	q, err := k.store.Question("zzzzzz")
	k.must(err)
	k.must(k.store.Withdraw(q))
	if _, err := k.store.Question("zzzzzz"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("withdrawn: %v", err)
	}
}

// TestAnswerForged edits what is kept of an answer, and mends nothing: it grants nothing.
func TestAnswerForged(t *testing.T) {
	ana := newApprover()
	rules := ana.rules(noon.Add(time.Hour))
	for name, edit := range map[string]func(string) string{
		"another word":  func(s string) string { return strings.Replace(s, `"answer":"no"`, `"answer":"yes"`, 1) },
		"cut":           func(s string) string { return s[:len(s)/2] },
		"another kind":  func(s string) string { return strings.Replace(s, "answer", "question", 1) },
		"another nonce": func(s string) string { return strings.Replace(s, `"nonce":"`, `"nonce":"x`, 1) },
	} {
		k, c := newDesk(t), push(noon)
		q := k.ask(c, rules)
		_, err := k.store.Answer("k3v9qx", false, ana.sign(q.Statement(false)), rules, noon)
		k.must(err)
		file := k.path("answered")
		data, err := os.ReadFile(file)
		k.must(err)
		k.must(os.WriteFile(file, []byte(edit(string(data))), 0o600))
		var refusal consent.Refusal
		if _, err := k.useAnswer(c, rules); err == nil || errors.As(err, &refusal) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestKeep has a call that was put to people wait under the id that they know, until it is
// answered, and each other call under its own.
func TestKeep(t *testing.T) {
	k, ana, c := newDesk(t), newApprover(), push(noon)
	rules := ana.rules(noon.Add(time.Hour))
	q := k.ask(c, rules)
	keep := func(c *call, id string) string {
		t.Helper()
		c.d.ID = id
		p, err := k.store.Keep(&c.ev, &c.d, rules)
		if err != nil {
			t.Fatal(err)
		}
		if waits, err := k.store.Pending(p.ID); err != nil || waits.Call != p.Call {
			t.Errorf("%s does not wait: %v", p.ID, err)
		}
		return p.ID
	}
	for _, id := range []string{q.Pending.ID, "again1"} {
		if got := keep(push(noon), id); got != q.Pending.ID {
			t.Errorf("as %s it waits under %s, and people know %s", id, got, q.Pending.ID)
		}
	}
	further := push(noon)
	further.d.Reasons = append(further.d.Reasons, hook.Reason{Hook: "acme.more", ID: "acme.more", Effect: hook.Ask, Reason: "and this", Source: "user"})
	if got := keep(further, "again2"); got != "again2" {
		t.Errorf("with a further reason it waits under %s", got)
	}
	if all, err := k.store.AllPending(); err != nil || len(all) != 2 {
		t.Errorf("%d calls wait: %v", len(all), err)
	}
	if _, err := k.store.Answer(q.Pending.ID, false, ana.sign(q.Statement(false)), rules, noon); err != nil {
		t.Fatal(err)
	}
	if got := keep(push(noon), "again3"); got != "again3" {
		t.Errorf("after an answer it waits under %s", got)
	}
	if got := keep(push(noon), "again3"); got != "again3" {
		t.Errorf("kept twice under one decision it waits under %s", got)
	}
	p := k.pending(push(noon))
	if err := k.store.Forget(p); err != nil {
		t.Fatal(err)
	}
	if _, err := k.store.Pending(p.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was forgotten waits: %v", err)
	}
}
