package board

import (
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/internal/collect"
	"gate/internal/collect/store"
)

var (
	database = flag.String("database", "", "a directory or postgres://… that .ci/fleet has filled, to be looked at")
	listen   = flag.Duration("listen", 0, "how long to show the page of it, for a browser")
)

// open makes a board of the database that was named, for whoever has the token "look".
func openBoard(t testing.TB) *Board {
	if *database == "" {
		t.Skip("no -database is named")
	}
	s, err := store.Open(t.Context(), store.Options{Database: *database})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	b, err := New(Options{Store: s, Who: func(r *http.Request) (collect.Person, int, string) {
		if r.Header.Get("Authorization") != "Bearer look" {
			return collect.Person{}, 401, "a token is wanted"
		}
		return collect.Person{Name: "alex", Role: collect.Administrator}, 0, ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// most is what a view takes at its 95th percentile at most.
const most = 300 * time.Millisecond

// TestSpeed looks at every view of a large fleet, 60 times or as often as a second allows.
func TestSpeed(t *testing.T) {
	b := openBoard(t)
	list, err := b.o.Store.Machines(t.Context(), store.MachineQuery{Limit: 1, Finding: store.Weaker})
	if err != nil || len(list) == 0 {
		t.Fatal("no machine: ", err)
	}
	for _, path := range []string{
		"/ui/overview", "/ui/overview?days=90", "/ui/findings", "/ui/findings?kind=silent&team=data", "/ui/machines", "/ui/machines?finding=*", "/ui/machines?release=company%4039&team=search", "/ui/machines?text=999",
		"/ui/machines/" + url.PathEscape(list[0].Machine), "/ui/policies", "/ui/policies?days=30", "/ui/policies?days=30&team=data", "/ui/policies/gate.git.push?days=30",
		"/ui/asked", "/ui/trial", "/ui/trial?days=30", "/ui/figures", "/ui/figures?days=30", "/ui/figures?days=30&team=platform", "/ui/looks",
	} {
		var took []time.Duration
		begin := time.Now()
		for len(took) < 60 || time.Since(begin) < time.Second && len(took) < 200 {
			w := httptest.NewRecorder()
			r := httptest.NewRequest("GET", form(path, ".html"), nil)
			r.Header.Set("Authorization", "Bearer look")
			at := time.Now()
			b.ServeHTTP(w, r)
			took = append(took, time.Since(at))
			if w.Code != 200 || strings.Contains(w.Body.String(), "refusal") {
				t.Fatalf("%s: %d %s", path, w.Code, w.Body)
			}
		}
		slices.Sort(took)
		p50, p95 := took[len(took)/2], took[len(took)*95/100]
		t.Logf("%-50s %4d looks, p50 %v, p95 %v", path, len(took), p50.Round(100*time.Microsecond), p95.Round(100*time.Microsecond))
		if p95 > most {
			t.Errorf("%s takes %v at p95", path, p95)
		}
	}
}

// TestShow has the page answer for a while, for a browser: the token is "look".
func TestShow(t *testing.T) {
	if *listen == 0 {
		t.Skip("no -listen")
	}
	server := httptest.NewServer(openBoard(t))
	defer server.Close()
	fmt.Println(server.URL + "/ui/overview")
	time.Sleep(*listen)
}
