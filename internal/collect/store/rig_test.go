package store

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"gate/internal/fleet"
)

var postgresURL = flag.String("postgres", "", "the `URL` of a PostgreSQL server whose database the tests may fill: postgres://…")

// A clock is the store's.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newClock() *clock { return &clock{time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)} }

// each runs a test on both databases.
func each(t *testing.T, test func(t *testing.T, o Options)) {
	t.Run("sqlite", func(t *testing.T) { test(t, Options{Database: t.TempDir(), Now: newClock().Now}) })
	t.Run("postgres", func(t *testing.T) { test(t, Options{Database: schema(t), Now: newClock().Now}) })
}

// schema makes an empty room in the server, for one test.
func schema(t *testing.T) string {
	t.Helper()
	if *postgresURL == "" {
		t.Skip("NOT RUN: no PostgreSQL server is given (-postgres URL); .ci/with postgres starts one")
	}
	sum := sha256.Sum256([]byte(t.Name() + time.Now().String()))
	name := "test_" + hex.EncodeToString(sum[:6])
	db, err := sql.Open("pgx", *postgresURL)
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
	u, err := url.Parse(*postgresURL)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

func open(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A fake is a machine with one log.
type fake struct {
	name, log, account, prev string
	seq                      int64
	at                       time.Time
	key                      ed25519.PrivateKey
}

func newFake(n int, at time.Time) *fake {
	sum := sha256.Sum256(fmt.Append(nil, "machine ", n))
	return &fake{name: hex.EncodeToString(sum[:16]), log: fmt.Sprintf("log%d", n), account: fmt.Sprintf("u-%016x", n), at: at, key: ed25519.NewKeyFromSeed(sum[:])}
}

func (f *fake) enrol(t *testing.T, s *Store) {
	t.Helper()
	text, _, err := s.NewToken(t.Context(), Token{Expires: s.now().Add(time.Hour), Team: "team-" + f.log})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Enrol(t.Context(), fleet.Enrollment{Token: text, Machine: f.name, Host: "host-" + f.log, Key: f.public()}); err != nil {
		t.Fatal(err)
	}
}

type doc = map[string]any

// body is the next record of the machine, with what change makes of it.
func (f *fake) body(change func(record, result, gate doc)) []byte {
	f.seq++
	chain := doc{"log": f.log, "seq": f.seq}
	if f.prev != "" {
		chain["prev"] = f.prev
	}
	sum := sha256.Sum256(fmt.Append(nil, f.log, f.seq, f.prev))
	f.prev = hex.EncodeToString(sum[:])
	chain["digest"] = f.prev
	gate := doc{"v": 3, "id": fmt.Sprintf("id%d", f.seq), "agent": "claude", "session": "s-0123456789abcdef", "event": "PreToolUse", "tool": "Bash", "effects": []string{"fs.read"}, "chain": chain}
	result := doc{"effect": "pass", "result": "continue"}
	record := doc{
		"decision_id": fmt.Sprintf("%s-%d", f.log, f.seq), "path": "gate/decision", "timestamp": f.at.Format("2006-01-02T15:04:05.000000Z"), "labels": doc{}, "requested_by": f.account,
		"metrics": doc{"timer_gate_decision_ns": 900_000, "timer_gate_call_ns": 4_000_000}, "result": result, "custom": doc{"gate": gate},
	}
	if change != nil {
		change(record, result, gate)
	}
	data, err := json.Marshal(record)
	if err != nil {
		panic(err)
	}
	f.at = f.at.Add(time.Second)
	return data
}

// ask is a record of a call that a policy asked about, and ran the one of what came of it.
func ask(call string) func(record, result, gate doc) {
	return func(_, result, gate doc) {
		result["effect"] = "ask"
		gate["call_id"], gate["effects"] = call, []string{"git.push", "net.send"}
		gate["policies"] = []doc{{"id": "acme.push", "source": "company", "effect": "ask", "outcome": "ok"}}
	}
}

func ran(call string) func(record, result, gate doc) {
	return func(_, _, gate doc) { gate["event"], gate["call_id"] = "PostToolUse", call }
}

// records reads bodies as a batch.
func (f *fake) batch(t *testing.T, bodies ...[]byte) Batch {
	t.Helper()
	b := Batch{Machine: f.name}
	for _, body := range bodies {
		r, told, err := ReadRecord(body)
		if err != nil {
			t.Fatalf("%v\n%s", err, body)
		}
		if r != nil {
			b.Records = append(b.Records, r)
		} else {
			b.Told = append(b.Told, told)
		}
	}
	return b
}

func (f *fake) send(t *testing.T, s *Store, bodies ...[]byte) Taken {
	t.Helper()
	taken, err := s.Take(t.Context(), f.batch(t, bodies...))
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

// found are the open findings, as "kind log first-last".
func found(t *testing.T, s *Store, closed bool) string {
	t.Helper()
	list, err := s.Findings(t.Context(), FindingQuery{Closed: closed})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for i := len(list) - 1; i >= 0; i-- {
		f := list[i]
		if closed != f.Closed.IsZero() {
			out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %d-%d", f.Kind, f.Log, f.First, f.Last)))
		}
	}
	return strings.Join(out, "; ")
}

// dump is every row of tables, in order.
func dump(t *testing.T, s *Store, tables ...string) string {
	t.Helper()
	var b strings.Builder
	for _, table := range tables {
		rows, err := s.db.QueryContext(context.Background(), "SELECT * FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		names, _ := rows.Columns()
		var lines []string
		for rows.Next() {
			values := make([]any, len(names))
			into := make([]any, len(names))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				if data, ok := v.([]byte); ok {
					if back, err := unpack(data); err == nil {
						data = back
					}
					values[i] = string(data)
				}
			}
			lines = append(lines, fmt.Sprint(values...))
		}
		rows.Close()
		sortLines(lines)
		fmt.Fprintf(&b, "%s %v\n%s\n", table, names, strings.Join(lines, "\n"))
	}
	return b.String()
}

func (f *fake) public() string {
	return base64.StdEncoding.EncodeToString(f.key.Public().(ed25519.PublicKey))
}
