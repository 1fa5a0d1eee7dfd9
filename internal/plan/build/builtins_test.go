package build_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/builtins"

	"gate/internal/plan/builtin"
	"gate/internal/plan/pattern"
	"gate/internal/plan/value"
	"gate/internal/rego"
)

// An answer is what a builtin makes of operands: a value as text, undefined, or
// an error and its code.
type answer struct {
	text   string
	code   string
	result ast.Value // nil unless it is a value
}

func (a answer) String() string { return strings.TrimSpace(a.code + " " + a.text) }

const now = 1_600_000_000_123_456_789

// byOPA calls OPA's builtin. A panic is an answer, too: it was one before.
func byOPA(name string, operands []*ast.Term) (a answer) {
	defer func() {
		if r := recover(); r != nil {
			a = answer{code: "panic", text: fmt.Sprint(r)}
		}
	}()
	ctx := topdown.BuiltinContext{
		Context: context.Background(), Cancel: topdown.NewCancel(), Cache: builtins.Cache{},
		Time: ast.NewTerm(ast.Number(fmt.Sprint(now))),
	}
	var results []*ast.Term
	err := topdown.GetBuiltin(name)(ctx, operands, func(t *ast.Term) error {
		results = append(results, t)
		return nil
	})
	e, ok := errors.AsType[*topdown.Error](err)
	switch {
	case ok:
		return answer{code: e.Code, text: strings.TrimPrefix(e.Message, name+": ")}
	case err != nil:
		return answer{code: "other", text: err.Error()}
	case name == "walk":
		all := ast.NewArray(results...)
		return answer{text: all.String(), result: all}
	case len(results) == 0 || results[0] == nil:
		return answer{text: "undefined"}
	}
	return answer{text: results[0].Value.String(), result: results[0].Value}
}

// preparedPatterns compiles what policies have as constants.
func preparedPatterns(text string) builtin.Patterns {
	return builtin.Patterns{Regex: pattern.Regex(text), Glob: pattern.Glob(text)}
}

func byUs(ctx *builtin.Context, name string, operands []*ast.Term) answer {
	args := make([]value.Value, len(operands))
	for i, t := range operands {
		args[i] = fromAST(t.Value)
	}
	v, err := builtin.Lookup(name)(ctx, args)
	if _, halts := errors.AsType[*builtin.Halt](err); halts {
		return answer{code: "halt", text: err.Error()}
	}
	wrong, isType := errors.AsType[*builtin.TypeError](err)
	switch {
	case isType:
		return answer{code: topdown.TypeErr, text: wrong.Message}
	case err != nil:
		return answer{code: topdown.BuiltinErr, text: err.Error()}
	case v == nil:
		return answer{text: "undefined"}
	}
	return answer{text: value.Text(v), result: toAST(v)}
}

// operandsFor makes operands for a builtin.
func operandsFor(g generator, name string) []*ast.Term {
	declared := ast.BuiltinMap[name].Decl.FuncArgs().Args
	operands := make([]*ast.Term, len(declared))
	for i, tpe := range declared {
		operands[i] = ast.NewTerm(g.of(tpe))
	}
	if name == "json.patch" {
		operands[1] = ast.NewTerm(g.patch())
	}
	return operands
}

// compare calls a builtin both ways. What is too large for us is not asked of
// OPA, which would try; and where OPA panics, any answer is better.
func compare(t *testing.T, name string, operands []*ast.Term) {
	t.Helper()
	ours := byUs(&builtin.Context{Now: now}, name, operands)
	if again := byUs(&builtin.Context{Now: now, Patterns: preparedPatterns}, name, operands); again.String() != ours.String() {
		t.Errorf("%s%v\n ours %v\n with patterns compiled before %v", name, operands, ours, again)
	}
	if slices.ContainsFunc(limits, func(limit string) bool { return strings.Contains(ours.text, limit) }) {
		return
	}
	opas := byOPA(name, operands)
	switch {
	case opas.code == "panic", opas.code == ours.code && (opas.text == ours.text || opas.code == topdown.BuiltinErr):
		return
	case ours.text == builtin.ErrUnsure.Error():
		return
	case opas.code == topdown.InternalErr || opas.code == topdown.ConflictErr: // ends the evaluation, and so does ours
		if ours.code == "halt" {
			return
		}
	case writtenDifferently[name] && opas.result != nil && ours.result != nil && opas.result.Compare(ours.result) == 0:
		return
	}
	t.Errorf("%s%v\n ours %v\n OPA's %v", name, operands, ours, opas)
}

// writtenDifferently are builtins that may keep another of two equal keys: 0 or
// -0.0.
var writtenDifferently = map[string]bool{"json.filter": true, "object.filter": true}

// limits are parts of the errors of our limits.
var limits = []string{
	"the result would ", "the text is longer than", "a number of more than",
	"a layout longer than", "the replacement is longer than",
}

// comparable are the builtins of OPA that plans have and that do something.
func comparable() []string {
	var names []string
	for _, b := range ast.Builtins {
		if b.Name != "internal.print" && b.Name != "internal.test_case" && builtin.Lookup(b.Name) != nil {
			names = append(names, b.Name)
		}
	}
	return names
}

// rounds is how often each builtin is compared.
const rounds = 300

// TestBuiltins compares every builtin with OPA's on some operands of all sorts.
func TestBuiltins(t *testing.T) {
	for _, name := range comparable() {
		t.Run(name, func(t *testing.T) {
			h := fnv.New64()
			h.Write([]byte(name))
			g := generator{rand.New(rand.NewPCG(h.Sum64(), 1)), []string{"a"}}
			for range rounds {
				if compare(t, name, operandsFor(g, name)); t.Failed() {
					return
				}
			}
		})
	}
}

// TestGranted holds which builtins that policies of all authorities may call are
// not in plans, so that calls of theirs are handed over: those that no policy of
// the library or of the examples needs.
func TestGranted(t *testing.T) {
	compiledAway := []string{"assign", "eq", "print", "rego.metadata.chain", "rego.metadata.rule"}
	left := strings.Fields(`
		bits.and bits.negate bits.or bits.rsh bits.xor
		crypto.hmac.equal crypto.hmac.md5 crypto.hmac.sha1 crypto.hmac.sha256 crypto.hmac.sha512
		graph.reachable hex.decode hex.encode io.jwt.decode json.match_schema net.cidr_merge object.union_n semver.is_valid units.parse units.parse_bytes
		urlquery.decode urlquery.decode_object urlquery.encode urlquery.encode_object uuid.parse`)
	granted := 0
	for _, b := range rego.Builtins() {
		if !b.Others || slices.Contains(compiledAway, b.Name) {
			continue
		}
		granted++
		if lacks := builtin.Lookup(b.Name) == nil; lacks != slices.Contains(left, b.Name) {
			t.Errorf("plans lack %s: %v", b.Name, lacks)
		}
	}
	if granted < 100 {
		t.Errorf("only %d builtins are granted", granted)
	}
}

// FuzzBuiltins compares a builtin on operands that have texts of the fuzzer.
func FuzzBuiltins(f *testing.F) {
	names := comparable()
	for i := range names {
		f.Add(uint16(i), uint64(i), "a.b", "{a*,b}")
	}
	f.Fuzz(func(t *testing.T, which uint16, seed uint64, a, b string) {
		name := names[int(which)%len(names)]
		compare(t, name, operandsFor(generator{rand.New(rand.NewPCG(seed, 2)), []string{a, b}}, name))
	})
}
