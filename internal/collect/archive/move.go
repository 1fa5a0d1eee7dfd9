package archive

import (
	"slices"
	"strings"
	"time"

	"gate/internal/collect/store"
)

// RowOf makes a row of a record as a machine sent it. Machine, team and the time it came
// are the collector's. nil is a document in the place of a record, which no day has.
func RowOf(machine, team string, received time.Time, body []byte) (*Row, error) {
	r, _, err := store.ReadRecord(body)
	if err != nil || r == nil {
		return nil, err
	}
	r.Machine, r.Team, r.Received = machine, team, received
	return rowOf(r), nil
}

// rowOf makes a row of a record that [store.ReadRecord] has read.
func rowOf(r *store.Record) *Row {
	row := &Row{
		Machine: r.Machine, Log: r.Log, Seq: r.Seq, Prev: r.Prev, Digest: r.Digest, Level: string(r.Level), At: r.At.Truncate(time.Microsecond), Received: r.Received.Truncate(time.Microsecond),
		Team: r.Team, Account: r.Account, Agent: r.Agent, Session: r.Session, Event: r.Event, Tool: r.Tool, Effect: r.Effect, Result: r.Result,
		Effects: strings.Join(r.Effects, " "), CallNS: r.CallNS, Body: r.Body,
	}
	var had, would []string
	for _, p := range r.Policies {
		if p.Effect != "" {
			had = append(had, p.ID)
		}
		if p.Would != "" {
			would = append(would, p.ID)
		}
	}
	row.Policies, row.Would = words(had), words(would)
	return row
}

// words joins ids, sorted and each once.
func words(list []string) string {
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}
