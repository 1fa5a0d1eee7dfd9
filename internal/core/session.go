package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/mark"
	"gate/internal/places"
	"gate/internal/session"
	"gate/internal/setting"
	"gate/matcher"
)

// memoryLimit bounds the wait for other calls of the same session, and half of
// what is left of the deadline does.
const memoryLimit = 5 * time.Second

// A Session is what is remembered of the session that an event belongs to.
type Session struct {
	Known *session.Memory // as it was before gate was set up; nil: nothing was known

	// Counted says that the memory has counted the event: [Gate.Answer] has, or a program
	// that handed the call over.
	Counted bool

	kept  session.Kept
	err   error                 // why Known could not be read
	begun atomic.Pointer[begun] // nil: nothing has to be remembered
}

// A begun is what became of counting an event.
type begun struct {
	memory *session.Memory // as it was then
	came   hook.Event      // with the facts that it was counted by
	err    error
}

// Recall looks what is known of the session of an event. Where nothing is, it
// costs one look at the directory.
func Recall(d places.Dirs, ev *hook.Event) *Session {
	return RecallFrom(d.Sessions().Of(keyOf(ev)))
}

// keyOf names the session of an event.
func keyOf(ev *hook.Event) session.Key {
	return session.Key{Agent: ev.Agent, Session: ev.SessionID()}
}

// RecallFrom is [Recall] for a memory that is kept somewhere else.
func RecallFrom(kept session.Kept) *Session {
	r := &Session{kept: kept}
	if kept.Exists() {
		r.Known, r.err = kept.Read()
	}
	return r
}

// errBeyond says that this program cannot judge a call as it must be. Nothing
// has been done about the call then.
var errBeyond = errors.New("it takes more than this program")

// Answer decides about an event with the memory of its session, and keeps what
// follows from the decision. ev gets the memory that its hooks see. rejected says
// whether the event's call, if it is about one, does not run after a decision; it is
// asked once. An error says that only another program can; nothing has been done then.
func (g *Gate) Answer(ctx context.Context, s *Session, ev *hook.Event, rejected func(*hook.Decision) bool) (hook.Decision, error) {
	if g.Beyond == nil && g.beyond(s, ev) {
		return hook.Decision{}, errBeyond
	}
	if s.err != nil {
		g.lose(ev)
		return Closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: s.err}), nil
	}
	told := func(*hook.Decision) {}
	if g.Confinement != nil && !g.Past {
		told = g.Confinement.Came(ev)
	}
	d := g.Decide(ctx, g.begin(ctx, s, *ev))
	b := s.begun.Load()
	if b != nil && b.err != nil {
		g.lose(ev)
		return Closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: b.err}), nil
	}
	told(&d)
	if b != nil {
		ev.Memory, ev.Marks = b.came.Memory, b.came.Marks
	}
	if g.Beyond == nil && g.beyondOnce(ev, &d) || g.Holds != nil && g.Holds() != nil {
		return hook.Decision{}, errBeyond
	}
	if ctx.Err() != nil {
		g.lose(ev)
		return d, nil // too late it is not the answer any more
	}
	no := rejected(&d)
	if no && !afterwards(ev) {
		d.Remember = nil
	}
	if b != nil {
		s.end(ctx, b, &d, no, g.brings)
	}
	g.follow(ctx, s, ev, &d, no)
	g.keepMoves(ctx, ev, &d, no)
	g.keepSeen(ctx, ev, &d)
	g.sayOnce(ctx, s, ev, &d)
	if g.Beyond != nil && heard(ev, &d, no) {
		g.Beyond.Late(ev, &d)
		g.Beyond.Offer(ctx, s, ev, &d)
		Redact(&d)
	}
	return d, nil
}

// Retell is [Gate.Answer] about an event of the past or of a test, as one of a session that
// s remembers: what lies in gate's directories of other sessions has no say. Where the
// event has a memory, hooks see that in place of what s remembers.
func (g *Gate) Retell(ctx context.Context, s *Session, ev *hook.Event, rejected func(*hook.Decision) bool) hook.Decision {
	if s.err != nil {
		return Closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: s.err})
	}
	begun := g.begin(ctx, s, *ev)
	if recall := begun.Recall; recall != nil && len(ev.Memory) > 0 {
		recorded := ev.Memory
		begun.Recall = func(ev *hook.Event) *hook.Fault {
			fault := recall(ev)
			ev.Memory = recorded
			return fault
		}
	}
	d := g.Decide(ctx, begun)
	b := s.begun.Load()
	if b != nil && b.err != nil {
		return Closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: b.err})
	}
	if b != nil {
		ev.Memory, ev.Marks = b.came.Memory, b.came.Marks
	}
	no := rejected(&d)
	if no && !afterwards(ev) {
		d.Remember = nil
	}
	if b != nil {
		s.end(ctx, b, &d, no, g.brings)
	}
	s.finish(ctx, ev, &d, no)
	g.keepMoves(ctx, ev, &d, no)
	g.keepSeen(ctx, ev, &d)
	return d
}

// afterwards reports an event that a rejection comes too late for.
func afterwards(ev *hook.Event) bool {
	name := ev.Name.Canonical()
	return name == hook.PostToolUse || name == hook.PostToolUseFailure
}

// begin has an event counted and given the memory of its session once its facts are
// known, unless no hook needs one and nothing waits for the session. An error of that
// is for the caller: nobody knows what the session may still do.
func (g *Gate) begin(ctx context.Context, r *Session, ev hook.Event) hook.Event {
	if !g.Set.Memory() && (r.Known == nil || len(r.Known.Injections) == 0) {
		return ev
	}
	g.session = r
	ev.Recall = func(ev *hook.Event) *hook.Fault {
		m, err := r.count(ctx, ev)
		if err != nil {
			r.begun.Store(&begun{err: err})
			return &hook.Fault{Kind: hook.FaultLoad, Err: err}
		}
		ev.Memory, ev.Marks = m.Document(ev), m.Marks
		r.begun.Store(&begun{memory: m, came: *ev})
		return nil
	}
	return ev
}

// count has the memory count an event, once for all programs that the event goes
// through, and returns it. Where nothing of it counts, nothing is written.
func (r *Session) count(ctx context.Context, ev *hook.Event) (counted *session.Memory, err error) {
	switch {
	case r.Counted && r.Known != nil:
		return r.Known, nil
	case r.Counted: // somebody removed it since
		return &session.Memory{}, nil
	case r.Known != nil && !r.Known.Counts(ev):
		r.Known.Begin(ev, ev.Gate.Now)
		return r.Known, nil
	}
	err = r.update(ctx, func(m *session.Memory) error {
		m.Begin(ev, ev.Gate.Now)
		counted = m
		return nil
	})
	r.Counted = err == nil
	return counted, err
}

// end keeps what follows from the decision, if anything does, and adds what somebody
// outside has to say to it: the texts that the event brings.
func (r *Session) end(ctx context.Context, b *begun, d *hook.Decision, rejected bool, brings func(*hook.Event, *session.Injection) bool) {
	ev := &b.came
	if len(b.memory.Injections) == 0 && !b.memory.Ends(ev, d, rejected) {
		d.Remember, _ = b.memory.Remember(d.Remember) // less what it has refused before
		return
	}
	var taken []session.Injection
	var kept []mark.Mark
	var refused []string
	err := r.update(ctx, func(m *session.Memory) error {
		m.End(ev, d, rejected)
		kept, refused = m.Remember(d.Remember)
		if heard(ev, d, rejected) {
			taken = m.Take(ev.Gate.Now, Room(d), func(in *session.Injection) bool { return brings(ev, in) })
		}
		return nil
	})
	if err != nil && len(d.Remember) > 0 && !rejected && !afterwards(ev) {
		// A policy counts on the mark: without it a later call would pass that must not.
		*d = Closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: fmt.Errorf("a mark of this call cannot be remembered: %w", err)})
		return
	}
	if err != nil {
		d.Remember, d.Notices = nil, append(d.Notices, "this decision is not remembered: "+err.Error())
		Redact(d)
		return
	}
	d.Remember, d.Notices = kept, append(d.Notices, refused...)
	for _, in := range taken {
		Inject(d, in.Text, in.Strategy)
	}
	Redact(d)
}

// sayOnce leaves out of a decision what its session was told before: that
// something of a source waits for a person's trust, or that settings loosen something or
// let a source rewrite nothing. It is told again once the source has changed, or has been
// trusted meanwhile. That a source could not be loaded is told once a turn. A session without a name is
// told every time.
func (g *Gate) sayOnce(ctx context.Context, r *Session, ev *hook.Event, d *hook.Decision) {
	if ev.SessionID() == "" || r.Known == nil && len(d.Notices) == 0 {
		return
	}
	noticed := func(text string) bool { return r.Known != nil && r.Known.Noticed(text) }
	var news, past []string
	for _, src := range g.Set.Sources() {
		waits := " of " + src.Name + engine.AwaitsTrust
		text := waits + src.Digest
		if src.Runs() && noticed(text) {
			past = append(past, text)
		}
		d.Notices = slices.DeleteFunc(d.Notices, func(notice string) bool {
			known := strings.HasSuffix(notice, waits) && noticed(text)
			if strings.HasSuffix(notice, waits) && !known {
				news = append(news, text)
			}
			return known
		})
	}
	d.Notices = slices.DeleteFunc(d.Notices, func(notice string) bool {
		left, known := strings.Contains(notice, setting.LeftOut), noticed(notice)
		if left && !known {
			news = append(news, notice)
		}
		return left && known && ev.Name.Canonical() != hook.UserPromptSubmit // which begins a turn
	})
	if ev.Name.Canonical() != hook.SessionStart {
		d.Notices = slices.DeleteFunc(d.Notices, func(notice string) bool {
			aboutSettings := loosens(notice) || strings.HasSuffix(notice, setting.HeldRewrites)
			if aboutSettings && !noticed(notice) {
				news = append(news, notice)
				return false
			}
			return aboutSettings
		})
	}
	if len(news)+len(past) == 0 {
		return
	}
	r.update(ctx, func(m *session.Memory) error { // what cannot be kept is said again
		for _, text := range past {
			m.Forget(text)
		}
		for _, text := range news {
			m.Notice(text)
		}
		return nil
	})
}

// Update changes what is remembered within a part of the time that is left.
func (r *Session) Update(ctx context.Context, change func(*session.Memory) error) error {
	return r.update(ctx, change)
}

// update changes the memory within a part of the time that is left.
func (r *Session) update(ctx context.Context, change func(*session.Memory) error) error {
	ctx, cancel := waiting(ctx)
	defer cancel()
	return r.kept.Update(ctx, change)
}

// waiting is how long a call waits for others that change what it wants to change.
func waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := memoryLimit
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/2)
	}
	return context.WithTimeout(ctx, limit)
}

// done reports whether a hook is to be left out, because it ran already.
func (g *Gate) done(_ *hook.Event, h *hook.Hook) bool {
	if g.session == nil {
		return false
	}
	b := g.session.begun.Load()
	return b != nil && b.memory != nil && b.memory.Done(h)
}

// injector stands where a text has the name of its hook.
const injector = "gate.inject"

// Inject adds what somebody outside has for the agent.
func Inject(d *hook.Decision, text string, strategy hook.Strategy) {
	d.Context = append(d.Context, hook.Context{Text: text, Strategy: cmp.Or(strategy, hook.ToolResult), Hook: injector})
}

// heard reports whether context reaches the agent itself with the answer to
// this event.
func heard(ev *hook.Event, d *hook.Decision, rejected bool) bool {
	switch ev.Name.Canonical() {
	case hook.PreToolUse, hook.PostToolUse, hook.PostToolUseFailure:
		return d.Halt == nil && ev.Text("agent_id") == "" // a sub-agent is somebody else
	case hook.UserPromptSubmit:
		return !rejected && d.Halt == nil
	case hook.SessionStart:
		return true
	}
	return false
}

// brings reports whether the event is one that a text waits for: a call of the
// right tool, or the next turn, which brings whatever is left.
func (g *Gate) brings(ev *hook.Event, in *session.Injection) bool {
	if ev.Tool() == "" {
		return true
	}
	m, err := matcher.Compile(in.Matcher, g.backtracks)
	return err == nil && m.Match(ev.Tool()) == matcher.Yes
}

// Room is how many bytes of text an answer takes besides what policies say.
// Agents cut what is longer.
func Room(d *hook.Decision) int {
	left := 9_000
	for _, c := range d.Context {
		left -= len(c.Text)
	}
	return left
}
