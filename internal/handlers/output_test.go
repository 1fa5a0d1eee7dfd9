package handlers

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/internal/strictjson"
)

// TestAnswers holds what every kind of answer means against the table.
func TestAnswers(t *testing.T) {
	tab := readTable(t, "testdata/answers.txt")
	found := make([]string, len(tab.rows))
	for i, r := range tab.rows {
		found[i] = describe(answerOf(t, r))
	}
	tab.hold(t, found)
}

// answerOf reads what a case of testdata/answers.txt says.
func answerOf(t *testing.T, r row) engine.Answer {
	h := &hook.Hook{ID: "h", Kind: hook.Command}
	ev := &hook.Event{Name: hook.PreToolUse}
	var said []byte
	for _, f := range r.fields {
		switch key, value := f[0], f[1]; key {
		case "event":
			ev.Name = hook.Name(value)
		case "said":
			said = []byte(value)
		case "quoted":
			s, err := strconv.Unquote(value)
			if err != nil {
				t.Fatalf("%s: %v", r.name, err)
			}
			said = []byte(s)
		case "repeat":
			n, what, _ := strings.Cut(value, " ")
			times, err := strconv.Atoi(n)
			if err != nil {
				t.Fatalf("%s: %v", r.name, err)
			}
			said = bytes.Repeat([]byte(what), times)
		default:
			t.Fatalf("%s: unknown %q", r.name, key)
		}
	}
	if len(said) > maxOutput {
		return tooMuch(h, "standard output")
	}
	return readAnswer(h, ev, said)
}

// describe is an answer on one line.
func describe(a engine.Answer) string {
	var parts []string
	for _, r := range a.Verdict.Reasons {
		parts = append(parts, fmt.Sprintf("%s %s", r.Effect, quote(r.Reason)))
	}
	for _, r := range a.Verdict.Halt {
		parts = append(parts, fmt.Sprintf("halt %q", r.Reason))
	}
	for _, r := range a.Verdict.Warnings {
		parts = append(parts, fmt.Sprintf("warn %q", r.Reason))
	}
	for _, r := range a.Verdict.Rewrites {
		parts = append(parts, "rewrite "+string(strictjson.Append(nil, r.Value)))
	}
	for _, c := range a.Verdict.Context {
		parts = append(parts, fmt.Sprintf("context %q", c.Text))
	}
	if a.Fault != nil {
		parts = append(parts, fmt.Sprintf("fault %s: %s", a.Fault.Kind, strings.ReplaceAll(a.Fault.Err.Error(), "\n", "; ")))
	}
	if len(parts) == 0 {
		return "no opinion"
	}
	return strings.Join(parts, ", ")
}

// quote quotes a text, and of a long one the beginning.
func quote(s string) string {
	const most = 500
	if len(s) <= most {
		return strconv.Quote(s)
	}
	return fmt.Sprintf("%q… of %d bytes", s[:20], len(s))
}

// FuzzAnswer holds that nothing a handler says is read loosely: an answer
// without a fault that was not plain text is one object in canonical JSON too,
// and what loosens never comes with a fault unnoticed.
func FuzzAnswer(f *testing.F) {
	data, err := os.ReadFile("testdata/answers.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if text, ok := strings.CutPrefix(line, "said: "); ok {
			f.Add("PreToolUse", []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, event string, said []byte) {
		h, ev := &hook.Hook{ID: "h"}, &hook.Event{Name: hook.Name(event)}
		a := readAnswer(h, ev, said)
		v := a.Verdict
		silent := len(v.Reasons)+len(v.Warnings)+len(v.Rewrites)+len(v.Context)+len(v.Halt) == 0
		plain, err := isPlain(said)
		if plain && err == nil && (a.Fault != nil || !silent) {
			t.Errorf("talk has an opinion: %s", describe(a))
		}
		if a.Fault == nil && !plain {
			doc, err := strictjson.Object(said, strictjson.Limits{})
			if err != nil {
				t.Fatalf("read without a fault, and it is no object: %v", err)
			}
			if again := readObject(h, ev, doc); describe(again) != describe(a) {
				t.Errorf("got %s, then %s", describe(a), describe(again))
			}
		}
		for _, r := range append(v.Reasons, v.Halt...) {
			if r.Effect == hook.Pass || strings.TrimSpace(r.Reason) == "" {
				t.Errorf("a reason without effect or text: %+v", r)
			}
		}
	})
}
