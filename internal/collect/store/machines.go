package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
)

// MachineQuery asks for machines, in the order of their names.
type MachineQuery struct {
	After string // the name of the machine before; "" from the first on
	Team  string // "": all
	Find  string // a part of the name or of the host's
	Limit int    // default 200

	Bundle   string // with a release of this bundle, "": whatever they have
	Revision string // and this one of it; "": any
	Trial    bool   // it is on trial there
	Finding  string // with an open finding of this kind; "*": of any
}

const machineColumns = `m.machine, m.host, m.labels, m.team, m.key, m.enrolled, m.seen, m.last_record, m.status_seq, m.status_at, m.level, m.version, m.os, m.arch, m.agents,
	(SELECT COUNT(*) FROM findings f WHERE f.machine = m.machine AND f.closed = 0),
	(SELECT COUNT(*) FROM expected e WHERE e.name = m.machine OR e.name = m.host)`

func readMachine(rows *sql.Rows) (m Machine, err error) {
	var labels, agents string
	var enrolled, seen, last, status int64
	var expected int
	err = rows.Scan(&m.Machine, &m.Host, &labels, &m.Team, &m.Key, &enrolled, &seen, &last, &m.StatusSeq, &status, &m.Level, &m.Version, &m.OS, &m.Arch, &agents, &m.Findings, &expected)
	m.Enrolled, m.Seen, m.LastRecord, m.StatusAt = fromMicros(enrolled), fromMicros(seen), fromMicros(last), fromMicros(status)
	m.Expected = expected > 0
	json.Unmarshal([]byte(labels), &m.Labels) // ours: what was written is read
	json.Unmarshal([]byte(agents), &m.Agents)
	return m, err
}

// Machines returns those that are enrolled. The last one's name is the After of the next
// page.
func (s *Store) Machines(ctx context.Context, q MachineQuery) ([]Machine, error) {
	w := new(where).add("m.machine > ?", q.After)
	if q.Team != "" {
		w.add("m.team = ?", q.Team)
	}
	if q.Find != "" {
		like := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(strings.ToLower(q.Find)) + "%"
		w.add(`(m.machine LIKE ? ESCAPE '\' OR LOWER(m.host) LIKE ? ESCAPE '\')`, like, like)
	}
	if q.Bundle != "" {
		release := new(where).add("r.machine = m.machine").add("r.bundle = ?", q.Bundle).add("r.trial = ?", q.Trial)
		if q.Revision != "" {
			release.add("r.revision = ?", q.Revision)
		}
		w.add("EXISTS (SELECT 1 FROM releases r"+release.text()+")", release.args...)
	}
	switch q.Finding {
	case "":
	case "*":
		w.add("m.machine IN (SELECT f.machine FROM findings f WHERE f.closed = 0)")
	default:
		w.add("m.machine IN (SELECT f.machine FROM findings f WHERE f.closed = 0 AND f.kind = ?)", q.Finding)
	}
	list, err := all(ctx, s, fmt.Sprintf(`SELECT %s FROM machines m%s ORDER BY m.machine LIMIT %d`, machineColumns, w.text(), bounded(q.Limit, 200)), w.args, readMachine)
	if err != nil || len(list) == 0 {
		return list, err
	}
	at := map[string]int{}
	for i := range list {
		at[list[i].Machine] = i
	}
	type row struct {
		machine string
		MachineRelease
	}
	releases, err := all(ctx, s, `SELECT machine, bundle, revision, trial, digest, activated, asked, code, message FROM releases WHERE machine >= ? AND machine <= ? ORDER BY machine, bundle, trial`,
		[]any{list[0].Machine, list[len(list)-1].Machine}, func(rows *sql.Rows) (r row, err error) {
			var activated, asked int64
			err = rows.Scan(&r.machine, &r.Bundle, &r.Revision, &r.Trial, &r.Digest, &activated, &asked, &r.Code, &r.Message)
			r.Activated, r.Asked = fromMicros(activated), fromMicros(asked)
			return r, err
		})
	for _, r := range releases {
		if i, ok := at[r.machine]; ok {
			list[i].Releases = append(list[i].Releases, r.MachineRelease)
		}
	}
	return list, err
}

// Machine returns one; [ErrNotFound] where it is not enrolled.
func (s *Store) Machine(ctx context.Context, name string) (Machine, error) {
	list, err := all(ctx, s, `SELECT `+machineColumns+` FROM machines m WHERE m.machine = ?`, []any{name}, readMachine)
	if err != nil || len(list) == 0 {
		return Machine{}, orNotFound(err)
	}
	m := list[0]
	m.Releases, err = all(ctx, s, `SELECT bundle, revision, trial, digest, activated, asked, code, message FROM releases WHERE machine = ? ORDER BY bundle, trial`,
		[]any{name}, func(rows *sql.Rows) (r MachineRelease, err error) {
			var activated, asked int64
			err = rows.Scan(&r.Bundle, &r.Revision, &r.Trial, &r.Digest, &activated, &asked, &r.Code, &r.Message)
			r.Activated, r.Asked = fromMicros(activated), fromMicros(asked)
			return r, err
		})
	return m, err
}

// Counts are how many machines there are.
type Counts struct {
	Enrolled int            `json:"enrolled"`
	Expected int            `json:"expected"` // on the list
	Missing  int            `json:"missing"`  // of these, not enrolled
	Unlisted int            `json:"unlisted"` // enrolled and on no list, where there is one
	Silent   int            `json:"silent"`   // enrolled, and not heard of for too long
	Teams    map[string]int `json:"teams"`    // enrolled machines by team
	Open     map[string]int `json:"open"`     // findings by kind
}

// Counts returns them.
func (s *Store) Counts(ctx context.Context) (c Counts, err error) {
	late := micros(s.now().Add(-s.silent))
	row := s.db.QueryRowContext(ctx, s.q(`SELECT (SELECT COUNT(*) FROM machines), (SELECT COUNT(*) FROM expected),
	(SELECT COUNT(*) FROM expected e WHERE NOT EXISTS (SELECT 1 FROM machines m WHERE m.machine = e.name) AND NOT EXISTS (SELECT 1 FROM machines m WHERE m.host = e.name)),
	(SELECT COUNT(*) FROM machines m WHERE EXISTS (SELECT 1 FROM expected) AND NOT EXISTS (SELECT 1 FROM expected e WHERE e.name = m.machine) AND NOT EXISTS (SELECT 1 FROM expected e WHERE e.name = m.host)),
	(SELECT COUNT(*) FROM machines WHERE CASE WHEN seen > enrolled THEN seen ELSE enrolled END < ?)`), late)
	if err := row.Scan(&c.Enrolled, &c.Expected, &c.Missing, &c.Unlisted, &c.Silent); err != nil {
		return c, err
	}
	if c.Teams, err = s.Teams(ctx); err != nil {
		return c, err
	}
	c.Open, err = s.OpenFindings(ctx)
	return c, err
}

// Teams returns how many enrolled machines each team has.
func (s *Store) Teams(ctx context.Context) (map[string]int, error) {
	return s.countBy(ctx, `SELECT team, COUNT(*) FROM machines GROUP BY team`)
}

// OpenFindings returns how many findings of each kind are open.
func (s *Store) OpenFindings(ctx context.Context) (map[string]int, error) {
	return s.countBy(ctx, `SELECT kind, COUNT(*) FROM findings WHERE closed = 0 GROUP BY kind`)
}

func (s *Store) countBy(ctx context.Context, text string) (map[string]int, error) {
	out := map[string]int{}
	_, err := all(ctx, s, text, nil, func(rows *sql.Rows) (struct{}, error) {
		var name string
		var n int
		err := rows.Scan(&name, &n)
		out[name] = n
		return struct{}{}, err
	})
	return out, err
}

// Releases returns how many machines have which release.
func (s *Store) Releases(ctx context.Context) ([]Release, error) {
	return all(ctx, s, `SELECT bundle, trial, revision, COUNT(*), SUM(CASE WHEN code <> '' THEN 1 ELSE 0 END), MIN(activated), MAX(activated)
FROM releases GROUP BY bundle, trial, revision ORDER BY bundle, trial, COUNT(*) DESC, revision`, nil, func(rows *sql.Rows) (r Release, err error) {
		var first, latest int64
		err = rows.Scan(&r.Bundle, &r.Trial, &r.Revision, &r.Machines, &r.Failing, &first, &latest)
		r.First, r.Latest = fromMicros(first), fromMicros(latest)
		return r, err
	})
}

func orNotFound(err error) error {
	if err == nil || err == sql.ErrNoRows {
		return ErrNotFound
	}
	return err
}

// Key returns the key of a machine; [ErrUnknown] where it is not enrolled.
func (s *Store) Key(ctx context.Context, machine string) (key []byte, err error) {
	err = s.db.QueryRowContext(ctx, s.q(`SELECT key FROM machines WHERE machine = ?`), machine).Scan(&key)
	if err == sql.ErrNoRows {
		err = ErrUnknown
	}
	return key, err
}
