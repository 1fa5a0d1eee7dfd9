package handlers

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/strictjson"
)

var update = flag.Bool("update", false, "rewrite what the tables expect")

// A saying is one case of testdata/answers.txt.
type saying struct {
	name, event, text string
	said              []byte
	want              string
}

// TestAnswers holds what every kind of answer means against the table.
func TestAnswers(t *testing.T) {
	const file = "testdata/answers.txt"
	head, cases := readSayings(t, file)
	var out strings.Builder
	out.WriteString(head)
	for _, c := range cases {
		got := describe(answerOf(c))
		if got != c.want && !*update {
			t.Errorf("%s: got  %s\nwant %s", c.name, got, c.want)
		}
		fmt.Fprintf(&out, "== %s\n%smeans: %s\n", c.name, c.text, got)
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(cases) < 40 {
		t.Errorf("only %d cases", len(cases))
	}
}

func answerOf(c saying) engine.Answer {
	h := &hook.Hook{ID: "h", Kind: hook.Command}
	ev := &hook.Event{Name: hook.Name(c.event)}
	if len(c.said) > maxOutput {
		return tooMuch(h, "standard output")
	}
	return readAnswer(h, ev, c.said)
}

// readSayings reads the table, and what stands before it.
func readSayings(t *testing.T, file string) (head string, cases []saying) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(data), "== ")
	for block := range strings.SplitSeq("\n== "+rest, "\n== ") {
		name, body, _ := strings.Cut(block, "\n")
		if name == "" {
			continue
		}
		c := saying{name: name, event: "PreToolUse"}
		for line := range strings.SplitSeq(strings.TrimSpace(body), "\n") {
			key, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch key {
			case "event":
				c.event = value
			case "said":
				c.said = []byte(value)
			case "quoted":
				s, err := strconv.Unquote(value)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				c.said = []byte(s)
			case "repeat":
				n, what, _ := strings.Cut(value, " ")
				times, err := strconv.Atoi(n)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				c.said = bytes.Repeat([]byte(what), times)
			case "means":
				c.want = value
				continue
			}
			c.text += line + "\n"
		}
		cases = append(cases, c)
	}
	return head, cases
}

// describe is an answer on one line.
func describe(a engine.Answer) string {
	var parts []string
	for _, r := range a.Verdict.Reasons {
		parts = append(parts, fmt.Sprintf("%s %q", r.Effect, r.Reason))
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
