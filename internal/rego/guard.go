package rego

import (
	"fmt"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"gate/internal/plan/builtin"
)

// Some of OPA's builtins can, in one step that looks neither at cancellation nor
// at memory, make far more than they are given: sprintf("%[1]999999d…"), a
// concat of a thousand long strings, a shift. The heap watchdog comes too late
// for a single allocation, and Go cannot recover from one that fails. Calls of
// these builtins are therefore compiled to a guard that measures first.
//
// A second group is guarded for another reason: OPA's rule index understands
// them and skips a rule on a value of a wrong type, where evaluation would be an
// error. Null means unknown here, so a rule that asks startswith(null, …) must
// be a fault, not silent.
//
// The limits are those that plans have ([builtin.MaxText] and the others).

// A guard stands in front of one builtin. Its check sees the declared arguments;
// a nil check only keeps the call from the rule index.
type guard struct {
	name  string
	check func(operands []*ast.Term) error
}

var guards = []guard{
	{"startswith", nil},
	{"endswith", nil},
	{"strings.any_prefix_match", nil},
	{"strings.any_suffix_match", nil},
	{"glob.match", nil},

	{"concat", checkConcat},
	{"sprintf", checkSprintf},
	{"replace", checkReplace},
	{"strings.replace_n", checkReplaceN},
	{"regex.replace", checkRegexReplace},
	{"internal.template_string", atMost(1)},
	{"strings.render_template", atMost(1)},

	{"json.marshal", atMost(6)},
	{"json.marshal_with_options", atMost(12)},
	{"yaml.marshal", atMost(6)},
	{"hex.encode", atMost(2)},
	{"base64.encode", atMost(2)},
	{"base64url.encode", atMost(2)},
	{"base64url.encode_no_pad", atMost(2)},
	{"urlquery.encode", atMost(3)},
	{"urlquery.encode_object", atMost(3)},
	{"json.unmarshal", scans(0)},
	{"yaml.unmarshal", scans(0)},
	{"urlquery.decode_object", scans(0)},

	{"split", scans(0)},
	{"strings.split_n", scans(0)},
	{"indexof_n", scans(0)},
	{"regex.split", scans(1)},
	{"regex.find_n", scans(1)},
	{"regex.find_all_string_submatch_n", scans(1)},

	{"array.concat", checkArrays},
	{"array.flatten", checkFlatten},
	{"numbers.range", checkRange},
	{"numbers.range_step", checkRange},

	{"plus", checkNumbers},
	{"minus", checkNumbers},
	{"mul", checkNumbers},
	{"div", checkNumbers},
	{"rem", checkNumbers},
	{"round", checkNumbers},
	{"ceil", checkNumbers},
	{"floor", checkNumbers},
	{"abs", checkNumbers},
	{"sum", checkNumbers},
	{"product", checkNumbers},
	{"format_int", checkNumbers},
	{"bits.and", checkNumbers},
	{"bits.or", checkNumbers},
	{"bits.xor", checkNumbers},
	{"bits.negate", checkNumbers},
	{"bits.lsh", checkShift},
	{"bits.rsh", checkNumbers},

	{"time.format", checkLayout},
	{"json.match_schema", checkSchema},
	{"json.verify_schema", checkSchema},
}

// GuardPrefix begins the names that guarded calls are compiled to. Errors do not
// show them.
const GuardPrefix = "gate.guarded."

// guardSet is what compilers and queries need to know about the guards.
type guardSet struct {
	declarations []*ast.Builtin
	builtins     map[string]*topdown.Builtin
	constants    bool                      // schemas must be such
	refs         func() map[string]ast.Ref // by the guarded name; for compilers only
}

// newGuardSet makes guards for those of OPA's builtins that are granted.
func newGuardSet(g grant) *guardSet {
	granted := grantedBuiltins(g)
	s := &guardSet{builtins: make(map[string]*topdown.Builtin, len(guards)), constants: g != grantManaged}
	var names []string
	for _, g := range guards {
		if !granted[g.name] {
			continue
		}
		if s.constants && g.name == matchSchema {
			g.check = checkMatch
		}
		b := g.builtin()
		s.declarations = append(s.declarations, b.Decl)
		s.builtins[b.Decl.Name] = b
		names = append(names, g.name)
	}
	s.refs = sync.OnceValue(func() map[string]ast.Ref {
		refs := make(map[string]ast.Ref, len(names))
		for i, name := range names {
			refs[name] = s.declarations[i].Ref()
		}
		return refs
	})
	return s
}

// builtin returns the guard as a builtin of the type of the guarded one.
func (g guard) builtin() *topdown.Builtin {
	decl := *ast.BuiltinMap[g.name]
	decl.Name = GuardPrefix + g.name
	decl.Infix = ""
	guarded, args := topdown.GetBuiltin(g.name), len(decl.Decl.FuncArgs().Args)
	return &topdown.Builtin{Decl: &decl, Func: func(bctx topdown.BuiltinContext, operands []*ast.Term, iter func(*ast.Term) error) error {
		if g.check != nil {
			if err := g.check(operands[:args]); err != nil {
				return &topdown.Error{Code: topdown.BuiltinErr, Location: bctx.Location, Message: g.name + ": " + err.Error()}
			}
		}
		return guarded(bctx, operands, iter)
	}}
}

// stage returns the compiler stage that puts guards in. It runs after all
// checks, so that messages name what the policy says, and before the rule index
// is built.
func (s *guardSet) stage() ast.CompilerStageDefinition {
	return ast.CompilerStageDefinition{Name: "GuardBuiltins", MetricName: "guard_builtins", Stage: func(c *ast.Compiler) *ast.Error {
		for _, m := range c.Modules {
			ast.WalkExprs(m, func(e *ast.Expr) bool {
				s.guard(e)
				return false
			})
		}
		return nil
	}}
}

// guard redirects the call that e is, and functions that it replaces.
func (s *guardSet) guard(e *ast.Expr) {
	if e.IsCall() {
		terms := e.Terms.([]*ast.Term)
		terms[0] = s.redirect(terms[0])
	}
	for _, w := range e.With {
		w.Target, w.Value = s.redirect(w.Target), s.redirect(w.Value)
	}
}

func (s *guardSet) redirect(t *ast.Term) *ast.Term {
	ref, ok := t.Value.(ast.Ref)
	if !ok {
		return t
	}
	if _, ok := ref[0].Value.(ast.Var); !ok || ref[0].Equal(ast.DefaultRootDocument) || ref[0].Equal(ast.InputRootDocument) {
		return t
	}
	to, ok := s.refs()[ref.String()]
	if !ok {
		return t
	}
	return ast.NewTerm(to).SetLocation(t.Location)
}

func tooLarge(bytes int) error {
	if bytes > builtin.MaxText {
		return fmt.Errorf("the result would be larger than %d MiB", builtin.MaxText>>20)
	}
	return nil
}

// atMost guards builtins whose result is a text at most factor times as long as
// the JSON text of its first operand.
func atMost(factor int) func([]*ast.Term) error {
	return func(operands []*ast.Term) error {
		n := 0
		for _, o := range operands {
			n += textSize(o.Value, builtin.MaxText)
		}
		if n > builtin.MaxText {
			return tooLarge(n)
		}
		// Texts rarely need their worst case; what is short may have it.
		if n*factor > 2*builtin.MaxText {
			return tooLarge(n * factor)
		}
		return nil
	}
}

// scans guards builtins that make a term of each small piece of operand i.
func scans(i int) func([]*ast.Term) error {
	return func(operands []*ast.Term) error {
		if s, ok := operands[i].Value.(ast.String); ok && len(s) > builtin.MaxScan {
			return fmt.Errorf("the text is longer than %d MiB", builtin.MaxScan>>20)
		}
		return nil
	}
}

// textSize estimates the length of v's JSON text, counting each value as no
// shorter than the work it makes. It stops above limit, so that a value that
// holds another many times over costs no more to measure.
func textSize(v ast.Value, limit int) int {
	n := 16
	add := func(t *ast.Term) bool {
		n += textSize(t.Value, limit-n)
		return n > limit
	}
	switch v := v.(type) {
	case ast.String:
		n += len(v)
	case ast.Number:
		n += len(v)
	case *ast.Array:
		v.Until(add)
	case ast.Set:
		v.Until(add)
	case ast.Object:
		v.Until(func(k, val *ast.Term) bool { return add(k) || add(val) })
	}
	return n
}
