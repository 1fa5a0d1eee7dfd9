package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gate/internal/fleet"
)

// Why a machine is not enrolled.
var (
	ErrToken    = errors.New("the token is unknown, was used, has ended, or is for another machine")
	ErrOtherKey = errors.New("the machine is enrolled with another key: an administrator must forget it first")
)

// NewToken makes a token, and returns its text, which is kept nowhere. ID and Made are
// made; Expires is required.
func (s *Store) NewToken(ctx context.Context, t Token) (text string, made Token, err error) {
	t.ID, t.Made = strings.ToLower(rand.Text()[:8]), s.now().UTC()
	if !t.Expires.After(t.Made) {
		return "", t, errors.New("a token ends in the future")
	}
	if t.Machine != "" && !fleet.IsMachine(t.Machine) {
		return "", t, errors.New("a machine is named by 32 hexadecimal digits, as gate status says it")
	}
	labels, err := json.Marshal(t.Labels)
	if err != nil {
		return "", t, err
	}
	text = "gate-enrol-" + rand.Text()
	sum := sha256.Sum256([]byte(text))
	return text, t, s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, s.q(`INSERT INTO tokens (id, digest, machine, host, labels, team, made, made_by, expires) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`),
			t.ID, sum[:], t.Machine, clip(t.Host), string(labels), clip(t.Team), micros(t.Made), clip(t.MadeBy), micros(t.Expires))
		return err
	})
}

// Tokens returns them, the latest first; those that were used or have ended for longer
// than a year are not kept.
func (s *Store) Tokens(ctx context.Context) ([]Token, error) {
	return all(ctx, s, `SELECT `+tokenColumns+` FROM tokens ORDER BY made DESC, id LIMIT 10000`, nil, readToken)
}

const tokenColumns = `id, machine, host, labels, team, made, made_by, expires, used, used_by, revoked`

func readToken(rows *sql.Rows) (t Token, err error) {
	var labels string
	var made, expires, used, revoked int64
	err = rows.Scan(&t.ID, &t.Machine, &t.Host, &labels, &t.Team, &made, &t.MadeBy, &expires, &used, &t.UsedBy, &revoked)
	t.Made, t.Expires, t.Used, t.Revoked = fromMicros(made), fromMicros(expires), fromMicros(used), fromMicros(revoked)
	json.Unmarshal([]byte(labels), &t.Labels) // ours
	return t, err
}

// RevokeToken has a token let nobody in any more; [ErrNotFound] where there is none that
// would.
func (s *Store) RevokeToken(ctx context.Context, id string) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		n, err := affected(tx.ExecContext(ctx, s.q(`UPDATE tokens SET revoked = ? WHERE id = ? AND used = 0 AND revoked = 0`), micros(s.now()), id))
		if err == nil && n == 0 {
			err = ErrNotFound
		}
		return err
	})
}

// Enrol lets a machine in. One that is in already with the same key needs no token that
// is still good: the answer to it may have been lost.
func (s *Store) Enrol(ctx context.Context, e fleet.Enrollment) error {
	key, err := fleet.ParseKey(e.Key)
	if err != nil {
		return err
	}
	return s.writer.do(ctx, &job{machine: e.Machine, rows: 1, run: func(ctx context.Context, t *txn) error { return t.enrol(ctx, e, key) }})
}

func (t *txn) enrol(ctx context.Context, e fleet.Enrollment, key []byte) error {
	sum := sha256.Sum256([]byte(e.Token))
	list, err := allOf(ctx, t.tx, t.s.q(`SELECT `+tokenColumns+` FROM tokens WHERE digest = ?`+t.s.sql.locked()), []any{sum[:]}, readToken)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return ErrToken
	}
	token := list[0]
	var old []byte
	err = t.tx.QueryRowContext(ctx, t.s.q(`SELECT key FROM machines WHERE machine = ?`), e.Machine).Scan(&old)
	switch {
	case err == nil && string(old) == string(key) && token.UsedBy == e.Machine:
		return nil // again
	case err != nil && err != sql.ErrNoRows:
		return err
	case !token.fits(e, t.now):
		return ErrToken
	case err == nil && string(old) != string(key):
		return ErrOtherKey
	}
	labels, err := json.Marshal(e.Labels)
	if err != nil {
		return err
	}
	var team string
	err = t.tx.QueryRowContext(ctx, t.s.q(`SELECT team FROM expected WHERE name = ? OR name = ? ORDER BY CASE WHEN name = ? THEN 0 ELSE 1 END LIMIT 1`), e.Machine, clip(e.Host), e.Machine).Scan(&team)
	if err != nil && err != sql.ErrNoRows {
		return err
	}
	if err := t.exec(ctx, `INSERT INTO machines (machine, key, host, labels, team, enrolled, seen) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (machine) DO UPDATE SET host = excluded.host, labels = excluded.labels, team = excluded.team, seen = excluded.seen`,
		e.Machine, key, clip(e.Host), string(labels), cmp.Or(team, token.Team), micros(t.now), micros(t.now)); err != nil {
		return err
	}
	if err := t.exec(ctx, `UPDATE tokens SET used = ?, used_by = ? WHERE id = ?`, micros(t.now), e.Machine, token.ID); err != nil {
		return err
	}
	return errors.Join(t.closeOne(ctx, "", Unknown, e.Machine), t.closeOne(ctx, "", NotEnrolled, e.Machine), t.closeOne(ctx, "", NotEnrolled, e.Host))
}

// fits reports that a token lets a machine in.
func (t Token) fits(e fleet.Enrollment, now time.Time) bool {
	if !t.Used.IsZero() || !t.Revoked.IsZero() || !now.Before(t.Expires) || t.Machine != "" && t.Machine != e.Machine || t.Host != "" && t.Host != e.Host {
		return false
	}
	for name, value := range t.Labels {
		if e.Labels[name] != value {
			return false
		}
	}
	return true
}

// An Expected is a line of the list of machines that there should be.
type Expected struct {
	Name string // the machine's, or that of its host
	Team string
}

// SetExpected puts a list in the place of the one before. Teams of machines that stand
// on it follow it; records that came before keep the team that they came with.
func (s *Store) SetExpected(ctx context.Context, list []Expected) error {
	byName := map[string]string{}
	for _, e := range list {
		if e.Name == "" || len(e.Name) > maxWord {
			return fmt.Errorf("a machine or a host has a name of at most %d bytes", maxWord)
		}
		if team, twice := byName[e.Name]; twice && team != e.Team {
			return fmt.Errorf("%s stands on the list twice, with the teams %q and %q", e.Name, team, e.Team)
		}
		byName[e.Name] = e.Team
	}
	err := s.write(ctx, func(tx *sql.Tx) error {
		t := &txn{s: s, tx: tx, now: s.now().UTC()}
		if err := t.exec(ctx, `DELETE FROM expected`); err != nil {
			return err
		}
		var rows [][]any
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			rows = append(rows, []any{clip(name), clip(byName[name]), micros(t.now)})
		}
		if err := t.insert(ctx, "expected", []string{"name", "team", "since"}, rows, ""); err != nil {
			return err
		}
		return t.exec(ctx, `UPDATE machines SET team = COALESCE((SELECT e.team FROM expected e WHERE e.name = machines.machine), (SELECT e.team FROM expected e WHERE e.name = machines.host), team)`)
	})
	if err != nil {
		return err
	}
	return s.Check(ctx)
}

// ExpectedList returns the list.
func (s *Store) ExpectedList(ctx context.Context) ([]Expected, error) {
	return all(ctx, s, `SELECT name, team FROM expected ORDER BY name`, nil, func(rows *sql.Rows) (e Expected, err error) { return e, rows.Scan(&e.Name, &e.Team) })
}
