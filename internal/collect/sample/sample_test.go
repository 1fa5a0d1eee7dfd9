package sample

import (
	"os"
	"testing"
	"time"

	"gate/internal/collect/store"
)

// TestFill holds that the rows of an hour and of its day are of the same calls, that the
// machines are there, and that a store opens on it.
func TestFill(t *testing.T) {
	databases := []string{t.TempDir()}
	if address := os.Getenv("GATE_SAMPLE_DATABASE"); address != "" {
		databases = []string{address}
	}
	for _, database := range databases {
		until := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
		fleet := Fleet{Machines: 300, Days: 3, Calls: 60_000, Teams: 3, Tools: 4, Until: until, Odd: "<b>odd</b>"}
		if err := Fill(t.Context(), database, fleet); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(t.Context(), store.Options{Database: database})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		span := store.Span{From: until.AddDate(0, 0, -3), Until: until}
		sum := map[bool]int64{}
		for _, day := range []bool{false, true} {
			rows, err := s.Figures(t.Context(), store.Figures{Span: span, Day: day})
			if err != nil || len(rows) != 1 {
				t.Fatal(rows, err)
			}
			sum[day] = rows[0].N
		}
		if sum[true] != sum[false] || sum[true] < 50_000 || sum[true] > 75_000 {
			t.Errorf("calls by hour and by day: %v", sum)
		}
		counts, err := s.Counts(t.Context())
		if err != nil || counts.Enrolled != 301 || counts.Missing != 20 || counts.Open[store.Weaker] < 2 {
			t.Errorf("%+v %v", counts, err)
		}
	}
}
