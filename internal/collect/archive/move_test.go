package archive_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/internal/collect/archive"
	"gate/internal/collect/store"
	"gate/internal/fleet"
)

// TestMove holds that a day goes from the store to the archive, with all that it says, and
// that younger days stay.
func TestMove(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	s, err := store.Open(t.Context(), store.Options{Database: filepath.Join(t.TempDir(), "store"), Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a := places(t)["store"]
	machine := "0123456789abcdef"
	enrol(t, s, machine, now)
	var bodies [][]byte
	prev := ""
	for i := range 4 {
		at := time.Date(2026, 11, 20+i/2, 8, i, 0, 0, time.UTC)
		digest := fmt.Sprintf("%064x", i+1)
		chain := fmt.Sprintf(`{"digest":"%s","log":"l1","prev":"%s","seq":%d}`, digest, prev, i+1)
		if prev == "" {
			chain = fmt.Sprintf(`{"digest":"%s","log":"l1","seq":1}`, digest)
		}
		prev = digest
		bodies = append(bodies, fmt.Appendf(nil, `{"custom":{"gate":{"agent":"claude","chain":%s,"effects":["fs.delete"],"event":"PreToolUse","id":"a","policies":[{"effect":"deny","id":"gate.b","source":"library"},{"effect":"pass","id":"acme.a","source":"acme","would":{"effect":"deny","spared_by":"trial"}}],"session":"s-1","tool":"Bash","v":3}},"decision_id":"a-%d","path":"gate/decision","requested_by":"u-1","result":{"effect":"deny","result":"reject"},"timestamp":"%s"}`,
			chain, i, at.Format(time.RFC3339Nano)))
	}
	batch := store.Batch{Machine: machine}
	for _, body := range bodies {
		r, _, err := store.ReadRecord(body)
		if err != nil {
			t.Fatal(err)
		}
		batch.Records = append(batch.Records, r)
	}
	if _, err := s.Take(t.Context(), batch); err != nil {
		t.Fatal(err)
	}

	var moved []string
	for m, err := range a.Move(t.Context(), s, "2026-11-21", clock) {
		if err != nil {
			t.Fatal(err)
		}
		moved = append(moved, fmt.Sprintf("%s %d %d", m.Day, m.Rows, m.Dropped))
	}
	if !slices.Equal(moved, []string{"2026-11-20 2 2"}) {
		t.Fatal(moved)
	}
	got := read(t, a, "2026-11-20")
	if r := got[1]; len(got) != 2 || string(r.Body) != string(bodies[1]) || r.Machine != machine || r.Account != "u-1" || r.Policies != "gate.b" || r.Would != "acme.a" || r.Effects != "fs.delete" || r.Level != "effects" {
		t.Errorf("%+v", got)
	}
	left := map[string]int64{}
	list, err := s.Days(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		left[d.Day] = d.Records
		if d.Day == "2026-11-20" && !strings.HasPrefix(d.Archive, "s3://fleet/past/days/day=2026-11-20/") {
			t.Errorf("%+v", d)
		}
	}
	if left["2026-11-20"] != 0 || left["2026-11-21"] != 2 {
		t.Errorf("%v", left)
	}
	for _, err := range a.Move(t.Context(), s, "2026-11-21", clock) {
		t.Errorf("again: %v", err)
	}
	for e, err := range a.EraseIn(t.Context(), s, func(_, account string) bool { return account == "u-1" }, clock) {
		if err != nil || e.Rows != 2 || e.Written.Rows != 0 {
			t.Errorf("%+v, %v", e, err)
		}
	}
	if list, err := a.Days(t.Context()); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}

func enrol(t *testing.T, s *store.Store, machine string, now time.Time) {
	t.Helper()
	text, _, err := s.NewToken(t.Context(), store.Token{Expires: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	key := base64.StdEncoding.EncodeToString(make([]byte, ed25519.PublicKeySize))
	if err := s.Enrol(t.Context(), fleet.Enrollment{Token: text, Machine: machine, Key: key}); err != nil {
		t.Fatal(err)
	}
}

// TestDropArchived holds that a day of which more came than was archived stays.
func TestDropArchived(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Database: filepath.Join(t.TempDir(), "store")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.DropArchived(t.Context(), "2026-11-20", "text", 1); err != store.ErrMore {
		t.Error(err)
	}
	list, err := s.Days(t.Context())
	if err != nil || len(list) != 0 {
		t.Errorf("%v %v: it counts as dropped", list, err)
	}
}

// TestTakenIsArchived holds that the archive has room for every record that a collector
// takes: one that it had none for would keep all days from its own on in the store.
func TestTakenIsArchived(t *testing.T) {
	body := func(log, call string, effects int) []byte {
		kinds := make([]string, effects)
		for i := range kinds {
			kinds[i] = fmt.Sprintf(`"kind.%d"`, i)
		}
		return fmt.Appendf(nil, `{"custom":{"gate":{"agent":"claude","call":"%s","chain":{"digest":"%064x","log":"%s","seq":1},"effects":[%s],"event":"PreToolUse","id":"a","v":3}},"decision_id":"a-1","path":"gate/decision","result":{"effect":"deny","result":"reject"},"timestamp":"2026-11-20T08:00:00Z"}`,
			call, 1, log, strings.Join(kinds, ","))
	}
	longest := 0 // that is taken
	for n := 1<<20 - 1024; n < 1<<20+1024; n++ {
		if _, _, err := store.ReadRecord(body("l1", strings.Repeat("x", n), 0)); err != nil {
			break
		}
		longest = n
	}
	a := places(t)["directory"]
	for what, text := range map[string][]byte{
		"the longest": body("l1", strings.Repeat("x", longest), 0), "no log": body("", "ls", 0), "many effects": body("l1", "ls", 6_000), "more effects": body("l1", "ls", 7_000),
	} {
		row, err := archive.RowOf("0123456789abcdef", "red", time.Now(), text)
		if err != nil {
			t.Logf("%s: %v", what, err)
			continue
		}
		if err := os.RemoveAll(filepath.Dir(a.Name("2026-11-20"))); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Write(t.Context(), "2026-11-20", func(yield func(*archive.Row, error) bool) { yield(row, nil) }); err != nil {
			t.Errorf("%s, of %d bytes, is taken and not archived: %v", what, len(text), err)
		}
	}
}
