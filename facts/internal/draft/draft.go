// Package draft holds the facts of one event while they are worked out, and the words
// in which the rooms below facts speak: where a command runs, an invocation, a target,
// an access to a path. It writes down and classifies; it reads no line and knows no
// program. A [Draft] literal with World and Facts comes first.
package draft

import (
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/origin"
)

// A Draft holds the facts of one event while they are worked out, and what the
// event's line has changed up to here: files, links, names of programs. World and
// Facts must be set; without an Event nothing is known of the calls before it. It is not safe for concurrent use.
type Draft struct {
	World      world.World
	Event      *hook.Event
	Facts      *hook.Facts
	Via        []string                     // wrappers around what runs now
	Depth      int                          // shells inside shells
	Temps      int                          // names that mktemp made up so far
	Files      map[string]flow.Stream       // written in this line
	Below      map[string]flow.Taint        // directories of which the line wrote files that nobody can name, and what these hold
	Parts      map[string]flow.Taint        // what the line did to parts of files and directories, by their paths
	Pieces     map[string]string            // what is known of changes to files whose whole text is not
	Added      map[int]string               // texts in what a command prints of which the rest is not known
	Fed        map[string]func(flow.Stream) // pipes of this line, by their paths: what runs with what is written to them
	Links      map[string]string            // symbolic links made in this line
	Renamed    map[string]string            // programs that the line gives another name, by their new path
	Made       []string                     // repositories that the line makes where nothing was
	onlyBare   bool                         // all secrets that the event reads are files of settings without any
	lastSecret lastSecret                   // what secret said of the last path
	ledger     origin.Ledger                // nil until a file is asked about
	asked      map[string]origin.Move       // what it said of files

	lookedBelow  map[string][]origin.Move // what it said of directories
	ran          []hook.Flow              // files that run, by what earlier calls left in them
	carried      map[hook.EffectKind]flow.Taint
	earlier      map[string]*authored // files that calls before this one wrote; nil until somebody asks
	earlierNames []string             // in order
	agents       int                  // texts of agents inside each other that are judged now
	ofAgent      int                  // where the text of an agent begins in what is not known

	authoredRead int             // bytes of these that were read
	steps        int             // taken in looking through texts
	spent        bool            // there were too few for a text
	Included     int             // files of recipes that others take in
	Looked       map[string]bool // texts of agents that were looked through as a whole
	Looking      bool            // one of these is
	Filled       int             // bytes by which the values of recipes made them longer
	Full         []string        // limits that were reported
}

// Unknown records that something was not understood, once, and makes the facts opaque.
//
//go:noinline
func (d *Draft) Unknown(kind, why string, command int, span *hook.Span) {
	d.Facts.Opaque = true
	for _, u := range d.Facts.Unknown[min(d.ofAgent, len(d.Facts.Unknown)):] {
		if u.Kind == kind && u.Why == why && u.Command == command && !u.Written {
			return
		}
	}
	d.Facts.Unknown = append(d.Facts.Unknown, hook.Unknown{Kind: kind, Why: why, Command: command, Span: span})
}

// Limit records, once, a limit past which gate did not look. Of a text that an agent wrote
// it counts as code that is not known, whatever judges the text takes back of the rest.
func (d *Draft) Limit(why string) {
	if d.agents > 0 {
		d.ofAgents(why, 0)
		return
	}
	if slices.Contains(d.Full, why) {
		return
	}
	d.Full = append(d.Full, why)
	d.Unknown("limit", why, 0, nil)
}

// Effect records one effect, once.
//
//go:noinline
func (d *Draft) Effect(command int, is hook.EffectKind) {
	switch e := is.(type) {
	case *hook.SecretRead:
		if _, known := origin.Copied(e.What); known {
			return // the agent was shown it, and has written it there itself
		}
	case *hook.NetFetch:
		e.IP = addressOf(e.Host)
	case *hook.NetSend:
		e.IP = addressOf(e.Host)
	}
	d.Facts.Effects = append(d.Facts.Effects, hook.FactEffect{Command: command, Is: is})
}

// Host records a network peer.
func (d *Draft) Host(h hook.Host) {
	h.IP = addressOf(h.Host)
	d.Facts.Hosts = append(d.Facts.Hosts, h)
}

// addressOf is the address that a host is written as, nil for a name.
func addressOf(host *string) *string {
	if host == nil || *host == "" || strings.Trim((*host)[len(*host)-1:], "0123456789abcdef:x") != "" {
		return nil // most names end otherwise
	}
	return flow.Known(peer.Address(*host))
}

// Shown marks a secret that was read as going on to the agent or a program.
func (d *Draft) Shown(what string) {
	for _, e := range d.Facts.Effects {
		if read, ok := e.Is.(*hook.SecretRead); ok && what != "" && read.What == what {
			read.Shown = true
		}
	}
}

// UnknownCode notes that a shell or interpreter runs text gate cannot read.
func (d *Draft) UnknownCode(id int, language string, t flow.Taint, source, why string) flow.Stream {
	d.Effect(id, &hook.ExecCode{Language: language, Source: source, Decoded: t.Hidden})
	if t.Remote {
		via := map[string]string{"stdin": "pipe", "inline": "substitution", "file": "file"}[source]
		run := &hook.ExecRemote{Host: flow.Known(t.Host), URL: flow.Known(t.URL), Via: via}
		d.Carry(run, flow.Taint{Remote: true, Host: t.Host, From: t.From})
		d.Effect(id, run)
	}
	d.Facts.Code = append(d.Facts.Code, hook.Code{Command: id, Language: language, Source: source, Calls: []string{}})
	d.Unknown("code", "the text that runs is not known: "+why, id, nil)
	return flow.Stream{Some: true, From: id, Taint: t}
}

// Append appends one command and returns its number.
func (d *Draft) Append(cmd hook.ShellCommand, at Where) int {
	cmd.ID = len(d.Facts.Shell.Commands) + 1
	if len(at.Dirs) == 1 {
		cmd.Dir = &at.Dirs[0]
		real, known := d.World.Resolve(at.Dirs[0], d.Links, true)
		cmd.InProject = new(known && !at.Remote && d.World.InProject(at.Dirs[0]) && d.World.InProject(real))
	}
	if cmd.Via == nil {
		cmd.Via = append([]string{}, d.Via...)
	}
	d.Facts.Shell.Commands = append(d.Facts.Shell.Commands, cmd)
	for _, word := range cmd.Words {
		if word.Value == nil {
			d.Unknown("word", "an argument is not known", cmd.ID, word.Span)
			break
		}
	}
	return cmd.ID
}

const maxShown = 4096

// Short keeps long texts out of the facts; they are judged in full all the same.
func Short(s *string) *string {
	if s == nil || len(*s) <= maxShown {
		return s
	}
	return nil
}

// AsKey is a name that stands as the key of an object, where two that are no
// UTF-8 must not become one only when they are written.
func AsKey(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

// Commands are those that were listed so far, none without a shell line.
func (d *Draft) Commands() []hook.ShellCommand { return d.Facts.Shell.Commands }
