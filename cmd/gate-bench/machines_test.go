package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"gate/internal/collect"
	"gate/internal/collect/store"
	"gate/internal/fleet"
)

// TestSimulated has simulated machines send an hour to a collector, and holds that it has
// what they wrote and finds what they gave reason for; and that what is lost is noticed.
func TestSimulated(t *testing.T) {
	t.Chdir("../..")
	kinds, err := moulds(fleet.Effects)
	if err != nil || len(kinds) < 5 {
		t.Fatal(len(kinds), err)
	}
	for _, drop := range []bool{false, true} {
		s, err := store.Open(t.Context(), store.Options{Database: t.TempDir(), Silent: time.Nanosecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		handler := http.Handler(collect.New(collect.Options{Store: s}))
		batches := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == fleet.LogsPath {
				batches++
			}
			if drop && r.URL.Path == fleet.LogsPath && batches == 10 { // of the second machine, which takes it for taken
				w.Write([]byte(`{"taken":4}`))
				return
			}
			handler.ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		c := crowd{machines: 7}
		n := &count{}
		var list []*simulated
		for i := range c.machines {
			m := newSimulated(i, time.Now().Add(-time.Hour))
			token, _, err := s.NewToken(t.Context(), store.Token{Expires: time.Now().Add(time.Hour)})
			if err == nil {
				err = s.Enrol(t.Context(), fleet.Enrollment{Token: token, Machine: m.name, Key: m.public()})
			}
			if err != nil {
				t.Fatal(err)
			}
			for quarter := range quarters {
				if m.silentIn(quarter) {
					continue
				}
				if err := m.send(t.Context(), server.URL, quarter, 4, kinds, n); err != nil {
					t.Fatal(err)
				}
			}
			list = append(list, m)
		}
		want := map[string]int{store.Skew: 1, store.Gap: 1, store.Twice: 1, store.Weaker: 1}
		if drop {
			want[store.Gap]++
		}
		got, err := found(t.Context(), s)
		if err != nil || len(got) < len(want) {
			t.Fatalf("%v, %v", got, err)
		}
		for kind, n := range want {
			if got[kind] != n {
				t.Errorf("%d findings %s, want %d: %v", got[kind], kind, n, got)
			}
		}
		lost, twice, kept, err := held(t.Context(), s, list)
		wantLost := 0
		if drop {
			wantLost = 4
		}
		if err != nil || lost != wantLost || twice != 0 || kept != written(list)-wantLost {
			t.Errorf("dropped %t: %d lost, %d twice, %d of %d kept, %v", drop, lost, twice, kept, written(list), err)
		}
		if n.again.Load() == 0 {
			t.Error("no machine sent a batch once more")
		}
	}
}

// TestPersist goes on where it is told to come again, and ends with its time.
func TestPersist(t *testing.T) {
	times := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if times++; times < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	m, n := newSimulated(1, time.Now()), &count{}
	if err := m.post(t.Context(), server.URL, fleet.LogsPath, nil, n); err != nil || n.refused.Load() != 2 || n.requests.Load() != 1 {
		t.Errorf("%v: %d refused", err, n.refused.Load())
	}
	times = -1 << 30
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := m.post(ctx, server.URL, fleet.LogsPath, nil, n); err == nil {
		t.Error("it never ended")
	}
}

// TestWorries passes on all but what went well.
func TestWorries(t *testing.T) {
	var b bytes.Buffer
	w := &worries{to: &b}
	for _, part := range []string{"a level=INFO b\nfirst le", "vel=WARN x\n", "panic: y\n"} {
		w.Write([]byte(part))
	}
	if b.String() != "first level=WARN x\npanic: y\n" {
		t.Errorf("%q", b.String())
	}
}
