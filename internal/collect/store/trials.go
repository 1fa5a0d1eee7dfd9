package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/internal/fleet"
)

// sparedByTrial is what a record has where a policy is of a release on trial.
const sparedByTrial = "trial"

// How much of a trial is looked at and told.
const (
	mostObjected = 20_000 // the latest records with an objection
	mostWho      = 100
	mostKinds    = 5
	mostNearest  = 5
	mostLike     = 2_000 // records that are held beside a kind of call
	mostLikeDays = 7
)

// Trials returns what policies on trial would have stopped or changed in a time, most
// calls first. N is of the figures of whole days; the rest is found in the records that are kept.
func (s *Store) Trials(ctx context.Context, p Span) ([]Trial, error) {
	rows, err := s.Figures(ctx, Figures{Span: p, Day: true, By: []string{"policy", "would", "spared"}, Policy: "*", Would: "*"})
	if err != nil {
		return nil, err
	}
	objected, err := s.objected(ctx, p)
	if err != nil {
		return nil, err
	}
	var out []Trial
	for _, f := range rows {
		if f.Spared != sparedByTrial {
			continue
		}
		t := Trial{Policy: f.Policy, Would: f.Would, N: f.N}
		if err := s.trial(ctx, p, &t, objected[f.Would+"/"+sparedByTrial+"/"+f.Policy]); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b Trial) int { return cmp.Compare(b.N, a.N) })
	return out, nil
}

// objected are the latest records that a policy objected to without effect, by its words
// in the column would.
func (s *Store) objected(ctx context.Context, p Span) (map[string][]*Record, error) {
	from, to := p.days()
	type row struct {
		*Record
		would string
	}
	list, err := all(ctx, s, fmt.Sprintf(`SELECT day, machine, log, seq, at, team, agent, tool, effect, effects, would FROM records
WHERE would <> '' AND day >= ? AND day < ? AND at >= ? AND at < ? ORDER BY day DESC, at DESC LIMIT %d`, mostObjected), []any{from, to, micros(p.From), micros(p.Until)}, func(rows *sql.Rows) (row, error) {
		r := row{Record: &Record{}}
		var at int64
		var effects string
		err := rows.Scan(&r.Day, &r.Machine, &r.Log, &r.Seq, &at, &r.Team, &r.Agent, &r.Tool, &r.Effect, &effects, &r.would)
		r.At, r.Effects = fromMicros(at), strings.Fields(effects)
		return r, err
	})
	out := map[string][]*Record{}
	for _, r := range list {
		for name := range strings.FieldsSeq(r.would) {
			out[name] = append(out[name], r.Record)
		}
	}
	return out, err
}

// trial tells who would have been stopped, and at what.
func (s *Store) trial(ctx context.Context, p Span, t *Trial, list []*Record) error {
	who := map[string]*TrialWho{}
	kinds := map[string]*TrialCall{}
	for _, r := range list {
		w := who[r.Machine]
		if w == nil {
			w = &TrialWho{Machine: r.Machine, Team: r.Team}
			who[r.Machine] = w
		}
		w.N++
		k := kinds[r.kind()]
		if k == nil { // the latest comes first
			k = &TrialCall{Near: nearOf(r)}
			kinds[r.kind()] = k
		}
		k.N++
	}
	t.Machines = len(who)
	for _, w := range who {
		t.Who = append(t.Who, *w)
	}
	slices.SortFunc(t.Who, func(a, b TrialWho) int { return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Machine, b.Machine)) })
	t.Who = t.Who[:min(len(t.Who), mostWho)]
	for i := range t.Who {
		m, err := s.Machine(ctx, t.Who[i].Machine)
		if err != nil && err != ErrNotFound {
			return err
		}
		t.Who[i].Host = m.Host
	}
	for _, k := range kinds {
		t.Calls = append(t.Calls, *k)
	}
	slices.SortFunc(t.Calls, func(a, b TrialCall) int {
		return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Near.Tool, b.Near.Tool), slices.Compare(a.Near.Effects, b.Near.Effects))
	})
	t.Calls = t.Calls[:min(len(t.Calls), mostKinds)]
	for i := range t.Calls {
		c := &t.Calls[i]
		var err error
		if c.Nearest, err = s.nearest(ctx, p, &c.Near, t.Policy); err != nil {
			return err
		}
		for _, near := range append([]*Near{&c.Near}, pointers(c.Nearest)...) {
			if near.Text, err = s.callText(ctx, near); err != nil {
				return err
			}
		}
	}
	return nil
}

func pointers(list []Near) []*Near {
	out := make([]*Near, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// kind is what makes two calls alike.
func (r *Record) kind() string { return r.Tool + " " + strings.Join(r.Effects, " ") }

func nearOf(r *Record) Near {
	return Near{Day: r.Day, Machine: r.Machine, Log: r.Log, Seq: r.Seq, At: r.At, Agent: r.Agent, Tool: r.Tool, Effect: r.Effect, Effects: r.Effects}
}

// nearest returns the calls most like one that a policy would have stopped, among those
// that it had no objection to: those that share most effects, of the same tool first, one
// of each kind.
func (s *Store) nearest(ctx context.Context, p Span, to *Near, policy string) ([]Near, error) {
	type scored struct {
		Near
		score float64
	}
	best := map[string]scored{}
	first, day := dayOf(p.From), to.Day
	for range mostLikeDays {
		for _, sameTool := range []bool{true, false} {
			w := new(where).add("day = ?", day).add("event = 'PreToolUse'")
			if sameTool {
				w.add("tool = ?", to.Tool)
			} else {
				w.add("tool <> ?", to.Tool)
			}
			list, err := all(ctx, s, fmt.Sprintf(`SELECT day, machine, log, seq, at, agent, tool, effect, effects, would FROM records%s LIMIT %d`, w.text(), mostLike), w.args, func(rows *sql.Rows) (n Near, err error) {
				var at int64
				var effects, would string
				err = rows.Scan(&n.Day, &n.Machine, &n.Log, &n.Seq, &at, &n.Agent, &n.Tool, &n.Effect, &effects, &would)
				n.At, n.Effects = fromMicros(at), strings.Fields(effects)
				if slices.ContainsFunc(strings.Fields(would), func(s string) bool { return strings.HasSuffix(s, "/"+policy) }) {
					n.Tool = "" // it would have been stopped, too
				}
				return n, err
			})
			if err != nil {
				return nil, err
			}
			for _, n := range list {
				if n.Tool == "" {
					continue
				}
				score := 0.0
				n.Shared, score = shared(to.Effects, n.Effects)
				if n.Tool == to.Tool {
					score += 0.25
				}
				if score <= 0 {
					continue
				}
				kind := n.Tool + " " + n.Effect + " " + strings.Join(n.Effects, " ")
				if old, known := best[kind]; !known || n.At.After(old.At) {
					best[kind] = scored{n, score}
				}
			}
		}
		if day == OddDay || len(best) >= mostNearest {
			break
		}
		if day = dayOf(dayTime(day).Add(-24 * time.Hour)); day < first {
			break
		}
	}
	var list []scored
	for _, n := range best {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.At.Compare(a.At), strings.Compare(a.Machine, b.Machine), cmp.Compare(a.Seq, b.Seq))
	})
	out := []Near{}
	for _, n := range list[:min(len(list), mostNearest)] {
		out = append(out, n.Near)
	}
	return out, nil
}

// shared returns what two sets of words have in common, and its part of all of them.
func shared(a, b []string) (both []string, part float64) {
	for _, s := range a {
		if slices.Contains(b, s) {
			both = append(both, s)
		}
	}
	if n := len(a) + len(b) - len(both); n > 0 {
		part = float64(len(both)) / float64(n)
	}
	return both, part
}

// callText is what was asked for, in one line; "" where the record has no text.
func (s *Store) callText(ctx context.Context, n *Near) (string, error) {
	var body []byte
	err := s.db.QueryRowContext(ctx, s.q(`SELECT body FROM records WHERE day = ? AND machine = ? AND log = ? AND seq = ? AND level = ?`), n.Day, n.Machine, n.Log, n.Seq, string(fleet.Text)).Scan(&body)
	if err == sql.ErrNoRows {
		return "", nil
	}
	if err == nil {
		body, err = unpack(body)
	}
	if err != nil {
		return "", err
	}
	sent, err := fleet.ParseSent(body)
	return sent.Record.Call, err
}
