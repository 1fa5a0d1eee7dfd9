package store

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/internal/fleet"
)

var measured = flag.Int("measure", 0, "how many `RECORDS` to take, for the numbers of docs/collect.md; 0: none")

// A mould makes records of one kind.
type mould struct {
	parts [][]byte // around what differs from record to record
	holes []string // what stands between them
}

// moulds are what the example of a log becomes at a level.
func moulds(t *testing.T, level fleet.Level) []mould {
	t.Helper()
	data, err := os.ReadFile("testdata/decisions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	reducer := fleet.Reducer{Level: level, Pseudonyms: fleet.Pseudonyms{Key: []byte("a key of sixteen bytes or more")}}
	var out []mould
	for line := range bytes.Lines(data) {
		var doc map[string]any
		if err := json.Unmarshal(line, &doc); err != nil {
			t.Fatal(err)
		}
		gate := doc["custom"].(map[string]any)["gate"].(map[string]any)
		doc["decision_id"], doc["timestamp"] = "HOLE-id", "2001-01-01T00:00:00.000000Z"
		gate["chain"] = map[string]any{"log": "HOLElog", "seq": 777777777, "prev": strings.Repeat("a", 64)}
		line, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		body, err := reducer.Reduce(line)
		if err != nil {
			t.Fatal(err)
		}
		record, _, err := ReadRecord(body)
		if err != nil {
			t.Fatal(err)
		}
		var m mould
		for len(body) > 0 {
			at, hole := len(body), ""
			for _, h := range []string{"HOLE-id", "2001-01-01T00:00:00.000000Z", "HOLElog", "777777777", strings.Repeat("a", 64), record.Digest} {
				if i := bytes.Index(body, []byte(h)); i >= 0 && i < at {
					at, hole = i, h
				}
			}
			m.parts, m.holes = append(m.parts, body[:at]), append(m.holes, hole)
			body = body[at+len(hole):]
		}
		for i, h := range m.holes {
			if h == record.Digest {
				m.holes[i] = "digest"
			}
		}
		out = append(out, m)
	}
	return out
}

// next is the machine's next record, out of a mould.
func (f *fake) next(m *mould, random *rand.ChaCha8) []byte {
	var raw [40]byte
	random.Read(raw[:])
	digest := hex.EncodeToString(raw[:32])
	f.seq++
	var b bytes.Buffer
	for i, part := range m.parts {
		b.Write(part)
		switch hole := m.holes[i]; {
		case hole == "digest":
			b.WriteString(digest)
		case hole == "HOLE-id":
			b.WriteString("abcdef-" + hex.EncodeToString(raw[32:]))
		case hole == "HOLElog":
			b.WriteString(f.log)
		case hole == "777777777":
			fmt.Fprint(&b, f.seq)
		case hole == strings.Repeat("a", 64) && f.prev != "":
			b.WriteString(f.prev)
		case strings.HasPrefix(hole, "2001"):
			b.WriteString(f.at.Format("2006-01-02T15:04:05.000000Z"))
		}
	}
	f.prev = digest
	f.at = f.at.Add(3 * time.Second)
	return b.Bytes()
}

// TestMeasure takes records of usual kinds from many machines, several at once, and says
// what that cost.
func TestMeasure(t *testing.T) {
	if *measured == 0 {
		t.Skip("it measures, and is run by hand: -measure 100000")
	}
	for _, level := range []fleet.Level{fleet.Effects, fleet.Text} {
		t.Run(string(level), func(t *testing.T) {
			each(t, func(t *testing.T, o Options) { measure(t, o, moulds(t, level)) })
		})
	}
}

func measure(t *testing.T, o Options, kinds []mould) {
	s := open(t, o)
	const machines, batch = 200, 200
	var sent int64
	var mu sync.Mutex
	var group sync.WaitGroup
	began, count := time.Now(), 0
	for worker := range 4 {
		random := rand.NewChaCha8([32]byte{byte(worker)})
		var list []*fake
		for n := worker; n < machines; n += 4 {
			m := newFake(n, s.now().Add(-20*time.Hour))
			m.seq, m.log = 1, hex.EncodeToString([]byte(fmt.Sprintf("log%05d", n)))
			m.prev = strings.Repeat("b", 64)
			m.enrol(t, s)
			list = append(list, m)
		}
		group.Go(func() {
			for n := 0; n < *measured/4; n += batch {
				m := list[n/batch%len(list)]
				var bodies [][]byte
				var size int64
				for k := range batch {
					bodies = append(bodies, m.next(&kinds[(n+k)%len(kinds)], random))
					size += int64(len(bodies[k]))
				}
				m.send(t, s, bodies...)
				mu.Lock()
				sent, count = sent+size, count+batch
				mu.Unlock()
			}
		})
	}
	group.Wait()
	took := time.Since(began)
	var bytes int64
	if s.Kind() == "sqlite" {
		if _, err := s.db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(o.Database, sqliteFile))
		if err != nil {
			t.Fatal(err)
		}
		bytes = info.Size()
	} else if err := s.db.QueryRow(`SELECT SUM(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'm')`).Scan(&bytes); err != nil {
		t.Fatal(err)
	}
	if got := found(t, s, false); got != "" {
		t.Errorf("findings: %.200s", got)
	}
	span := Span{s.now().Add(-24 * time.Hour), s.now()}
	ask := time.Now()
	if _, err := s.Figures(t.Context(), Figures{Span: span, By: []string{"time", "effect"}}); err != nil {
		t.Fatal(err)
	}
	figures := time.Since(ask)
	ask = time.Now()
	n, err := s.Rebuild(t.Context())
	if err != nil || n != int64(count) {
		t.Fatalf("%d of %d records: %v", n, count, err)
	}
	t.Logf("%d records, %d bytes each as sent; %d bytes each in %s; %.0f a second; figures of a day %s; rebuilt in %s", count, sent/int64(count), bytes/int64(count), s.Kind(), float64(count)/took.Seconds(), figures.Round(time.Microsecond), time.Since(ask).Round(time.Millisecond))
}
