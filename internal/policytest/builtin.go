package policytest

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/types"

	"gate/hook"
	"gate/internal/strictjson"
)

// events keeps what gate.event said, by spec: facts cost more than most tests.
// It is safe for concurrent use.
type events struct {
	facts func(World, *hook.Event) *hook.Facts
	mu    sync.Mutex
	known map[string]*madeEvent
	seen  map[string]*hook.Facts // by world and event, for cases
}

// A madeEvent is what one spec stands for.
type madeEvent struct {
	spec  any
	at    *ast.Location  // of the call that made it first
	rows  map[string]int // of the call that was first in each file
	event *hook.Event
	term  *ast.Term // its input document
	err   error
}

func newEvents(facts func(World, *hook.Event) *hook.Facts) *events {
	if facts == nil {
		facts = realFacts
	}
	return &events{facts: facts, known: map[string]*madeEvent{}, seen: map[string]*hook.Facts{}}
}

// document returns the input document of the event that spec stands for.
func (e *events) document(spec ast.Value, at *ast.Location) (*ast.Term, error) {
	key := spec.String()
	e.mu.Lock()
	made := e.known[key]
	e.mu.Unlock()
	if made == nil {
		made = e.make(spec)
		made.at, made.rows = at, map[string]int{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if first := e.known[key]; first != nil {
		made = first
	}
	e.known[key] = made
	if at != nil && made.rows[at.File] == 0 {
		made.rows[at.File] = at.Row
	}
	return made.term, made.err
}

// factsOf returns the facts of an event in a world.
func (e *events) factsOf(w World, ev *hook.Event) *hook.Facts {
	if w.origins != nil { // what it says depends on what came before
		return e.facts(w, ev)
	}
	key := w.key() + string(strictjson.Append(nil, ev.Fields))
	e.mu.Lock()
	f := e.seen[key]
	e.mu.Unlock()
	if f == nil {
		f = e.facts(w, ev)
		e.mu.Lock()
		e.seen[key] = f
		e.mu.Unlock()
	}
	return f
}

// madeIn returns the events that calls in the named files made first, in the
// order of their places.
func (e *events) madeIn(files map[string]bool) []*madeEvent {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []*madeEvent
	for _, made := range e.known {
		if made.err == nil && made.at != nil && files[made.at.File] {
			list = append(list, made)
		}
	}
	slices.SortFunc(list, func(a, b *madeEvent) int {
		return cmp.Or(strings.Compare(a.at.File, b.at.File), a.at.Row-b.at.Row, strings.Compare(a.term.String(), b.term.String()))
	})
	return list
}

func (e *events) make(spec ast.Value) *madeEvent {
	plain, err := ast.JSON(spec)
	if err != nil {
		return &madeEvent{err: err}
	}
	ev, w, err := Event(plain)
	if err != nil {
		return &madeEvent{err: err}
	}
	if e.facts != nil {
		ev.Facts = e.facts(w, ev)
	}
	v, err := ast.InterfaceToValue(ev.Document())
	if err != nil {
		return &madeEvent{err: err}
	}
	return &madeEvent{spec: plain, event: ev, term: ast.NewTerm(v)}
}

// Builtin declares gate.event, for programs that read tests without running
// them, such as editors.
func Builtin() *ast.Builtin { return eventBuiltin{}.declaration() }

// An eventBuiltin is gate.event.
type eventBuiltin struct {
	events *events
}

const eventName = "gate.event"

func (e eventBuiltin) function() *types.Function {
	object := types.NewObject(nil, types.NewDynamicProperty(types.S, types.A))
	return types.NewFunction(
		types.Args(types.Named("spec", types.NewAny(types.S, object))),
		types.Named("event", object),
	)
}

func (e eventBuiltin) declaration() *ast.Builtin {
	return &ast.Builtin{Name: eventName, Decl: e.function()}
}

func (e eventBuiltin) builtin() *tester.Builtin {
	decl := &rego.Function{Name: eventName, Decl: e.function(), Memoize: true}
	return &tester.Builtin{Decl: e.declaration(), Func: rego.Function1(decl,
		func(bctx rego.BuiltinContext, spec *ast.Term) (*ast.Term, error) {
			doc, err := e.events.document(spec.Value, bctx.Location)
			if err != nil {
				// A test that cannot have its event cannot say anything.
				return nil, topdown.Halt{Err: err}
			}
			return doc, nil
		})}
}

// wrap gives OPA's runner the builtins that gate puts in the place of OPA's.
func wrap(builtins []*topdown.Builtin) []*tester.Builtin {
	var list []*tester.Builtin
	for _, b := range builtins {
		decl := &rego.Function{Name: b.Decl.Name, Decl: b.Decl.Decl, Nondeterministic: b.Decl.Nondeterministic}
		list = append(list, &tester.Builtin{Decl: b.Decl, Func: rego.FunctionDyn(decl,
			func(bctx rego.BuiltinContext, operands []*ast.Term) (out *ast.Term, err error) {
				err = b.Func(bctx, operands, func(t *ast.Term) error {
					out = t
					return nil
				})
				var e *topdown.Error
				if errors.As(err, &e) && e.Code != topdown.CancelErr {
					err = errors.New(e.Message) // the runner adds the position
				}
				return out, err
			})})
	}
	return list
}
