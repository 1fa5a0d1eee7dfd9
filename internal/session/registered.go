package session

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"gate/hook"
)

// Limits of what is registered for one session.
const (
	MaxHooks      = 32 << 10  // bytes of one text
	MaxRegistered = 32        // texts
	maxHooksTotal = 128 << 10 // bytes of all of them
	maxAgents     = 128       // sub-agents that are told apart
	maxListeners  = 64        // of one registration
	maxPath       = 4 << 10
)

// A Kind says what brought hooks along, and with that when they are gone.
type Kind string

const (
	File  Kind = "file"  // somebody outside registered them: until the session ends
	Skill Kind = "skill" // a skill was started: until the session ends
	Agent Kind = "agent" // a sub-agent of a type was started: each until it stops
)

// A Registration is hooks that hold for a session, or for a sub-agent in it. It
// keeps their text as it was then: what becomes of the file changes nothing.
type Registration struct {
	Kind Kind
	Name string // of the skill or the type of agent, or of the file
	File string // where the text stood: absolute
	Text string // a hook file, or the frontmatter; at most MaxHooks bytes of UTF-8

	// Foreign says that the agent itself does not run the hooks of skills and
	// agents, so that the key hooks of the frontmatter counts, too.
	Foreign bool

	// Trusted says that a person was shown the text of a File at a terminal
	// and agreed: else its handlers are not run. Of a Skill or an Agent it says
	// that a person trusted its directory as it was then; whether that still
	// holds is for others to find out.
	Trusted bool

	// Listeners say what the hooks are about, for programs that cannot read Text. None:
	// they may be about any event.
	Listeners []Listener

	Call   string    // the call that started a Skill, "" if it was no call
	Agents []string  // the sub-agents that an Agent's hooks are about; none: all of its type
	Number int       // set by Register: counts from 1
	Since  time.Time // set by Register
}

// A Listener is what one or several hooks are about.
type Listener struct {
	Events  []hook.Name
	Matcher string // as for [hook.Hook]
}

// Listen takes note of what hooks are about, as far as there are not too many to keep it.
func (r *Registration) Listen(hooks []*hook.Hook) {
	r.Listeners = nil
	for _, h := range hooks {
		same := func(l Listener) bool { return l.Matcher == h.Matcher && slices.Equal(l.Events, h.Events) }
		if !slices.ContainsFunc(r.Listeners, same) {
			r.Listeners = append(r.Listeners, Listener{slices.Clone(h.Events), h.Matcher})
		}
		if len(r.Listeners) > maxListeners || len(h.Matcher) > maxMatcher || len(h.Events) > maxListeners {
			r.Listeners = nil
			return
		}
	}
}

// Register keeps hooks and returns their number. Hooks of a skill or of a type
// of agent that are there already are not kept twice: the number is the old
// one. The caller has checked the text.
func (m *Memory) Register(r Registration, now time.Time) (number int, err error) {
	size := len(r.Text)
	for i := range m.Registered {
		old := &m.Registered[i]
		size += len(old.Text)
		if old.Kind == r.Kind && r.Kind != File && old.File == r.File && old.Name == r.Name && old.Text == r.Text && old.Foreign == r.Foreign {
			old.join(r.Agents)
			old.Trusted = old.Trusted || r.Trusted
			return old.Number, nil
		}
	}
	if err := r.check(); err != nil {
		return 0, err
	}
	if len(m.Registered) >= MaxRegistered || size > maxHooksTotal {
		return 0, errors.New("too many hooks are registered for this session already")
	}
	m.Registrations++
	r.Number, r.Since = m.Registrations, now.UTC().Truncate(time.Millisecond)
	r.Agents = slices.Clone(r.Agents)
	m.Registered = append(m.Registered, r)
	return r.Number, nil
}

func (r *Registration) check() error {
	for _, text := range append([]string{r.Name, r.File, r.Text, r.Call}, r.Agents...) {
		if !utf8.ValidString(text) {
			return errors.New("it is not UTF-8")
		}
	}
	if slices.Contains(r.Agents, "") {
		return errors.New("a sub-agent without an id cannot be told from others")
	}
	switch {
	case r.Kind != File && r.Kind != Skill && r.Kind != Agent:
		return fmt.Errorf("%q is no kind of registration", r.Kind)
	case r.Text == "":
		return errors.New("there are no hooks")
	case len(r.Text) > MaxHooks:
		return fmt.Errorf("the hooks have more than %d bytes", MaxHooks)
	case len(r.Name) > maxName, len(r.File) > maxPath, len(r.Call) > maxName:
		return errors.New("the name is too long")
	case len(r.Agents) > maxAgents, slices.ContainsFunc(r.Agents, func(id string) bool { return len(id) > maxName }):
		return errors.New("too many sub-agents, or one with too long a name")
	}
	return nil
}

// join adds sub-agents. Where there are too many to tell them apart, the hooks
// are about all of the type.
func (r *Registration) join(agents []string) {
	if len(r.Agents) == 0 {
		return
	}
	for _, id := range agents {
		if !slices.Contains(r.Agents, id) {
			r.Agents = append(r.Agents, id)
		}
		if len(r.Agents) > maxAgents || len(id) > maxName {
			r.Agents = nil
			return
		}
	}
}

// Concerns reports whether the hooks are about what a sub-agent does, or, with
// an empty id, the agent itself.
func (r *Registration) Concerns(id, agentType string) bool {
	switch {
	case r.Kind != Agent:
		return true
	case len(r.Agents) == 0:
		return agentType == r.Name
	}
	return slices.Contains(r.Agents, id)
}

// Unregister removes hooks by their number and reports whether they were there.
func (m *Memory) Unregister(number int) bool {
	return m.unregister(func(r *Registration) bool { return r.Number == number })
}

// EndCall removes the skill that a call would have started, because the call
// was not made or failed.
func (m *Memory) EndCall(call string) bool {
	return call != "" && m.unregister(func(r *Registration) bool { return r.Kind == Skill && r.Call == call })
}

// EndAgent removes the hooks of a sub-agent that has stopped; one without an id
// is known by its type.
func (m *Memory) EndAgent(id, agentType string) bool {
	ended := false
	gone := m.unregister(func(r *Registration) bool {
		i := slices.Index(r.Agents, id)
		switch {
		case r.Kind != Agent:
			return false
		case id == "" && len(r.Agents) == 0:
			return agentType == r.Name
		case i < 0:
			return false
		}
		ended = true
		r.Agents = slices.Delete(r.Agents, i, i+1)
		return len(r.Agents) == 0
	})
	return ended || gone
}

// EndSession removes what holds for the session only: registered hooks, and
// the marks of those that ran once. The counters stay: agents can end a session
// and go on with it, and a budget is not renewed by that. Texts that wait are
// still to be delivered.
func (m *Memory) EndSession() {
	m.Registered, m.done = nil, nil
}

func (m *Memory) unregister(gone func(*Registration) bool) bool {
	before := len(m.Registered)
	var left []Registration
	for _, r := range m.Registered {
		if !gone(&r) {
			left = append(left, r)
		}
	}
	m.Registered = left
	return len(left) < before
}

// document is what the memory's file holds of r.
func (r *Registration) document() map[string]any {
	agents := make([]any, len(r.Agents))
	for i, id := range r.Agents {
		agents[i] = id
	}
	listeners := make([]any, len(r.Listeners))
	for i, l := range r.Listeners {
		events := make([]any, len(l.Events))
		for i, name := range l.Events {
			events[i] = string(name)
		}
		listeners[i] = []any{events, l.Matcher}
	}
	return map[string]any{
		"listeners": listeners,
		"kind":      string(r.Kind), "name": r.Name, "file": r.File, "text": r.Text, "foreign": r.Foreign, "trusted": r.Trusted,
		"call": r.Call, "agents": agents, "number": r.Number, "since": millis(r.Since),
	}
}

// registration reads one of a memory of a version: 2 had no listeners.
func (r *reader) registration(v any, version int) Registration {
	doc, ok := v.(map[string]any)
	if !ok {
		r.fail("registered", "one is no object")
	}
	out := Registration{
		Kind: Kind(r.text(doc, "kind")), Name: r.text(doc, "name"), File: r.text(doc, "file"), Text: r.text(doc, "text"),
		Foreign: r.bool(doc, "foreign"), Trusted: r.bool(doc, "trusted"), Call: r.text(doc, "call"),
		Number: r.number(doc, "number"), Since: r.time(doc, "since"),
	}
	for _, id := range r.list(doc, "agents", maxAgents) {
		out.Agents = append(out.Agents, r.string("agents", id))
	}
	if version > 2 {
		for _, l := range r.list(doc, "listeners", maxListeners) {
			out.Listeners = append(out.Listeners, r.listener(l))
		}
		r.only(doc, 11)
	} else {
		r.only(doc, 10)
	}
	if err := out.check(); err != nil && r.err == nil {
		r.fail("registered", "%w", err)
	}
	return out
}

func (r *reader) listener(v any) (l Listener) {
	events, m := r.pair("listeners", v)
	l.Matcher = r.string("listeners", m)
	list, ok := events.([]any)
	if !ok || len(list) > maxListeners {
		r.fail("listeners", "one has no list of events")
	}
	for _, name := range list {
		l.Events = append(l.Events, hook.Name(r.string("listeners", name)))
	}
	return l
}

func (r *reader) bool(doc map[string]any, key string) bool {
	b, ok := doc[key].(bool)
	if !ok {
		r.fail(key, "it is neither true nor false")
	}
	return b
}
