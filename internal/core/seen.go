package core

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/origin"
	"gate/internal/places"
	"gate/internal/seen"
	"gate/internal/session"
	"gate/internal/wordlist"
)

// seen is what is kept of the session of an event that this machine was shown; nil where
// nothing is kept.
func (g *Gate) seen(ev *hook.Event) *seen.Seen {
	var store seen.Store
	switch {
	case g.Shown != nil:
		store.Texts = g.Shown
	case g.State == "" || g.Past:
		return nil
	default:
		store = g.Seen()
	}
	s := store.Of(keyOf(ev))
	settings := g.Set.Settings()
	s.Trusts = settings.TrustsServer
	if ledger, known := g.origins(); known {
		var left origin.Ledger
		s.Rows = func(file string) bool {
			if left == nil {
				left = ledger.Open(keyOf(ev))
			}
			move, _ := left.Of(file) // an error closes what facts make of it
			return move.Secret == seen.Dump
		}
	}
	return s
}

// facts are those of an event. They say what of its call the session was shown before.
func (g *Gate) facts(ev *hook.Event) *hook.Facts { return g.Recalled(g.Reader.Of(ev), ev) }

// Recalled adds to the facts of an event what of its call the session was shown before.
func (g *Gate) Recalled(f *hook.Facts, ev *hook.Event) *hook.Facts {
	if ev.Name.Canonical() != hook.PreToolUse {
		return f
	}
	if kept := g.seen(ev); kept != nil {
		known := *ev
		known.Facts = f // which has words that the call puts together
		hits := kept.Find(&known)
		if slices.ContainsFunc(hits, func(h seen.Hit) bool { return h.Origin == seen.Secret && h.How == seen.Known }) {
			g.copies(f, kept)
			carry(ev.Tool(), f)
			asks(f, ev, g.catalogue(), kept.Holds)
		}
		AddFlow(f, flowsOf(g.packages(f, kept, hits)))
		if hit := kept.Pastes(&known); hit != nil && f != nil {
			f.Effects = append(f.Effects, hook.FactEffect{Is: &hook.Tool{Tool: ev.Tool(), Access: "write"}})
			addHit(f, hit, "", "tool", 0, nil)
		}
		typed(f, ev.Tool(), hits)
		g.stillHeld(f, kept)
		g.sources(f, ev, kept)
		g.brought(f, ev, kept)
		rowsSent(f, kept)
		g.handsAway(f, ev, kept)
	} else {
		g.handsAway(f, ev, nil)
	}
	g.sent(f, ev.Tool())
	return f
}

// typed adds the rows about people that a call types into a page: nobody knows who keeps it.
func typed(f *hook.Facts, tool string, hits []seen.Hit) {
	words := wordlist.OfName(tool[strings.LastIndex(tool, "__")+1:])
	if f == nil || !strings.HasPrefix(tool, "mcp__") || !ofPage(tool) || !wordlist.HasAny(" type fill form input evaluate paste keyboard insert press select eval script run execute ", words) {
		return
	}
	for i := range hits {
		if h := &hits[i]; h.What == seen.People && h.Origin == seen.Secret {
			addOnce(f, h, h.What, "tool", 0, nil)
			return
		}
	}
}

// packages adds the flows of packages, each for the commands that install it, and returns
// the hits that belong to the whole call.
func (g *Gate) packages(f *hook.Facts, kept *seen.Seen, hits []seen.Hit) (rest []seen.Hit) {
	if f == nil {
		return hits
	}
	most := len(f.Flow) + maxFlow
	for n := range hits {
		h := &hits[n]
		if h.What != "package" && h.What != seen.Unasked && h.What != seen.Lookalike {
			rest = append(rest, *h)
			continue
		}
		for i := range f.Effects {
			e, ok := f.Effects[i].Is.(*hook.PackageInstall)
			if !ok || len(f.Flow) == most || !slices.ContainsFunc(e.Packages, func(p *string) bool { return p != nil && seen.PackageOf(*p) == h.Text }) {
				continue
			}
			if h.What != "package" && kept.Brings() && g.ofProject(f, f.Effects[i].Command, e) {
				continue
			}
			addHit(f, h, "", f.Effects[i].Kind(), f.Effects[i].Command, nil)
		}
	}
	return rest
}

// ofProject reports a program by its bare name that npx and its like take from what the
// project has installed, where nobody can look into that: on another machine, or before
// the first call that shows it. Facts know the programs that are there.
func (g *Gate) ofProject(f *hook.Facts, command int, e *hook.PackageInstall) bool {
	if e.From != "run" || !strings.Contains(" npx bunx npm bun pnpm yarn ", " "+e.Tool+" ") || f.Shell == nil || command < 1 || command > len(f.Shell.Commands) {
		return false
	}
	for _, p := range e.Packages {
		if p == nil || strings.LastIndexByte(*p, '@') > 0 { // a version of its own
			return false
		}
	}
	for _, w := range strings.Fields(f.Shell.Text) {
		if w == "-y" || w == "--yes" { // that is for what is not there
			return false
		}
	}
	dir := f.Shell.Commands[command-1].Dir
	return dir != nil && g.text(path.Join(*dir, "node_modules/.package-lock.json")) == ""
}

// copies adds to what a call leaves in files the secrets that the session was shown and
// that the call writes there. A file whose name tells of a secret needs no such note.
func (g *Gate) copies(f *hook.Facts, kept *seen.Seen) {
	for _, w := range f.Wrote {
		what := kept.Holds(w.Text)
		if what == "" || g.Reader.Secret(w.Path) != "" {
			continue
		}
		at, have := slices.BinarySearchFunc(f.Moves, w.Path, func(m origin.Move, path string) int { return strings.Compare(m.Path, path) })
		if !have {
			f.Moves = slices.Insert(f.Moves, at, origin.Move{Path: w.Path})
		}
		if f.Moves[at].Secret == "" {
			f.Moves[at].Secret = origin.Copy(what)
		}
	}
}

// stillHeld leaves out the flows of files in which a session was shown a secret, and that hold
// none any more. A file that cannot be read, or that the same call may change before it sends
// it, holds what it held; so does a copy, which may be in another form.
func (g *Gate) stillHeld(f *hook.Facts, kept *seen.Seen) {
	if f == nil || f.Opaque || f.Shell != nil && len(f.Shell.Commands) > 1 {
		return
	}
	f.Flow = slices.DeleteFunc(f.Flow, func(flow hook.Flow) bool {
		if flow.Origin != "secret" || flow.How != "seen" || !flow.Coarse {
			return false
		}
		files := flow.Via
		if flow.Path != nil {
			files = append([]string{*flow.Path}, files...)
		}
		if files = slices.Compact(files); len(files) != 1 {
			return false
		}
		text := g.text(files[0])
		return text != "" && kept.Holds(text) == "" && !seen.Shows(text)
	})
}

// flowsOf are hits in the words of policies, for [AddFlow].
func flowsOf(hits []seen.Hit) []hook.Flow {
	flows := make([]hook.Flow, len(hits))
	for i, h := range hits {
		flows[i] = hook.Flow{Origin: h.Origin, What: &h.What, Via: []string{}, How: h.How, Coarse: h.Lost}
		if h.Host != "" {
			flows[i].Host = &h.Host
		}
		if h.Call != "" {
			flows[i].Call = &h.Call
		}
	}
	return flows
}

// Showing returns a Gate that differs from g in who keeps what sessions were shown.
func (g *Gate) Showing(kept *session.Texts) *Gate {
	c := *g
	c.Shown = kept
	return &c
}

// Show notes what an event shows, whose facts are worked out.
func (g *Gate) Show(ctx context.Context, ev *hook.Event) error {
	if kept := g.seen(ev); kept != nil {
		_, err := kept.Keep(ctx, ev, ev.Facts)
		return err
	}
	return nil
}

// keepSeen notes what the output of a call shows, and the hosts that a prompt names. The
// call was made already, so that a note which cannot be taken is only told.
func (g *Gate) keepSeen(ctx context.Context, ev *hook.Event, d *hook.Decision) {
	kept := g.seen(ev)
	if kept == nil {
		return
	}
	ctx, cancel := waiting(ctx)
	defer cancel()
	secret, err := kept.Keep(ctx, ev, d.Facts)
	if err == nil && secret {
		err = g.keepHeld(ctx, ev, d.Facts, kept)
	}
	if err != nil {
		d.Notices = append(d.Notices, "gate does not remember what this showed: "+err.Error())
		Redact(d)
		kept.Lose(ctx, ev) // where that cannot be written either, the notice is all that is left
	}
}

// maxLose is how long a note waits for others, after an answer that came too late as it is.
const maxLose = time.Second

// Lose notes that gate failed about an event, after the answer: what the event showed to the
// session is not known, and later calls are judged by that.
func Lose(d places.Dirs, ev *hook.Event) { lose(d.Seen().Of(keyOf(ev)), ev) }

// lose is [Lose] for an event that this gate leaves without having looked at what it shows.
func (g *Gate) lose(ev *hook.Event) {
	if kept := g.seen(ev); kept != nil {
		lose(kept, ev)
	}
}

func lose(kept *seen.Seen, ev *hook.Event) {
	ctx, cancel := context.WithTimeout(context.Background(), maxLose)
	defer cancel()
	kept.Lose(ctx, ev) // the fault itself is in the answer and in the log
}
