package archive_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gate/internal/collect/archive"
)

// TestFetch holds that the days of a collector come whole, page after page, and that an
// answer which breaks off is an error.
func TestFetch(t *testing.T) {
	body := func(seq int) string {
		chain := fmt.Sprintf(`"digest":"%064x","log":"l1","seq":%d`, seq, seq)
		if seq > 1 {
			chain = fmt.Sprintf(`"digest":"%064x","log":"l1","prev":"%064x","seq":%d`, seq, seq-1, seq)
		}
		return fmt.Sprintf(`{"custom":{"gate":{"agent":"claude","chain":{%s},"event":"PreToolUse","id":"a","tool":"Bash","v":3}},"decision_id":"a-%d","path":"gate/decision","requested_by":"u-1","result":{"effect":"pass","result":"continue"},"timestamp":"2026-11-20T08:00:00Z"}`, chain, seq)
	}
	line := func(seq int) string {
		return fmt.Sprintf(`{"machine":"m1","team":"web","received":"2026-11-20T09:00:00Z","record":%s}`+"\n", body(seq))
	}
	pages := map[string]string{"": line(1) + line(2) + `{"next":"m1.l1.2"}` + "\n", "m1.l1.2": line(3) + `{"end":true}` + "\n"}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer secret":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/v1/days":
			fmt.Fprint(w, `{"days":[{"day":"odd","records":4},{"day":"2026-11-21","records":0},{"day":"2026-11-20","records":3},{"day":"2026-11-19","records":3}]}`)
		default:
			fmt.Fprint(w, pages[r.URL.Query().Get("after")])
		}
	}))
	defer server.Close()
	fetch := func(token string) (*archive.Archive, error) {
		a, err := archive.Open(t.TempDir(), archive.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return a, a.Fetch(t.Context(), archive.Collector{URL: server.URL, Token: token, Client: server.Client()}, "2026-11-20", "")
	}
	a, err := fetch("secret")
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, a, day); len(got) != 3 || string(got[2].Body) != body(3) || got[2].Team != "web" || len(days(t, a)) != 1 {
		t.Errorf("%v", got)
	}
	pages["m1.l1.2"] = line(3)
	if a, err = fetch("secret"); err == nil || !strings.Contains(err.Error(), "the answer broke off") || len(days(t, a)) != 0 {
		t.Error(err)
	}
	if _, err = fetch("other"); err == nil || !strings.Contains(err.Error(), "status 401") {
		t.Error(err)
	}
}
