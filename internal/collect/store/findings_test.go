package store

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"gate/internal/fleet"
)

func status(m *fake, seq int64, now time.Time) *fleet.Status {
	last := m.at
	return &fleet.Status{
		Bundles: map[string]fleet.BundleStatus{"company": {Name: "company", Revision: "7", Activated: &last}, "trial:company": {Name: "company", Revision: "8"}},
		Gate: fleet.GateStatus{Format: 1, Seq: seq, Time: now, Machine: m.name, Level: fleet.Effects, Version: "v1.2.3", OS: "linux", Arch: "amd64",
			Agents: []fleet.Agent{{Name: "claude", Hook: fleet.HookLive, LastCall: &last, Used: &last}},
			Heads:  []fleet.Head{{Log: m.log, Seq: m.seq, Account: m.account}}},
	}
}

func takeStatus(t *testing.T, s *Store, m *fake, st *fleet.Status) error {
	t.Helper()
	body, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	return s.TakeStatus(t.Context(), m.name, s.now(), st, body)
}

// TestStatus takes statuses, and opens and closes what follows from them.
func TestStatus(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClock()
		o.Now = c.Now
		s := open(t, o)
		m := newFake(1, s.now().Add(-3*time.Hour))
		m.enrol(t, s)
		m.send(t, s, m.body(nil), m.body(nil))
		seq := int64(0)
		step := func(what, want string, change func(st *fleet.Status)) {
			t.Helper()
			seq++
			st := status(m, seq, s.now())
			if change != nil {
				change(st)
			}
			if err := takeStatus(t, s, m, st); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if got := found(t, s, false); got != want {
				t.Errorf("%s: findings %q, want %q", what, got, want)
			}
		}
		step("all is well", "", nil)
		got, err := s.Machine(t.Context(), m.name)
		if err != nil || got.Version != "v1.2.3" || got.StatusSeq != 1 || len(got.Releases) != 2 || got.Releases[1].Revision != "8" || !got.Releases[1].Trial || len(got.Agents) != 1 {
			t.Errorf("machine: %+v, %v", got, err)
		}
		releases, err := s.Releases(t.Context())
		if err != nil || len(releases) != 2 || releases[0].Machines != 1 || releases[0].Trial {
			t.Errorf("releases: %+v, %v", releases, err)
		}
		step("weaker", "weaker autoapprove 0-0", func(st *fleet.Status) {
			st.Gate.Settings = map[string]fleet.Setting{"autoapprove": {Weaker: true, From: "user"}}
		})
		step("strict again", "", nil)
		step("no hook", "hook claude 0-0; not_synced company 0-0", func(st *fleet.Status) {
			st.Gate.Agents[0].Hook = fleet.HookMissing
			st.Bundles["company"] = fleet.BundleStatus{Name: "company", Code: fleet.SyncRefused}
		})
		used := s.now().Add(-time.Minute)
		step("ran without records", "no_records claude 0-0", func(st *fleet.Status) { st.Gate.Agents[0].Used = &used })
		step("three more are known", "", func(st *fleet.Status) { st.Gate.Heads[0].Seq = 5 })
		step("and did not come", "ahead "+m.log+" 3-5", func(st *fleet.Status) { st.Gate.Heads[0].Seq = 6 })
		m.send(t, s, m.body(nil), m.body(nil), m.body(nil), m.body(nil))
		step("they came", "", nil)
		step("no such log", "head_gone "+m.log+" 0-6", func(st *fleet.Status) { st.Gate.Heads = nil })
		step("shorter", "behind "+m.log+" 4-6", func(st *fleet.Status) { st.Gate.Heads[0].Seq = 4 })
		old := status(m, 3, s.now())
		if err := takeStatus(t, s, m, old); !errors.Is(err, ReplayedError{10}) {
			t.Errorf("an old number: %v", err)
		}
		if got := found(t, s, false); got != "behind "+m.log+" 4-6; status_back  3-10" {
			t.Errorf("findings %q", got)
		}
		list, _ := s.Findings(t.Context(), FindingQuery{Kind: Behind})
		if err := s.CloseFinding(t.Context(), list[0].ID, "anna"); err != nil {
			t.Error(err)
		}
		if err := s.CloseFinding(t.Context(), list[0].ID, "anna"); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	})
}

// TestExpected finds who is silent, missing and on no list, and closes that again.
func TestExpected(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClock()
		o.Now = c.Now
		s := open(t, o)
		one, two := newFake(1, s.now()), newFake(2, s.now())
		one.enrol(t, s)
		check := func(want string) {
			t.Helper()
			if err := s.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := found(t, s, false); got != want {
				t.Errorf("findings %q, want %q", got, want)
			}
		}
		check("")
		if err := s.SetExpected(t.Context(), []Expected{{"host-log2", "red"}, {"host-log3", ""}}); err != nil {
			t.Fatal(err)
		}
		check("unlisted  0-0; not_enrolled host-log2 0-0; not_enrolled host-log3 0-0")
		two.enrol(t, s)
		if m, _ := s.Machine(t.Context(), two.name); m.Team != "red" || !m.Expected {
			t.Errorf("%+v", m)
		}
		check("unlisted  0-0; not_enrolled host-log3 0-0")
		if err := s.SetExpected(t.Context(), []Expected{{one.name, "blue"}, {"host-log2", "red"}}); err != nil {
			t.Fatal(err)
		}
		check("")
		c.now = c.now.Add(25 * time.Hour)
		check("silent  0-0; silent  0-0")
		one.at = c.now
		one.send(t, s, one.body(nil))
		check("silent  0-0")
		counts, err := s.Counts(t.Context())
		if err != nil || counts.Enrolled != 2 || counts.Silent != 1 || counts.Missing != 0 || counts.Teams["blue"] != 1 || counts.Open[Silent] != 1 {
			t.Errorf("%+v, %v", counts, err)
		}
		if err := s.SetExpected(t.Context(), []Expected{{"a", "x"}, {"a", "y"}}); err == nil {
			t.Error("a machine has two teams")
		}
	})
}

// TestTold keeps what machines say of their own logs, and what records say against each
// other.
func TestTold(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := open(t, o)
		m := newFake(1, s.now().Add(-time.Hour))
		m.enrol(t, s)
		at := s.now().Add(-time.Minute).Format(time.RFC3339)
		say := func(path string, result doc) []byte {
			data, _ := json.Marshal(doc{"decision_id": "x", "path": path, "timestamp": at, "labels": doc{}, "result": result})
			return data
		}
		before := doc{"log": m.log, "seq": 9}
		batch := [][]byte{say("gate/gap", doc{"log": m.log, "from": 2, "to": 4}), say("gate/log", doc{"problem": "anew", "log": "fresh", "seq": 0, "before": before}),
			say("gate/log", doc{"problem": "shorter", "log": m.log, "seq": 3, "before": before}), say("gate/log", doc{"problem": "gone", "log": m.log, "seq": 0, "before": before})}
		m.send(t, s, batch...)
		want := "lost log1 2-4; anew fresh 0-0; shorter log1 3-3; gone log1 0-0"
		if got := found(t, s, false); got != want {
			t.Errorf("findings %q", got)
		}
		m.send(t, s, batch...)
		if got := found(t, s, false); got != want {
			t.Errorf("once more: %q", got)
		}
		m.send(t, s, m.body(nil))
		m.at = m.at.Add(-10 * time.Minute)
		m.send(t, s, m.body(nil))
		m.account = ""
		m.at = s.now().Add(-time.Minute)
		m.send(t, s, m.body(func(record, _, _ doc) { delete(record, "requested_by") }))
		m.account = "u-other"
		m.at = s.now()
		m.send(t, s, m.body(nil))
		m.account, m.at = "u-0000000000000001", s.now().Add(90*24*time.Hour)
		m.send(t, s, m.body(nil))
		if got, rest := found(t, s, false), "; time_back log1 2-2; other_account log1 4-4; odd_time log1 5-5"; got != want+rest {
			t.Errorf("findings %q", strings.TrimPrefix(got, want))
		}
		clock := s.now().Add(-6 * time.Minute)
		for _, shown := range []bool{true, false} {
			b := m.batch(t, m.body(nil))
			b.Clock = clock
			if _, err := s.Take(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			if got := found(t, s, false); strings.Contains(got, Skew) != shown {
				t.Errorf("findings %q", got)
			}
			clock = s.now()
		}
	})
}

// TestManyFindings bounds how many findings one machine can bring.
func TestManyFindings(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := open(t, o)
		m := newFake(1, s.now().Add(-time.Hour))
		m.enrol(t, s)
		var bodies [][]byte
		for n := range 200 {
			m.prev = strings.Repeat("0", 64)
			if n == 0 {
				m.prev = ""
			}
			bodies = append(bodies, m.body(nil))
		}
		m.send(t, s, bodies...)
		list, err := s.Findings(t.Context(), FindingQuery{Kind: Changed})
		if err != nil || len(list) != maxOpen+1 || list[0].Log != collective || list[0].Times != 199-maxOpen {
			t.Errorf("%d findings, the last %+v: %v", len(list), list[0], err)
		}
	})
}

// TestReplayedIsNoWord has somebody send again what a machine sent before it went away: it
// is silent all the same.
func TestReplayedIsNoWord(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		c := newClock()
		o.Now = c.Now
		s := open(t, o)
		m := newFake(1, s.now().Add(-time.Hour))
		m.enrol(t, s)
		bodies := [][]byte{m.body(nil), m.body(nil)}
		last := status(m, 1, s.now())
		send := func() {
			t.Helper()
			m.send(t, s, bodies...)
			if err := takeStatus(t, s, m, last); err != nil {
				t.Fatal(err)
			}
			if err := s.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		send()
		if got := found(t, s, false); got != "" {
			t.Errorf("findings %q", got)
		}
		c.now = c.now.Add(25 * time.Hour)
		send()
		if got := found(t, s, false); got != "silent  0-0" {
			t.Errorf("findings %q of a machine whose requests are sent again", got)
		}
		bodies = [][]byte{m.body(nil)}
		send()
		if got := found(t, s, false); got != "" {
			t.Errorf("findings %q of a machine that is back", got)
		}
	})
}
