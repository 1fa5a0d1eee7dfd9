package collect

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"gate/internal/collect/store"
	"gate/internal/fleet"
)

// TestForged has somebody with a key of their own try to speak for another machine, and
// somebody in between send again what they saw.
func TestForged(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		g := newRig(t, database, Limits{})
		m, thief := newMachine(1), newMachine(2)
		g.enrol(m)
		g.enrol(thief)
		batch := pack([]doc{m.record(nil), m.record(nil)})
		asks := func(what string, r *http.Request, want int) {
			t.Helper()
			if status, _, answer := do(t, r); status != want {
				t.Errorf("%s: %d, want %d: %v", what, status, want, answer)
			}
		}
		seen := m.request(g.url, fleet.LogsPath, batch) // as it went over the wire
		asks("a batch", seen, 200)
		forged := *m
		forged.key = thief.key
		asks("an enrolled machine's key for another name", forged.request(g.url, fleet.LogsPath, batch), 401)
		asks("the same for a status", forged.request(g.url, fleet.StatusPath, pack(m.status(1))), 401)
		r := thief.request(g.url, fleet.LogsPath, batch)
		r.Header.Set("Gate-Machine", m.name)
		asks("a name put into a signed request", r, 401)
		r = m.request(g.url, fleet.LogsPath, batch)
		r.Header["Gate-Signature"] = thief.request(g.url, fleet.LogsPath, batch).Header["Gate-Signature"]
		asks("a signature of somebody else", r, 401)
		r = m.request(g.url, fleet.LogsPath, batch)
		r.Body = io.NopCloser(bytes.NewReader(pack([]doc{newMachine(1).record(func(record, _ doc) { record["labels"] = doc{"ring": "forged"} })})))
		r.ContentLength = -1
		asks("another body under the signature", r, 401)
		asks("a status under the signature of another machine's key", thief.request(g.url, fleet.StatusPath, pack(m.status(7))), 400)

		status := pack(m.status(5))
		asks("a status", m.request(g.url, fleet.StatusPath, status), 200)
		for range 2 { // days later, too: the time is signed, and no reason to refuse
			r := m.request(g.url, fleet.LogsPath, batch)
			fleet.Sign(r.Header, m.key, m.name, "POST", fleet.LogsPath, batch, time.Now().Add(-72*time.Hour))
			asks("the batch replayed", r, 200)
			asks("the status replayed", m.request(g.url, fleet.StatusPath, status), 200)
		}
		asks("a status with the last of all numbers", m.request(g.url, fleet.StatusPath, pack(m.status(1<<62))), 400)
		asks("an older status", m.request(g.url, fleet.StatusPath, pack(m.status(4))), 409)

		// The thief's copy of the records is the thief's: nothing of the other machine moves.
		asks("another machine's records under one's own name", thief.request(g.url, fleet.LogsPath, batch), 200)
		counts := map[string]int{}
		for _, day := range g.days() {
			for r, err := range g.store.Records(t.Context(), store.RecordQuery{Day: day}) {
				if err != nil {
					t.Fatal(err)
				}
				counts[r.Machine]++
			}
		}
		if counts[m.name] != 2 || counts[thief.name] != 2 || len(counts) != 2 {
			t.Errorf("records by machine: %v", counts)
		}
		_, kept := g.ask("reader", "/v1/machines/"+m.name)
		said, _ := kept["machine"].(doc)
		if text := fmt.Sprint(kept); said["status"] != 5.0 || !strings.Contains(text, store.BadSignature) || strings.Contains(text, "kind:"+store.Twice) {
			t.Errorf("%s", text)
		}
	})
}

func (g *rig) days() (days []string) {
	g.Helper()
	list, err := g.store.Days(g.Context())
	if err != nil {
		g.Fatal(err)
	}
	for _, d := range list {
		days = append(days, d.Day)
	}
	return days
}

// TestBombs sends what grows, is deep or never ends, from a machine that may send. None of
// it is taken, and it costs no more memory than the limits allow.
func TestBombs(t *testing.T) {
	g := newRig(t, t.TempDir(), Limits{})
	m := newMachine(1)
	g.enrol(m)
	zeros := func(n int) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		for chunk := bytes.Repeat([]byte("0"), 1<<20); n > 0; n -= len(chunk) {
			z.Write(chunk[:min(n, len(chunk))])
		}
		z.Close()
		return b.Bytes()
	}
	deep := func(n int) []byte {
		return pack([]byte(`[` + strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) + `]`))
	}
	bomb := zeros(256 << 20)
	wide := m.record(func(_, gate doc) { gate["call"] = strings.Repeat("x", 7<<20) })
	list := []struct {
		what string
		path string
		body []byte
		want int
	}{
		{"256 MB of zeros", fleet.LogsPath, bomb, 413},
		{"the same as a status", fleet.StatusPath, bomb, 413},
		{"a status beyond its size", fleet.StatusPath, zeros(fleet.MaxStatus + 1), 413},
		{"gzip within gzip", fleet.LogsPath, pack(zeros(1 << 20)), 400},
		{"depth without end", fleet.LogsPath, deep(1_000_000), 400},
		{"depth within JSON's own limit", fleet.LogsPath, deep(9_000), 400},
		{"a status of depth", fleet.StatusPath, pack([]byte(strings.Repeat(`{"gate":`, 100_000))), 400},
		{"a record of 7 MB", fleet.LogsPath, pack([]doc{wide}), 400},
		{"a number of a million digits", fleet.LogsPath, pack([]byte(`[{"custom":{"gate":{"chain":{"seq":` + strings.Repeat("9", 1_000_000) + `}}}}]`)), 400},
		{"half of a gzip", fleet.LogsPath, pack([]doc{m.record(nil)})[:40], 400},
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, c := range list {
		r := m.request(g.url, c.path, c.body)
		status, _, answer := do(t, r)
		text, _ := json.Marshal(answer)
		if status != c.want || len(text) > 2000 {
			t.Errorf("%s: %d %.200s, want %d", c.what, status, text, c.want)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > uint64(len(list))*50<<20 {
		t.Errorf("%d MB were used for them", used>>20)
	} else {
		t.Logf("%d MB were used for %d of them", used>>20, len(list))
	}
	if len(g.days()) > 0 {
		t.Error("something of it was taken")
	}
	if status, _, answer := do(t, m.request(g.url, fleet.LogsPath, pack([]doc{newMachine(1).record(nil)}))); status != 200 {
		t.Errorf("a good batch after them: %d %v", status, answer)
	}
}

// TestHostileText has a machine send text that a page could take for its own, wherever it
// may write some, and a reader ask for everything. It comes back as data: JSON, of a type
// that no browser guesses at, in which no tag begins.
func TestHostileText(t *testing.T) {
	g := newRig(t, t.TempDir(), Limits{})
	m := newMachine(1)
	const tag = `<script src=//evil.example></script>`
	e := g.enrolment(m)
	e["host"], e["labels"] = tag, doc{tag: tag}
	data, _ := json.Marshal(e)
	r, _ := http.NewRequest("POST", g.url+fleet.EnrollPath, bytes.NewReader(data))
	if status, _, answer := do(t, r); status != 200 {
		t.Fatal(status, answer)
	}
	text := func(record, gate doc) {
		gate["call"], gate["tool"], gate["agent"], gate["session"] = "echo '"+tag+"' secret-words", tag, tag, tag
		gate["policies"] = []doc{{"id": tag, "effect": "ask", "source": "trial:company", "outcome": "ok", "would": doc{"effect": "deny", "reason": tag, "spared_by": "trial"}}}
		record["labels"], record["requested_by"] = doc{tag: tag}, tag
		record["input"] = doc{"tool_name": tag, "tool_input": doc{"command": tag + " secret-words"}, "facts": doc{"effects": []doc{{"kind": tag}}}}
	}
	if status, _, answer := do(t, m.request(g.url, fleet.LogsPath, pack([]doc{m.record(text), m.record(text)}))); status != 200 {
		t.Fatal(status, answer)
	}
	s := m.status(1)
	s.Labels = map[string]string{tag: tag}
	s.Bundles[tag] = fleet.BundleStatus{Name: tag, Revision: tag, Code: tag, Message: tag}
	s.Gate.Agents = []fleet.Agent{{Name: tag, Version: tag, Hook: fleet.HookMissing}}
	s.Gate.Settings = map[string]fleet.Setting{tag: {From: tag, Weaker: true}}
	s.Gate.Findings = []fleet.Finding{{ID: tag, Severity: "error", Text: tag}}
	if status, _, answer := do(t, m.request(g.url, fleet.StatusPath, pack(s))); status != 200 {
		t.Fatal(status, answer)
	}
	tagged := 0
	for _, path := range []string{
		"/v1/counts", "/v1/machines", "/v1/machines/" + m.name, "/v1/findings", "/v1/figures?by=policy,tool,agent,team&policy=*", "/v1/releases", "/v1/asked", "/v1/latency", "/v1/trials", "/v1/days",
		"/v1/findings?kind=" + "%3Cscript%3E", "/v1/machines/%3Cscript%3E", "/%3Cscript%3E", "/v1/records?day=" + m.at.Format(time.DateOnly),
	} {
		for _, role := range []Role{Nobody, Reader, Reviewer} {
			r, _ := http.NewRequest("GET", g.url+path, nil)
			if role != Nobody {
				r.Header.Set("Authorization", "Bearer "+role.String()+"-token")
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(res.Body)
			res.Body.Close()
			if kind := res.Header.Get("Content-Type"); strings.Contains(kind, "html") || res.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(res.Header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("%s for %s: %v", path, role, res.Header)
			}
			if bytes.ContainsAny(body, "<>") {
				t.Errorf("%s for %s: %.300s", path, role, body)
			}
			if bytes.Contains(body, []byte(`\u003cscript`)) {
				tagged++
			}
			if role < Reviewer && bytes.Contains(body, []byte("secret-words")) {
				t.Errorf("%s tells %s what was called: %.300s", path, role, body)
			}
			if path == "/v1/trials" && role == Reviewer && !bytes.Contains(body, []byte("secret-words")) {
				t.Errorf("%s does not tell %s what was called, so that this tests nothing: %.300s", path, role, body)
			}
			if strings.HasPrefix(path, "/v1/records") && (res.StatusCode == 200) != (role == Reviewer) {
				t.Errorf("%s for %s: %s", path, role, res.Status)
			}
		}
	}
	if tagged < 5 {
		t.Errorf("the text stands in %d answers only: this tests nothing", tagged)
	}
}

// TestNosy has people with a role try to get at more than it gives.
func TestNosy(t *testing.T) {
	g := newRig(t, t.TempDir(), Limits{})
	m := newMachine(1)
	g.enrol(m)
	if status, _, answer := do(t, m.request(g.url, fleet.LogsPath, pack([]doc{m.record(nil)}))); status != 200 {
		t.Fatal(status, answer)
	}
	day := m.at.Format(time.DateOnly)
	for _, c := range []struct {
		what, method, path string
		header             []string
		want               int
	}{
		{"records", "GET", "/v1/records?day=" + day, nil, 403},
		{"records by HEAD", "HEAD", "/v1/records?day=" + day, nil, 403},
		{"records by another method", "POST", "/v1/records?day=" + day, nil, 404},
		{"records by a path that is another one", "GET", "/v1/days/../records?day=" + day, nil, 403},
		{"records with another slash", "GET", "/v1//records?day=" + day, nil, 403},
		{"records in the name of the proxy", "GET", "/v1/records?day=" + day, []string{"X-User", "anna", "X-Groups", "security"}, 403},
		{"records by the method that a header names", "GET", "/v1/records?day=" + day, []string{"X-HTTP-Method-Override", "PUT"}, 403},
		{"who looked", "GET", "/v1/looks", nil, 403},
		{"tokens", "GET", "/v1/tokens", nil, 403},
		{"what a machine may send", "POST", fleet.LogsPath, nil, 401},
		{"the key of a machine", "GET", "/v1/machines/" + m.name, nil, 200},
		{"an injection", "GET", "/v1/machines?find=" + "%27%20OR%201%3D1%20--", nil, 200},
		{"a change", "DELETE", "/v1/machines/" + m.name, nil, 404},
	} {
		r, err := http.NewRequest(c.method, g.url+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer reader-token")
		for i := 0; i < len(c.header); i += 2 {
			r.Header.Set(c.header[i], c.header[i+1])
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%s: %s, want %d: %s", c.what, res.Status, c.want, body)
		}
		if bytes.Contains(body, []byte("decision_id")) || bytes.Contains(body, []byte("key")) {
			t.Errorf("%s: %s", c.what, body)
		}
		if c.what == "an injection" && strings.Contains(string(body), m.name) {
			t.Errorf("%s: %s", c.what, body)
		}
	}
	looks, err := g.store.Looks(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, l := range looks {
		if l.Who == "a-reader" && strings.HasPrefix(l.What, "refused: ") {
			refused++
		}
	}
	if refused < 6 {
		t.Errorf("%d refusals are noted", refused)
	}
	if text, err := os.ReadFile(g.roles); err != nil || bytes.Contains(text, []byte("reader-token")) {
		t.Errorf("the file of roles has a token: %v", err)
	}
}

// TestHealthOfQuestions has a question that the database cannot answer say nothing about
// whether records can be written.
func TestHealthOfQuestions(t *testing.T) {
	each(t, func(t *testing.T, database string) {
		g := newRig(t, database, Limits{})
		g.ask("reader", "/v1/figures?policy=a%00b") // PostgreSQL takes no NUL
		if status, answer := g.ask("", "/health"); status != 200 {
			t.Errorf("%d %v", status, answer)
		}
	})
}

// TestStrangers has somebody without a key fill what they can: the room for enrolments,
// and what is remembered of names that nobody has. Machines are answered all the same, and
// a forged signature is a finding.
func TestStrangers(t *testing.T) {
	g := newRig(t, t.TempDir(), Limits{AtOnce: 2})
	m := newMachine(1)
	g.enrol(m)
	for range 2 { // bodies that never come
		r, w := io.Pipe()
		t.Cleanup(func() { w.Close() })
		request, _ := http.NewRequest("POST", g.url+fleet.EnrollPath, r)
		go http.DefaultClient.Do(request)
		w.Write([]byte(" "))
	}
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		r, _ := http.NewRequest("POST", g.url+fleet.EnrollPath, strings.NewReader("{}"))
		if status, _, _ := do(t, r); status == http.StatusServiceUnavailable {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("the room for enrolments has room: %d", status)
		}
	}
	if status, _, answer := do(t, m.request(g.url, fleet.LogsPath, pack([]doc{m.record(nil)}))); status != 200 {
		t.Errorf("a machine: %d %v", status, answer)
	}
	for i := range mostRare {
		stranger := newMachine(10 + i)
		if status, _, answer := do(t, stranger.request(g.url, fleet.LogsPath, nil)); status != 401 {
			t.Fatalf("%d %v", status, answer)
		}
	}
	forged := *m
	forged.key = newMachine(2).key
	do(t, forged.request(g.url, fleet.StatusPath, pack(m.status(1))))
	if _, answer := g.ask("reader", "/v1/findings?kind="+store.BadSignature); len(answer["findings"].([]any)) != 1 {
		t.Errorf("findings about signatures: %v", answer)
	}
}

// TestManyLogs has a machine name a new log with every record.
func TestManyLogs(t *testing.T) {
	g := newRig(t, t.TempDir(), Limits{RecordsAMinute: maxLogs * chainCost / 2})
	m := newMachine(1)
	g.enrol(m)
	send := func(n int) int {
		var list []doc
		for i := range n {
			other := newMachine(100 + i)
			list = append(list, other.record(nil))
		}
		status, _, _ := do(t, m.request(g.url, fleet.LogsPath, pack(list)))
		return status
	}
	if status := send(maxLogs + 1); status != 413 {
		t.Errorf("more logs than a request may have: %d", status)
	}
	if status := send(maxLogs); status != 200 {
		t.Errorf("as many as it may have: %d", status)
	}
	if status := send(1); status != 429 {
		t.Errorf("and more within a minute: %d", status)
	}
}
