package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/replay"
)

// held is a record at level text, of a call of a shell line.
func held(machine, account string, seq int64, line string) *replay.Held {
	ev := hook.Event{Agent: "claude", Name: hook.PreToolUse, Fields: map[string]any{
		"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": map[string]any{"command": line},
	}, Gate: hook.Gate{Now: time.Date(2026, 11, 20, 8, 0, 0, int(seq), time.UTC)}}
	d := hook.Decision{ID: fmt.Sprint("id", seq), Facts: &hook.Facts{}}
	r := audit.Of(&ev, &d, hook.Continue)
	r.Keep(&ev, &d, d.Facts)
	return &replay.Held{Day: "2026-11-20", Machine: machine, Account: account, Log: "l", Seq: seq, Level: replay.LevelText, Body: r.JSON()}
}

// fleetOf is a fleet of some machines, whose calls [by] decides.
func fleetOf(n int) []*replay.Held {
	words := strings.Fields("pass deny ask allow fault")
	rng := rand.New(rand.NewPCG(1, 2))
	var out []*replay.Held
	for i := range n {
		line := fmt.Sprintf("%s %d > %s %d", words[rng.IntN(5)], rng.IntN(9), words[rng.IntN(5)], rng.IntN(60))
		h := held(fmt.Sprint("m", rng.IntN(40)), fmt.Sprint("u-", rng.IntN(3)), int64(i+1), line)
		switch rng.IntN(12) {
		case 0:
			h.Level, h.Body = "effects", []byte(`{"path":"gate/decision"}`)
		case 1:
			h.Body = []byte(`{"path":"gate/sync","timestamp":"2026-11-20T08:00:00Z"}`)
		case 2:
			h.Body = []byte(`{"broken`)
		}
		out = append(out, h)
	}
	return out
}

func of(list []*replay.Held, in func(machine, account string) bool) iter.Seq2[*replay.Held, error] {
	return func(yield func(*replay.Held, error) bool) {
		for _, h := range list {
			if in(h.Machine, h.Account) && !yield(h, nil) {
				return
			}
		}
	}
}

func sum(t testing.TB, list []*replay.Held, part replay.Part) *replay.Partial {
	t.Helper()
	s, err := replay.Sum(t.Context(), of(list, part.Has), replay.Options{Now: by(true), Then: by(false)})
	if err != nil {
		t.Fatal(err)
	}
	s.Then, s.Now = replay.Took{3: s.Decided}, replay.Took{5: s.Decided} // what decisions took is never the same
	return &replay.Partial{Task: replay.Task{Held: "h", Records: int64(len(list)), Then: "a", Now: "b", Facts: "recorded"}, Parts: []string{part.String()}, Summary: s}
}

func text(t testing.TB, p *replay.Partial) string {
	t.Helper()
	out, err := p.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// again reads a partial from what it writes.
func again(t testing.TB, p *replay.Partial) *replay.Partial {
	t.Helper()
	q, err := replay.ReadPartial([]byte(text(t, p)))
	if err != nil {
		t.Fatal(err)
	}
	if text(t, q) != text(t, p) {
		t.Fatalf("read as\n%s\nof\n%s", text(t, q), text(t, p))
	}
	return q
}

// TestMerge holds that parts give the same in whatever order they are taken together, and
// however many there are, and the same as all of it at once.
func TestMerge(t *testing.T) {
	list := fleetOf(6000)
	whole := sum(t, list, replay.Part{I: 1, N: 1})
	if s := whole.Summary; s.Records != 6000 || s.Textless == 0 || s.NoCalls == 0 || s.Lost.Calls == 0 || s.Faults.Calls == 0 || s.Decided != s.Recorded || whole.Missing() != 0 {
		t.Fatalf("%+v", s)
	}
	for _, c := range replay.Changes() {
		if c != replay.Rewritten && whole.Summary.Count(c) == 0 {
			t.Errorf("no call is %s", c)
		}
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{2, 3, 7, 16} {
		var parts []*replay.Partial
		for i := range n {
			parts = append(parts, again(t, sum(t, list, replay.Part{I: i + 1, N: n})))
		}
		for range 5 {
			left := make([]*replay.Partial, n)
			for i, j := range rng.Perm(n) {
				left[i] = again(t, parts[j])
			}
			for len(left) > 1 { // any two that stand beside each other
				i := rng.IntN(len(left) - 1)
				if err := left[i].Merge(left[i+1]); err != nil {
					t.Fatal(err)
				}
				left = slices.Delete(left, i+1, i+2)
			}
			got := again(t, left[0])
			if len(got.Parts) != n {
				t.Fatal(got.Parts)
			}
			got.Parts = whole.Parts
			if text(t, got) != text(t, whole) {
				t.Fatalf("%d parts:\n%s\nwhole:\n%s", n, text(t, got), text(t, whole))
			}
		}
	}
}

// TestMergeRefuses holds that nothing is counted twice, or taken together with what is of
// another replay.
func TestMergeRefuses(t *testing.T) {
	list := fleetOf(100)
	one := sum(t, list, replay.Part{I: 1, N: 2})
	before := text(t, one)
	for _, part := range []replay.Part{{1, 2}, {1, 1}, {1, 4}, {3, 4}, {1, 3}} {
		if err := one.Merge(sum(t, list, part)); err == nil || !strings.Contains(err.Error(), "was counted already") {
			t.Errorf("%s: %v", part, err)
		}
	}
	for want, change := range map[string]func(*replay.Task){
		"other records":        func(k *replay.Task) { k.Held = "x" },
		"policies or settings": func(k *replay.Task) { k.Then = "" },
		"another candidate":    func(k *replay.Task) { k.Now = "x" },
		"other facts":          func(k *replay.Task) { k.Facts = "blind" },
	} {
		o := sum(t, list, replay.Part{I: 2, N: 2})
		change(&o.Task)
		if err := one.Merge(o); !errors.Is(err, replay.ErrOtherTask) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
	if text(t, one) != before {
		t.Error("it has changed")
	}
	if one.Missing() == 0 || one.Merge(sum(t, list, replay.Part{I: 2, N: 2})) != nil || one.Missing() != 0 {
		t.Error("the other half is missing")
	}
}

// TestParts holds that each account is in one part of many, and in one part of that part.
func TestParts(t *testing.T) {
	for _, n := range []int{1, 2, 5, 64} {
		for m := range 300 {
			machine, in := fmt.Sprint("m", m), 0
			for i := range n {
				p := replay.Part{I: i + 1, N: n}
				if !p.Has(machine, "u") {
					continue
				}
				in++
				inner := 0
				for j := range 3 {
					if p.Within(j+1, 3).Has(machine, "u") {
						inner++
					}
				}
				if inner != 1 {
					t.Fatalf("%s is in %d of three parts of %s", machine, inner, p)
				}
			}
			if in != 1 {
				t.Fatalf("%s is in %d of %d parts", machine, in, n)
			}
		}
	}
	for _, bad := range []string{"", "1", "0/2", "3/2", "1/2/3", "a/b", "1/999999999", "-1/2"} {
		if p, err := replay.ParsePart(bad); err == nil {
			t.Errorf("%q: %s", bad, p)
		}
	}
	if p, err := replay.ParsePart("3/8"); err != nil || p != (replay.Part{I: 3, N: 8}) {
		t.Error(p, err)
	}
}

// TestDistinct holds that a few things are counted, and many are estimated.
func TestDistinct(t *testing.T) {
	for _, n := range []int{1, 900, 50_000} {
		var list []*replay.Held
		for i := range n {
			list = append(list, &replay.Held{Machine: fmt.Sprint("machine ", i), Level: replay.LevelText, Body: []byte("{")})
		}
		s, err := replay.Sum(t.Context(), of(list, replay.Part{I: 1, N: 1}.Has), replay.Options{Now: by(true)})
		if err != nil {
			t.Fatal(err)
		}
		got, exact := s.Lost.Machines.Count()
		if exact != (n < 1024) || exact && got != int64(n) || float64(got) < 0.9*float64(n) || float64(got) > 1.1*float64(n) {
			t.Errorf("%d: %d, %t", n, got, exact)
		}
	}
}

func TestTook(t *testing.T) {
	for _, d := range []time.Duration{0, 1, 7, 8, 9, 1000, 123_456, 5 * time.Millisecond, time.Hour, 1<<63 - 1} {
		s, err := replay.Sum(t.Context(), of([]*replay.Held{held("m", "u", 1, "pass")}, replay.Part{I: 1, N: 1}.Has), replay.Options{
			Now: func(context.Context, *replay.Call) audit.Record { return audit.Record{Took: d} },
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Now.At(0.5); got < d || float64(got) > 1.13*float64(max(d, 8)) {
			t.Errorf("%d: %d", d, got)
		}
	}
}

// TestInterrupted holds that a part which did not end has no result.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	s, err := replay.Sum(ctx, of(fleetOf(100), replay.Part{I: 1, N: 1}.Has), replay.Options{Now: func(ctx context.Context, c *replay.Call) audit.Record {
		if n++; n == 10 {
			stop()
		}
		return by(true)(ctx, c)
	}})
	if s != nil || !errors.Is(err, context.Canceled) {
		t.Error(s, err)
	}
}

func FuzzPartial(f *testing.F) {
	good := sum(f, fleetOf(60), replay.Part{I: 1, N: 2})
	text, err := good.Append(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"type":"gate.replay/2"}`))
	f.Add(bytes.Replace(text, []byte(`"1/2"`), []byte(`"1/2","2/2"`), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := replay.ReadPartial(data)
		if err != nil {
			return
		}
		out, err := p.Append(nil)
		if err != nil || !json.Valid(out) {
			t.Fatal(err)
		}
		q, err := replay.ReadPartial(out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if _, n := q.Merge(p), p.Summary.Policies(replay.NewlyDenied); n == nil && p.Summary.Count(replay.NewlyDenied) > 0 {
			t.Error("a change without a policy")
		}
	})
}
