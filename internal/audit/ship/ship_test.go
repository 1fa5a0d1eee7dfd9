package ship_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/plugins/logs"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/audit/ship"
)

// A collector takes decision logs as OPA's documentation says that a service
// must, with OPA's own types. Each request is answered by the next of answers:
// a status, and "lost" for one that takes the batch and fails all the same.
type collector struct {
	mu      sync.Mutex
	answers []string
	most    int      // records of a batch, 0: any number
	refuses []string // records with one of these in their id
	ids     []string
	times   map[string]int
	headers http.Header
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers = r.Header
	answer := "200"
	if len(c.answers) > 0 {
		answer, c.answers = c.answers[0], c.answers[1:]
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var batch []logs.EventV1
	if err := json.NewDecoder(z).Decode(&batch); err != nil || r.Method != http.MethodPost || r.URL.Path != "/logs" {
		http.Error(w, fmt.Sprint(err), http.StatusBadRequest)
		return
	}
	if c.most > 0 && len(batch) > c.most {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	for _, e := range batch {
		for _, word := range c.refuses {
			if strings.HasPrefix(e.DecisionID, word) {
				http.Error(w, "that has "+word, http.StatusBadRequest)
				return
			}
		}
	}
	if answer == "200" || answer == "lost" {
		for _, e := range batch {
			c.ids = append(c.ids, idOf(&e))
			c.times[e.DecisionID]++
		}
	}
	switch answer {
	case "lost":
		w.WriteHeader(http.StatusBadGateway)
	case "500":
		w.WriteHeader(http.StatusInternalServerError)
	case "503":
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	case "302":
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	case "401":
		w.WriteHeader(http.StatusUnauthorized)
	}
}

// idOf is the short id of a decision, or a gap in brackets.
func idOf(e *logs.EventV1) string {
	if e.Path == "gate/gap" {
		result := (*e.Result).(map[string]any)
		return fmt.Sprintf("[%v-%v %s]", result["from"], result["to"], e.Labels["ring"])
	}
	return e.Custom["gate"].(map[string]any)["id"].(string)
}

// a fleet of one: a log, a collector, and what ships.
type fixture struct {
	dir     string
	history *audit.History
	collector
	shipper ship.Shipper
	waits   []time.Duration
	written int
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{dir: t.TempDir()}
	f.times = map[string]int{}
	server := httptest.NewServer(&f.collector)
	t.Cleanup(server.Close)
	client, err := ship.Client("", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if f.history, err = audit.OpenHistory(f.dir); err != nil {
		t.Fatal(err)
	}
	f.shipper = ship.Shipper{
		URL: server.URL + "/logs", Client: client, Token: "t0ken", Labels: map[string]string{"ring": "canary"},
		Wait: func(_ context.Context, d time.Duration) error { f.waits = append(f.waits, d); return nil },
	}
	return f
}

func (f *fixture) write(t *testing.T, n int, o audit.Options) {
	t.Helper()
	for range n {
		f.written++
		r := audit.Record{ID: fmt.Sprintf("d%03d", f.written), Time: time.Now(), Event: hook.PreToolUse, Effect: hook.Deny, Result: hook.Reject}
		if err := audit.Append(f.dir, o, r); err != nil {
			t.Fatal(err)
		}
	}
}

// got lists what arrived as a range, if it is one.
func (f *fixture) got() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() { f.ids = nil }()
	return strings.Join(f.ids, " ")
}

func (f *fixture) ship(t *testing.T, wantErr string) ship.Report {
	t.Helper()
	report, err := f.shipper.Ship(t.Context(), f.history)
	if (err != nil) != (wantErr != "") || err != nil && !strings.Contains(err.Error(), wantErr) {
		t.Fatalf("%v, want %q", err, wantErr)
	}
	return report
}

// TestShip sends each record once, in batches, and what comes later with the
// next shipping.
func TestShip(t *testing.T) {
	f := newFixture(t)
	if r := f.ship(t, ""); r.Batches != 0 {
		t.Errorf("of nothing: %+v", r)
	}
	f.write(t, 5, audit.Options{})
	f.shipper.Batch = 1 // every record is more
	if r := f.ship(t, ""); r.Records != 5 || r.Batches != 5 || r.Cursor.Seq != 5 {
		t.Errorf("%+v", r)
	}
	if got := f.got(); got != "d001 d002 d003 d004 d005" {
		t.Error(got)
	}
	f.shipper.Batch = 0
	f.write(t, 2, audit.Options{})
	if r := f.ship(t, ""); r.Records != 2 || r.Batches != 1 {
		t.Errorf("%+v", r)
	}
	if got := f.got(); got != "d006 d007" {
		t.Error(got)
	}
	f.shipper.Queue = "another" // which got nothing so far
	if r := f.ship(t, ""); r.Records != 7 {
		t.Errorf("%+v", r)
	}
	for name, want := range map[string]string{"Authorization": "Bearer t0ken", "Content-Type": "application/json", "Content-Encoding": "gzip"} {
		if got := f.headers.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestShipFails loses nothing, whatever the other side does, and repeats only
// what it may have lost.
func TestShipFails(t *testing.T) {
	for _, test := range []struct {
		name    string
		answers string
		most    int
		wantErr string
		got     string
		waits   int
		later   string // what the next shipping brings
	}{
		{"away for a while", "503 500", 0, "", "d001 d002 d003", 2, ""},
		{"away", "503 503 503", 0, "503", "", 2, "d001 d002 d003"},
		{"took it and failed", "lost", 0, "", "d001 d002 d003 d001 d002 d003", 1, ""},
		{"wrong token", "401", 0, "look at the token", "", 0, "d001 d002 d003"},
		{"sends elsewhere", "302", 0, "no other address", "", 0, "d001 d002 d003"},
		{"takes little", "", 1, "", "d001 d002 d003", 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.write(t, 3, audit.Options{})
			f.answers, f.most, f.shipper.Tries = strings.Fields(test.answers), test.most, 3
			f.ship(t, test.wantErr)
			if got := f.got(); got != test.got {
				t.Errorf("got %s, want %s", got, test.got)
			}
			if len(f.waits) != test.waits {
				t.Errorf("waited %v", f.waits)
			}
			if strings.HasPrefix(test.answers, "503") && (f.waits[0] != 7*time.Second || f.waits[1] < 500*time.Millisecond) {
				t.Errorf("waited %v", f.waits)
			}
			f.ship(t, "")
			if got := f.got(); got != test.later {
				t.Errorf("later %s, want %s", got, test.later)
			}
			for id, n := range f.times {
				if n != 1 && test.name != "took it and failed" {
					t.Errorf("%s came %d times", id, n)
				}
			}
		})
	}
}

// TestShipGap keeps what was not sent while files rotate, and says what was
// dropped.
func TestShipGap(t *testing.T) {
	f := newFixture(t)
	o := audit.Options{Size: 1, Keep: 1, Unshipped: 5} // a record a file
	for range 5 {
		f.write(t, 1, o)
	}
	if r := f.ship(t, ""); r.Records != 5 || r.Gaps != 0 {
		t.Errorf("%+v", r)
	}
	f.got()
	for range 10 {
		f.write(t, 1, o)
	}
	if r := f.ship(t, ""); r.Records != 6 || r.Gaps != 1 {
		t.Errorf("%+v", r)
	}
	if got := f.got(); got != "[6-9 canary] d010 d011 d012 d013 d014 d015" {
		t.Error(got)
	}
	if v, err := f.history.Verify(); err != nil || v.Wrong != 0 || v.Chains[0].Rotated != 9 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestShipRefused sends a gap for each record that the other side refuses, and what stands
// behind it; where it refuses too many, or the gap as well, the queue stays as it is.
func TestShipRefused(t *testing.T) {
	for _, test := range []struct {
		name    string
		records int
		refuses string // records with it in their id
		wantErr string
		skipped int
		got     string
		sent    int64
	}{
		{"one of seven", 7, "d003", "", 1, "d001 d002 [3-3 canary] d004 d005 d006 d007", 7},
		{"two of seven", 7, "d002 d007", "", 2, "d001 [2-2 canary] d003 d004 d005 d006 [7-7 canary]", 7},
		{"the only one", 1, "d001", "", 1, "[1-1 canary]", 1},
		{"all of twelve", 12, "d0", "the server answered 400", 10, "[1-1 canary] [2-2 canary] [3-3 canary] [4-4 canary] [5-5 canary] [6-6 canary] [7-7 canary] [8-8 canary] [9-9 canary] [10-10 canary]", 10},
		{"everything", 3, "d0 gap", "the server answered 400 Bad Request: that has d0", 0, "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t)
			f.refuses = strings.Fields(test.refuses)
			f.write(t, test.records, audit.Options{})
			r := f.ship(t, test.wantErr)
			if got := f.got(); got != test.got {
				t.Errorf("got %s, want %s", got, test.got)
			}
			if r.Skipped != test.skipped || r.Cursor.Seq != test.sent || len(f.waits) != 0 {
				t.Errorf("%+v, waited %v", r, f.waits)
			}
		})
	}
}

// TestPost sends one request that is signed over its bytes as sent, and tells why it was
// not taken.
func TestPost(t *testing.T) {
	f := newFixture(t)
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		got = append(got, fmt.Sprintf("%s %q %v", r.URL.Path, r.Header.Get("Content-Encoding"), err == nil && r.Header.Get("Signed") == string(body)))
		if r.URL.Path == "/v1/refused" {
			http.Error(w, "no\x1b[2J such\nmachine", http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	f.shipper.URL, f.shipper.Token = server.URL, ""
	sign := func(h http.Header, body []byte) { h.Set("Signed", string(body)) }
	if err := f.shipper.Post(t.Context(), ship.Request{Path: "/v1/plain", Body: []byte("text"), Plain: true, Sign: sign}); err != nil {
		t.Error(err)
	}
	err := f.shipper.Post(t.Context(), ship.Request{Path: "/v1/refused", Body: []byte("text"), Plain: true, Sign: sign})
	var answer *ship.AnswerError
	if want := "/v1/refused: the server answered 401 Unauthorized: it does not know this machine, or has another key of it: no [2J such"; !errors.As(err, &answer) || answer.Code != 401 || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
	if text := strings.Join(got, ", "); text != `/v1/plain "" true, /v1/refused "" true` {
		t.Error(text)
	}
}

// TestShipStops ends when it is told to while it waits.
func TestShipStops(t *testing.T) {
	f := newFixture(t)
	f.write(t, 1, audit.Options{})
	f.answers = []string{"500", "500", "500", "500", "500", "500"}
	ctx, cancel := context.WithCancel(t.Context())
	f.shipper.Wait = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	if _, err := f.shipper.Ship(ctx, f.history); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if c, err := f.history.Cursor(""); err != nil || c.Seq != 0 {
		t.Errorf("%+v, %v", c, err)
	}
}
