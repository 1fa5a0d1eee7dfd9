// Package seen keeps what an agent was shown, so that a later call which holds some of it
// is known to: values of secrets that stood in the output of a tool, and hosts, addresses,
// packages and command lines that only untrusted text brought.
//
// It keeps no text of a value, but keyed digests. The later call is decoded and looked up,
// not the value encoded. It decides nothing, and what a file keeps may only tighten.
//
// Start with a [Seen]: [Seen.Keep] after a call, [Seen.Find] before one.
package seen

import (
	"context"
	"slices"
	"time"

	"gate/hook"
	"gate/internal/session"
)

// A Store is the directory of the files, one a session, and of the keys.
type Store struct {
	Dir string // absolute and below the state directory; it is made when something is written

	// Texts keep the files in this process, and nothing in Dir; nil: they do not.
	Texts *session.Texts
}

// Of is what is kept of one session.
func (s Store) Of(k session.Key) *Seen { return &Seen{Store: s, Session: k} }

// A Seen is what one session was shown. Its zero value cannot be used: see [Store.Of].
type Seen struct {
	Store   Store
	Session session.Key

	// Trusts reports an MCP server whose results count as the person's own text. Nil:
	// there is none.
	Trusts func(server string) bool

	// Rows reports a file that holds rows about people by what a call before put there,
	// packed or not. Nil: nobody knows of any.
	Rows func(file string) bool

	opened *content // see [Seen.open]
}

// The two origins of what a session was shown.
const (
	Secret    = "secret"
	Untrusted = "untrusted"
)

const (
	// Unasked is a package of which neither a prompt, nor the address of a page that the
	// agent chose, nor an earlier install has the name or its words.
	Unasked = "unasked package"
	// Lookalike is an [Unasked] package whose name is made to look like that of another one.
	Lookalike = "look-alike package"
	// Recommended is an [Unasked] package that people named in an issue, a comment or a mail.
	Recommended = "recommended package"
	// AskedHost is a host that no prompt names, but its site.
	AskedHost = "asked host"
	// Recipient is an address of mail or a number to which a tool sends, and that stood in
	// the text of others alone.
	Recipient = "recipient"
	// Filled is an address whose query the agent filled with text.
	Filled = "filled address"
	// Instruction is a name that a text which speaks to agents has.
	Instruction = "instruction"
)

// The two ways in which gate knows of an origin.
const (
	// Known: the call holds the value.
	Known = "seen"
	// Sequence: something was seen before, and nobody knows whether the call holds it.
	Sequence = "sequence"
)

// A Hit is something in a call that its session was shown before.
type Hit struct {
	Origin string // Secret or Untrusted
	What   string // the kind of secret, as facts have it; host, address, e-mail, number, package, command, or one of the constants; see [Hit.Text]
	Via    string // of Untrusted: the kind of text that brought it, such as "web page"
	Host   string // of a host, an address and an e-mail: the host, as the call names it
	Text   string // of Untrusted: what the call has; "" for a secret
	Call   string // the tool_use_id of the call whose output showed it first, "" where the agent gave none
	Time   time.Time
	How    string // Known or Sequence
	Lost   bool   // of Sequence: gate failed while the session was shown it, or its file is damaged
}

// Find returns what the session was shown before of what an event's call holds, in its
// input and, where they are worked out, in its facts. It costs one system call where
// nothing is kept. A file that cannot be read as a whole adds hits of the way Sequence.
func (s *Seen) Find(ev *hook.Event) []Hit {
	journal := s.journal()
	if ev.Tool() == "" || !journal.Exists() {
		return nil
	}
	s.opened = nil
	kept, err := s.open()
	if err != nil {
		return lost()
	}
	if n := len(kept.records); n > 0 && ev.Gate.Now.Sub(kept.records[n-1].at) > session.Renewal {
		journal.Renew(ev.Gate.Now)
	}
	var hits []Hit
	if kept.damaged || kept.lost {
		hits = lost()
	} else if kept.more {
		hits = unsure(Untrusted)
	}
	for _, h := range kept.secrets(ev) {
		if h.What != People && h.What != ofSessions || !ofDatabase(ev.Tool(), ev.Facts) { // these may go back to where they are
			if h.What == People && h.Text == registered && ofRegister(ev.Tool()) {
				continue
			}
			if h.What == People {
				h.Text = ""
			}
			hits = append(hits, h)
		}
	}
	return append(hits, kept.tokens(ev)...)
}

// Holds is the kind of the first secret in a text that the session was shown, "" for none.
// The text is decoded as a call is.
func (s *Seen) Holds(text string) (what string) {
	kept, err := s.open()
	if err != nil || kept.key == nil {
		return ""
	}
	for _, h := range kept.secretsIn(func(f func(string)) { f(text) }) {
		if h.How == Known && h.What != People {
			return h.What
		}
	}
	return ""
}

// Has is [Seen.Holds] of a text that is gone through as it is, which is cheap for a long one.
func (s *Seen) Has(text string) (what string) {
	kept, err := s.open()
	if err != nil || kept.key == nil {
		return ""
	}
	f := kept.finder()
	if f == nil {
		return ""
	}
	f.text(text)
	if f.severalPeople(); len(f.found) == 0 {
		return ""
	}
	return f.found[0].secret.what
}

// Names are the hits among the hosts that a text names, which is one that a call reads to
// know where to fetch from.
func (s *Seen) Names(text string) (hits []Hit) {
	kept, err := s.open()
	if err != nil || !kept.untrusted() {
		return nil
	}
	l := lexer{kept: true}
	l.around(text, "://")
	for _, h := range kept.brought(&l) {
		if h.Host != "" {
			hits = append(hits, h)
		}
	}
	return hits
}

// Untrusted reports that untrusted text named anything in this session.
func (s *Seen) Untrusted() bool {
	kept, err := s.open()
	return err == nil && kept.untrusted()
}

// unsure are the hits of what nobody knows any more.
func unsure(origins ...string) (hits []Hit) {
	for _, o := range origins {
		hits = append(hits, Hit{Origin: o, What: "something that this session was shown", How: Sequence})
	}
	return hits
}

// lost are the hits where a secret may be among what nobody knows.
func lost() []Hit {
	hits := unsure(Secret, Untrusted)
	for i := range hits {
		hits[i].Lost = true
	}
	return hits
}

// Lose notes that an event showed something of which nothing could be kept: it was not
// judged to its end. From then on any call of the session may hold it. An event that shows
// nothing leaves no note, nor one without a session's name, as that file belongs to many.
func (s *Seen) Lose(ctx context.Context, ev *hook.Event) error {
	if name := ev.Name.Canonical(); name != hook.PostToolUse && name != hook.PostToolUseFailure || s.Session.Session == "" {
		return nil
	}
	s.opened = nil
	return s.add(ctx, &note{at: ev.Gate.Now, call: ev.Text("tool_use_id"), lost: true})
}

// Keep notes what an event shows: the output of a tool, or the hosts of a prompt, which
// never count as brought by others, and that a call copies a secret into the clipboard. facts are those of the call, and may be nil. Where
// nothing is new, nothing is written. secret reports an output that shows one. An error means
// that nothing was noted.
func (s *Seen) Keep(ctx context.Context, ev *hook.Event, facts *hook.Facts) (secret bool, err error) {
	s.opened = nil
	var notes []note
	switch ev.Name.Canonical() {
	case hook.UserPromptSubmit:
		notes = []note{person(ev)}
	case hook.PreToolUse: // of a copy nothing is printed, and agents may tell of no end
		if copiesSecret(facts) {
			notes = []note{{source: sourcePerson, tokens: []token{{kindWord, clipped + Clipboard}}}}
		}
	case hook.PostToolUse, hook.PostToolUseFailure:
		notes = s.shown(ev, facts)
	}
	for i := range notes {
		n := &notes[i]
		if n.empty() {
			continue
		}
		n.at, n.call = ev.Gate.Now, ev.Text("tool_use_id")
		if err := s.add(ctx, n); err != nil {
			return secret, err
		}
		secret = secret || slices.ContainsFunc(n.values, func(v value) bool { return !ofPeople(v.what) })
	}
	return secret, nil
}

// Broken finds the files that cannot be read as a whole, and why.
func (s Store) Broken() map[string]error { return s.broken() }
