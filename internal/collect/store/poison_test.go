package store

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"gate/internal/fleet"
)

// TestPoison has a machine say numbers and names that no column holds. Others of its team
// go on, and so do figures.
func TestPoison(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := open(t, o)
		bad, good := newFake(1, s.now().Add(-time.Minute)), newFake(2, s.now().Add(-time.Minute))
		for _, f := range []*fake{bad, good} {
			text, _, err := s.NewToken(t.Context(), Token{Expires: s.now().Add(time.Hour), Team: "red"})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Enrol(t.Context(), fleet.Enrollment{Token: text, Machine: f.name, Key: f.public()}); err != nil {
				t.Fatal(err)
			}
		}
		status := func(f *fake, seq, n int64, head string) error {
			st := &fleet.Status{Gate: fleet.GateStatus{Format: 1, Seq: seq, Time: s.now(), Machine: f.name, Level: fleet.Counts,
				Heads: []fleet.Head{{Log: head, Seq: math.MaxInt64}},
				Counters: []fleet.Hour{{Hour: s.now().Truncate(time.Hour), Calls: n, Asked: n, Approved: n, Denied: -n, Faults: n,
					Policies: []fleet.Said{{Policy: "acme.push", Effect: "ask", N: n, Approved: n}}}}}}
			body, err := json.Marshal(st)
			if err != nil {
				t.Fatal(err)
			}
			return s.TakeStatus(t.Context(), f.name, s.now(), st, body)
		}
		for seq := int64(1); seq <= 3; seq++ {
			if err := status(bad, seq, math.MaxInt64, "a\x00b"); err != nil {
				t.Fatal(err)
			}
		}
		if err := status(good, 1, 7, "log"); err != nil {
			t.Fatalf("a machine of the same team: %v", err)
		}
		for _, policy := range []string{"", "acme.push"} {
			for _, day := range []bool{false, true} {
				list, err := s.Figures(t.Context(), Figures{Span: Span{s.now().Add(-time.Hour), s.now().Add(time.Hour)}, Policy: policy, Day: day})
				if err != nil || len(list) != 1 || list[0].N != 3*maxCounted+7 {
					t.Errorf("%q: %+v %v", policy, list, err)
				}
			}
		}
		for _, place := range []string{`"seq":1`, `"seq":9223372036854775807,"prev":"` + fmt.Sprintf("%064d", 1) + `"`} {
			body := fmt.Sprintf(`{"custom":{"gate":{"agent":"a","chain":{"digest":"%064d","log":"a",%s},"event":"PreToolUse","id":"x","v":3}},"decision_id":"x-1","path":"gate/decision","result":{"effect":"pass","result":"continue"},"timestamp":"2026-11-28T10:00:00.000000Z"}`, 2, place)
			if _, _, err := ReadRecord([]byte(body)); (err == nil) != (place == `"seq":1`) {
				t.Errorf("%s: %v", place, err)
			}
		}
	})
}

// TestLateQuestions has thousands of questions come behind what came of them. Each of
// these is read a few times for a batch, and not once for each question.
func TestLateQuestions(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		const n = 1500
		s := open(t, o)
		f := newFake(1, s.now().Add(-2*time.Hour))
		f.enrol(t, s)
		var asked, runs [][]byte
		for i := range n {
			asked = append(asked, f.body(ask(fmt.Sprint("call", i))))
		}
		for i := range n {
			runs = append(runs, f.body(ran(fmt.Sprint("call", i))))
		}
		f.send(t, s, runs...)
		begin := time.Now()
		f.send(t, s, asked...)
		if took := time.Since(begin); took > 15*time.Second {
			t.Errorf("it took %s", took)
		}
		list, err := s.Asked(t.Context(), Span{s.now().Add(-24 * time.Hour), s.now()}, "", 0, 0)
		if err != nil || len(list) != 1 || list[0].Asked != n || list[0].Approved != n {
			t.Errorf("%+v %v", list, err)
		}
	})
}

// TestPieces has a machine leave out every other record, for ever: a chain is kept in so
// many pieces, and what closes a hole is taken all the same.
func TestPieces(t *testing.T) {
	each(t, func(t *testing.T, o Options) {
		s := open(t, o)
		f := newFake(1, s.now().Add(-20*time.Hour))
		f.enrol(t, s)
		var first, holes [][]byte
		for len(first) < maxPlaces {
			first = append(first, f.body(nil))
			holes = append(holes, f.body(nil))
		}
		f.send(t, s, first...)
		more := [][]byte{f.body(nil)}
		if _, err := s.Take(t.Context(), f.batch(t, more...)); err != ErrPieces {
			t.Errorf("another piece: %v", err)
		}
		if got := f.send(t, s, holes[:2]...); got.Taken != 2 {
			t.Errorf("what closes holes: %+v", got)
		}
		if got := f.send(t, s, more...); got.Taken != 1 {
			t.Errorf("another piece, when there is room: %+v", got)
		}
	})
}
