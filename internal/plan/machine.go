package plan

import (
	"errors"
	"fmt"

	"gate/internal/plan/builtin"
	"gate/internal/plan/bytecode"
	"gate/internal/plan/pattern"
	"gate/internal/plan/value"
)

// maxDepth bounds how deep calls and bodies stand within each other. Rego knows
// no recursion, so only a very long chain of rules reaches it, or a damaged
// program.
const maxDepth = 20_000

// maxWeight bounds what one value holds, written out, and so the time of one
// comparison. No event holds as much: package strictjson allows 200 000 keys and
// elements.
const maxWeight = 1 << 20

var (
	errDeep   = errors.New("its rules call each other too deep")
	errLarge  = errors.New("it makes a value that is too large")
	errNoRule = errors.New("the compiled plan has no such rule")
)

// An Error is what went wrong at a place of a policy.
type Error struct {
	File    string // "" if the place is not known
	Row     int
	Code    string // as OPA's topdown names kinds of errors
	Message string
	Err     error // what it came of; may be nil
}

// The kinds of errors.
const (
	CodeConflict = "eval_conflict_error"
	CodeType     = "eval_type_error"
	CodeBuiltin  = "eval_builtin_error"
)

func (e *Error) Error() string {
	if e.File == "" {
		return e.Message
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Row, e.Message)
}

func (e *Error) Unwrap() error { return e.Err }

// A Machine evaluates rules of one program on one input. What rules yield is
// remembered, so a helper that several of them use is evaluated once. It is for
// one goroutine; an evaluation costs nothing but what it touches.
type Machine struct {
	program   *bytecode.Program
	code      string
	ctx       *builtin.Context
	arguments [2]value.Value // of every rule: input and data
	lenient   bool           // errors of builtins make a call undefined
	near      int            // the policy after the one that was asked last

	strings  pages // made of the program's when they are used
	numbers  pages
	builtins []builtin.Func
	args     []value.Value // room for those of builtins
	stack    []value.Value // variables of the functions that run
	top      int           // how much of it is taken
	results  results
	depth    int
	err      error
}

// NewMachine returns a machine for a program that [Open] has accepted. A nil
// input is undefined, nil data is an empty object. The context's budget bounds
// all evaluations of the machine together.
func NewMachine(p *Program, ctx *builtin.Context, input, data value.Value) *Machine {
	if data == nil {
		data = &value.Object{}
	}
	m := &Machine{
		program: p.code, code: p.code.Code(), arguments: [2]value.Value{nil, data},
		strings:  newPages(p.code.Strings()),
		numbers:  newPages(p.code.Numbers()),
		builtins: p.builtins,
		results:  newResults(p.code.Functions()),
	}
	m.reset(ctx, input)
	return m
}

// patterns returns what was compiled of a pattern when the program was made.
func (m *Machine) patterns(text string) builtin.Patterns {
	p := m.program.Pattern(text)
	return builtin.Patterns{Regex: pattern.Program(p.Regex), Glob: pattern.Program(p.Glob)}
}

// reset readies a machine that has had no error for another event.
func (m *Machine) reset(ctx *builtin.Context, input value.Value) {
	m.ctx, m.arguments[0] = ctx, input
	if ctx != nil && ctx.Patterns == nil {
		ctx.Patterns = m.patterns
	}
	m.results.forget()
}

// Lenient makes calls of builtins that fail undefined, as OPA does unless its
// strict mode is on. It is not for deciding about anything.
func (m *Machine) Lenient() { m.lenient = true }

// Eval evaluates a rule, named by the parts of its path below data. The result is
// nil if the rule is undefined. After an error the machine is of no more use.
func (m *Machine) Eval(path ...string) (v value.Value, err error) {
	defer m.caught(&err)
	f := m.program.Find(entry(path))
	if f < 0 {
		return nil, errNoRule
	}
	return m.rule(rule{Function: f})
}

// A rule is one that a policy is asked for.
type rule = bytecode.Rule

// rules returns the rules of a package, none if it is not in the program.
func (m *Machine) rules(pkg string) (rules bytecode.Rules, err error) {
	defer m.caught(&err)
	rules, place := m.program.Policy(pkg, m.near)
	m.near = place + 1
	return rules, nil
}

// ask evaluates one rule of a policy.
func (m *Machine) ask(rules bytecode.Rules, i int) (r rule, v value.Value, err error) {
	defer m.caught(&err)
	r = rules.At(i)
	v, err = m.rule(r)
	return r, v, err
}

func (m *Machine) rule(r rule) (value.Value, error) {
	if m.err != nil {
		return nil, m.err
	}
	v, ok := m.call(r.Function, m.arguments[:])
	if !ok {
		return nil, m.err
	}
	return v, nil
}

// caught makes an error of what a damaged program did.
func (m *Machine) caught(err *error) {
	if r := recover(); r != nil {
		m.err = fmt.Errorf("%w: %v", bytecode.ErrDamaged, r)
		*err = m.err
	}
}

// entry returns the path at which the planner puts a rule.
func entry(path []string) string {
	return "g0\x00" + bytecode.Path(path...)
}

// fail keeps the error that ends the evaluation.
func (m *Machine) fail(err error) status {
	if m.err == nil {
		m.err = err
	}
	return failed
}

// call runs a function; false is an error.
func (m *Machine) call(number int, args []value.Value) (value.Value, bool) {
	f := m.program.Function(number)
	if f.Memoized {
		if v, known := m.results.of(number); known {
			return v, true
		}
	}
	locals := m.take(f.Locals)
	if locals == nil {
		return nil, false
	}
	copy(locals, args[:f.Args])
	r := run{Machine: m, locals: locals, function: f.Args > 2}
	st := r.body(f.Start, f.End)
	m.top -= f.Locals
	clear(locals)
	if st == failed {
		return nil, false
	}
	if f.Memoized {
		m.results.keep(number, r.result)
	}
	return r.result, true
}

// take takes n variables off the stack, nil if there is no memory for them. A
// stack that is too small is replaced; who has variables on the old one keeps
// them there.
func (m *Machine) take(n int) []value.Value {
	if m.top+n > len(m.stack) {
		size := max(64, 2*len(m.stack), m.top+n)
		if err := m.ctx.Alloc(16 * size); err != nil {
			m.fail(err)
			return nil
		}
		m.stack = make([]value.Value, size)
	}
	m.top += n
	return m.stack[m.top-n : m.top : m.top]
}

// text returns string i as a value.
func (m *Machine) text(i int) value.Value {
	v := m.strings.at(i)
	if *v == nil {
		*v = value.String(m.program.String(i))
	}
	return *v
}

// number returns number i as a value.
func (m *Machine) number(i int) value.Value {
	v := m.numbers.at(i)
	if *v == nil {
		n, err := value.Number(m.program.Number(i))
		if err != nil {
			panic(err)
		}
		*v = n
	}
	return *v
}

// spend takes steps off the budget.
func (m *Machine) spend(n int) bool {
	if err := m.ctx.Spend(n); err != nil {
		m.fail(err)
		return false
	}
	return true
}

// made takes a value that was made or grew off the budget.
func (m *Machine) made(v value.Value, bytes int) bool {
	if value.Weight(v) > maxWeight {
		m.fail(&builtin.Halt{Err: errLarge})
		return false
	}
	if err := m.ctx.Alloc(bytes); err != nil {
		m.fail(err)
		return false
	}
	return true
}
