package story_test

import (
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"gate/cmd/internal/story"
	"gate/hook"
	"gate/internal/audit"
)

// record makes a decision about the n-th call of a log.
func record(n int, input map[string]any, result hook.Result) audit.Record {
	input["tool_use_id"] = fmt.Sprintf("toolu_%d", n)
	return audit.Record{
		ID: fmt.Sprintf("id%d", n), Time: time.Unix(int64(n), 0), Agent: "claude", Session: "s", Project: "/p", Event: hook.PreToolUse, Tool: "Bash",
		Result: result, Kept: &audit.Kept{Input: input},
	}
}

// facts are those of a call that reads a secret of a file, and writes another one.
func facts(reads, writes string) map[string]any {
	f := hook.Facts{}
	if reads != "" {
		f.Effects = append(f.Effects, hook.FactEffect{Is: &hook.SecretRead{Path: &reads, What: "environment file", Grade: "config"}})
	}
	if writes != "" {
		f.Paths = append(f.Paths, hook.Path{Path: &writes, Resolved: &writes, Access: "write"})
	}
	return map[string]any{"facts": f.Document()}
}

func backwards(records ...audit.Record) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		for i := len(records) - 1; i >= 0; i-- {
			if !yield(records[i], nil) {
				return
			}
		}
	}
}

func show(links []story.Link) (text string) {
	for _, l := range links {
		from := "?" + l.Call
		if l.From != nil {
			from = l.From.ID
		}
		text += fmt.Sprintf("%s>%s %s %s%s %s\n", from, l.To.ID, l.Origin, l.Path, l.Host, l.How)
	}
	return text
}

// TestFind holds which calls led to the last one of a log.
func TestFind(t *testing.T) {
	flow := func(entries ...any) map[string]any { return map[string]any{"flow": entries} }
	other := record(1, facts("/p/.env", "/p/a"), hook.Continue)
	other.Project = "/q"
	for _, test := range []struct {
		name string
		log  []audit.Record
		want string
	}{
		{"a chain", []audit.Record{record(1, facts("/p/.env", "/p/a"), hook.Continue), record(2, facts("/p/a", "/p/b"), hook.Continue), record(3, facts("/p/b", ""), hook.Reject)},
			"id1>id2 secret /p/a file\nid2>id3 secret /p/b file\n"},
		{"the last writer", []audit.Record{record(1, facts("/p/.env", "/p/a"), hook.Continue), record(2, facts("/p/.env", "/p/a"), hook.Continue), record(3, facts("/p/a", ""), hook.Reject)},
			"id2>id3 secret /p/a file\n"},
		{"a writer without a secret", []audit.Record{record(1, facts("/p/.env", "/p/a"), hook.Continue), record(2, facts("", "/p/a"), hook.Continue), record(3, facts("/p/a", ""), hook.Reject)},
			"id1>id3 secret /p/a file\n"},
		{"a refused writer", []audit.Record{record(1, facts("/p/.env", "/p/a"), hook.Reject), record(2, facts("/p/a", ""), hook.Reject)}, ""},
		{"another project", []audit.Record{other, record(2, facts("/p/a", ""), hook.Reject)}, ""},
		{"nothing before", []audit.Record{record(1, facts("/p/.env", ""), hook.Reject)}, ""},
		{"later calls", []audit.Record{record(1, facts("/p/a", ""), hook.Reject)}, ""},
		{"flows name calls", []audit.Record{record(1, facts("", ""), hook.Continue), record(2, facts("", ""), hook.Continue), record(3, flow(
			map[string]any{"effect": 1, "origin": "secret", "what": "environment file", "call": "toolu_1", "how": "seen"},
			map[string]any{"effect": 2, "origin": "secret", "what": "environment file", "call": "toolu_1", "how": "seen"},
			map[string]any{"origin": "untrusted", "host": "x.example", "call": "id2", "how": "seen"},
			map[string]any{"origin": "untrusted", "host": "y.example", "call": "toolu_0", "how": "seen"},
			map[string]any{"origin": 7}, "no flow"), hook.Reject)},
			"?toolu_0>id3 untrusted y.example seen\nid1>id3 secret  seen\nid2>id3 untrusted x.example seen\n"},
		{"no flow at all", []audit.Record{record(1, facts("/p/.env", "/p/a"), hook.Continue), record(2, flow(), hook.Reject)}, ""},
	} {
		last := test.log[len(test.log)-1]
		links, whole, err := story.Find([]*audit.Record{&last}, backwards(test.log...))
		if got := show(links); got != test.want || !whole || err != nil {
			t.Errorf("%s: %v %v\n%swant\n%s", test.name, whole, err, got, test.want)
		}
	}
}

// TestFindFails passes over torn lines, and over nothing more.
func TestFindFails(t *testing.T) {
	last := record(2, facts("/p/a", ""), hook.Reject)
	failing := func(err error) iter.Seq2[audit.Record, error] {
		return func(yield func(audit.Record, error) bool) {
			_ = yield(last, nil) && yield(audit.Record{}, err) && yield(record(1, facts("/p/.env", "/p/a"), hook.Continue), nil)
		}
	}
	if links, _, err := story.Find([]*audit.Record{&last}, failing(&audit.TornError{Err: errors.New("torn")})); len(links) != 1 || err != nil {
		t.Errorf("torn: %v %v", links, err)
	}
	if _, _, err := story.Find([]*audit.Record{&last}, failing(errors.New("gone"))); err == nil {
		t.Error("no error")
	}
}
