package load

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/outgoing"
)

// An entry is a hook that is being read.
type entry struct {
	*dialectReader
	*hook.Hook
	pointer  string
	timeouts []time.Duration // all that the file gives; the shortest counts
	late     time.Duration   // how long it has if the call does not wait for it; 0: the file does not say
	never    bool            // its matcher stands for nothing
	before   int             // mistakes of the file when it was begun
}

// A field takes the value of one key in.
type field func(e *entry, v any, pointer string)

// fields are the keys of one object.
type fields map[string]field

// read takes an object in, key by key. A key that is not there is a mistake,
// unless the system passes it over.
func (e *entry) read(known fields, lenient bool, m map[string]any, pointer string) {
	for _, key := range e.sorted(m, pointer) {
		at := below(pointer, key)
		switch take := known[key]; {
		case take != nil:
			take(e, m[key], at)
		case lenient:
			e.passOver(at, key, slices.Sorted(maps.Keys(known)))
		default:
			e.bad(at, "unknown key %s%s", dotted(at), didYouMean(key, "", slices.Sorted(maps.Keys(known))))
		}
	}
}

func (r *dialectReader) entry(pointer string) *entry {
	return &entry{dialectReader: r, pointer: pointer, before: len(r.errs), Hook: &hook.Hook{
		Dialect: r.dialect.name, Scope: r.src.Scope, Authority: r.src.Authority, Source: r.src.Name,
		File: r.file, Line: r.line(pointer), Config: map[string]any{},
	}}
}

// done checks the hook and adds it.
func (e *entry) done() {
	if len(e.errs) > e.before {
		return
	}
	if e.Kind == "" {
		e.bad(e.pointer, "%s names no handler and no type", dotted(e.pointer))
	}
	if len(e.Events) == 0 {
		e.bad(e.pointer, "%s names no event", dotted(e.pointer))
	}
	for _, key := range slices.Sorted(maps.Keys(e.Config)) {
		if e.Kind != "" && ofAnother(key) && !slices.Contains(handlerKeys[e.Kind], key) {
			e.bad(e.pointer, "%s: a %s hook has no %s", dotted(e.pointer), e.Kind, key)
		}
	}
	for _, key := range lacking(e.Kind, e.Config) {
		e.bad(e.pointer, "%s: the %s hook lacks %s", dotted(e.pointer), e.Kind, key)
	}
	e.remote()
	if len(e.errs) > e.before {
		return
	}
	if e.Async && e.Kind != hook.Command {
		e.note(e.pointer, "async: the call waits for a %s hook", e.Kind)
		e.Async = false
	}
	switch {
	case e.Async && e.late > 0:
		e.Timeout = e.late
	case len(e.timeouts) > 0:
		e.Timeout = slices.Min(e.timeouts)
	case !e.Async:
		e.Timeout = e.dialect.timeout(e.Hook)
	}
	if e.late > 0 && !e.Async {
		e.note(e.pointer, "async_timeout does not count: the call waits for the hook")
	}
	e.ID = e.name()
	switch starts, alone := startsItself(e.Hook); {
	case alone:
		e.never = true
		e.note(e.pointer, "the hook is left out: it starts gate, and gate would ask itself again")
	case starts: // what it does besides must not be lost unseen
		e.bad(e.pointer, "the hook starts gate, and gate would ask itself again; take gate out of it")
		return
	}
	if !e.never {
		e.hooks = append(e.hooks, e.Hook)
	}
}

// remote checks what is sent where, as of gate's own hooks.
func (e *entry) remote() {
	switch e.Kind {
	case hook.Webhook:
		given, _ := e.Config["headers"].(map[string]any)
		for _, key := range sortedKeys(given) {
			if strings.EqualFold(key, "Content-Type") || strings.EqualFold(key, "Accept") {
				given = maps.Clone(given)
				delete(given, key)
				e.Config["headers"] = given
				e.note(e.pointer, "the header %s is left out: gate sets it itself, for JSON", key)
			}
		}
		checkRemote(e.Config, e.pointer, e.bad)
	case hook.MCPTool:
		if e.Config["input"] == nil {
			e.Config["input"] = map[string]any{} // gate's own hooks would give the event
		}
		if e.Dialect == moment.Zeph {
			return // there it stands for itself
		}
		if err := outgoing.CheckTemplate(e.Config["input"]); err != nil {
			e.bad(e.pointer, "%s: %w", dotted(e.pointer), err)
		}
	}
}

// name makes an id out of the dialect, the file and the hook's own name or
// place.
func (e *entry) name() string {
	stem := strings.TrimSuffix(path.Base(e.file), path.Ext(e.file))
	id := idText(string(e.dialect.name) + "." + stem + ".")
	if e.Title != "" {
		id += idText(e.Title)
	} else {
		id += fmt.Sprint(len(e.ids) + 1)
	}
	base := id
	for n := 2; e.ids[id]; n++ {
		id = fmt.Sprintf("%s.%d", base, n)
	}
	e.ids[id] = true
	return id
}

// idText makes a text one that an id may have.
func idText(s string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_.:-", r) {
			return r
		}
		return '-'
	}, s)
}

// seconds reads a time-out.
func seconds(fractions bool) field {
	return lasting(fractions, func(e *entry, d time.Duration) { e.timeouts = append(e.timeouts, d) })
}

// lasting reads a number of seconds. One that is longer than gate allows is cut.
func lasting(fractions bool, take func(*entry, time.Duration)) field {
	return func(e *entry, v any, pointer string) {
		n, _ := v.(json.Number)
		f, err := n.Float64()
		if err != nil || f <= 0 || !fractions && f != math.Trunc(f) {
			e.bad(pointer, "%s must be a number of seconds, more than 0", dotted(pointer))
			return
		}
		if f > maxHandlerTimeout.Seconds() {
			e.note(pointer, "%s is cut to %.0f s, the longest that gate waits for a handler", dotted(pointer), maxHandlerTimeout.Seconds())
			f = maxHandlerTimeout.Seconds()
		}
		take(e, max(time.Duration(f*float64(time.Second)), 1))
	}
}
