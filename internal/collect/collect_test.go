package collect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"gate/internal/collect/store"
	"gate/internal/fleet"
	"gate/internal/sealed"
)

// TestIngest takes what a machine sends, and nothing else.
func TestIngest(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		g := newRig(t, database, Limits{Compressed: 1 << 16, Plain: 1 << 20, Records: 100})
		m, stranger := newMachine(1), newMachine(2)
		g.enrol(m)
		first := []doc{m.record(nil), m.record(nil), m.record(nil)}
		send := func(what string, r *http.Request, status int, said string) map[string]any {
			t.Helper()
			got, _, answer := do(t, r)
			text, _ := json.Marshal(answer)
			if got != status || !strings.Contains(string(text), said) {
				t.Errorf("%s: %d %s, want %d with %q", what, got, text, status, said)
			}
			return answer
		}
		logs := func(by *machine, body any) *http.Request { return by.request(g.url, fleet.LogsPath, pack(body)) }
		send("records", logs(m, first), 200, `"taken":3`)
		send("replayed", logs(m, first), 200, `{"again":3,"findings":0,"taken":0}`)
		send("nothing", logs(m, []doc{}), 200, `"taken":0`)
		send("a stranger's", logs(stranger, first), 401, "not enrolled")
		stolen := newMachine(1)
		stolen.key = stranger.key
		send("by another machine's key", logs(stolen, first), 401, "signature")
		r := logs(m, first)
		r.Header.Set("Gate-Time", "2020-01-01T00:00:00Z")
		send("of another time", r, 401, "signature")
		r = m.request(g.url, fleet.StatusPath, pack(first))
		r.URL.Path = fleet.LogsPath
		send("signed for another path", r, 401, "signature")
		r = logs(m, first)
		r.Header.Del("Gate-Signature")
		send("not signed", r, 401, "Gate-Signature")
		r = logs(m, first)
		r.Header.Add("Gate-Machine", stranger.name)
		send("of two machines", r, 401, "Gate-Machine")
		send("another machine's record is this one's", logs(m, []doc{newMachine(3).record(nil)}), 200, `"taken":1`)

		send("a bomb", m.request(g.url, fleet.LogsPath, pack(bytes.Repeat([]byte(" "), 4<<20))), 413, "unpacked")
		send("too much", m.request(g.url, fleet.LogsPath, bytes.Repeat([]byte("x"), 1<<17)), 413, "bytes are taken")
		send("no gzip", m.request(g.url, fleet.LogsPath, []byte("[]")), 400, "gzip")
		send("a second member", m.request(g.url, fleet.LogsPath, append(pack([]doc{}), pack([]doc{})...)), 400, "behind the gzip")
		send("no array", logs(m, doc{}), 400, "an array")
		send("no end", logs(m, []byte(`[`)), 400, "no end")
		send("something behind", logs(m, []byte(`[] []`)), 400, "behind the array")
		send("no record", logs(m, []byte(`[{"path":"gate/other"}]`)), 400, "record 1: ")
		send("a name twice", logs(m, []byte(`[{"path":"gate/decision","path":"gate/decision"}]`)), 400, "record 1: ")
		send("not UTF-8", logs(m, []byte("[{\"path\":\"\xff\"}]")), 400, "record 1")
		many := make([]doc, 101)
		for i := range many {
			many[i] = m.record(nil)
		}
		send("too many", logs(m, many), 413, "more records")

		send("a status", m.request(g.url, fleet.StatusPath, pack(m.status(2))), 200, `"seq":2`)
		send("an old one", m.request(g.url, fleet.StatusPath, pack(m.status(1))), 409, `{"seq":2}`)
		send("of another machine", m.request(g.url, fleet.StatusPath, pack(stranger.status(9))), 400, "gate.machine")
		send("no status", m.request(g.url, fleet.StatusPath, pack(doc{"gate": 1})), 400, "")

		bad := g.enrolment(stranger)
		bad["token"] = "gate-enrol-GUESS"
		post := func(body any) *http.Request {
			data, _ := json.Marshal(body)
			r, _ := http.NewRequest("POST", g.url+fleet.EnrollPath, bytes.NewReader(data))
			return r
		}
		send("an unknown token", post(bad), 403, "token")
		other := g.enrolment(m)
		other["key"] = g.enrolment(stranger)["key"]
		send("another key", post(other), 409, "forget")
		send("no enrolment", post(doc{"token": "x"}), 400, "machine")
		get, _ := http.NewRequest("GET", g.url+"/health", nil)
		send("health", get, 200, `"ok"`)
		get, _ = http.NewRequest("PUT", g.url+fleet.LogsPath, nil)
		send("another method", get, 404, "")

		status, found := g.ask("reader", "/v1/findings")
		text := fmt.Sprint(found)
		for _, kind := range []string{store.Unknown, store.BadSignature, store.StatusBack} {
			if !strings.Contains(text, kind) {
				t.Errorf("no finding %s: %d %s", kind, status, text)
			}
		}
		n := 0
		for _, err := range g.store.Records(t.Context(), store.RecordQuery{Day: m.at.Format(time.DateOnly)}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != 4 {
			t.Errorf("%d records are kept, and 4 were taken", n)
		}
	})
}

// TestQuota has a machine that sends too much wait, and no other.
func TestQuota(t *testing.T) {
	g := newRig(t, t.TempDir(), Limits{RecordsAMinute: 3})
	m, other := newMachine(1), newMachine(2)
	g.enrol(m)
	g.enrol(other)
	batch := func(m *machine) *http.Request {
		return m.request(g.url, fleet.LogsPath, pack([]doc{m.record(nil), m.record(nil), m.record(nil), m.record(nil)}))
	}
	if status, _, _ := do(t, batch(m)); status != 200 {
		t.Fatalf("the first batch: %d", status)
	}
	status, header, _ := do(t, batch(m))
	if after := header.Get("Retry-After"); status != 429 || after == "" || after == "0" {
		t.Errorf("the second batch: %d, Retry-After %q", status, after)
	}
	if status, _, _ := do(t, batch(other)); status != 200 {
		t.Errorf("another machine: %d", status)
	}
	q := quotas{records: 60, bytes: 1000, all: map[string]*quota{}}
	now := time.Now()
	q.charge("m", now, 90, 10)
	if wait := q.wait("m", now); wait.Round(time.Second) != 30*time.Second {
		t.Errorf("it waits %s for 30 records of 60 a minute", wait)
	}
	if wait := q.wait("m", now.Add(31*time.Second)); wait != 0 {
		t.Errorf("and then %s", wait)
	}
	if q.forget(now.Add(time.Hour)); len(q.all) != 0 {
		t.Error("it is remembered for ever")
	}
}

// TestAtOnce answers as many as there is room for.
func TestAtOnce(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Database: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	server := New(Options{Store: s, Limits: Limits{AtOnce: 1}})
	server.room <- struct{}{}
	w := &recorder{header: http.Header{}}
	r, _ := http.NewRequest("POST", fleet.LogsPath, bytes.NewReader(nil))
	server.ServeHTTP(w, r)
	if w.status != 503 || w.header.Get("Retry-After") == "" {
		t.Errorf("%d %v", w.status, w.header)
	}
	<-server.room
	w = &recorder{header: http.Header{}}
	if server.ServeHTTP(w, r); w.status != 401 {
		t.Errorf("with room: %d", w.status)
	}
}

type recorder struct {
	header http.Header
	status int
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) Write(b []byte) (int, error) { return len(b), nil }
func (r *recorder) WriteHeader(status int)      { r.status = status }

// TestRoles holds who sees what, and that each look is noted.
func TestRoles(t *testing.T) {
	g := newRig(t, t.TempDir(), Limits{})
	paths := map[string]Role{
		"/v1/counts": Reader, "/v1/machines": Reader, "/v1/findings": Reader, "/v1/figures?by=time,policy&policy=*": Reader, "/v1/releases": Reader, "/v1/asked": Reader, "/v1/latency?by=day": Reader,
		"/v1/trials": Reader, "/v1/days": Reader, "/v1/records?day=2026-11-28": Reviewer, "/v1/looks": Administrator, "/v1/tokens": Administrator,
	}
	for path, needs := range paths {
		for _, role := range []Role{Nobody, Reader, Reviewer, Administrator} {
			token := role.String()
			want := 200
			switch {
			case role == Nobody:
				token, want = "", 401
			case role < needs:
				want = 403
			}
			if status, doc := g.ask(token, path); status != want {
				t.Errorf("%s for %s: %d, want %d: %v", path, role, status, want, doc)
			}
		}
	}
	if status, _ := g.ask("guessed", "/v1/counts"); status != 401 {
		t.Errorf("a token that nobody has: %d", status)
	}
	for path, said := range map[string]string{
		"/v1/figures?by=nothing": "by:", "/v1/figures?from=yesterday": "from:", "/v1/figures?from=2026-11-28&until=2026-11-27": "before", "/v1/findings?kind=other": "kind:",
		"/v1/findings?limit=-1": "limit:", "/v1/records?day=today": "day:", "/v1/records?day=2026-11-28&after=x": "after:", "/v1/latency?by=year": "by:", "/v1/machines/none": "no such thing",
	} {
		status, doc := g.ask("administrator", path)
		if text := fmt.Sprint(doc["error"]); status != 400 && status != 404 || !strings.Contains(text, said) {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	_, doc := g.ask("administrator", "/v1/looks?limit=1000")
	text, _ := json.Marshal(doc)
	for _, look := range []string{`"what":"GET /v1/counts","`, `"what":"refused: GET /v1/records"`, `"who":"a-reader"`} {
		if !strings.Contains(strings.ReplaceAll(string(text), `"what":"GET /v1/counts"}`, `"what":"GET /v1/counts","`), look) {
			t.Errorf("no look %s", look)
		}
	}

	if err := os.WriteFile(g.roles, []byte("token reader x y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _ := g.ask("administrator", "/v1/counts"); status != 503 {
		t.Errorf("with a file of roles that is no good: %d", status)
	}
}

// TestProxy believes a proxy that proves to be it.
func TestProxy(t *testing.T) {
	g := newRig(t, t.TempDir(), Limits{})
	secret := "the secret of the proxy"
	for _, c := range []struct {
		what, path string
		header     []string
		want       int
	}{
		{"a user", "/v1/counts", []string{SecretHeader, secret, "X-User", "anna"}, 200},
		{"a user for more than the role", "/v1/records?day=2026-11-28", []string{SecretHeader, secret, "X-User", "anna"}, 403},
		{"a group", "/v1/records?day=2026-11-28", []string{SecretHeader, secret, "X-User", "bert", "X-Groups", "all, security"}, 200},
		{"somebody without a role", "/v1/counts", []string{SecretHeader, secret, "X-User", "carla"}, 403},
		{"without the secret", "/v1/counts", []string{"X-User", "anna"}, 401},
		{"with another one", "/v1/counts", []string{SecretHeader, "guess", "X-User", "anna"}, 401},
		{"two users", "/v1/counts", []string{SecretHeader, secret, "X-User", "anna", "X-User", "bert"}, 401},
		{"nobody", "/v1/counts", []string{SecretHeader, secret}, 401},
		{"from a page elsewhere", "/v1/counts", []string{SecretHeader, secret, "X-User", "anna", "Sec-Fetch-Site", "cross-site"}, 403},
		{"a bad token beside it", "/v1/counts", []string{SecretHeader, secret, "X-User", "anna", "Authorization", "Bearer x"}, 401},
	} {
		r, _ := http.NewRequest("GET", g.url+c.path, nil)
		for i := 0; i < len(c.header); i += 2 {
			r.Header.Add(c.header[i], c.header[i+1])
		}
		if status, _, doc := do(t, r); status != c.want {
			t.Errorf("%s: %d, want %d: %v", c.what, status, c.want, doc)
		}
	}
}

// TestRecords pages through a day.
func TestRecords(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		g := newRig(t, database, Limits{})
		m := newMachine(1)
		g.enrol(m)
		var sent []doc
		for range 25 {
			sent = append(sent, m.record(func(_, gate doc) { gate["call"] = "<script>alert(1)</script>" }))
		}
		if status, _, doc := do(t, m.request(g.url, fleet.LogsPath, pack(sent))); status != 200 {
			t.Fatal(status, doc)
		}
		day := sent[0]["timestamp"].(string)[:10]
		next, got := "", []Line{}
		for pages := 0; pages < 5; pages++ {
			_, answer := g.ask("reviewer", "/v1/records?limit=10&day="+day+"&after="+next)
			var end End
			for line := range strings.Lines(answer["text"].(string)) {
				var l Line
				if err := json.Unmarshal([]byte(line), &l); err != nil {
					t.Fatal(err, line)
				}
				if l.Record == nil {
					json.Unmarshal([]byte(line), &end)
					continue
				}
				got = append(got, l)
			}
			if end.End {
				break
			}
			next = end.Next
		}
		n := 0
		for _, l := range got {
			if l.Machine == m.name && l.Team == "red" && strings.Contains(string(l.Record), m.log) {
				n++
			}
		}
		if n != len(got) || n == 0 || n > 25 || n < 25 && day == time.Now().UTC().Format(time.DateOnly) && m.at.Format(time.DateOnly) == day {
			t.Errorf("%d of %d records", n, len(got))
		}
	})
}

// TestRollout holds machines against the channel.
func TestRollout(t *testing.T) {
	g := newRig(t, t.TempDir(), Limits{})
	old, fresh := sealed.Digest([]byte("old")), sealed.Digest([]byte("new"))
	for n := range 4 {
		m := newMachine(n)
		g.enrol(m)
		st := m.status(1)
		b := fleet.BundleStatus{Name: "company", Revision: "7", Digest: old}
		if n == 0 {
			b.Revision, b.Digest = "8", fresh
		}
		st.Bundles["company"] = b
		if status, _, doc := do(t, m.request(g.url, fleet.StatusPath, pack(st))); status != 200 {
			t.Fatal(status, doc)
		}
	}
	rolled, err := Rollout(t.Context(), g.store, sealed.Channel{Version: 2, Releases: map[string][]sealed.Rollout{"company": {{Digest: fresh}}}, Trials: map[string][]sealed.Rollout{}})
	if err != nil || len(rolled) != 1 || rolled[0] != (Rolled{Bundle: "company", Digest: fresh, Wanted: 4, There: 1}) {
		t.Errorf("%+v, %v", rolled, err)
	}
}

// FuzzBatch reads what anybody may send.
func FuzzBatch(f *testing.F) {
	m := newMachine(1)
	good, _ := json.Marshal([]doc{m.record(nil), m.record(nil)})
	for _, seed := range []string{string(good), `[]`, `[{}]`, `[{"path":"gate/gap","result":{"log":"x","from":1,"to":2},"timestamp":"2026-11-28T00:00:00Z","decision_id":"a"}]`, `[1,2`, `{"a":[]}`} {
		f.Add([]byte(seed))
	}
	s := &Server{limits: Limits{}.withDefaults()}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := s.batch(data)
		if err != nil {
			return
		}
		for _, r := range b.Records {
			if r.Seq < 1 || r.Log == "" || len(r.Digest) != 64 || r.At.IsZero() {
				t.Errorf("a record without a place: %+v", r)
			}
		}
	})
}
