package collect

import (
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gate/internal/collect/store"
	"gate/internal/fleet"
)

var postgresURL = flag.String("postgres", "", "the `URL` of a PostgreSQL server whose database the tests may fill: postgres://…")

// each runs a test on both databases.
func each(t *testing.T, test func(t *testing.T, database string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, t.TempDir()) })
	t.Run("postgres", func(t *testing.T) { test(t, schema(t, *postgresURL)) })
}

// schema makes an empty room in a server, for one test.
func schema(t *testing.T, server string) string {
	t.Helper()
	if server == "" {
		t.Skip("NOT RUN: no PostgreSQL server is given (-postgres URL); .ci/with postgres starts one")
	}
	sum := sha256.Sum256([]byte(t.Name() + time.Now().String()))
	name := "test_" + hex.EncodeToString(sum[:6])
	db, err := sql.Open("pgx", server)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE SCHEMA " + name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		db.Exec("DROP SCHEMA " + name + " CASCADE")
		db.Close()
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// A rig is a collector, with a token for each role.
type rig struct {
	*testing.T
	store *store.Store
	url   string
	roles string
}

func newRig(t *testing.T, database string, limits Limits) *rig {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Database: database})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	g := &rig{T: t, store: s, roles: filepath.Join(t.TempDir(), "roles")}
	var text string
	for _, role := range []Role{Reader, Reviewer, Administrator} {
		sum := sha256.Sum256([]byte(role.String() + "-token"))
		text += fmt.Sprintf("token %s a-%s %s # for tests\n", role, role, hex.EncodeToString(sum[:]))
	}
	text += "user reader anna\ngroup reviewer security\n"
	if err := os.WriteFile(g.roles, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(New(Options{Store: s, Limits: limits, Gate: &Gatekeeper{Path: g.roles, Proxy: Proxy{UserHeader: "X-User", GroupsHeader: "X-Groups", Secret: "the secret of the proxy"}}}))
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// do sends a request and returns the status and the document of the answer.
func do(t *testing.T, r *http.Request) (int, http.Header, map[string]any) {
	t.Helper()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil && res.Header.Get("Content-Type") == "application/json" {
		t.Fatalf("%s: %v\n%s", r.URL, err, data)
	}
	if doc == nil {
		doc = map[string]any{"text": string(data)}
	}
	return res.StatusCode, res.Header, doc
}

// ask asks with a role's token.
func (g *rig) ask(role, path string) (int, map[string]any) {
	g.Helper()
	r, err := http.NewRequest("GET", g.url+path, nil)
	if err != nil {
		g.Fatal(err)
	}
	if role != "" {
		r.Header.Set("Authorization", "Bearer "+role+"-token")
	}
	status, _, doc := do(g.T, r)
	return status, doc
}

// A machine sends records of one log.
type machine struct {
	name, log, prev string
	seq             int64
	at              time.Time
	key             ed25519.PrivateKey
}

func newMachine(n int) *machine {
	sum := sha256.Sum256(fmt.Append(nil, "machine ", n))
	return &machine{name: hex.EncodeToString(sum[:16]), log: fmt.Sprint("log", n), at: time.Now().UTC().Add(-time.Hour), key: ed25519.NewKeyFromSeed(sum[:])}
}

type doc = map[string]any

func (m *machine) record(change func(record, gate doc)) doc {
	m.seq++
	chain := doc{"log": m.log, "seq": m.seq}
	if m.prev != "" {
		chain["prev"] = m.prev
	}
	sum := sha256.Sum256(fmt.Append(nil, m.log, m.seq, m.prev))
	m.prev = hex.EncodeToString(sum[:])
	chain["digest"] = m.prev
	gate := doc{"v": 3, "id": fmt.Sprint("id", m.seq), "agent": "claude", "session": "s-0123456789abcdef", "event": "PreToolUse", "tool": "Bash", "effects": []string{"fs.read"}, "chain": chain}
	record := doc{"decision_id": fmt.Sprintf("%s-%d", m.log, m.seq), "path": "gate/decision", "timestamp": m.at.Format("2006-01-02T15:04:05.000000Z"), "labels": doc{},
		"metrics": doc{"timer_gate_decision_ns": 900_000}, "result": doc{"effect": "pass", "result": "continue"}, "custom": doc{"gate": gate}}
	if change != nil {
		change(record, gate)
	}
	m.at = m.at.Add(time.Second)
	return record
}

func pack(v any) []byte {
	data, ok := v.([]byte)
	if !ok {
		data, _ = json.Marshal(v)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// request is one that the machine signed.
func (m *machine) request(base, path string, body []byte) *http.Request {
	r, err := http.NewRequest("POST", base+path, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	fleet.Sign(r.Header, m.key, m.name, "POST", path, body, time.Now())
	return r
}

func (g *rig) enrolment(m *machine) doc {
	g.Helper()
	text, _, err := g.store.NewToken(g.Context(), store.Token{Expires: time.Now().Add(time.Hour), Team: "red"})
	if err != nil {
		g.Fatal(err)
	}
	return doc{"token": text, "machine": m.name, "key": base64.StdEncoding.EncodeToString(m.key.Public().(ed25519.PublicKey)), "host": "host-" + m.log}
}

func (g *rig) enrol(m *machine) {
	g.Helper()
	data, _ := json.Marshal(g.enrolment(m))
	r, _ := http.NewRequest("POST", g.url+fleet.EnrollPath, bytes.NewReader(data))
	if status, _, answer := do(g.T, r); status != 200 {
		g.Fatalf("enrolment: %d %v", status, answer)
	}
}

func (m *machine) status(seq int64) *fleet.Status {
	return &fleet.Status{Gate: fleet.GateStatus{Format: 1, Seq: seq, Time: time.Now(), Machine: m.name, Level: fleet.Effects, Version: "v1"}, Bundles: map[string]fleet.BundleStatus{}}
}
