package replay_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/replay"
)

func claude(t testing.TB) adapters.Adapter {
	t.Helper()
	a, ok := adapters.Lookup("claude")
	if !ok {
		t.Fatal("no adapter")
	}
	return a
}

// calls makes calls of shell lines.
func calls(lines ...string) iter.Seq2[*replay.Call, error] {
	return func(yield func(*replay.Call, error) bool) {
		for i, line := range lines {
			c := &replay.Call{Kind: replay.Event, At: fmt.Sprintf("x:%d", i+1), Event: hook.Event{Name: hook.PreToolUse, Fields: map[string]any{
				"tool_name": "Bash", "tool_input": map[string]any{"command": line},
			}}}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// by decides as the words of a line say: "deny", "ask", "allow", "run CALL",
// "fault", else pass. Of a line "a > b", then is a and now is b.
func by(now bool) replay.Decider {
	return func(_ context.Context, c *replay.Call) audit.Record {
		line, _ := c.Event.ToolInput()["command"].(string)
		then, after, _ := strings.Cut(line, " > ")
		if now {
			then = after
		}
		var r audit.Record
		word, rest, _ := strings.Cut(then, " ")
		switch word {
		case "deny", "ask", "allow":
			r.Effect = map[string]hook.Effect{"deny": hook.Deny, "ask": hook.Ask, "allow": hook.Allow}[word]
			r.Reasons = []audit.Reason{{ID: "p." + word, Effect: r.Effect, Reason: rest}}
		case "ask+allow", "ask+ask":
			r.Effect = hook.Ask
			r.Reasons = []audit.Reason{{ID: "p.ask", Effect: hook.Ask}, {ID: "p.second", Effect: hook.Ask}}
			if word == "ask+allow" {
				r.Reasons[1].Effect = hook.Allow
			}
		case "run":
			r.Changed = []string{"p.run"}
			r.Kept = &audit.Kept{Rewrite: map[string]any{"command": rest}}
		case "fault":
			r.Faults = []string{"p.fault: " + rest}
		case "panic":
			panic(rest)
		}
		r.Took = time.Duration(len(then)) * time.Millisecond
		return r
	}
}

func TestChanges(t *testing.T) {
	report, err := replay.Run(t.Context(), calls(
		"pass > pass", "deny no > deny no", "ask > ask", "run a > run a", // the same
		"pass > deny", "ask > deny", "pass > ask", "deny > ask", "allow > ask",
		"deny > pass", "ask > allow", "pass > allow", "ask > run a",
		"run a > run b", "run a > pass", "pass > run a",
		"deny no > deny never", "allow > pass",
		"pass > fault late", "fault > fault", "pass > panic help",
		"ask > ask+allow", "ask > ask+ask", "ask+ask > ask",
	), replay.Options{Now: by(true), Then: by(false), Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range report.Changed {
		got = append(got, fmt.Sprintf("%s %s %s %s", e.At, e.Call, e.Change, e.Policy))
	}
	want := []string{
		"x:5 pass > deny newly-denied p.deny", "x:6 ask > deny newly-denied p.deny", "x:7 pass > ask newly-asked p.ask",
		"x:8 deny > ask newly-asked p.ask", "x:9 allow > ask newly-asked p.ask", "x:10 deny > pass newly-allowed p.deny",
		"x:11 ask > allow newly-allowed p.ask", "x:12 pass > allow newly-allowed p.allow", "x:13 ask > run a newly-allowed p.ask",
		"x:14 run a > run b rewritten p.run", "x:15 run a > pass rewritten p.run", "x:16 pass > run a rewritten p.run",
		"x:17 deny no > deny never reworded p.deny", "x:18 allow > pass reworded p.allow",
		"x:23 ask > ask+ask reworded p.second", "x:24 ask+ask > ask reworded p.second",
	}
	if !slices.Equal(got, want) {
		t.Errorf("changed:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(report.Faults) != 1 || report.Faults[0].At != "x:19" {
		t.Errorf("faults %+v", report.Faults)
	}
	if len(report.Lost) != 1 || report.Lost[0].Why != "gate failed: help" || report.Calls != 24 || report.Decided != 23 {
		t.Errorf("lost %+v of %d, decided %d", report.Lost, report.Calls, report.Decided)
	}
	groups := report.Groups(replay.NewlyAsked)
	if len(groups) != 1 || groups[0].Policy != "p.ask" || len(groups[0].Entries) != 3 || report.Count(replay.NewlyAllowed) != 4 {
		t.Errorf("groups %+v", groups)
	}
	if report.Sampled != 23 || report.Then.Median == 0 || report.Now.P95 == 0 {
		t.Errorf("times %+v", report)
	}
}

// TestUnrecorded compares with calls that nobody decided about: they went ahead.
func TestUnrecorded(t *testing.T) {
	report, err := replay.Run(t.Context(), calls(" > deny", " > pass"), replay.Options{Now: by(true)})
	if err != nil || report.Count(replay.NewlyDenied) != 1 || len(report.Changed) != 1 || report.Then != (replay.Times{}) {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestOrder keeps the order of the calls, however long each takes.
func TestOrder(t *testing.T) {
	var lines []string
	for i := range 500 {
		lines = append(lines, fmt.Sprintf("pass > deny %d", i))
	}
	turn := make(chan bool, 1)
	now := by(true)
	slow := func(ctx context.Context, c *replay.Call) audit.Record {
		select {
		case turn <- true: // one waits for the next
		case <-turn:
		}
		return now(ctx, c)
	}
	done := 0
	report, err := replay.Run(t.Context(), calls(lines...), replay.Options{Now: slow, Workers: 4, Progress: func(n int) {
		if done++; n != done {
			t.Errorf("progress %d after %d", n, done-1)
		}
	}})
	if err != nil || len(report.Changed) != 500 || done != 500 {
		t.Fatalf("%d changes, %d done, %v", len(report.Changed), done, err)
	}
	for i, e := range report.Changed {
		if e.At != fmt.Sprintf("x:%d", i+1) {
			t.Fatalf("entry %d is %s", i, e.At)
		}
	}
	if report.Sampled < 100 || report.Sampled > 200 {
		t.Errorf("a sample of %d", report.Sampled)
	}
}

// TestShared decides about calls that share something in their order, also where what they
// share is found to be one thing only later.
func TestShared(t *testing.T) {
	var lines []string
	for range 400 {
		lines = append(lines, "pass > deny")
	}
	shared := func(c *replay.Call) []string {
		n := number(c)
		names := []string{fmt.Sprint("session ", n%7)}
		if n > 200 {
			names = append(names, fmt.Sprint("project ", n%2))
		}
		return names
	}
	var mu sync.Mutex
	last := map[string]int{}
	measured := false
	now := by(true)
	report, err := replay.Run(t.Context(), calls(lines...), replay.Options{Workers: 4, Shared: shared, Now: func(ctx context.Context, c *replay.Call) audit.Record {
		if number(c)%5 == 0 {
			time.Sleep(50 * time.Microsecond)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, name := range shared(c) {
			if n := number(c); !measured && n < last[name] {
				t.Errorf("%s: call %d after %d", name, n, last[name])
			}
			last[name] = number(c)
		}
		return now(ctx, c)
	}, Progress: func(n int) {
		if n == len(lines) {
			measured = true // what follows are times of a sample
		}
	}})
	if err != nil || len(report.Changed) != len(lines) {
		t.Errorf("%d changes, %v", len(report.Changed), err)
	}
}

// number is which call of [calls] a call is.
func number(c *replay.Call) (n int) {
	fmt.Sscanf(c.At, "x:%d", &n)
	return n
}

// TestStops ends with the reader's error, and when it is told to.
func TestStops(t *testing.T) {
	broken := errors.New("broken")
	report, err := replay.Run(t.Context(), func(yield func(*replay.Call, error) bool) {
		for c := range calls(" > deny") {
			yield(c, nil)
		}
		yield(nil, broken)
	}, replay.Options{Now: by(true)})
	if !errors.Is(err, broken) || len(report.Changed) != 1 {
		t.Errorf("%+v, %v", report, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err = replay.Run(ctx, func(yield func(*replay.Call, error) bool) {
		for c := range calls(" > deny") {
			for yield(c, nil) {
				cancel()
			}
		}
	}, replay.Options{Now: by(true)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// record is a line of a decision log about a shell call.
func record(line string, effect hook.Effect, facts *hook.Facts) []byte {
	ev := hook.Event{Agent: "claude", Name: hook.PreToolUse, Fields: map[string]any{
		"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/x", "tool_name": "Bash", "tool_input": map[string]any{"command": line},
	}}
	d := hook.Decision{ID: "abc123", Effect: effect, Steps: []hook.Step{{Hook: &hook.Hook{ID: "a.b", Source: "user"}, Effect: effect}}}
	r := audit.Of(&ev, &d, hook.Continue)
	r.Policies[0].Digest = "0123"
	r.Keep(&ev, &d, facts)
	return append(r.JSON(), '\n')
}

// TestLog reads records, and says of each what cannot be known.
func TestLog(t *testing.T) {
	known := &hook.Facts{Effects: []hook.FactEffect{{Is: &hook.GitPush{}}}}
	newer := string(record("ls", hook.Pass, known))
	newer = strings.Replace(newer, `"schema":1,"shell"`, `"schema":99,"shell"`, 1)
	for _, test := range []struct {
		name, line, lost string
		facts            bool
	}{
		{"whole", string(record("git push", hook.Pass, known)), "", true},
		{"redacted", string(record("x --password swordfish1", hook.Pass, known)), "", true},
		{"redacted, no facts", string(record("x --password swordfish1", hook.Pass, nil)), "secrets were taken out of tool_input.command", false},
		{"no facts", string(record("ls", hook.Pass, nil)), "", false},
		{"newer facts", newer, "", false},
		{"cut", string(record(strings.Repeat("x", 9000), hook.Pass, known)), "tool_input.command was too long for the log (9000 bytes)", true},
		{"torn", newer[:100] + "\n" + `{"type":"summary"}`, "no JSON object", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []*replay.Call
			for c, err := range replay.Read(strings.NewReader(test.line), "log", claude(t)) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, c)
			}
			if len(got) != 1 || got[0].At != "log:1" || !strings.Contains(got[0].Lost, test.lost) || (got[0].Lost == "") != (test.lost == "") {
				t.Fatalf("%+v", got[0])
			}
			if test.lost == "" && (got[0].Facts != nil) != test.facts {
				t.Errorf("facts %v", got[0].Facts)
			}
		})
	}
}

// TestStrayed gives up a call without its secrets when the policies of then
// decide otherwise.
func TestStrayed(t *testing.T) {
	in := string(record("x --password swordfish1", hook.Deny, &hook.Facts{}))
	for digest, lost := range map[string]int{"0123": 1, "4567": 0} {
		report, err := replay.Run(t.Context(), replay.Read(strings.NewReader(in), "log", claude(t)), replay.Options{
			Now: func(context.Context, *replay.Call) audit.Record {
				return audit.Record{Policies: []audit.Policy{{ID: "a.b", Digest: digest}}}
			},
		})
		if err != nil || len(report.Lost) != lost || report.Count(replay.NewlyAllowed) != 1-lost {
			t.Errorf("digest %s: %+v, %v", digest, report, err)
		}
	}
}

// FuzzRead reads anything: each line is one call at most but for transcripts,
// and whatever is read can be decided about.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"ls"}}]}}` + "\n" +
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","is_error":true}]}}`))
	f.Add([]byte(`{"type":"user","message":{"content":"hello"},"timestamp":"x","cwd":5}` + "\n\n" + `{"hook_event_name":"Stop"}`))
	f.Add(record("git push", hook.Ask, &hook.Facts{Shell: &hook.Shell{}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		report, err := replay.Run(t.Context(), replay.Read(strings.NewReader(string(data)), "x", claude(t)), replay.Options{
			Now: func(_ context.Context, c *replay.Call) audit.Record {
				d := hook.Decision{Rewrite: map[string]any{"a": c.Event.Document()["facts"]}}
				r := audit.Of(&c.Event, &d, hook.Continue)
				r.Keep(&c.Event, &d, c.Facts)
				return r
			},
		})
		if err != nil && !errors.Is(err, replay.ErrForeign) || report.Calls != report.Decided+len(report.Lost) {
			t.Errorf("%d calls, %d decided, %d lost, %v", report.Calls, report.Decided, len(report.Lost), err)
		}
	})
}
