package fleet_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/fleet"
	"gate/internal/mark"
	"gate/internal/strictjson"
)

// canary is a text that no name has: what holds it came from a text.
const canary = "C4N4RY of /a text"

// open are the members whose texts an administrator gives, and which stay as they are.
var open = map[string]bool{"labels": true}

// poisoned puts a canary into every text of a tree but those that say what it is.
func poisoned(v any, key string) any {
	switch v := v.(type) {
	case string:
		switch key {
		case "path", "timestamp", "effect", "result", "log", "prev", "kind", "event", "tool", "agent":
			return v
		}
		return v + canary
	case []any:
		for i := range v {
			v[i] = poisoned(v[i], key)
		}
	case map[string]any:
		for name, value := range v {
			if !open[name] {
				v[name] = poisoned(value, name)
			}
		}
	}
	return v
}

// everything is a record with a text in every field that has one.
func everything() audit.Record {
	reasons := []audit.Reason{{ID: "a.b", Effect: hook.Deny, Reason: "r", Source: "company", Pos: "x.rego:1"}}
	return audit.Record{
		Time: time.Unix(1, 0), ID: "5spyyq", Key: "5spyyq-00", User: "ana", Agent: "claude", Session: "s", Trace: "t", Event: hook.PreToolUse, Tool: "Bash",
		Dir: "/home/ana/x", Project: "/home/ana/x", Call: "ls", Effect: hook.Deny, Result: hook.Reject, Halt: true, Approved: true,
		Confined: "project", Refused: []string{"write"}, Reasons: reasons, Warned: reasons, Changed: []string{"a.c"}, Faults: []string{"a.d: no"}, Took: 1, Whole: 2,
		Remembered: []mark.Mark{{Name: "n", Value: `"v"`, Source: "company", By: "a.b"}}, Marks: mark.Marks{All: []mark.Mark{{Name: "m", Value: `"w"`, Source: "company", By: "a.b"}}, Full: []string{"f"}},
		Policies: []audit.Policy{{ID: "a.b", Source: "company", Effect: hook.Deny, Digest: "00ff", Kind: "command", Outcome: hook.Blocking, Runs: 2,
			Would: &audit.Would{Effect: hook.Deny, Reason: "w", Rewrite: true, Spared: "trial"}, Usage: &hook.Usage{Provider: "p", Model: "m"}, Took: time.Millisecond}},
		Kept: &audit.Kept{
			Input: map[string]any{"tool_input": map[string]any{"command": "ls"}, "prompt": "p", "gate": map[string]any{"user": "ana"},
				"facts": map[string]any{"effects": []any{map[string]any{"kind": "git.push", "remote": "origin", "branch": "b"}}, "hosts": []any{map[string]any{"host": "evil.example"}}}},
			Rewrite: map[string]any{"command": "x"}, Redacted: []string{"/a"}, Cut: []audit.Cut{{At: "/b", Bytes: 1}},
		},
		Labels: map[string]string{"team": "a"}, Bundles: []audit.Bundle{{Name: "company", Revision: "7", Digest: "sha256:00"}}, Place: &audit.Place{Log: "aa", Seq: 1},
	}
}

// TestNoText has a canary in every text of every kind of document, and of the events that the
// tests of this tree have: at effects none is left.
func TestNoText(t *testing.T) {
	record := everything()
	sync := record
	sync.Sync = &audit.Sync{Name: "company", Digest: "sha256:00", Signers: []string{"alice"}}
	lines := [][]byte{record.JSON(), sync.JSON()}
	for _, line := range records(t) {
		lines = append(lines, line)
	}
	events, err := filepath.Glob("../../adapters/testdata/payloads/*.json")
	more, moreErr := filepath.Glob("../../adapters/testdata/payloads/*/*.json")
	if err != nil || moreErr != nil || len(events)+len(more) < 100 {
		t.Fatal(err, moreErr, len(events)+len(more))
	}
	lines = append(lines, logged(t)...)
	for _, name := range append(events, more...) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		input, err := strictjson.Object(data, strictjson.Limits{})
		if err != nil {
			continue // some are no events
		}
		r := record
		r.Kept = &audit.Kept{Input: input}
		lines = append(lines, r.JSON())
	}
	for _, line := range lines {
		doc, err := strictjson.Object(line, strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		line = strictjson.Append(nil, poisoned(doc, ""))
		got, err := reducer(fleet.Effects).Reduce(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		if bytes.Contains(got, []byte("C4N4RY")) {
			t.Errorf("a text is left in %s", got)
		}
	}
}

// logged are the records of the logs that releases of gate wrote.
func logged(t *testing.T) (lines [][]byte) {
	t.Helper()
	releases, err := filepath.Glob("../../testdata/releases/*.tar.gz")
	if err != nil || len(releases) == 0 {
		t.Fatal(err)
	}
	for _, name := range releases {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		files := tar.NewReader(z)
		for {
			h, err := files.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(filepath.Base(h.Name), audit.FileName) {
				continue
			}
			text, err := io.ReadAll(files)
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(text) {
				if r, err := audit.Parse(bytes.TrimSpace(line)); err == nil && r.Place != nil {
					lines = append(lines, bytes.TrimSpace(line))
				}
			}
		}
	}
	if len(lines) == 0 {
		t.Error("no log of a release has records in a chain")
	}
	return lines
}

// TestTilde replaces the home directory where it is a path, or the beginning of one.
func TestTilde(t *testing.T) {
	for text, want := range map[string]string{
		"/home/ana":                   "~",
		"cat /home/ana/x /home/ana/y": "cat ~/x ~/y",
		"gcc -I/home/ana/include":     "gcc -I~/include",
		"file:///home/ana/x":          "file://~/x",
		"PATH=/home/ana/bin:/usr/bin": "PATH=~/bin:/usr/bin",
		"in /home/ana.":               "in ~.",
		"/home/anabel/x":              "/home/anabel/x",
		"/home/ana.old/x":             "/home/ana.old/x",
		"/mnt/home/ana/x":             "/mnt/home/ana/x",
		"/home/ana/home/ana/x":        "~/home/ana/x",
		"\"/home/ana\"":               "\"~\"",
		"/home/ana/.claude/projects/-home-ana-shop/8f1c.jsonl": "~/.claude/projects/~-shop/8f1c.jsonl",
		"ls /srv/.claude/projects/-home-ana":                   "ls /srv/.claude/projects/~",
		"/x/-home-anabel-shop --no-home-ana -home-ana":         "/x/-home-anabel-shop --no-home-ana -home-ana",
		"/private/home/ana/x /home/ana/é/x":                    "/private/home/ana/x ~/é/x",
	} {
		line := (&audit.Record{ID: "a", Time: time.Unix(0, 0), Call: text, Place: &audit.Place{Log: "aa", Seq: 1}}).JSON()
		got, err := reducer(fleet.Text).Reduce(line)
		var doc struct {
			Custom struct{ Gate struct{ Call string } }
		}
		if err != nil || json.Unmarshal(got, &doc) != nil || doc.Custom.Gate.Call != want {
			t.Errorf("%s: %q, %v, want %q", text, doc.Custom.Gate.Call, err, want)
		}
	}
	root := &fleet.Reducer{Level: fleet.Text, Pseudonyms: secretKey, Homes: []string{"/", "/."}}
	line := (&audit.Record{ID: "a", Time: time.Unix(0, 0), Call: "ls /etc", Place: &audit.Place{Log: "aa", Seq: 1}}).JSON()
	if got, err := root.Reduce(line); err != nil || !bytes.Contains(got, []byte("ls /etc")) {
		t.Errorf("a home that is the root of everything: %s, %v", got, err)
	}
}

// FuzzReduce holds of any line that is a record: it is reduced, the same each time, to JSON
// that the collector reads, with the digest of the line; and no text of more than a name's
// letters is left at effects.
func FuzzReduce(f *testing.F) {
	r := everything()
	f.Add(r.JSON())
	f.Add([]byte(strings.Replace(string(r.JSON()), `"ls"`, `"`+canary+`"`, -1)))
	f.Add([]byte(fmt.Sprintf(`{"path":"gate/gap","timestamp":"2026-11-28T10:30:00Z","decision_id":"gap-x-1-2","requested_by":"ana","result":{"log":"aa","from":1,"to":2,"text":%q}}`, canary)))
	f.Fuzz(func(t *testing.T, line []byte) {
		doc, err := strictjson.Object(line, strictjson.Limits{Bytes: audit.MaxRecord, Depth: 80})
		if err != nil {
			return
		}
		for _, level := range []fleet.Level{fleet.Effects, fleet.Text} {
			got, err := reducer(level).Reduce(line)
			if err != nil {
				switch doc["path"] {
				case audit.DecisionPath, audit.SyncPath, audit.GapPath, audit.FindingPath:
					t.Fatalf("%s: %v", level, err)
				}
				continue
			}
			again, _ := reducer(level).Reduce(line)
			if !bytes.Equal(got, again) {
				t.Fatalf("%s: two reductions of one line:\n%s\n%s", level, got, again)
			}
			back, err := strictjson.Object(got, strictjson.Limits{Bytes: 4 * audit.MaxRecord, Depth: 100})
			if err != nil {
				t.Fatalf("%s: %v: %s", level, err, got)
			}
			if level == fleet.Effects {
				delete(back, "labels")
				plain(t, back)
			}
		}
	})
}

// plain fails unless every text of a tree is a name, a moment or a digest.
func plain(t *testing.T, v any) {
	switch v := v.(type) {
	case string:
		if len(v) > 140 || strings.ContainsAny(v, "\"\\$;|<>(){}~*?!'`\n\t") || strings.Contains(v, "//") || strings.Count(v, " ") > 2 {
			t.Fatalf("a text: %q", v)
		}
	case []any:
		for _, e := range v {
			plain(t, e)
		}
	case map[string]any:
		for name, e := range v {
			plain(t, name)
			plain(t, e)
		}
	}
}
