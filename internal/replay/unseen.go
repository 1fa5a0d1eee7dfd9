package replay

import (
	"cmp"
	"time"
)

// logged compares transcripts with decision logs: which uses of tools the agent made
// that no hook asked about. The zero logged has seen neither.
type logged struct {
	records     map[string]struct{}  // uses of tools with a record
	sessions    map[string]time.Time // the first record of each session
	uses        []use                // of transcripts, in order
	first, last time.Time            // of all records
}

// A use is one use of a tool in a transcript.
type use struct {
	id, session string
	time        time.Time
	loss        Loss
}

func (l *logged) add(c *Call) {
	id, session, at := c.Event.Text("tool_use_id"), c.Event.SessionID(), c.Event.Gate.Now
	switch {
	case c.Kind == Decision && !at.IsZero() && len(l.records) < maxSeen:
		if l.records == nil {
			l.records, l.sessions = map[string]struct{}{}, map[string]time.Time{}
			l.first, l.last = at, at
		}
		if at.Before(l.first) {
			l.first = at
		}
		if at.After(l.last) {
			l.last = at
		}
		if begun, known := l.sessions[session]; !known || at.Before(begun) {
			l.sessions[session] = at
		}
		l.records[id] = struct{}{}
	case c.Kind == Transcript && id != "" && len(l.uses) < maxSeen:
		l.uses = append(l.uses, use{id, session, at, Loss{c.At, id, tool(c), summary(c), "no log that was read has a record of it"}})
	}
}

// unseen are the uses without a record. Those before the first record may be older than
// gate or than the log, and those after the last one later than the log that was read,
// unless the log knows their session.
func (l *logged) unseen() []Loss {
	var out []Loss
	told := map[string]bool{}
	for _, u := range l.uses {
		begun, known := l.sessions[u.session]
		if !known {
			begun = l.first
		}
		_, recorded := l.records[u.id]
		if recorded || told[u.id] || len(l.records) == 0 || u.time.Before(cmp.Or(begun, l.first)) || !known && u.time.After(l.last) {
			continue
		}
		told[u.id] = true
		out = append(out, u.loss)
	}
	return out
}
