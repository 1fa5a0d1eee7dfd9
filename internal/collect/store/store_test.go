package store

import (
	"testing"
)

func TestOpen(t *testing.T) {
	for try := range 2 {
		s, err := Open(t.Context(), Options{Database: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Health(t.Context()); err != nil {
			t.Error(try, err)
		}
		for _, call := range []func() error{
			func() error { _, err := s.Counts(t.Context()); return err },
			func() error { _, err := s.Machines(t.Context(), MachineQuery{Find: "a%"}); return err },
			func() error { _, err := s.Releases(t.Context()); return err },
			func() error { _, err := s.Days(t.Context()); return err },
			func() error { _, err := s.Findings(t.Context(), FindingQuery{Team: "x"}); return err },
			func() error { _, err := s.Figures(t.Context(), Figures{By: []string{"time", "policy"}}); return err },
			func() error { _, err := s.Latencies(t.Context(), Span{}, "day", true); return err },
			func() error { _, err := s.Asked(t.Context(), Span{}, "", 1, 5); return err },
			func() error { _, err := s.Looks(t.Context(), 0, 5); return err },
		} {
			if err := call(); err != nil {
				t.Error(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
