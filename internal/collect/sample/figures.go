package sample

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
)

// A call is a row of calls_hour, or of calls_day with the first hour of the day.
type call struct {
	hour                                             int64
	policy, team, agent, tool, effect, would, spared string
}

type tally struct{ n, approved int64 }

const dayHours = 24

func hourOf(at time.Time) int64 { return at.Unix() / 3600 }

func dayOf(hour int64) string { return time.Unix(hour*3600, 0).UTC().Format(time.DateOnly) }

// calls writes calls_hour, calls_day and machines_hour.
func (f *filler) calls(ctx context.Context) error {
	days := map[call]tally{}
	var day int64
	columns := []string{"policy", "team", "agent", "tool", "effect", "would", "spared", "n", "approved"}
	flush := func() error {
		var rows [][]any
		for k, n := range days {
			rows = append(rows, []any{dayOf(k.hour), k.policy, k.team, k.agent, k.tool, k.effect, k.would, k.spared, n.n, n.approved})
		}
		clear(days)
		return f.to.put(ctx, "calls_day", append([]string{"day"}, columns...), rows)
	}
	err := f.hours(func(at time.Time, part float64) error {
		hour := hourOf(at)
		if first := hour - hour%dayHours; first != day {
			if err := flush(); err != nil {
				return err
			}
			day = first
		}
		hourly := f.hour(hour, part*float64(f.Calls))
		var rows [][]any
		for k, n := range hourly {
			rows = append(rows, []any{k.hour, k.policy, k.team, k.agent, k.tool, k.effect, k.would, k.spared, n.n, n.approved})
			k.hour = day
			d := days[k]
			days[k] = tally{d.n + n.n, d.approved + n.approved}
		}
		slices.SortFunc(rows, func(a, b []any) int { return cmp.Compare(a[1].(string), b[1].(string)) })
		if err := f.to.put(ctx, "calls_hour", append([]string{"hour"}, columns...), rows); err != nil {
			return err
		}
		return f.machineHour(ctx, hour, part)
	})
	if err != nil {
		return err
	}
	return flush()
}

// hour are the calls of an hour.
func (f *filler) hour(hour int64, calls float64) map[call]tally {
	out := map[call]tally{}
	add := func(k call, n tally) {
		if n.n > 0 {
			old := out[k]
			out[k] = tally{old.n + n.n, old.approved + n.approved}
		}
	}
	for _, team := range teams(f.Teams) {
		for _, agent := range agents {
			mine := calls * team.part * agent.part
			for _, tool := range tools(f.Tools) {
				add(call{hour: hour, team: team.name, agent: agent.name, tool: tool.name, effect: "pass"}, tally{n: f.about(mine * tool.part * 0.97)})
				if tool.name == "Bash" {
					add(call{hour: hour, team: team.name, agent: agent.name, tool: tool.name, effect: "change"}, tally{n: f.about(mine * 0.004)})
				}
			}
			for _, r := range rules {
				n := f.about(mine * r.often / 1000)
				t := tally{n, f.part(n, r.yes)}
				add(call{hour: hour, policy: r.policy, team: team.name, agent: agent.name, tool: r.tool, effect: r.effect}, t)
				add(call{hour: hour, team: team.name, agent: agent.name, tool: r.tool, effect: r.effect}, t)
			}
			for _, r := range trials {
				add(call{hour: hour, policy: r.policy, team: team.name, agent: agent.name, tool: r.tool, effect: "pass", would: r.effect, spared: "trial"}, tally{n: f.about(mine * r.often / 1000)})
			}
		}
	}
	if f.Odd != "" {
		add(call{hour: hour, policy: f.Odd, team: f.Odd, agent: f.Odd, tool: f.Odd, effect: "ask"}, tally{3, 3})
		add(call{hour: hour, team: f.Odd, agent: f.Odd, tool: f.Odd, effect: "ask"}, tally{3, 3})
		add(call{hour: hour, policy: f.Odd, team: f.Odd, agent: f.Odd, tool: f.Odd, effect: "pass", would: "deny", spared: "trial"}, tally{n: 1})
	}
	return out
}

// machineHour are the calls of an hour by machine.
func (f *filler) machineHour(ctx context.Context, hour int64, part float64) error {
	var rows [][]any
	for m := range f.Machines {
		calls := f.about(part * float64(f.Calls) / float64(f.Machines))
		if calls == 0 {
			continue
		}
		faults := int64(0)
		if m%97 == 0 {
			faults = f.about(float64(calls) * 0.02)
		}
		rows = append(rows, []any{name(m), hour, calls, f.about(float64(calls) * 0.025), f.about(float64(calls) * 0.003), faults})
	}
	return f.to.put(ctx, "machines_hour", []string{"machine", "hour", "calls", "asked", "denied", "faults"}, rows)
}

// latencies writes how long decisions and calls took: two thirds of them around a
// middle, and a long tail.
func (f *filler) latencies(ctx context.Context) error {
	return f.hours(func(at time.Time, part float64) error {
		var rows [][]any
		for _, kind := range []struct {
			name   string
			middle float64
		}{{"decision", 55}, {"call", 78}} {
			for _, team := range teams(f.Teams) {
				calls := part * float64(f.Calls) * team.part
				buckets := map[int64]int64{}
				for range 60 {
					b := kind.middle + 5*f.any.NormFloat64()
					if f.any.Float64() < 0.05 {
						b += 15 * f.any.ExpFloat64()
					}
					buckets[int64(max(b, 0))] += f.about(calls / 60)
				}
				for b, n := range buckets {
					if n > 0 {
						rows = append(rows, []any{hourOf(at), team.name, kind.name, b, n})
					}
				}
			}
		}
		return f.to.put(ctx, "latency_hour", []string{"hour", "team", "kind", "bucket", "n"}, rows)
	})
}

// asked writes what policies ask about, by day.
func (f *filler) asked(ctx context.Context) error {
	type key struct{ day, policy, tool, effects string }
	all := map[key]tally{}
	err := f.hours(func(at time.Time, part float64) error {
		for _, r := range rules {
			if r.effect != "ask" {
				continue
			}
			for i, effects := range []string{r.effects, "fs.read " + r.effects, r.effects + " process"} {
				n := f.about(part * float64(f.Calls) * r.often / 1000 / float64(int(2)<<i))
				k := key{dayOf(hourOf(at)), r.policy, r.tool, effects}
				old := all[k]
				all[k] = tally{old.n + n, old.approved + f.part(n, min(1, r.yes+float64(i)*0.02))}
			}
		}
		if f.Odd != "" {
			k := key{dayOf(hourOf(at)), f.Odd, f.Odd, "net.send"}
			all[k] = tally{all[k].n + 3, all[k].approved + 3}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var rows [][]any
	for _, k := range slices.SortedFunc(maps.Keys(all), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.policy, b.policy), cmp.Compare(a.tool, b.tool), cmp.Compare(a.effects, b.effects))
	}) {
		if n := all[k]; n.n > 0 {
			rows = append(rows, []any{k.day, k.policy, k.tool, k.effects, n.n, min(n.n, n.approved)})
		}
	}
	return f.to.put(ctx, "asked_day", []string{"day", "policy", "tool", "effects", "asked", "approved"}, rows)
}
