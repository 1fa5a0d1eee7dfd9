package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gate/internal/fleet"
)

// TestForget erases one machine and leaves the others.
func TestForget(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := open(t, o)
		one, two := newFake(1, s.now().Add(-time.Hour)), newFake(2, s.now().Add(-time.Hour))
		for _, m := range []*fake{one, two} {
			m.enrol(t, s)
			m.send(t, s, m.body(nil), m.body(ask("c-1")), m.body(nil))
			if err := takeStatus(t, s, m, status(m, 1, s.now())); err != nil {
				t.Fatal(err)
			}
		}
		gone, _, err := s.Forget(t.Context(), one.name)
		if err != nil || gone.Records != 3 || gone.Statuses != 1 {
			t.Errorf("%+v, %v", gone, err)
		}
		if _, _, err := s.Forget(t.Context(), one.name); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		text := dump(t, s, "machines", "records", "twice", "statuses", "counted", "releases", "chains", "spans", "asks", "machines_hour", "findings", "tokens")
		if strings.Contains(text, one.name) || !strings.Contains(text, two.name) {
			t.Errorf("after it was forgotten:\n%s", text)
		}
		if _, err := s.Take(t.Context(), one.batch(t, one.body(nil))); !errors.Is(err, ErrUnknown) {
			t.Errorf("a machine that was forgotten: %v", err)
		}
		one.enrol(t, s)
		one.send(t, s, one.body(nil))
		sameDays(t, s)
	})
}

// sameDays holds what is said to be kept of each day against what is.
func sameDays(t *testing.T, s *Store) {
	t.Helper()
	days, err := s.Days(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range days {
		n, text := int64(0), int64(0)
		for r, err := range s.Records(t.Context(), RecordQuery{Day: d.Day}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; r.Level == fleet.Text {
				text++
			}
		}
		if n != d.Records || text != d.Text {
			t.Errorf("%+v, and there are %d records, %d with text", d, n, text)
		}
	}
}

// TestErase erases an account, whose old records do not come back.
func TestErase(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := open(t, o)
		one, two := newFake(1, s.now().Add(-time.Hour)), newFake(2, s.now().Add(-time.Hour))
		var bodies [][]byte
		for _, m := range []*fake{one, two} {
			m.enrol(t, s)
			bodies = [][]byte{m.body(nil), m.body(nil), m.body(nil)}
			m.send(t, s, bodies[:2]...)
			if err := takeStatus(t, s, m, status(m, 1, s.now())); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"", "%", "u-%", "u-____000000000000", two.account + "0"} {
			if gone, _, err := s.Erase(t.Context(), name); err != ErrNoPseudonym {
				t.Errorf("%q: %+v, %v", name, gone, err)
			}
		}
		gone, _, err := s.Erase(t.Context(), two.account)
		if err != nil || gone.Records != 2 || gone.Statuses != 1 {
			t.Errorf("%+v, %v", gone, err)
		}
		if got := two.send(t, s, bodies...); got != (Taken{Again: 3}) {
			t.Errorf("what was erased came again: %+v", got)
		}
		if text := dump(t, s, "records", "twice", "statuses", "findings", "machines"); strings.Contains(text, two.account) || !strings.Contains(text, one.account) {
			t.Errorf("after it was erased:\n%s", text)
		}
		two.at = s.now().Add(time.Minute)
		if got := two.send(t, s, two.body(nil)); got.Taken != 1 || got.Findings != 0 {
			t.Errorf("what is new: %+v, %s", got, found(t, s, false))
		}
		sameDays(t, s)
	})
}

// TestExpire drops by level, keeps figures, and takes nothing of it again.
func TestExpire(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClock()
		o.Now, o.Keep = c.Now, Keep{Text: 30 * 24 * time.Hour, Effects: 90 * 24 * time.Hour}
		s := open(t, o)
		m := newFake(1, s.now())
		m.enrol(t, s)
		bodies := [][]byte{m.body(nil), m.body(func(_, _, gate doc) { gate["call"] = "ls" }), m.body(nil)}
		m.send(t, s, bodies...)
		before := dump(t, s, figureTables...)
		step := func(after time.Duration, want string) {
			t.Helper()
			c.now = newClock().now.Add(after)
			list, err := s.Expire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(list); got != want {
				t.Errorf("after %s: dropped %s, want %s", after, got, want)
			}
			if got := m.send(t, s, bodies...); got != (Taken{Again: 3}) {
				t.Errorf("after %s: sent again: %+v; %s", after, got, found(t, s, false))
			}
			if _, err := s.Rebuild(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := dump(t, s, figureTables...); got != before {
				t.Errorf("after %s figures are\n%s\nbefore\n%s", after, got, before)
			}
		}
		step(0, "[]")
		step(30*24*time.Hour, "[]")
		step(31*24*time.Hour, "[{2026-11-28 text 1}]")
		step(31*24*time.Hour, "[]")
		step(100*24*time.Hour, "[{2026-11-28 effects 2}]")
		days, err := s.Days(t.Context())
		if err != nil || fmt.Sprint(days) != "[{2026-11-28 0 0 effects text }]" {
			t.Errorf("%v, %v", days, err)
		}
		if got := found(t, s, false); got != "" {
			t.Errorf("findings: %s", got)
		}
	})
}

// TestEnrol holds what tokens are good for.
func TestEnrol(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClock()
		o.Now = c.Now
		s := open(t, o)
		one, two := newFake(1, s.now()), newFake(2, s.now())
		token := func(tok Token) string {
			t.Helper()
			tok.Expires = s.now().Add(time.Hour)
			text, _, err := s.NewToken(t.Context(), tok)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		enrol := func(what, text string, m *fake, want error) {
			t.Helper()
			err := s.Enrol(t.Context(), fleet.Enrollment{Token: text, Machine: m.name, Host: "host", Key: m.public(), Labels: map[string]string{"ring": "canary"}})
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", what, err, want)
			}
		}
		enrol("no token", "gate-enrol-x", one, ErrToken)
		text := token(Token{Machine: one.name})
		enrol("another machine's", text, two, ErrToken)
		enrol("its own", text, one, nil)
		enrol("again, for the answer was lost", text, one, nil)
		enrol("used", text, two, ErrToken)
		enrol("another label", token(Token{Labels: map[string]string{"ring": "all"}}), two, ErrToken)
		enrol("another host", token(Token{Host: "other"}), two, ErrToken)
		late := token(Token{})
		c.now = c.now.Add(time.Hour)
		enrol("too late", late, two, ErrToken)
		revoked := token(Token{})
		list, err := s.Tokens(t.Context())
		if err != nil || len(list) != 5 {
			t.Fatalf("%d tokens, %v", len(list), err)
		}
		if err := s.RevokeToken(t.Context(), list[0].ID); err != nil {
			t.Error(err)
		}
		if err := s.RevokeToken(t.Context(), list[0].ID); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		enrol("revoked", revoked, two, ErrToken)
		thief := newFake(3, s.now())
		thief.name = one.name
		good := token(Token{Labels: map[string]string{"ring": "canary"}})
		enrol("another key", good, thief, ErrOtherKey)
		enrol("the token is still good", good, two, nil)
		if text := dump(t, s, "tokens"); strings.Contains(text, "gate-enrol-") {
			t.Error("the text of a token is kept")
		}
		if _, _, err := s.NewToken(t.Context(), Token{Expires: s.now()}); err == nil {
			t.Error("a token that has ended was made")
		}
	})
}

// TestLooks keeps who looked at what.
func TestLooks(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := open(t, o)
		for n := range 5 {
			if err := s.AddLook(t.Context(), Look{Who: fmt.Sprint("anna", n), Role: "reader", What: "/v1/figures"}); err != nil {
				t.Fatal(err)
			}
		}
		list, err := s.Looks(t.Context(), 0, 2)
		if err != nil || len(list) != 2 || list[0].Who != "anna4" {
			t.Fatalf("%v, %v", list, err)
		}
		if list, err = s.Looks(t.Context(), list[1].ID, 10); err != nil || len(list) != 3 || list[2].Who != "anna0" {
			t.Errorf("%v, %v", list, err)
		}
		if err := s.SetArchive(t.Context(), Archive{Day: "2026-11-01", Place: "/archive"}); err != nil {
			t.Error(err)
		}
		if days, err := s.Days(t.Context()); err != nil || len(days) != 1 || days[0].Archive != "/archive" {
			t.Errorf("%v, %v", days, err)
		}
	})
}
