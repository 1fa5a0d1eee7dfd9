package rego

import "github.com/open-policy-agent/opa/v1/ast"

// enter counts one more level of nesting; leave takes it back.
func (d *decoder) enter() {
	if d.depth++; d.depth > maxDepth {
		d.damaged()
	}
}

func (d *decoder) leave() { d.depth-- }

func (d *decoder) rule(m *ast.Module) *ast.Rule {
	d.enter()
	defer d.leave()
	parts := d.int()
	r := &ast.Rule{Module: m, Default: parts&ruleDefault != 0, Location: d.location()}
	h := &ast.Head{Assign: parts&ruleAssign != 0, Location: d.location(), Name: d.name()}
	h.Reference = d.terms()
	if args := d.terms(); len(args) > 0 {
		h.Args = args
	}
	if parts&ruleKey != 0 {
		h.Key = d.term()
	}
	if parts&ruleValue != 0 {
		h.Value = d.term()
	}
	r.Head, r.Body = h, d.body()
	if parts&ruleElse != 0 && d.err == nil {
		r.Else = d.rule(m)
	}
	if len(h.Reference) == 0 {
		d.damaged()
	} else if _, ok := h.Reference[0].Value.(ast.Var); !ok {
		d.damaged()
	}
	return r
}

// location reads a row. All that stands in one row has one location: columns
// are of no use to anybody who runs policies.
func (d *decoder) location() *ast.Location { return d.inRow(d.int()) }

func (d *decoder) inRow(row int) *ast.Location {
	if row == 0 {
		return nil
	}
	if row >= maxRows {
		d.damaged()
		return nil
	}
	for len(d.rows) <= row {
		d.rows = append(d.rows, nil)
	}
	if d.rows[row] == nil {
		d.rows[row] = &ast.Location{File: d.file, Row: row, Col: 1}
	}
	return d.rows[row]
}

func (d *decoder) body() ast.Body {
	d.enter()
	defer d.leave()
	n := d.count()
	body := make(ast.Body, 0, min(n, fewAtOnce))
	for range n {
		if d.err != nil {
			break
		}
		body = append(body, d.expr())
	}
	return body
}

func (d *decoder) expr() *ast.Expr {
	kind := d.byte()
	if len(d.spareExprs) == 0 {
		d.spareExprs = make([]ast.Expr, 16)
	}
	x := &d.spareExprs[0]
	d.spareExprs = d.spareExprs[1:]
	x.Negated, x.Generated, x.Location, x.Index = kind&exprNegated != 0, kind&exprGenerated != 0, d.location(), d.int()
	switch kind &^ (exprNegated | exprGenerated | exprWith) {
	case exprTerm:
		x.Terms = d.term()
	case exprCall:
		x.Terms = d.call()
	case exprEvery:
		every := &ast.Every{}
		if d.bool() {
			every.Key = d.term()
		}
		every.Value, every.Domain, every.Body = d.term(), d.term(), d.body()
		every.Location = d.location()
		x.Terms = every
	default:
		d.damaged()
	}
	if kind&exprWith != 0 {
		d.with(x)
	}
	return x
}

func (d *decoder) with(x *ast.Expr) {
	for range d.count() {
		if d.err != nil {
			return
		}
		w := &ast.With{Location: d.location(), Target: d.term(), Value: d.term()}
		if name, ok := w.Value.Value.(ast.Ref); ok && !d.allows(name) {
			d.damaged() // it stands for a function
		}
		x.With = append(x.With, w)
	}
}

// call reads a function and its arguments. Which builtins a source may call does
// not depend on what somebody wrote into a file.
func (d *decoder) call() []*ast.Term {
	list := d.some()
	if d.err != nil {
		return list
	}
	if name, ok := list[0].Value.(ast.Ref); !ok || !d.allows(name) {
		d.damaged()
	}
	return list
}

// allows reports whether a reference leads below data or input, or names a
// builtin that may be called.
func (d *decoder) allows(ref ast.Ref) bool {
	return d.granted == nil || ref.HasPrefix(ast.DefaultRootRef) || ref.HasPrefix(ast.InputRootRef) || d.granted(ref.String())
}

func (d *decoder) terms() []*ast.Term {
	n := d.count()
	list := d.slots(n)
	for range n {
		if d.err != nil {
			return nil
		}
		list = append(list, d.term())
	}
	return list
}

// slots returns room for n terms, or for the first of them if they are many.
func (d *decoder) slots(n int) []*ast.Term {
	n = min(n, fewAtOnce)
	if len(d.spareSlots) < n {
		d.spareSlots = make([]*ast.Term, 4*fewAtOnce)
	}
	list := d.spareSlots[:0:n]
	d.spareSlots = d.spareSlots[n:]
	return list
}

func (d *decoder) term() *ast.Term {
	d.enter()
	defer d.leave()
	if len(d.spareTerms) == 0 {
		d.spareTerms = make([]ast.Term, 64)
	}
	t := &d.spareTerms[0]
	d.spareTerms = d.spareTerms[1:]
	kind := d.byte()
	if kind&sameRow == 0 {
		d.row = d.location()
	}
	t.Location, t.Value = d.row, d.value(kind&^sameRow)
	return t
}

func (d *decoder) value(kind byte) ast.Value {
	switch kind {
	case kindNull:
		return ast.NullValue
	case kindFalse:
		return ast.Boolean(false)
	case kindTrue:
		return ast.Boolean(true)
	case kindAtom:
		return d.atom()
	case kindRef:
		return ast.Ref(d.some())
	case kindCall:
		return ast.Call(d.call())
	case kindArray:
		return ast.NewArray(d.terms()...)
	case kindSet:
		return ast.NewSet(d.terms()...)
	case kindObject:
		return d.object()
	case kindArrayOf:
		return &ast.ArrayComprehension{Term: d.term(), Body: d.body()}
	case kindSetOf:
		return &ast.SetComprehension{Term: d.term(), Body: d.body()}
	case kindObjectOf:
		return &ast.ObjectComprehension{Key: d.term(), Value: d.term(), Body: d.body()}
	}
	d.damaged()
	return ast.NullValue
}

// some reads one term or more.
func (d *decoder) some() []*ast.Term {
	list := d.terms()
	if len(list) == 0 {
		d.damaged()
	}
	return list
}

func (d *decoder) object() ast.Value {
	n := d.count()
	items := make([][2]*ast.Term, 0, min(n, fewAtOnce))
	for range n {
		if d.err != nil {
			break
		}
		items = append(items, ast.Item(d.term(), d.term()))
	}
	return ast.NewObject(items...)
}
