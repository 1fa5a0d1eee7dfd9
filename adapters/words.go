package adapters

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/strictjson"
)

// An agent is an adapter that is made of tables: what one coding agent calls
// what gate has its own words for, what its answers can express, and how they
// are written. The zero values of its optional parts do nothing.
type agent struct {
	name    string
	nameKey string        // the field with the event's name; "" is hook_event_name
	wait    time.Duration // how long the agent waits for a hook by default
	hosts   bool          // see Adapter.RunsHooks
	attends bool          // it takes a question that nobody can answer for a refusal
	project []string      // variables with the project's directory, the first that is set counts
	merges  bool          // a changed input is laid over the call's: what is missing there stays

	events []eventWord
	fields []pair     // of any event
	tools  []toolWord // whose names or fields are not gate's
	server func(tool string, doc map[string]any) (name string, ok bool)

	// guess finds the event's own name where neither the event nor the command
	// line has it.
	guess func(doc map[string]any) string
	// adapt brings the fields of an event into gate's order, where other names
	// are not enough. doc is as received.
	adapt func(fields, doc map[string]any, word *eventWord) error
	// call finds the tool and its input in an event as received.
	call func(doc map[string]any) (tool string, input map[string]any)

	render func(*reply) Answer
}

// A pair is a word of the agent's and gate's own for the same.
type pair struct{ native, own string }

// An eventWord is one event of an agent.
type eventWord struct {
	native string
	name   hook.Name     // gate's name; "" is the same
	tool   string        // what the event is about where it names no tool, as the agent would
	can    means         // what an answer can express
	wait   time.Duration // if it is not the agent's usual time
}

func (w *eventWord) own() hook.Name {
	if w.name == "" {
		return hook.Name(w.native)
	}
	return w.name
}

// word finds an event by the agent's name for it, else by gate's own. What
// follows a colon belongs to this one event. An event nobody has heard of is
// answered by the status alone, which blocks.
func (a *agent) word(name string) eventWord {
	kind, _, _ := strings.Cut(name, ":")
	for i := range a.events {
		if a.events[i].native == kind {
			w := a.events[i]
			w.name, w.native = w.own(), name
			return w
		}
	}
	for i := range a.events {
		if a.events[i].own() == hook.Name(name).Canonical() {
			return a.events[i]
		}
	}
	return eventWord{native: name, can: rejects | unknown}
}

// wordOf finds the event that ev is.
func (a *agent) wordOf(ev *hook.Event) eventWord {
	if native, ok := ev.Native[a.key()].(string); ok {
		return a.word(native)
	}
	return a.word(string(ev.Name))
}

func (a *agent) key() string {
	if a.nameKey == "" {
		return "hook_event_name"
	}
	return a.nameKey
}

func (a *agent) Name() string { return a.name }

// Named is the event of a name without content, with the agent's own name for
// it in Native if that is another.
func (a *agent) Named(native string) hook.Event {
	if native == "" {
		return hook.Event{Agent: a.name}
	}
	w := a.word(native)
	ev := hook.Event{Agent: a.name, Name: w.own()}
	if w.native != string(ev.Name) {
		ev.Native = map[string]any{a.key(): w.native}
	}
	return ev
}

// Parse reads one event in the agent's words and says it in gate's.
func (a *agent) Parse(data []byte, as string) (hook.Event, error) {
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: MaxEvent})
	if err != nil {
		if errors.Is(err, strictjson.ErrEmpty) {
			err = errors.New("no event on standard input")
		}
		return a.Named(as), fmt.Errorf("event: %w", err)
	}
	native, err := a.nameOf(doc, as)
	if err != nil {
		return a.Named(orElse(native, as)), err
	}
	ev := a.Named(native)
	w := a.word(native)
	fields, err := a.translate(doc, &w)
	if err == nil {
		err = checkForeign(fields)
	}
	if err != nil {
		return ev, fmt.Errorf("event %s: %w", quote(native), err)
	}
	ev.Fields, ev.Native = fields, nil
	ev.Parts = a.parts(&ev)
	if !equal(fields, doc) {
		ev.Native = doc
		if _, named := doc[a.key()]; !named {
			ev.Native = maps.Clone(doc)
			ev.Native[a.key()] = native
		}
	}
	return ev, nil
}

// Session reads what the beginning of an event tells of its session.
func (a *agent) Session(data []byte, as string) hook.Event {
	doc := strictjson.Beginning(data)
	native, err := a.nameOf(doc, as)
	if err != nil {
		return a.Named(as)
	}
	ev := a.Named(native)
	fields := maps.Clone(doc)
	if rename(fields, a.fields, "") != nil {
		return ev
	}
	if w := a.word(native); a.adapt != nil && fields["session_id"] == nil {
		a.adapt(fields, doc, &w) // the rest of the event is not there, so that it may find fault
	}
	if id, _ := fields["session_id"].(string); id != "" {
		ev.Fields = map[string]any{"session_id": id}
	}
	return ev
}

// Parts are the calls that an event amounts to which no adapter has just read, such
// as one from a log: what [hook.Event.Parts] holds of one that was.
func Parts(ev *hook.Event) []hook.Call {
	if a, ok := Lookup(ev.Agent); ok {
		if a, ok := a.(*agent); ok {
			return a.parts(ev)
		}
	}
	return nil
}

func (a *agent) parts(ev *hook.Event) []hook.Call {
	if text, ok := ev.ToolInput()["command"].(string); ok && a.patches(ev, text) && ev.Name.Rewrites() == "tool_input" {
		return partsOf(text, ev.Dir())
	}
	return nil
}

// patches reports a call that applies a patch: by the tool for that, or by a
// shell, whose command of that name agents take for it.
func (a *agent) patches(ev *hook.Event, text string) bool {
	if ev.Tool() == patchTool {
		return true
	}
	_, has := a.tool(patchTool)
	return has && ev.Tool() == "Bash" && strings.Contains(text, patchTool) && strings.Contains(text, "*** Begin Patch")
}

// nameOf is the agent's name of an event: what the event says of itself, else
// what the command line says. They must not be at odds.
func (a *agent) nameOf(doc map[string]any, as string) (string, error) {
	v, named := doc[a.key()]
	name, ok := v.(string)
	switch {
	case named && !ok:
		return "", fmt.Errorf("event: %s: %s where a string is wanted", a.key(), strictjson.TypeName(v))
	case named && name == "":
		return "", fmt.Errorf("event: %s is empty", a.key())
	case !named && as != "":
		return as, nil
	case !named:
		if a.guess != nil {
			if name = a.guess(doc); name != "" {
				return name, nil
			}
		}
		return "", fmt.Errorf("event: %s is missing", a.key())
	}
	if is, want := a.word(name), a.word(as); as != "" && is.own() != want.own() {
		return name, anotherEvent(name, as)
	}
	return name, nil
}

// translate says an event in gate's words. A null is a field that is not there.
func (a *agent) translate(doc map[string]any, w *eventWord) (map[string]any, error) {
	if err := a.nativeKeys(doc); err != nil {
		return nil, err
	}
	fields := make(map[string]any, len(doc)+2)
	for k, v := range doc {
		if v != nil || k == "requested_model" || k == "custom_instructions" {
			fields[k] = v
		}
	}
	if err := rename(fields, a.fields, ""); err != nil {
		return nil, err
	}
	fields["hook_event_name"] = string(w.own())
	if a.adapt != nil {
		if err := a.adapt(fields, doc, w); err != nil {
			return nil, err
		}
	}
	if w.tool != "" && fields["tool_name"] == nil {
		fields["tool_name"] = w.tool
	}
	if input, ok := fields["tool_input"].(map[string]any); ok && input == nil {
		delete(fields, "tool_input") // adapt found none: it must not read as an empty one
	}
	if _, there := fields["tool_response"]; !there && w.own() == hook.PostToolUse {
		fields["tool_response"] = nil // nothing was said
	}
	if err := a.translateCall(fields, doc, ""); err != nil {
		return nil, err
	}
	calls, _ := fields["tool_calls"].([]any)
	if calls == nil {
		return fields, nil
	}
	own := make([]any, len(calls))
	for i, c := range calls {
		call, ok := c.(map[string]any)
		if own[i] = c; !ok {
			continue // checked later
		}
		call = maps.Clone(call)
		if err := a.translateCall(call, call, fmt.Sprintf("tool_calls[%d].", i)); err != nil {
			return nil, err
		}
		own[i] = call
	}
	fields["tool_calls"] = own
	return fields, nil
}

// nativeKeys refuses what a person or a lenient reader could take for one of the
// agent's own fields, as lookAlikes does for gate's.
func (a *agent) nativeKeys(doc map[string]any) error {
	for key := range doc {
		if !isASCII(key) {
			return fmt.Errorf("key %s is not plain ASCII", quote(key))
		}
		for _, p := range a.fields {
			if key != p.native && strictjson.Fold(key) == strictjson.Fold(p.native) {
				return fmt.Errorf("key %s looks like %q", quote(key), p.native)
			}
		}
	}
	return nil
}

// rename gives fields their own names. Two that mean the same are refused.
func rename(fields map[string]any, pairs []pair, at string) error {
	for _, p := range pairs {
		v, ok := fields[p.native]
		if !ok || p.native == p.own {
			continue
		}
		if _, twice := fields[p.own]; twice {
			return fmt.Errorf("%s%s and %s%s say the same", at, p.native, at, p.own)
		}
		delete(fields, p.native)
		fields[p.own] = v
	}
	return nil
}

// inWorkspace fills in where a call is made that does not say so itself: in the
// first of the directories that are listed under key.
func inWorkspace(fields, doc map[string]any, key string) error {
	v := doc[key]
	roots, ok := v.([]any)
	if v != nil && !ok {
		return fmt.Errorf("%s: %s where an array is wanted", key, strictjson.TypeName(v))
	}
	if fields["cwd"] == nil && len(roots) > 0 {
		fields["cwd"] = roots[0]
	}
	return nil
}

// pairsOf reads pairs in the form "native=own native=own".
func pairsOf(text string) []pair {
	var pairs []pair
	for _, word := range strings.Fields(text) {
		native, own, _ := strings.Cut(word, "=")
		pairs = append(pairs, pair{native, own})
	}
	return pairs
}
