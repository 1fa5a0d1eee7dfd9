package commands

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/hook"
	"gate/internal/audit"
)

// A logFilter says which decisions somebody is interested in. An empty field
// takes all of them.
type logFilter struct {
	since    string
	effects  []string
	policies []string
	tools    []string
	session  string
	cwd      string
	reviews  []string // what a person said of it

	from  time.Time              // since, as a time
	calls func(*audit.Call) bool // further says which calls; nil: all
}

func (f *logFilter) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.since, "since", "", "not older than this: 90m, 2h, 3d, yesterday, today, or a time such as 2026-11-21 or 2026-11-21T15:00")
	cmd.Flags().StringSliceVar(&f.effects, "effect", nil, "pass, allow, ask, deny; several with commas")
	oneOf(cmd, "effect", "pass", "allow", "ask", "deny")
	cmd.Flags().StringSliceVar(&f.policies, "policy", nil, "a policy or group that objected, would have objected, changed the call or failed, such as gate.git")
	cmd.Flags().StringSliceVar(&f.tools, "tool", nil, "a tool's name; mcp__* for all that begin so")
	cmd.Flags().StringSliceVar(&f.reviews, "reviewed", nil, "what a person said of it with gate log review: false_alarm, missed; several with commas")
	oneOf(cmd, "reviewed", string(audit.FalseAlarm), string(audit.Missed))
	cmd.Flags().StringVar(&f.session, "session", "", "the session, or how its name begins")
	cmd.Flags().StringVar(&f.cwd, "cwd", "", "calls made in this directory `DIR` or below it")
}

// compile returns the filter as a function.
func (f *logFilter) compile(now time.Time) (func(*audit.Record) bool, error) {
	var err error
	if f.from, err = sinceTime(f.since, now); err != nil {
		return nil, err
	}
	return func(r *audit.Record) bool {
		return !r.Time.Before(f.from) &&
			(len(f.effects) == 0 || slices.Contains(f.effects, r.Effect.String())) &&
			(len(f.tools) == 0 || slices.ContainsFunc(f.tools, func(t string) bool { return named(t, r.Tool) })) &&
			(len(f.policies) == 0 || slices.ContainsFunc(f.policies, func(id string) bool { return tookPart(r, id) })) &&
			strings.HasPrefix(r.Session, f.session) && below(f.cwd, r.Dir)
	}, nil
}

// saidOf reports whether a person said of a decision what is wanted; nil: nobody said
// anything.
func (f *logFilter) saidOf(v *audit.Review) bool {
	return len(f.reviews) == 0 || v != nil && slices.Contains(f.reviews, string(v.Says))
}

// tooOld reports that neither this record nor older ones are wanted. Processes
// that write at the same time may change places.
func (f *logFilter) tooOld(r *audit.Record) bool { return r.Time.Before(f.from.Add(-time.Minute)) }

// sinceTime reads a time, or how long ago it was.
func sinceTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	switch midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location()); text {
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usageError("--since " + quoted(text) + ": want how long ago, such as 90m, 2h, 3d or yesterday, or a time such as 2026-11-21")
}

// named reports whether a name is the one wanted, or begins as the pattern does.
func named(pattern, name string) bool {
	if begin, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, begin)
	}
	return pattern == name
}

// below reports whether dir is at or below outer.
func below(outer, dir string) bool {
	outer = strings.TrimRight(outer, "/")
	return outer == "" || dir == outer || strings.HasPrefix(dir, outer+"/")
}

// tookPart reports whether a policy, or one of a group, had something to say.
func tookPart(r *audit.Record, id string) bool {
	of := func(policy string) bool { return policy == id || strings.HasPrefix(policy, id+".") }
	reasons := func(list []audit.Reason) bool {
		return slices.ContainsFunc(list, func(why audit.Reason) bool { return of(why.ID) })
	}
	return reasons(r.Reasons) || reasons(r.Warned) || slices.ContainsFunc(r.Changed, of) ||
		slices.ContainsFunc(r.Policies, func(p audit.Policy) bool { return (p.Effect != hook.Pass || p.Would != nil) && of(p.ID) }) ||
		slices.ContainsFunc(r.Faults, func(f string) bool {
			policy, _, _ := strings.Cut(f, ": ")
			return of(policy)
		})
}
