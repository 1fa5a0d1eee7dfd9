package store

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/internal/fleet"
	"gate/internal/format"
)

func sortLines(lines []string) { slices.Sort(lines) }

var figureTables = []string{"calls_hour", "calls_day", "sums_day", "machines_hour", "latency_hour", "latency_day", "asked_day"}

// TestOpen has several collectors make one store at once, and each ask for everything.
func TestOpen(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				s, err := Open(t.Context(), o)
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.Health(t.Context()); err != nil {
					t.Error(err)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		s := open(t, o)
		if _, err := s.db.Exec(s.q(`UPDATE gate_store SET value = ? WHERE name = 'schema'`), "99"); err != nil {
			t.Fatal(err)
		}
		if again, err := Open(t.Context(), o); err == nil {
			again.Close()
			t.Error("a store of a newer collector was opened")
		}
	})
}

// TestFormat holds the number in the table of formats.
func TestFormat(t *testing.T) {
	if n := format.Collected.Number(); n != len(migrations)-1 {
		t.Errorf("the schema has %d steps, and the table of formats says %d", len(migrations)-1, n)
	}
}

// TestTake has records come in order, again, out of order, with a gap, and changed.
func TestTake(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := open(t, o)
		m := newFake(1, s.now().Add(-time.Hour))
		first := m.body(nil)
		if _, err := s.Take(t.Context(), m.batch(t, first)); !errors.Is(err, ErrUnknown) {
			t.Fatalf("a machine that is not enrolled: %v", err)
		}
		m.enrol(t, s)
		expect := func(what string, got, want Taken, findings string) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %+v, want %+v", what, got, want)
			}
			if f := found(t, s, false); f != findings {
				t.Errorf("%s: findings %q, want %q", what, f, findings)
			}
		}
		bodies := [][]byte{first}
		for range 9 {
			bodies = append(bodies, m.body(nil))
		}
		expect("in order", m.send(t, s, bodies[:3]...), Taken{Taken: 3}, "")
		expect("again", m.send(t, s, bodies[:3]...), Taken{Again: 3}, "")
		expect("behind a gap", m.send(t, s, bodies[5:7]...), Taken{Taken: 2, Findings: 1}, "gap log1 4-5")
		expect("two gaps", m.send(t, s, bodies[8]), Taken{Taken: 1}, "gap log1 4-8")
		expect("a part of what was missing", m.send(t, s, bodies[4]), Taken{Taken: 1}, "gap log1 4-8")
		expect("the rest", m.send(t, s, bodies[3], bodies[7]), Taken{Taken: 2}, "")
		expect("all once more, and one", m.send(t, s, bodies...), Taken{Taken: 1, Again: 9}, "")
		if f := found(t, s, true); f != "gap log1 4-8" {
			t.Errorf("closed findings: %q", f)
		}

		m.seq, m.prev = 4, "0000000000000000000000000000000000000000000000000000000000000000"
		other := m.body(func(_, _, gate doc) { gate["tool"] = "Write" })
		expect("another record of a number", m.send(t, s, other), Taken{Findings: 1}, "twice log1 5-5")
		expect("the same once more", m.send(t, s, other), Taken{}, "twice log1 5-5")
		m.seq, m.prev = 10, "0000000000000000000000000000000000000000000000000000000000000000"
		expect("behind a changed one", m.send(t, s, m.body(nil)), Taken{Taken: 1, Findings: 1}, "twice log1 5-5; changed log1 10-10")

		var days []string
		n := 0
		for r, err := range s.Records(t.Context(), RecordQuery{Day: "2026-11-28"}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; r.Seq != int64(n) || r.Machine != m.name || r.Team != "team-log1" {
				t.Errorf("record %d is %+v", n, r.Key)
			}
			days = append(days, r.Day)
			if n < len(bodies) && string(r.Body) != string(bodies[n-1]) {
				t.Errorf("record %d: %s", n, r.Body)
			}
		}
		sameDays(t, s)
		if len(days) != 11 {
			t.Errorf("%d records", len(days))
		}
		if text := dump(t, s, "twice"); !strings.Contains(text, `"Write"`) {
			t.Errorf("the other record was not kept: %s", text)
		}
	})
}

// TestRecordsPaged follows pages by their last key.
func TestRecordsPaged(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := open(t, o)
		want := 0
		for n := range 3 {
			m := newFake(n, s.now().Add(-2*time.Hour))
			m.enrol(t, s)
			var bodies [][]byte
			for range 700 {
				bodies = append(bodies, m.body(nil))
			}
			m.send(t, s, bodies...)
			want += 700
		}
		var got []Key
		for after := (Key{}); ; {
			n := 0
			for r, err := range s.Records(t.Context(), RecordQuery{Day: "2026-11-28", After: after, Limit: 611}) {
				if err != nil {
					t.Fatal(err)
				}
				got, after, n = append(got, r.Key), r.Key, n+1
			}
			if n < 611 {
				break
			}
		}
		if len(got) != want || !slices.IsSortedFunc(got, Key.Compare) || len(slices.Compact(got)) != want {
			t.Errorf("%d records in pages, want %d in order", len(got), want)
		}
	})
}

// TestFigures counts calls, whatever way records come, and makes the same anew.
func TestFigures(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := open(t, o)
		m := newFake(1, s.now().Add(-26*time.Hour))
		m.enrol(t, s)
		trial := func(_, _, gate doc) {
			gate["policies"] = []doc{{"id": "acme.tags", "source": "trial:company", "effect": "pass", "would": doc{"effect": "deny", "spared_by": "trial"}}}
		}
		bodies := [][]byte{
			m.body(nil), m.body(ask("c-1")), m.body(ran("c-1")), m.body(ask("c-2")), m.body(trial),
			m.body(func(_, result, _ doc) { result["effect"], result["faults"] = "deny", 2 }),
			m.body(func(_, result, _ doc) { result["result"] = "modify_input" }),
			m.body(func(_, _, gate doc) { gate["approved"] = true }),
			m.body(ask("c-3")), m.body(ask("c-4")), m.body(ran("c-4")), m.body(ran("c-3")),
		}
		m.send(t, s, bodies[:2]...)
		m.send(t, s, bodies[10:]...)
		m.send(t, s, bodies[5:10]...) // questions behind whose answers came already
		m.send(t, s, bodies[2:5]...)
		day := Span{dayTime("2026-11-27"), dayTime("2026-11-28")}
		for _, daily := range []bool{false, true} {
			got, err := s.Figures(t.Context(), Figures{Span: day, Day: daily, By: []string{"effect"}})
			if err != nil {
				t.Fatal(err)
			}
			want := []Figure{{Effect: "ask", N: 4, Approved: 3}, {Effect: "change", N: 1}, {Effect: "deny", N: 1}, {Effect: "pass", N: 3, Approved: 1}}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v: %+v", daily, got)
			}
		}
		asked, err := s.Asked(t.Context(), day, "", 1, 10)
		if want := []Asked{{Policy: "acme.push", Tool: "Bash", Effects: []string{"git.push", "net.send"}, Asked: 4, Approved: 3, Days: 1}}; err != nil || !reflect.DeepEqual(asked, want) {
			t.Errorf("asked: %+v, %v", asked, err)
		}
		would, err := s.Figures(t.Context(), Figures{Span: day, By: []string{"policy", "would", "spared", "team"}, Policy: "*", Would: "*"})
		if want := []Figure{{Policy: "acme.tags", Would: "deny", Spared: "trial", Team: "team-log1", N: 1}}; err != nil || !reflect.DeepEqual(would, want) {
			t.Errorf("would: %+v, %v", would, err)
		}
		latency, err := s.Latencies(t.Context(), day, "", false)
		if err != nil || len(latency) != 2 || latency[0].N != 9 || latency[1].N != 12 {
			t.Fatalf("latency: %+v, %v", latency, err)
		}
		if p := latency[0].P50; p < 4*time.Millisecond || p > 4400*time.Microsecond {
			t.Errorf("4 ms are told as %s", p)
		}
		hours, err := s.MachineHours(t.Context(), m.name, day)
		if want := []MachineHour{{dayTime("2026-11-27").Add(10 * time.Hour), 9, 4, 1, 1}}; err != nil || !reflect.DeepEqual(hours, want) {
			t.Errorf("hours: %+v, %v", hours, err)
		}
		if _, err := s.Figures(t.Context(), Figures{Span: day, By: []string{"hour; DROP"}}); err == nil {
			t.Error("figures by a column that nobody has")
		}
		before := dump(t, s, figureTables...)
		if _, err := s.db.Exec("DELETE FROM calls_day"); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if n, err := s.Rebuild(t.Context()); err != nil || n != 12 {
				t.Fatalf("rebuilt from %d records: %v", n, err)
			}
			if after := dump(t, s, figureTables...); after != before {
				t.Errorf("rebuilt:\n%s\nbefore:\n%s", after, before)
			}
		}
		trials, err := s.Trials(t.Context(), day)
		if err != nil || len(trials) != 1 || len(trials[0].Calls) != 1 {
			t.Fatalf("trials: %+v, %v", trials, err)
		}
		one := trials[0]
		if one.Policy != "acme.tags" || one.Would != "deny" || one.N != 1 || one.Machines != 1 || one.Who[0].Host != "host-log1" || one.Calls[0].Near.Seq != 5 {
			t.Errorf("trial: %+v", one)
		}
		var near []string
		for _, n := range one.Calls[0].Nearest {
			near = append(near, fmt.Sprint(n.Effect, n.Effects, n.Shared))
		}
		if want := []string{"pass[fs.read] [fs.read]", "deny[fs.read] [fs.read]", "ask[git.push net.send] []"}; !reflect.DeepEqual(near, want) {
			t.Errorf("nearest: %v", near)
		}
	})
}

// TestCounts takes the numbers of a machine that sends no records.
func TestCounts(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := open(t, o)
		m := newFake(1, s.now())
		m.enrol(t, s)
		st := status(m, 1, s.now())
		st.Gate.Level = fleet.Counts
		st.Gate.Counters = []fleet.Hour{{Hour: s.now().Add(-time.Hour), Calls: 10, Asked: 3, Denied: 1, Changed: 1, Policies: []fleet.Said{{Policy: "acme.push", Effect: "ask", N: 3}}}}
		for range 2 {
			if err := takeStatus(t, s, m, st); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.Figures(t.Context(), Figures{Span: Span{s.now().Add(-2 * time.Hour), s.now()}, By: []string{"effect"}})
		if want := []Figure{{Effect: "ask", N: 3}, {Effect: "change", N: 1}, {Effect: "deny", N: 1}, {Effect: "pass", N: 5}}; err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
		before := dump(t, s, figureTables...)
		if _, err := s.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after := dump(t, s, figureTables...); after != before {
			t.Errorf("rebuilt:\n%s\nbefore:\n%s", after, before)
		}
	})
}
