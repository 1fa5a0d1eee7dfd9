package rego

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"

	"gate/hook"
	"gate/internal/verdict"
)

// A Definition is one definition of a rule and what became of it: a policy may
// define deny, or a helper, several times.
type Definition struct {
	Rule       string // deny, ask … or the name of a helper
	Package    string // without "data."
	Pos        string // file:line within the source
	Library    bool   // of the shared library data.gate.lib
	Met        bool   // all conditions were true
	Value      any    // if met: the member, or the helper's value; a JSON tree
	Conditions []Condition
	Left       int // conditions after the first that was not true: nobody looked at them
}

// A Condition is one line of a definition's body.
type Condition struct {
	Text    string // as it is written
	Pos     string
	Negated bool // it begins with "not"
	Met     bool
	Values  []Value      // what its parts stood for
	Helpers []Definition // of the helpers that it asks, those that made it so
}

// A Value is what one expression of a condition stood for.
type Value struct {
	Text   string // the expression as it is written
	Path   string // where it was read below input, such as facts.effects[0].area; "" elsewhere
	Value  any    // a JSON tree; a set is a list
	Absent bool   // it was undefined
}

// libraryPackage holds what policies share.
const libraryPackage = "gate.lib"

const (
	maxQueries = 600 // queries of one account
	maxMembers = 8   // members of one definition
	maxHelpers = 4   // helpers that ask helpers; the library's do not count
)

// Explain works out why a policy says what it says about an event with facts:
// which conditions of its rules were true, and with which values, or which was
// the first that was not. It asks the compiled policy again, condition by
// condition, so that it costs a hundred times an evaluation: it is for people
// who wait, and for a policy that answered without a fault. What ctx or the
// account's own limits cut is left out.
func (e *Evaluator) Explain(ctx context.Context, h *hook.Hook, ev *hook.Event) (list []Definition, err error) {
	defer func() {
		if r := recover(); r != nil {
			list, err = nil, fmt.Errorf("%s: cannot be explained: %v", h.Pos(), r)
		}
	}()
	a, done, err := e.account(ctx, h, ev)
	if err != nil {
		return nil, err
	}
	defer done()
	for _, name := range verdict.Rules() {
		list = append(list, a.rules(h.ID, string(name), nil, 0)...)
	}
	return list, nil
}

// An account is one policy's explanation under way.
type account struct {
	ctx      context.Context
	src      *source
	compiler *ast.Compiler
	txn      storage.Transaction
	ev       *hook.Event
	input    *ast.Term
	cancel   topdown.Cancel
	files    []*parsed
	places   map[int][]place // of what stands in the input, by hash
	left     int             // queries
}

// A parsed file is one as its author wrote it; the compiler's own is rewritten
// beyond recognition.
type parsed struct {
	*ast.Module
	pkg     string
	library bool
	lines   []string
}

// account compiles what the policy needs, on its own: a snapshot holds too little
// for queries that nobody foresaw, and an explanation must not change what
// decisions are made with.
func (e *Evaluator) account(ctx context.Context, h *hook.Hook, ev *hook.Event) (*account, func(), error) {
	src := e.source(h)
	switch {
	case src == nil:
		return nil, nil, fmt.Errorf("%s: no source %q", h.Pos(), h.Source)
	case src.broken != nil:
		return nil, nil, src.broken
	}
	ev = verdict.SeenBy(h, ev)
	input, err := inputOf(ev)
	if err != nil {
		return nil, nil, err
	}
	own, lib, err := src.closure([]string{h.ID})
	if err != nil {
		return nil, nil, err
	}
	a := &account{ctx: ctx, src: src, ev: ev, input: input, cancel: topdown.NewCancel(), left: maxQueries}
	for i, m := range slices.Concat(own, lib) {
		file, err := parseFile(m.File, m.Text, false)
		if err != nil {
			return nil, nil, err
		}
		a.files = append(a.files, &parsed{file, m.Package, i >= len(own) || src.own && under(m.Package, libraryPackage), strings.Split(m.Text, "\n")})
	}
	if a.compiler, err = src.compileFiles(own, lib); err != nil {
		return nil, nil, err
	}
	if a.txn, err = src.store.NewTransaction(ctx, storage.TransactionParams{}); err != nil {
		return nil, nil, err
	}
	a.places = placesOf(input.Value)
	stop := context.AfterFunc(ctx, a.cancel.Cancel)
	return a, func() { stop(); src.store.Abort(ctx, a.txn) }, nil
}

// rules explains all definitions of one rule. Of a helper args are the values
// that it is called with.
func (a *account) rules(pkg, name string, args []*ast.Term, depth int) []Definition {
	var list []Definition
	for _, f := range a.files {
		if f.pkg != pkg {
			continue
		}
		for _, r := range f.Rules {
			if ruleNameOf(r) != name || r.Default {
				continue
			}
			for ; r != nil; r = r.Else {
				found := a.definition(f, r, name, args, depth)
				list = append(list, found...)
				if len(found) > 0 && found[0].Met {
					break // what follows after else is not asked
				}
			}
		}
	}
	return list
}

func ruleNameOf(r *ast.Rule) string {
	ref := r.Head.Ref()
	v, ok := ref[0].Value.(ast.Var)
	if !ok || len(ref) > 1 && len(r.Head.Args) > 0 {
		return ""
	}
	return string(v)
}

// definition explains one definition: once for each member that it gives, or
// once if it gives none.
func (a *account) definition(f *parsed, r *ast.Rule, name string, args []*ast.Term, depth int) []Definition {
	if len(r.Head.Args) != len(args) {
		return nil
	}
	d := Definition{
		Rule: name, Package: f.pkg, Pos: fmt.Sprintf("%s:%d", r.Location.File, r.Location.Row), Library: f.library,
	}
	b := newBody(r, args)
	whole := b.with(len(b.conditions), b.head)
	results, err := a.solve(f, whole, maxMembers)
	if err != nil {
		return nil
	}
	if len(results) == 0 {
		d.Conditions, d.Left = a.unmet(f, b, depth)
		if a.over() {
			return nil
		}
		return []Definition{d}
	}
	var list []Definition
	seen := map[string]bool{}
	for _, result := range results {
		member := d
		member.Met = true
		value, ok := result[headVar]
		if ok {
			member.Value = plain(value.Value)
			if key := value.String(); seen[key] {
				continue
			} else {
				seen[key] = true
			}
		}
		member.Conditions = a.met(f, b, value, depth)
		if a.over() {
			return list
		}
		list = append(list, member)
	}
	return list
}

// met explains a body that was true, with the solution that gives a value.
func (a *account) met(f *parsed, b *body, value *ast.Term, depth int) []Condition {
	pins := []*ast.Expr{}
	if value != nil && b.head != nil {
		pins = append(pins, b.head, ast.Equality.Expr(ast.NewTerm(headVar), value))
	}
	values := a.values(f, b, len(b.conditions), len(b.conditions), pins)
	list := make([]Condition, 0, len(b.conditions))
	for i := range b.conditions {
		list = append(list, a.condition(f, b, i, true, values, depth))
	}
	return list
}

// unmet explains a body that was not true: the conditions up to the first that
// fails.
func (a *account) unmet(f *parsed, b *body, depth int) (list []Condition, left int) {
	good, bad := 0, len(b.conditions)-1
	for n := 1; n <= len(b.conditions); n++ {
		results, err := a.solve(f, b.with(n, nil), 1)
		if err != nil {
			continue // not safe without what comes later
		}
		if len(results) == 0 {
			bad = n - 1
			break
		}
		good = n
	}
	if bad < 0 {
		return nil, 0
	}
	values := a.values(f, b, good, bad+1, nil)
	for i := range bad + 1 {
		list = append(list, a.condition(f, b, i, i < bad, values, depth))
	}
	return list, len(b.conditions) - bad - 1
}

// condition describes one condition with the values of its parts.
func (a *account) condition(f *parsed, b *body, i int, met bool, values known, depth int) Condition {
	e := b.conditions[i]
	c := Condition{
		Text: f.text(e), Pos: fmt.Sprintf("%s:%d", e.Location.File, e.Location.Row), Negated: e.Negated, Met: met,
	}
	assigned := assignedVar(e)
	for _, part := range partsOf(e) {
		v, asked := values[part.String()]
		if !asked || met && part.Value.Compare(assignedCall(e)) == 0 || !met && part.Value.Compare(assigned) == 0 {
			continue
		}
		c.Values = append(c.Values, a.value(part, v, values))
	}
	if depth < maxHelpers {
		c.Helpers = a.helpers(f, e, values, depth)
	}
	return c
}

// helpers explains the rules that a condition asks: those of their definitions
// that answer for how it came out.
func (a *account) helpers(f *parsed, e *ast.Expr, values known, depth int) []Definition {
	var list []Definition
	asked := map[string]bool{}
	for _, call := range callsOf(e) {
		pkg, name, ok := a.resolve(f, call.operator)
		if !ok {
			continue
		}
		args, ok := grounded(call.args, values)
		key := fmt.Sprint(pkg, name, args)
		if !ok || asked[key] {
			continue
		}
		asked[key] = true
		deeper := depth + 1
		if pkg == libraryPackage && f.pkg != pkg {
			deeper = depth
		}
		found := a.rules(pkg, name, args, deeper)
		held := slices.ContainsFunc(found, func(d Definition) bool { return d.Met })
		for _, d := range found {
			if d.Met == held {
				list = append(list, d)
			}
		}
	}
	return list
}
