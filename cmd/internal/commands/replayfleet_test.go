package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gate/facts"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/collect/archive"
	"gate/internal/fleet"
	"gate/internal/replay"
)

// fleetDays writes an archive of two days: machines that push, build and ask, and one that
// sends no text.
func fleetDays(t *testing.T, dir string) (records int) {
	t.Helper()
	a, err := archive.Open(dir, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"git push origin main", "go build ./...", "git push origin topic", "ls"}
	for d := range 2 {
		day := time.Date(2026, 11, 20+d, 8, 0, 0, 0, time.UTC)
		_, err := a.Write(t.Context(), day.Format(time.DateOnly), func(yield func(*archive.Row, error) bool) {
			for m := range 30 {
				level := fleet.Text
				if m%10 == 9 {
					level = fleet.Effects
				}
				reduce := fleet.Reducer{Level: level, Pseudonyms: fleet.Pseudonyms{Key: bytes.Repeat([]byte{byte(m)}, 32)}, Homes: []string{"/home/dev"}}
				prev := ""
				if d > 0 {
					prev = strings.Repeat("a", 64)
				}
				for i, line := range lines {
					r := recordOfLine(line, day.Add(time.Duration(i)*time.Minute))
					r.Place = &audit.Place{Log: "log1", Seq: int64(d*len(lines) + i + 1), Prev: prev}
					body, err := reduce.Reduce(r.JSON())
					var row *archive.Row
					if err == nil {
						row, err = archive.RowOf(fmt.Sprintf("machine%02d", m), "web", day, body)
					}
					if !yield(row, err) || err != nil {
						return
					}
					prev, records = row.Digest, records+1
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return records
}

// recordOfLine is what a log keeps of a line that went ahead.
func recordOfLine(line string, at time.Time) audit.Record {
	ev := hook.Event{Agent: "claude", Name: hook.PreToolUse, Gate: hook.Gate{Now: at, User: "dev", OS: "linux"}, Fields: map[string]any{
		"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/home/dev/app", "tool_name": "Bash", "tool_input": map[string]any{"command": line},
	}}
	d := hook.Decision{ID: "abc123"}
	worked := facts.New(facts.World{}).Of(&ev)
	r := audit.Of(&ev, &d, hook.Continue)
	r.Project = "/home/dev/app"
	r.Keep(&ev, &d, worked)
	return r
}

// replays runs gate replay with an archive, and returns its status and what it prints,
// without what decisions took.
func replays(t *testing.T, ctx context.Context, home string, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	status := run(ctx, process{
		args: append([]string{"replay", "--managed-dir", filepath.Join(home, "m"), "--user-dir", filepath.Join(home, "u"), "--state-dir", filepath.Join(home, "s")}, args...),
		env:  []string{"HOME=" + home}, stdin: strings.NewReader(""), stdout: &out, stderr: &out,
		clients: &Clients{Past: func(ctx context.Context, at FleetPast) (replay.Past, error) {
			a, err := archive.Open(at.Place, archive.Options{})
			if err != nil {
				return nil, err
			}
			return a.Past(ctx, at.From, at.To)
		}},
	})
	said := regexp.MustCompile(`(?m)^time of a decision.*\n`).ReplaceAllString(strings.ReplaceAll(out.String(), home, "DIR"), "")
	return status, regexp.MustCompile(`"(median|p95)_us": \d+`).ReplaceAllString(said, `"$1_us": 0`)
}

// TestReplayFleet decides a fleet's records whole, in two parts, by a run that was stopped,
// and by one that is done already: the answers are the same.
func TestReplayFleet(t *testing.T) {
	home := t.TempDir()
	days, candidate := filepath.Join(home, "days"), filepath.Join(home, "candidate")
	file := func(name string) string { return filepath.Join(home, name) }
	records := fleetDays(t, days)
	if err := os.MkdirAll(candidate, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(candidate, "push.rego"), []byte(noPush), 0o600); err != nil {
		t.Fatal(err)
	}
	from := []string{"--from", days, "--against", candidate}
	with := func(more ...string) []string { return append(append([]string(nil), from...), more...) }
	status, whole := replays(t, t.Context(), home, with("--limit", "1", "--fail-on", "newly-denied")...)
	want := `240 records of a fleet: 216 calls decided again, 108 changed, 0 not replayable
then: the policies in force here · now: with ~/candidate, as one more source of yours

newly denied: 108
  acme.push: 108 on 27 machines
`
	if status != exitReject || !strings.HasPrefix(whole, want) || !strings.Contains(whole, "24 records came without text and facts") || records != 240 {
		t.Fatalf("%d of %d records: %s", status, records, whole)
	}
	_, whole = replays(t, t.Context(), home, with("--format", "json")...)
	for _, part := range []string{"1/2", "2/2"} {
		if status, said := replays(t, t.Context(), home, with("--partition", part, "--state", file("part"+part[:1]))...); status != exitOK {
			t.Fatalf("%s: %s", part, said)
		}
	}
	if status, said := replays(t, t.Context(), home, "--merge", file("part2"), file("part1"), "--format", "json"); status != exitOK || said != whole {
		t.Errorf("two parts: %d\n%s\nwhole:\n%s", status, said, whole)
	}
	if status, said := replays(t, t.Context(), home, "--merge", file("part2")); status == exitOK || !strings.Contains(said, "are in none of these files") {
		t.Errorf("one part alone: %d %s", status, said)
	}
	if status, said := replays(t, t.Context(), home, "--merge", file("part2"), file("part2")); status == exitOK || !strings.Contains(said, "was counted already") {
		t.Errorf("the same twice: %d %s", status, said)
	}
	if status, said := replays(t, t.Context(), home, "--from", days, "--state", file("part1"), "--partition", "1/2"); status == exitOK || !strings.Contains(said, "it is of another replay") {
		t.Errorf("another replay: %d %s", status, said)
	}
	// What a run that was stopped has left is a result of some of its parts.
	text, err := os.ReadFile(file("part1"))
	if err != nil {
		t.Fatal(err)
	}
	var left map[string]any
	if err := json.Unmarshal(text, &left); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file("state"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time all is done
		if status, said := replays(t, t.Context(), home, with("--partition", "1/2", "--state", file("state"), "--format", "json")...); status != exitOK || strings.Contains(said, "interrupted") {
			t.Errorf("%d %s", status, said)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if status, said := replays(t, ctx, home, with("--state", file("stopped"))...); status == exitOK || !strings.Contains(said, "interrupted") {
		t.Errorf("stopped: %d %s", status, said)
	}
	if status, said := replays(t, t.Context(), home, with("--state", file("stopped"), "--format", "json")...); status != exitOK || said != whole {
		t.Errorf("gone on: %d %s", status, said)
	}
	if status, said := replays(t, t.Context(), home, with("--days", "2026-11-21")...); status != exitOK || !strings.HasPrefix(said, "120 records") {
		t.Errorf("one day: %d %s", status, said)
	}
}

// TestReplayFleetFlags holds what flags that do not go together say.
func TestReplayFleetFlags(t *testing.T) {
	for args, want := range map[string]string{
		"--from D x.jsonl":                       "--from is all that is read",
		"--state F":                              "go with --from",
		"--from D --partition 1/2":               "--partition needs --state",
		"--from D --state F --partition 0/2":     "is no part",
		"--from D --facts today":                 "--facts today is for calls of this machine",
		"--from D --fail-on unseen":              "needs transcripts",
		"--from D --days 2026-11-31":             "days such as",
		"--from D --days 2026-11-30..2026-11-01": "the last day is before the first",
		"--merge":                                "needs the files",
		"--merge --from D F":                     "--merge takes files alone",
		"--merge /nowhere/x":                     "does not exist",
		"--from /nowhere/x":                      "no such file",
		"--from gs://x/y":                        "is no place for an archive",
	} {
		if status, said := replays(t, t.Context(), t.TempDir(), strings.Fields(args)...); status == exitOK || !strings.Contains(said, want) {
			t.Errorf("%s: %d %s", args, status, said)
		}
	}
}
