package audit

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"gate/hook"
)

// TestReview writes decisions and what a person said of them, and holds that the last word
// counts, that no decision changes, and that the chain covers reviews.
func TestReview(t *testing.T) {
	dir := t.TempDir()
	start := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)
	decision := func(id string, effect hook.Effect, minute int) Record {
		r := Record{ID: id, Key: id + "-key", Time: start.Add(time.Duration(minute) * time.Minute), User: "dev", Agent: "claude", Session: "s", Event: hook.PreToolUse, Tool: "Bash",
			Call: "make " + id, Effect: effect, Result: hook.Continue}
		if effect > hook.Pass {
			r.Reasons = []Reason{{ID: "acme.push", Effect: effect, Reason: "no"}, {ID: "acme.other", Effect: hook.Pass, Reason: "so"}}
		}
		return r
	}
	asked, passed, denied := decision("asked", hook.Ask, 0), decision("passed", hook.Pass, 1), decision("denied", hook.Deny, 2)
	minute := 3
	said := func(r Record, says Opinion, note string) Record {
		minute++
		v, err := NewReview(&r, says, note)
		if err != nil {
			t.Fatalf("%s: %v", r.ID, err)
		}
		return Record{ID: "rev" + string(rune('a'+minute)), Time: start.Add(time.Duration(minute) * time.Minute), User: "ana", Agent: "gate", Call: "x", Result: hook.Continue, Review: v}
	}
	list := []Record{
		asked, passed, denied,
		said(asked, Withdrawn, ""), said(asked, FalseAlarm, "ours, password=hunter2secret\nreally"), said(passed, Missed, ""), said(denied, FalseAlarm, ""), said(denied, Withdrawn, ""),
	}
	for _, r := range list {
		add(t, dir, Options{}, r)
	}
	h, err := OpenHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	var calls Calls
	got := map[string]string{}
	for r, err := range h.Newest() {
		if err != nil {
			t.Fatal(err)
		}
		if c := calls.Add(r); c != nil {
			got[r.ID] = string(c.Outcome())
			if c.Review != nil {
				got[r.ID] += " " + string(c.Review.Says) + " " + strings.Join(c.Review.Policies, ",") + " " + c.Review.By + " " + c.Review.Note
			}
			one, err := h.Review(&r)
			if err != nil || !reflect.DeepEqual(one, c.Review) {
				t.Errorf("%s: looked for alone %+v, %v; in the list %+v", r.ID, one, err, c.Review)
			}
		}
	}
	want := map[string]string{
		"asked": "asked false_alarm acme.push ana ours, password=[redacted]\nreally", "passed": "passed missed  ana ", "denied": "denied",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if last, err := h.Last(); err != nil || last.ID != "denied" {
		t.Errorf("the last decision is %q, %v", last.ID, err)
	}
	if v, err := h.Verify(); err != nil || v.Wrong > 0 {
		t.Errorf("the chain does not hold: %+v, %v", v, err)
	}
	for name, wrong := range map[string]func() (*Review, error){
		"an alarm without one": func() (*Review, error) { return NewReview(&passed, FalseAlarm, "") },
		"a miss that was none": func() (*Review, error) { return NewReview(&asked, Missed, "") },
		"a review of a review": func() (*Review, error) { return NewReview(&list[4], FalseAlarm, "") },
	} {
		if v, err := wrong(); err == nil {
			t.Errorf("%s: %+v", name, v)
		}
	}
}
