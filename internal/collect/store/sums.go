package store

import (
	"slices"
)

// sum stands for all teams, or for all policies together, in sums_day and latency_day,
// which have the questions that pages ask most answered by day: without agents, tools and
// hours. It is what a question has for all of them.
const sum = "*"

// plainName is the name of a team or a policy in a table that has sums.
func plainName(name string) string {
	if name == sum {
		return "(*)"
	}
	return name
}

// A sumKey is a row of sums_day.
type sumKey struct{ day, policy, team, effect, would, spare string }

// sums are the rows of sums_day that calls of a day add to: those of the team and of all
// teams, those of the policy and of all policies.
func sums(byDay map[callKey]tally) [][]any {
	all := map[sumKey]tally{}
	for k, n := range byDay {
		policies := []string{plainName(k.policy)}
		if k.policy != "" {
			policies = append(policies, sum)
		}
		for _, policy := range policies {
			for _, team := range []string{plainName(k.team), sum} {
				key := sumKey{dayOf(hourTime(k.hour)), policy, team, k.effect, k.would, k.spare}
				all[key] = tally{all[key].n + n.n, all[key].approved + n.approved}
			}
		}
	}
	var rows [][]any
	for k, n := range all {
		rows = append(rows, []any{k.team, k.policy, k.day, k.effect, k.would, k.spare, n.n, n.approved})
	}
	return rows
}

// latencyDays are the rows of latency_day that durations by hour add to. A day is its
// first hour.
func latencyDays(byHour map[latencyKey]int64) [][]any {
	all := map[latencyKey]int64{}
	for k, n := range byHour {
		k.hour -= k.hour % 24
		k.team = plainName(k.team)
		all[k] += n
		k.team = sum
		all[k] += n
	}
	var rows [][]any
	for k, n := range all {
		rows = append(rows, []any{k.kind, k.team, k.hour, k.bucket, n})
	}
	return rows
}

// ofSums reports that sums_day has the answer to a question, and limits it to the rows
// that do.
func (q *Figures) ofSums(w *where) bool {
	if !q.Day || q.Tool != "" || slices.Contains(q.By, "agent") || slices.Contains(q.By, "tool") {
		return false
	}
	switch {
	case q.Policy != sum:
		w.add("policy = ?", plainName(q.Policy))
	case slices.Contains(q.By, "policy"):
		w.add("policy <> '' AND policy <> ?", sum)
	default:
		w.add("policy = ?", sum)
	}
	switch {
	case q.Team != "" && q.Team != sum:
		w.add("team = ?", plainName(q.Team))
	case slices.Contains(q.By, "team"):
		w.add("team <> ?", sum)
	default:
		w.add("team = ?", sum)
	}
	return true
}
