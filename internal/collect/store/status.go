package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/internal/audit"
	"gate/internal/fleet"
)

// A ReplayedError says that a status of that number, or of a later one, came before.
type ReplayedError struct{ Last int64 } // the number of the last one

func (e ReplayedError) Error() string {
	return fmt.Sprintf("status %d was taken before", e.Last)
}

// TakeStatus takes a machine's status, with the body that it was read from. The same one
// may come again. [ReplayedError] refuses another one whose number does not go on.
func (s *Store) TakeStatus(ctx context.Context, machine string, clock time.Time, st *fleet.Status, body []byte) error {
	var replayed error
	err := s.writer.do(ctx, &job{machine: machine, rows: 1, run: func(ctx context.Context, t *txn) (err error) {
		replayed, err = t.status(ctx, machine, clock, st, body)
		return err
	}})
	if err != nil { // of a caller that goes away the writer may still be at it
		return err
	}
	return replayed
}

// status takes it. A number that is refused is a finding, which is written all the same:
// refused is what the machine is told.
func (t *txn) status(ctx context.Context, machine string, clock time.Time, st *fleet.Status, body []byte) (refused, err error) {
	team, err := t.lock(ctx, machine)
	if err != nil {
		return nil, err
	}
	var last int64
	if err := t.tx.QueryRowContext(ctx, t.s.q(`SELECT status_seq FROM machines WHERE machine = ?`), machine).Scan(&last); err != nil {
		return nil, err
	}
	g := &st.Gate
	if g.Seq <= last {
		var old []byte
		err := t.tx.QueryRowContext(ctx, t.s.q(`SELECT body FROM statuses WHERE machine = ? AND seq = ?`), machine, g.Seq).Scan(&old)
		if err == nil {
			if old, err = unpack(old); err == nil && bytes.Equal(old, body) {
				return nil, nil
			}
		}
		if err != nil && err != sql.ErrNoRows {
			return nil, err
		}
		return ReplayedError{last}, t.open(ctx, Finding{Kind: StatusBack, Machine: machine, First: g.Seq, Last: last, Detail: fmt.Sprintf("status %d came after status %d: is the machine there twice, or was it put back?", g.Seq, last)})
	}
	if err := t.heard(ctx, machine, clock); err != nil {
		return nil, err
	}
	if err := t.exec(ctx, `INSERT INTO statuses (machine, seq, received, body) VALUES (?, ?, ?, ?)`, machine, g.Seq, micros(t.now), pack(body)); err != nil {
		return nil, err
	}
	if err := t.describe(ctx, machine, st); err != nil {
		return nil, err
	}
	if g.Level == fleet.Counts && len(g.Counters) > 0 {
		if err := t.counters(ctx, machine, team, st); err != nil {
			return nil, err
		}
	}
	return nil, errors.Join(t.judge(ctx, machine, st), t.heads(ctx, machine, st))
}

const (
	maxAgents  = 64
	maxBundles = 64
	maxHeads   = 1000
)

// describe writes what a status says of the machine.
func (t *txn) describe(ctx context.Context, machine string, st *fleet.Status) error {
	g := &st.Gate
	var agents []AgentState
	for _, a := range g.Agents[:min(len(g.Agents), maxAgents)] {
		agents = append(agents, AgentState{Name: clip(a.Name), Account: clip(a.Account), Version: clip(a.Version), Hook: clip(a.Hook), LastCall: timeOf(a.LastCall), Used: timeOf(a.Used)})
	}
	text, err := json.Marshal(agents)
	if err != nil {
		return err
	}
	if err := t.exec(ctx, `UPDATE machines SET status_seq = ?, status_at = ?, level = ?, version = ?, os = ?, arch = ?, agents = ? WHERE machine = ?`,
		g.Seq, micros(t.now), clip(string(g.Level)), clip(g.Version), clip(g.OS), clip(g.Arch), string(text), machine); err != nil {
		return err
	}
	if err := t.exec(ctx, `DELETE FROM releases WHERE machine = ?`, machine); err != nil {
		return err
	}
	var rows [][]any
	for _, name := range slices.Sorted(maps.Keys(st.Bundles)) {
		b := st.Bundles[name]
		plain, trial := strings.CutPrefix(name, "trial:")
		if len(rows) < maxBundles && !slices.ContainsFunc(rows, func(r []any) bool { return r[1] == clip(plain) && r[3] == trial }) {
			rows = append(rows, []any{machine, clip(plain), clip(b.Revision), trial, clip(b.Digest), micros(timeOf(b.Activated)), micros(timeOf(b.Requested)), clip(b.Code), clip(b.Message)})
		}
	}
	return t.insert(ctx, "releases", []string{"machine", "bundle", "revision", "trial", "digest", "activated", "asked", "code", "message"}, rows, "")
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// maxHours is how many hours one status may count: a month and some.
const maxHours = 1000

// counters takes in what a machine counted that sends no records, and keeps it for
// [Store.Rebuild].
func (t *txn) counters(ctx context.Context, machine, team string, st *fleet.Status) error {
	list := st.Gate.Counters[:min(len(st.Gate.Counters), maxHours)]
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	t.s.count(t.figures, machine, team, t.now, list)
	return t.exec(ctx, `INSERT INTO counted (machine, seq, received, team, body) VALUES (?, ?, ?, ?, ?)`, machine, st.Gate.Seq, micros(t.now), team, pack(body))
}

func (s *Store) count(f *figures, machine, team string, received time.Time, list []fleet.Hour) {
	for i := range list {
		hour := hourOf(list[i].Hour)
		if s.dayFor(list[i].Hour, received) == OddDay {
			hour = hourOf(received)
		}
		f.count(machine, team, hour, &list[i])
	}
}

// judge opens and closes the findings that follow from a status alone.
func (t *txn) judge(ctx context.Context, machine string, st *fleet.Status) error {
	g := &st.Gate
	now := map[string][]Finding{Weaker: nil, Hook: nil, NoRecords: nil, NotSynced: nil, NotSent: nil, Doctor: nil}
	add := func(kind, log, detail string) { now[kind] = append(now[kind], Finding{Log: log, Detail: detail}) }
	for _, key := range slices.Sorted(maps.Keys(g.Settings)) {
		if s := g.Settings[key]; s.Weaker {
			add(Weaker, key, key+" is weaker than a bundle wants it; "+cmp.Or(s.From, "nobody knows what")+" decides it")
		}
	}
	for _, a := range g.Agents[:min(len(g.Agents), maxAgents)] {
		name := strings.TrimSpace(a.Name + " " + a.Account)
		switch a.Hook {
		case fleet.HookMissing:
			add(Hook, name, a.Name+" has no hook of gate's")
		case fleet.HookOther:
			add(Hook, name, a.Name+" has a hook that is another program's")
		}
		if used, last := timeOf(a.Used), timeOf(a.LastCall); used.Sub(last) > maxUnrecorded && !used.After(t.now.Add(maxSkew)) {
			said := "no record"
			if !last.IsZero() {
				said = "its last record is of " + last.Format(time.RFC3339)
			}
			add(NoRecords, name, fmt.Sprintf("%s ran at %s; %s", a.Name, used.Format(time.RFC3339), said))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(st.Bundles)) {
		if b := st.Bundles[name]; b.Code != "" {
			add(NotSynced, name, strings.TrimSuffix(b.Code+": "+b.Message, ": "))
		}
	}
	if l := st.Logs; l.Code != "" {
		add(NotSent, "", strings.TrimSuffix(l.Code+": "+l.Message, ": "))
	}
	for _, f := range g.Findings[:min(len(g.Findings), maxHeads)] {
		if f.Severity == "error" {
			add(Doctor, f.ID, cmp.Or(f.Text, f.ID))
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(now)) {
		if err := t.states(ctx, machine, kind, now[kind]); err != nil {
			return err
		}
	}
	return nil
}

// maxUnrecorded is how much later than its last record an agent may have run. A session
// that calls no tool leaves no record for a while.
const maxUnrecorded = time.Hour

// heads holds where the machine's logs end against what came of them.
func (t *txn) heads(ctx context.Context, machine string, st *fleet.Status) error {
	type chain struct {
		log       string
		seq, head int64
		listed    bool
	}
	list, err := allOf(ctx, t.tx, t.s.q(`SELECT log, seq, head, listed FROM chains WHERE machine = ?`), []any{machine}, func(rows *sql.Rows) (c chain, err error) {
		return c, rows.Scan(&c.log, &c.seq, &c.head, &c.listed)
	})
	if err != nil {
		return err
	}
	held := map[string]chain{}
	for _, c := range list {
		held[c.log] = c
	}
	var ahead []Finding
	said := map[string]bool{}
	for _, h := range st.Gate.Heads[:min(len(st.Gate.Heads), maxHeads)] {
		if h.Log == "" || len(h.Log) > 64 || strings.ContainsFunc(h.Log, notName) || h.Seq < 0 || h.Seq > maxSeq || said[h.Log] {
			continue
		}
		said[h.Log] = true
		c := held[h.Log]
		if h.Seq < c.seq {
			if err := t.open(ctx, Finding{Kind: Behind, Machine: machine, Log: h.Log, First: h.Seq, Last: c.seq, Detail: fmt.Sprintf("it ends at %d on the machine, and %d records of it came", h.Seq, c.seq)}); err != nil {
				return err
			}
		}
		// Records that were written since the last shipping are not missing yet.
		if st.Gate.Level != fleet.Counts && c.seq < c.head {
			ahead = append(ahead, Finding{Log: h.Log, First: c.seq + 1, Last: c.head, Detail: fmt.Sprintf("the machine had %d records at the status before, and %d came", c.head, c.seq)})
		}
		if err := t.exec(ctx, `INSERT INTO chains (machine, log, account, seq, digest, at, received, head, listed) VALUES (?, ?, ?, 0, '', 0, 0, ?, ?)
ON CONFLICT (machine, log) DO UPDATE SET head = excluded.head, listed = excluded.listed`, machine, h.Log, clip(h.Account), h.Seq, true); err != nil {
			return err
		}
	}
	var gone []Finding
	for _, c := range list {
		if c.listed && !said[c.log] {
			gone = append(gone, Finding{Log: c.log, Last: c.seq, Detail: fmt.Sprintf("it is not among the machine's logs any more; %d records of it came", c.seq)})
		}
	}
	return errors.Join(t.states(ctx, machine, Ahead, ahead), t.states(ctx, machine, HeadGone, gone))
}

// told opens a finding of what a machine says of its own log.
func (t *txn) told(ctx context.Context, machine string, told *Told) error {
	f := Finding{Machine: machine, Log: told.Log, First: told.To, Last: told.To}
	switch told.Problem {
	case audit.Missing:
		f.Kind, f.First, f.Last = Lost, told.From, told.To
		f.Detail = fmt.Sprintf("the machine has the records %d to %d no more", told.From, told.To)
	case audit.Anew:
		f.Kind, f.Detail = Anew, fmt.Sprintf("the log was begun again; of the one before, %s, %d records were sent", told.Before.Log, told.Before.Seq)
	case audit.Gone:
		f.Kind, f.Detail = Gone, fmt.Sprintf("the log holds nothing any more; %d records were sent", told.Before.Seq)
	case audit.Shorter:
		f.Kind, f.Detail = Shorter, fmt.Sprintf("the log ends at %d, and %d records were sent", told.To, told.Before.Seq)
	case audit.Unread:
		f.Kind, f.Detail = Unread, "root could not read the log of "+cmp.Or(told.Account, "an account")
		f.Log = cmp.Or(f.Log, told.Account)
	}
	return t.openOnce(ctx, f, told.At)
}

// openOnce opens a finding that the machine may tell again: one that was closed by hand
// since stays closed.
func (t *txn) openOnce(ctx context.Context, f Finding, at time.Time) error {
	var n int
	err := t.tx.QueryRowContext(ctx, t.s.q(`SELECT COUNT(*) FROM findings WHERE machine = ? AND kind = ? AND log = ? AND first = ? AND last = ? AND seen >= ?`), f.Machine, f.Kind, f.Log, f.First, f.Last, micros(at)).Scan(&n)
	if err != nil || n > 0 {
		return err
	}
	return t.open(ctx, f)
}
