package audit

import (
	"reflect"
	"testing"
	"time"

	"gate/hook"
)

// TestSync writes what became of bundles, reads it again, and finds that the
// last decision about a call is another record.
func TestSync(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	decision := Record{ID: "first", Time: at, Effect: hook.Allow, Result: hook.Continue}
	taken := Record{ID: "taken", Time: at, Result: hook.Continue, Sync: &Sync{Name: "company", Digest: "sha256:00", Version: 8, Before: 7, Signers: []string{"ana", "bo"}}}
	refused := Record{
		ID: "refused", Time: at, Effect: hook.Deny, Result: hook.Reject, Sync: &Sync{Digest: "sha256:01", Version: 3, Before: 3},
		Reasons: []Reason{{ID: "bundle.bad_key_set", Effect: hook.Deny, Reason: "the key set is wrong"}},
	}
	for _, r := range []Record{decision, taken, refused} {
		add(t, dir, Options{}, r)
	}
	h, err := OpenHistory(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Record{decision, taken, refused} {
		got, err := h.Find(want.ID)
		if err != nil || !reflect.DeepEqual(got.Sync, want.Sync) || !reflect.DeepEqual(got.Reasons, want.Reasons) || got.Effect != want.Effect {
			t.Errorf("%s: got %+v, %v", want.ID, got, err)
		}
		if _, err := got.Restore(); (err == errNoCall) != (want.Sync != nil) {
			t.Errorf("%s: restored: %v", want.ID, err)
		}
	}
	if last, err := h.Last(); err != nil || last.ID != "first" {
		t.Errorf("the last decision is %q, %v", last.ID, err)
	}
}
