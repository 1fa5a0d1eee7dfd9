package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/internal/fleet"
)

// A Batch is what one request of a machine brought.
type Batch struct {
	Machine string
	Clock   time.Time // the machine's, as the request said
	Records []*Record
	Told    []*Told
}

// A Taken is what became of a batch.
type Taken struct {
	Taken    int // records that are new
	Again    int // that were here already, or that were dropped or erased since
	Findings int // that the batch opened
}

// ErrUnknown says that no such machine is enrolled.
var ErrUnknown = errors.New("the machine is not enrolled")

// Take takes what a machine sent, in one transaction with the figures and findings that
// follow from it, possibly together with other batches. When it returns without an
// error, all is on the disk; when it returns an error, the batch may be sent again
// whatever became of it. [ErrBusy] says that too many wait.
func (s *Store) Take(ctx context.Context, b Batch) (Taken, error) {
	var out Taken
	now := s.now()
	days := []string{}
	for _, r := range b.Records {
		r.Machine, r.Received = b.Machine, now.UTC()
		r.Day = s.dayFor(r.At, now)
		if !slices.Contains(days, r.Day) {
			days = append(days, r.Day)
		}
	}
	err := s.writer.do(ctx, &job{machine: b.Machine, rows: len(b.Records), days: days, run: func(ctx context.Context, t *txn) (err error) {
		out, err = t.take(ctx, b)
		return err
	}})
	if err != nil { // of a caller that goes away the writer may still be at it
		return Taken{}, err
	}
	return out, nil
}

// How far a record's time may be from that of the collector.
const (
	maxAhead  = 48 * time.Hour
	maxBehind = 400 * 24 * time.Hour // where records are kept for ever
)

// dayFor is the day that a record belongs to.
func (s *Store) dayFor(at, now time.Time) string {
	behind := max(s.keep.Text, s.keep.Effects)
	if s.keep.Text <= 0 || s.keep.Effects <= 0 || behind > maxBehind {
		behind = maxBehind
	}
	if at.After(now.Add(maxAhead)) || at.Before(now.Add(-behind)) {
		return OddDay
	}
	return dayOf(at)
}

func (t *txn) take(ctx context.Context, b Batch) (out Taken, err error) {
	team, err := t.lock(ctx, b.Machine)
	if err != nil {
		return out, err
	}
	before := t.opened
	byLog := map[string][]*Record{}
	var latest time.Time
	for _, r := range b.Records {
		r.Team = team
		byLog[r.Log] = append(byLog[r.Log], r)
		if r.At.After(latest) && !r.At.After(t.now) {
			latest = r.At
		}
	}
	if !latest.IsZero() {
		if err := t.exec(ctx, `UPDATE machines SET last_record = ? WHERE machine = ? AND last_record < ?`, micros(latest), b.Machine, micros(latest)); err != nil {
			return out, err
		}
	}
	logs := slices.Collect(func(yield func(string) bool) {
		for log := range byLog {
			if !yield(log) {
				return
			}
		}
	})
	slices.Sort(logs)
	for _, log := range logs {
		c := &chain{txn: t, machine: b.Machine, log: log}
		if err := c.take(ctx, byLog[log], &out); err != nil {
			return out, err
		}
	}
	for _, told := range b.Told {
		if err := t.told(ctx, b.Machine, told); err != nil {
			return out, err
		}
	}
	// Whoever kept a request can send it again for ever: what brings nothing new is no word
	// of the machine. A status, which has a number, follows an honest one.
	if out.Taken > 0 || t.opened > before {
		if err := t.heard(ctx, b.Machine, b.Clock); err != nil {
			return out, err
		}
	}
	out.Findings = t.opened - before
	return out, nil
}

// lock locks a machine.
func (t *txn) lock(ctx context.Context, machine string) (team string, err error) {
	err = t.tx.QueryRowContext(ctx, t.s.q(`SELECT team FROM machines WHERE machine = ?`+t.s.sql.locked()), machine).Scan(&team)
	if err == sql.ErrNoRows {
		return "", ErrUnknown
	}
	return team, err
}

// heard notes that a machine was heard of.
func (t *txn) heard(ctx context.Context, machine string, clock time.Time) error {
	err := t.exec(ctx, `UPDATE machines SET seen = ? WHERE machine = ?`, micros(t.now), machine)
	if err == nil {
		err = t.closeKind(ctx, machine, Silent)
	}
	if err == nil && !clock.IsZero() {
		err = t.clock(ctx, machine, clock)
	}
	return err
}

// maxSkew is how far a machine's clock may be from the collector's.
const maxSkew = 5 * time.Minute

func (t *txn) clock(ctx context.Context, machine string, clock time.Time) error {
	if by := clock.Sub(t.now).Abs(); by > maxSkew {
		which := "ahead of"
		if clock.Before(t.now) {
			which = "behind"
		}
		return t.open(ctx, Finding{Kind: Skew, Machine: machine, Detail: fmt.Sprintf("its clock is %s %s the collector's", by.Round(time.Second), which)})
	}
	return t.closeKind(ctx, machine, Skew)
}

// A chain takes records of one log.
type chain struct {
	*txn
	machine, log string

	account, digest string
	seq             int64
	at              time.Time
	head            int64
	known           bool

	spans   []span // that the batch may touch, in order
	changed []span // that are to be written
	removed []int64
	loaded  int                // spans that were here before
	fresh   map[int64]*Record  // that this batch brought
	behind  map[string]*behind // by day; see asks
}

// A span is a run of records of a chain none of which is missing.
type span struct {
	first, last           int64
	firstPrev, lastDigest string
}

func (c *chain) take(ctx context.Context, list []*Record, out *Taken) error {
	slices.SortStableFunc(list, func(a, b *Record) int { return cmp.Compare(a.Seq, b.Seq) })
	if err := c.load(ctx, list[0].Seq, list[len(list)-1].Seq); err != nil {
		return err
	}
	var here, kept []*Record
	for _, r := range list {
		if c.covering(r.Seq) >= 0 {
			here = append(here, r)
			continue
		}
		if err := c.place(ctx, r); err != nil {
			return err
		}
		c.fresh[r.Seq] = r
		gone, err := c.gone(ctx, r, false)
		if err != nil {
			return err
		}
		if gone { // its place in the chain counts, and nothing else is kept
			out.Again++
			continue
		}
		if err := c.figure(ctx, r); err != nil {
			return err
		}
		kept = append(kept, r)
	}
	out.Taken += len(kept)
	again, err := c.again(ctx, here)
	if err != nil {
		return err
	}
	out.Again += again
	if err := c.write(ctx, kept); err != nil {
		return err
	}
	return c.save(ctx)
}

func (c *chain) load(ctx context.Context, from, to int64) error {
	c.fresh = map[int64]*Record{}
	var at int64
	err := c.tx.QueryRowContext(ctx, c.s.q(`SELECT account, seq, digest, at, head FROM chains WHERE machine = ? AND log = ?`), c.machine, c.log).Scan(&c.account, &c.seq, &c.digest, &at, &c.head)
	if err == sql.ErrNoRows {
		return nil
	}
	if err != nil {
		return err
	}
	c.known, c.at = true, fromMicros(at)
	// The span before the first record, and all that begin within the batch or behind it.
	c.spans, err = allOf(ctx, c.tx, c.s.q(`SELECT first, last, first_prev, last_digest FROM spans WHERE machine = ? AND log = ? AND first <= ?
AND first >= COALESCE((SELECT MAX(first) FROM spans WHERE machine = ? AND log = ? AND first <= ?), 0) ORDER BY first`), []any{c.machine, c.log, to + 1, c.machine, c.log, from}, func(rows *sql.Rows) (p span, err error) {
		return p, rows.Scan(&p.first, &p.last, &p.firstPrev, &p.lastDigest)
	})
	c.loaded = len(c.spans)
	return err
}

// covering is the span that has a record, -1 for none.
func (c *chain) covering(seq int64) int {
	i, _ := slices.BinarySearchFunc(c.spans, seq, func(p span, seq int64) int { return cmp.Compare(p.last, seq) })
	if i < len(c.spans) && c.spans[i].first <= seq {
		return i
	}
	return -1
}

// place puts a record that is new into the spans, and holds it against its neighbours.
func (c *chain) place(ctx context.Context, r *Record) error {
	i, _ := slices.BinarySearchFunc(c.spans, r.Seq, func(p span, seq int64) int { return cmp.Compare(p.last, seq) })
	// i is the first span behind the record.
	p := span{r.Seq, r.Seq, r.Prev, r.Digest}
	if i < len(c.spans) && c.spans[i].first == r.Seq+1 {
		next := c.spans[i]
		if next.firstPrev != r.Digest {
			if err := c.open(ctx, Finding{Kind: Changed, Machine: c.machine, Log: c.log, First: r.Seq, Last: r.Seq, Detail: "the record behind it was written behind another one"}); err != nil {
				return err
			}
		}
		p.last, p.lastDigest = next.last, next.lastDigest
		c.removed = append(c.removed, next.first)
		c.spans = slices.Delete(c.spans, i, i+1)
	}
	if i > 0 && c.spans[i-1].last == r.Seq-1 {
		before := c.spans[i-1]
		if before.lastDigest != r.Prev {
			if err := c.open(ctx, Finding{Kind: Changed, Machine: c.machine, Log: c.log, First: r.Seq - 1, Last: r.Seq - 1, Detail: "the record behind it was written behind another one"}); err != nil {
				return err
			}
		}
		p.first, p.firstPrev = before.first, before.firstPrev
		i--
		c.spans = slices.Delete(c.spans, i, i+1)
	}
	c.spans = slices.Insert(c.spans, i, p)
	c.changed = append(slices.DeleteFunc(c.changed, func(q span) bool { return q.first == p.first }), p)
	return c.follow(ctx, r)
}

// follow holds what a record says against the chain's end.
func (c *chain) follow(ctx context.Context, r *Record) error {
	if r.Day == OddDay {
		if err := c.open(ctx, Finding{Kind: OddTime, Machine: c.machine, Log: c.log, First: r.Seq, Last: r.Seq, Detail: "its time is " + r.At.Format(time.RFC3339)}); err != nil {
			return err
		}
	}
	if c.account == "" {
		c.account = r.Account
	}
	if r.Account != "" && r.Account != c.account { // of an event that could not be read nobody knows
		if err := c.open(ctx, Finding{Kind: OtherAccount, Machine: c.machine, Log: c.log, First: r.Seq, Last: r.Seq, Detail: "it is from " + r.Account + ", and the log is that of " + c.account}); err != nil {
			return err
		}
	}
	if r.Seq < c.seq {
		return nil
	}
	if r.Seq == c.seq+1 && c.at.Sub(r.At) > maxSkew {
		if err := c.open(ctx, Finding{Kind: TimeBack, Machine: c.machine, Log: c.log, First: r.Seq, Last: r.Seq, Detail: fmt.Sprintf("it is %s older than the record before", c.at.Sub(r.At).Round(time.Second))}); err != nil {
			return err
		}
	}
	c.seq, c.digest, c.at = r.Seq, r.Digest, r.At
	return nil
}

// again holds records whose place is taken against those that stand there, and keeps
// what differs.
func (c *chain) again(ctx context.Context, list []*Record) (again int, err error) {
	for len(list) > 0 {
		day, n := list[0].Day, 1
		for n < len(list) && list[n].Day == day {
			n++
		}
		there, err := c.there(ctx, day, list[0].Seq, list[n-1].Seq)
		if err != nil {
			return again, err
		}
		for _, r := range list[:n] {
			old := there[r.Seq]
			if old == nil {
				old = c.fresh[r.Seq]
			}
			same := old != nil && (bytes.Equal(old.Body, r.Body) || old.Digest == r.Digest && old.Level != r.Level)
			if old == nil {
				if same, err = c.gone(ctx, r, true); err != nil {
					return again, err
				}
			}
			if same {
				again++
				continue
			}
			if err := c.twice(ctx, r, old); err != nil {
				return again, err
			}
		}
		list = list[n:]
	}
	return again, nil
}

// there reads the records of a chain on a day, or on no day, from one number to another.
func (c *chain) there(ctx context.Context, day string, from, to int64) (map[int64]*Record, error) {
	out := map[int64]*Record{}
	_, err := allOf(ctx, c.tx, c.s.q(`SELECT seq, digest, level, body FROM records WHERE (day = ? OR day = ?) AND machine = ? AND log = ? AND seq >= ? AND seq <= ?`),
		[]any{day, OddDay, c.machine, c.log, from, to}, func(rows *sql.Rows) (struct{}, error) {
			r := &Record{}
			var body, digest []byte
			err := rows.Scan(&r.Seq, &digest, &r.Level, &body)
			r.Digest = hex.EncodeToString(digest)
			if err == nil {
				r.Body, err = unpack(body)
			}
			out[r.Seq] = r
			return struct{}{}, err
		})
	return out, err
}

// gone reports a record that is not to be kept any more: of a day whose records were
// dropped, or of an account whose records were erased. was: it was here, so that its
// level may have been another one.
func (c *chain) gone(ctx context.Context, r *Record, was bool) (bool, error) {
	dropped, erased, err := c.forgotten(ctx)
	if err != nil {
		return false, err
	}
	at, known := erased[r.Account]
	return known && !r.At.After(at) || dropped[r.Day][r.Level] || was && len(dropped[dayOf(r.At)]) > 0, nil // its day may be too long ago by now
}

// forgotten are the days and levels that were dropped, and until when records of which
// account were erased.
func (t *txn) forgotten(ctx context.Context) (dropped map[string]map[fleet.Level]bool, erased map[string]time.Time, err error) {
	if t.dropped != nil {
		return t.dropped, t.erased, nil
	}
	dropped, erased = map[string]map[fleet.Level]bool{}, map[string]time.Time{}
	_, err = allOf(ctx, t.tx, `SELECT day, level FROM dropped`, nil, func(rows *sql.Rows) (struct{}, error) {
		var day, level string
		err := rows.Scan(&day, &level)
		if dropped[day] == nil {
			dropped[day] = map[fleet.Level]bool{}
		}
		dropped[day][fleet.Level(level)] = true
		return struct{}{}, err
	})
	if err != nil {
		return nil, nil, err
	}
	_, err = allOf(ctx, t.tx, `SELECT account, at FROM erased`, nil, func(rows *sql.Rows) (struct{}, error) {
		var account string
		var at int64
		err := rows.Scan(&account, &at)
		erased[account] = fromMicros(at)
		return struct{}{}, err
	})
	t.dropped, t.erased = dropped, erased
	return dropped, erased, err
}

// twice keeps a record beside the one that has its place, which may be of another day.
func (c *chain) twice(ctx context.Context, r, old *Record) error {
	sum := sha256.Sum256(r.Body)
	if err := c.exec(ctx, `INSERT INTO twice (day, machine, log, seq, sum, received, account, level, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		r.Day, c.machine, c.log, r.Seq, hex.EncodeToString(sum[:]), micros(c.now), r.Account, string(r.Level), pack(r.Body)); err != nil {
		return err
	}
	detail := "another record of that number was here before"
	switch {
	case old == nil:
		detail = "a record of that number was here before, of another day"
	case old.Digest == r.Digest:
		detail = "it was sent before in another form, made of the same line of the log"
	}
	return c.open(ctx, Finding{Kind: Twice, Machine: c.machine, Log: c.log, First: r.Seq, Last: r.Seq, Detail: detail})
}

var recordTable = []string{"day", "machine", "log", "seq", "prev", "digest", "level", "at", "received", "team", "account", "agent", "session", "event", "tool", "effect", "result", "policies", "would", "effects", "call_ns", "body"}

func (c *chain) write(ctx context.Context, list []*Record) error {
	rows := make([][]any, len(list))
	for i, r := range list {
		c.kept[dayLevel{r.Day, r.Level}]++
		var policies, would []string
		for _, p := range r.Policies {
			policies = append(policies, p.ID)
			if p.Would != "" {
				would = append(would, p.Would+"/"+strings.ReplaceAll(p.Spared, "/", "_")+"/"+p.ID)
			}
		}
		rows[i] = []any{r.Day, r.Machine, r.Log, r.Seq, unhex(r.Prev), unhex(r.Digest), string(r.Level), micros(r.At), micros(r.Received), r.Team, r.Account, r.Agent, r.Session, r.Event, r.Tool, r.Effect, r.Result,
			strings.Join(policies, " "), strings.Join(would, " "), strings.Join(r.Effects, " "), r.CallNS, pack(r.Body)}
	}
	return c.insert(ctx, "records", recordTable, rows, "")
}

// save writes how far the chain is held, and what is missing of it.
func (c *chain) save(ctx context.Context) error {
	for _, first := range c.removed {
		if err := c.exec(ctx, `DELETE FROM spans WHERE machine = ? AND log = ? AND first = ?`, c.machine, c.log, first); err != nil {
			return err
		}
	}
	for _, p := range c.changed {
		if !slices.Contains(c.spans, p) {
			continue // it became a part of another one
		}
		if err := c.exec(ctx, `INSERT INTO spans (machine, log, first, last, first_prev, last_digest) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (machine, log, first) DO UPDATE SET last = excluded.last, first_prev = excluded.first_prev, last_digest = excluded.last_digest`, c.machine, c.log, p.first, p.last, p.firstPrev, p.lastDigest); err != nil {
			return err
		}
	}
	if err := c.exec(ctx, `INSERT INTO chains (machine, log, account, seq, digest, at, received) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (machine, log) DO UPDATE SET account = excluded.account, seq = excluded.seq, digest = excluded.digest, at = excluded.at, received = excluded.received`,
		c.machine, c.log, c.account, c.seq, c.digest, micros(c.at), micros(c.now)); err != nil {
		return err
	}
	return c.missing(ctx)
}

// maxPlaces is in how many pieces a chain may be: every batch looks at all of them.
const maxPlaces = 10_000

// ErrPieces says that a chain is in too many pieces for another one.
var ErrPieces = errors.New("records are missing from the chain in more places than are kept")

// missing opens or closes the finding about what is missing of the chain.
func (c *chain) missing(ctx context.Context) error {
	var places, first, last, held int64
	var gapFrom sql.NullInt64
	if err := c.tx.QueryRowContext(ctx, c.s.q(`SELECT COUNT(*), MIN(first), MAX(last), SUM(last - first + 1), MIN(last) FROM spans WHERE machine = ? AND log = ?`), c.machine, c.log).Scan(&places, &first, &last, &held, &gapFrom); err != nil {
		return err
	}
	if places > maxPlaces && len(c.spans) > c.loaded {
		return ErrPieces
	}
	if places == 1 {
		return c.closeOne(ctx, c.machine, Gap, c.log)
	}
	var behind int64
	if err := c.tx.QueryRowContext(ctx, c.s.q(`SELECT MAX(first) FROM spans WHERE machine = ? AND log = ?`), c.machine, c.log).Scan(&behind); err != nil {
		return err
	}
	n := last - first + 1 - held
	return c.state(ctx, Finding{Kind: Gap, Machine: c.machine, Log: c.log, First: gapFrom.Int64 + 1, Last: behind - 1, Detail: fmt.Sprintf("%d records are missing, in %d places", n, places-1)})
}

// unhex is how digests are stored; [ReadRecord] has seen that they are hex.
func unhex(digest string) []byte {
	data, _ := hex.DecodeString(digest)
	return data
}
