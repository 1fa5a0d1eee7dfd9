package store

import (
	"fmt"
	"reflect"
	"testing"
	"time"
)

// TestFleet asks for what the page shows of one machine, and for faults.
func TestFleet(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := open(t, o)
		begin := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
		one, other := newFake(1, begin), newFake(2, begin.AddDate(0, 0, -1))
		fault := func(_, result, _ doc) { result["faults"] = 1 }
		for _, f := range []*fake{one, other} {
			f.enrol(t, s)
			f.send(t, s, f.body(nil), f.body(fault))
		}
		one.send(t, s, one.body(fault), one.body(nil), one.body(nil))

		chains, err := s.Chains(t.Context(), one.name)
		if err != nil || len(chains) != 1 || chains[0].Log != one.log || chains[0].Seq != 5 || chains[0].Account != one.account || !chains[0].At.Equal(begin.Add(4*time.Second)) {
			t.Errorf("chains: %+v, %v", chains, err)
		}
		sendings, err := s.Sendings(t.Context(), one.name, 10)
		if err != nil || len(sendings) == 0 || sendings[0].Records < 1 {
			t.Errorf("sendings: %+v, %v", sendings, err)
		}
		records := int64(0)
		for _, b := range sendings {
			records += b.Records
		}
		if records != 5 {
			t.Errorf("%d records came", records)
		}
		if _, err := s.Sendings(t.Context(), "nobody", 10); err != ErrNotFound {
			t.Errorf("sendings of nobody: %v", err)
		}
		if _, err := s.LastStatus(t.Context(), one.name); err != ErrNotFound {
			t.Errorf("no status: %v", err)
		}
		if _, err := s.db.Exec(s.q(`INSERT INTO statuses (machine, seq, received, body) VALUES (?, ?, ?, ?), (?, ?, ?, ?)`), one.name, 3, micros(begin), pack([]byte(`{"n":3}`)), one.name, 4, micros(begin), pack([]byte(`{"n":4}`))); err != nil {
			t.Fatal(err)
		}
		if d, err := s.LastStatus(t.Context(), one.name); err != nil || d.Seq != 4 || string(d.Body) != `{"n":4}` || !d.Received.Equal(begin) {
			t.Errorf("status: %+v, %v", d, err)
		}

		span := Span{dayTime("2026-11-26"), dayTime("2026-11-28")}
		byDay, err := s.FaultsByDay(t.Context(), span)
		if want := []Faults{{Time: span.From, Faults: 1, Machines: 1}, {Time: span.From.AddDate(0, 0, 1), Faults: 2, Machines: 1}}; err != nil || !reflect.DeepEqual(byDay, want) {
			t.Errorf("faults by day: %+v, %v", byDay, err)
		}
		byMachine, err := s.FaultsByMachine(t.Context(), span, 1)
		if want := []Faults{{Machine: one.name, Host: "host-" + one.log, Team: "team-" + one.log, Faults: 2, Machines: 1}}; err != nil || !reflect.DeepEqual(byMachine, want) {
			t.Errorf("faults by machine: %+v, %v", byMachine, err)
		}
	})
}

// TestMachinesBy narrows the list by release and finding.
func TestMachinesBy(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := open(t, o)
		var names []string
		for n := range 3 {
			f := newFake(n, s.now())
			f.enrol(t, s)
			names = append(names, f.name)
			if _, err := s.db.Exec(s.q(`INSERT INTO releases (machine, bundle, revision, trial, digest, activated, asked, code, message) VALUES (?, 'company', ?, ?, '', 0, 0, '', '')`), f.name, fmt.Sprint(n%2), n == 2); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Open(t.Context(), Finding{Kind: Weaker, Machine: names[1], Log: "x", Detail: "y"}); err != nil {
			t.Fatal(err)
		}
		for name, test := range map[string]struct {
			q    MachineQuery
			want []int
		}{
			"of a bundle":        {MachineQuery{Bundle: "company"}, []int{0, 1}},
			"of a release":       {MachineQuery{Bundle: "company", Revision: "1"}, []int{1}},
			"on trial":           {MachineQuery{Bundle: "company", Revision: "0", Trial: true}, []int{2}},
			"of another release": {MachineQuery{Bundle: "company", Revision: "9"}, nil},
			"with a finding":     {MachineQuery{Finding: Weaker}, []int{1}},
			"with any finding":   {MachineQuery{Finding: "*"}, []int{1}},
			"with another":       {MachineQuery{Finding: Gap}, nil},
			"with both":          {MachineQuery{Finding: Weaker, Bundle: "company", Revision: "0"}, nil},
		} {
			list, err := s.Machines(t.Context(), test.q)
			got, want := map[string]bool{}, map[string]bool{}
			for _, m := range list {
				got[m.Machine] = true
			}
			for _, n := range test.want {
				want[names[n]] = true
			}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, not %v: %v", name, got, want, err)
			}
		}
	})
}

// TestSums holds that what is answered out of sums is what calls_day and latency_hour
// say, and that a store of the schema before gets the same sums.
func TestSums(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := open(t, o)
		begin := time.Date(2026, 11, 26, 22, 0, 0, 0, time.UTC)
		for n := range 3 {
			f := newFake(n, begin)
			f.enrol(t, s)
			for day := range 2 {
				f.at = begin.AddDate(0, 0, day)
				would := func(_, _, gate doc) {
					gate["policies"] = []doc{{"id": "acme.tags", "source": "trial:company", "effect": "pass", "outcome": "ok", "would": doc{"effect": "deny", "spared_by": "trial"}}, {"id": "*", "source": "company", "effect": "ask", "outcome": "ok"}}
				}
				call := fmt.Sprint("c", day)
				f.send(t, s, f.body(ask(call)), f.body(ran(call)), f.body(would), f.body(nil))
			}
		}
		span := Span{dayTime("2026-11-26"), dayTime("2026-11-29")}
		for _, policy := range []string{"", "*", "acme.push", "none"} {
			for _, team := range []string{"", "team-log1", "none"} {
				for _, by := range [][]string{{"time", "effect"}, {"team", "effect", "would"}, {"policy", "effect", "spared"}, {"policy", "team"}, nil} {
					q := Figures{Span: span, Day: true, By: by, Policy: policy, Team: team}
					got, err := s.Figures(t.Context(), q)
					if err != nil {
						t.Fatal(err)
					}
					q.Day, q.By = false, append([]string{"agent"}, by...) // the hours, of the only agent
					want, err := s.Figures(t.Context(), q)
					if err != nil {
						t.Fatal(err)
					}
					if got, want := addUp(got), addUp(want); !reflect.DeepEqual(got, want) {
						t.Errorf("policy %q, team %q, by %v: %v, not %v", policy, team, by, got, want)
					}
				}
			}
		}
		each, err := s.Latencies(t.Context(), span, "day", true)
		if err != nil || len(each) == 0 {
			t.Fatal(each, err)
		}
		one, err := s.TeamLatencies(t.Context(), span, "day", "team-log1")
		if err != nil || len(one) != len(each)/3 || one[0].Team != "team-log1" {
			t.Errorf("of one team: %+v, %v", one, err)
		}
		whole, err := s.Latencies(t.Context(), span, "day", false)
		if err != nil || len(whole) != len(one) || whole[0].N != 3*one[0].N || whole[0].Team != "" {
			t.Errorf("of all: %+v, %v", whole, err)
		}

		before := dump(t, s, "sums_day", "latency_day")
		for _, statement := range []string{"DROP TABLE sums_day", "DROP TABLE latency_day", "DROP INDEX machines_hour_faults", "UPDATE gate_store SET value = '1' WHERE name = 'schema'", "UPDATE calls_day SET policy = '(*)' WHERE policy = '*'"} {
			if _, err := s.db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		s.Close()
		if after := dump(t, open(t, o), "sums_day", "latency_day"); after != before {
			t.Errorf("after the step from schema 1:\n%s\nbefore:\n%s", after, before)
		}
	})
}

// addUp are figures by what they tell apart but the agent and the hour of a day.
func addUp(list []Figure) map[string][2]int64 {
	out := map[string][2]int64{}
	for _, f := range list {
		day := ""
		if !f.Time.IsZero() {
			day = dayOf(f.Time)
		}
		policy := f.Policy
		if policy == "*" {
			policy = "(*)"
		}
		key := fmt.Sprint(day, " ", policy, " ", f.Team, " ", f.Effect, " ", f.Would, " ", f.Spared)
		if f.N > 0 || f.Approved > 0 {
			out[key] = [2]int64{out[key][0] + f.N, out[key][1] + f.Approved}
		}
	}
	return out
}
