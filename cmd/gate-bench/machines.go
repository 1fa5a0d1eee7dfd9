package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gate/internal/collect/store"
	"gate/internal/fleet"
)

// firstSeq is the first record of a log that is sent: the log is older than the hour.
const firstSeq = 2

// A simulated machine writes records into one log, and sends them as gate log ship does.
type simulated struct {
	n         int
	name, log string
	key       ed25519.PrivateKey
	begin     time.Time // of its hour

	seq     int64 // of the last record
	prev    string
	missing int64 // a record that it lost; 0: none
	twice   bool  // it sent a record with another content
	status  int64
	last    time.Time // when it last got an answer
	written int       // records that it sent
	bytes   int64     // of them
}

func newSimulated(n int, begin time.Time) *simulated {
	seed := sha256.Sum256(fmt.Append(nil, "gate-bench machine ", n))
	return &simulated{n: n, name: digestOf("name", n)[:32], log: digestOf("log", n)[:16], key: ed25519.NewKeyFromSeed(seed[:]), begin: begin, seq: firstSeq - 1, prev: digestOf("before", n)}
}

// public is its key as an enrolment has it.
func (m *simulated) public() string {
	return base64.StdEncoding.EncodeToString(m.key.Public().(ed25519.PublicKey))
}

// What is wrong with some machines, one in a hundred each.
const (
	skewed = iota + 1
	fallsSilent
	losesOne
	changesOne
	weakens
)

func (m *simulated) is(what int) bool { return m.n%100 == what }

// silentIn reports whether it sends nothing in a quarter.
func (m *simulated) silentIn(quarter int) bool { return m.is(fallsSilent) && quarter >= quarters/2 }

// findings are those that its collector is to have, where it looks for who said nothing
// since a moment.
func (m *simulated) findings(silentSince time.Time) (kinds []string) {
	if m.is(skewed) {
		kinds = append(kinds, store.Skew)
	}
	if m.last.Before(silentSince) {
		kinds = append(kinds, store.Silent)
	}
	if m.missing > 0 {
		kinds = append(kinds, store.Gap)
	}
	if m.twice {
		kinds = append(kinds, store.Twice)
	}
	if m.is(weakens) {
		kinds = append(kinds, store.Weaker)
	}
	return kinds
}

// clock is what the machine takes for now.
func (m *simulated) clock() time.Time {
	if m.is(skewed) {
		return time.Now().Add(10 * time.Minute)
	}
	return time.Now()
}

// send sends the records of a quarter and a status. One machine in ten sends the records
// once more, as one does that did not hear the answer.
func (m *simulated) send(ctx context.Context, url string, quarter, each int, kinds []*mould, n *count) error {
	var batch [][]byte
	for i := range each {
		if m.is(losesOne) && quarter == 1 && i == each/2 && i > 0 { // what comes behind it says that it was there
			m.seq++
			m.prev, m.missing = digestOf(m.log, m.seq), m.seq
			continue
		}
		at := m.begin.Add(time.Duration(quarter)*15*time.Minute + time.Duration(i)*15*time.Minute/time.Duration(each))
		batch = append(batch, m.record(kinds[(m.n+i)%len(kinds)], at))
	}
	body := zipped(append(append([]byte{'['}, bytes.Join(batch, []byte{','})...), ']'))
	times := 1
	if m.n%10 == 0 {
		times = 2
	}
	for range times {
		if err := m.post(ctx, url, fleet.LogsPath, body, n); err != nil {
			return err
		}
	}
	if m.is(changesOne) && quarter == 2 {
		m.twice = true
		other := bytes.Replace(batch[len(batch)-1], []byte(`"timestamp"`), []byte(`"timestamp_of":"another","timestamp"`), 1)
		if err := m.post(ctx, url, fleet.LogsPath, zipped(append(append([]byte{'['}, other...), ']')), n); err != nil {
			return err
		}
	}
	text, err := json.Marshal(m.state())
	if err != nil {
		return err
	}
	return m.post(ctx, url, fleet.StatusPath, zipped(text), n)
}

// record is the next one of its log.
func (m *simulated) record(kind *mould, at time.Time) []byte {
	m.seq++
	m.written++
	digest := digestOf(m.log, m.seq)
	text := kind.pour(map[string]string{
		holeID: "sim-" + digest[:16], holeTime: at.UTC().Format(stampOfRecords), holeLog: m.log, holeSeq: strconv.FormatInt(m.seq, 10), holePrev: m.prev, kind.digest: digest,
	})
	m.prev = digest
	m.bytes += int64(len(text))
	return text
}

// state is the machine's status.
func (m *simulated) state() *fleet.Status {
	m.status++
	now := m.clock().UTC().Truncate(time.Second)
	s := &fleet.Status{
		Labels:  map[string]string{"ring": "office"},
		Bundles: map[string]fleet.BundleStatus{"company": {Name: "company", Revision: "7", Digest: "sha256:" + digestOf("release"), Downloaded: &now}},
		Gate: fleet.GateStatus{
			Format: fleet.Version, Seq: m.status, Time: now, Machine: m.name, Level: fleet.Effects, Version: "1.0.0", OS: "linux", Arch: "amd64",
			Agents:   []fleet.Agent{{Name: "claude", Hook: fleet.HookLive, LastCall: &now}},
			Settings: map[string]fleet.Setting{"decisionLogs": {From: "managed", Digest: "sha256:" + digestOf("settings")}, "policies.company": {From: "managed", Weaker: m.is(weakens)}},
			Findings: []fleet.Finding{}, Counters: []fleet.Hour{}, Heads: []fleet.Head{{Log: m.log, Seq: m.seq}}, Ship: fleet.Ship{Last: &now},
		},
	}
	return s
}

// post sends a signed request until it is taken.
func (m *simulated) post(ctx context.Context, url, path string, body []byte, n *count) error {
	began := time.Now()
	err := persist(ctx, func() (time.Duration, error) {
		return post(ctx, url+path, body, func(h http.Header) { fleet.Sign(h, m.key, m.name, http.MethodPost, path, body, m.clock()) }, n)
	})
	m.last = time.Now()
	n.mu.Lock()
	n.whole = append(n.whole, measure{wall: time.Since(began)})
	n.mu.Unlock()
	return err
}

func zipped(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(text) // a buffer takes all
	z.Close()
	return b.Bytes()
}

// What differs from record to record stands for itself in a mould.
const (
	holeID         = "HOLE-of-the-id"
	holeTime       = "2001-01-01T00:00:00.000000Z"
	holeLog        = "HOLEofthelog"
	holeSeq        = "777777777"
	holePrev       = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	stampOfRecords = "2006-01-02T15:04:05.000000Z"
)

// A mould makes records of one kind.
type mould struct {
	parts  []string // text and holes in turns
	digest string   // a hole, too
}

// moulds are what the example of a log becomes at a level.
func moulds(level fleet.Level) ([]*mould, error) {
	data, err := os.ReadFile(filepath.FromSlash("internal/collect/store/testdata/decisions.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("run this at the root of the tree: %w", err)
	}
	reducer := fleet.Reducer{Level: level, Pseudonyms: fleet.Pseudonyms{Key: []byte("a key of sixteen bytes or more")}}
	var out []*mould
	for line := range bytes.Lines(data) {
		var doc map[string]any
		if err := json.Unmarshal(line, &doc); err != nil {
			return nil, err
		}
		doc["decision_id"], doc["timestamp"] = holeID, holeTime
		doc["custom"].(map[string]any)["gate"].(map[string]any)["chain"] = map[string]any{"log": holeLog, "seq": json.Number(holeSeq), "prev": holePrev}
		text, err := json.Marshal(doc)
		if err != nil {
			return nil, err
		}
		body, err := reducer.Reduce(text)
		if err != nil {
			return nil, err
		}
		sent, err := fleet.ParseSent(body)
		if err != nil {
			return nil, err
		}
		out = append(out, newMould(string(body), sent.Digest))
	}
	return out, nil
}

func newMould(text, digest string) *mould {
	m := &mould{digest: digest}
	for text != "" {
		at, hole := len(text), ""
		for _, h := range []string{holeID, holeTime, holeLog, holeSeq, holePrev, digest} {
			if i := strings.Index(text, h); i >= 0 && i < at {
				at, hole = i, h
			}
		}
		m.parts = append(m.parts, text[:at], hole)
		text = text[at+len(hole):]
	}
	return m
}

// pour fills the holes.
func (m *mould) pour(with map[string]string) []byte {
	var b bytes.Buffer
	for i := 0; i < len(m.parts); i += 2 {
		b.WriteString(m.parts[i])
		b.WriteString(with[m.parts[i+1]])
	}
	return b.Bytes()
}
