// Package plan runs policies from a compiled plan, without OPA.
//
// A plan is what OPA's own planner makes of the policies of a source; package
// internal/plan/build writes it as a section of a file, and this package runs it
// where it lies. Opening costs the same for one policy as for thousands, and an
// evaluation touches only the rules it needs. Start with [NewEvaluator]; [Open]
// and [NewMachine] are what it is made of.
//
// It is exactly as right as OPA, or does not answer: whatever it cannot do is an
// error, never another answer, and whoever asks then asks OPA.
package plan

import (
	"fmt"

	"gate/internal/plan/builtin"
	"gate/internal/plan/bytecode"
)

// A Program is a compiled plan, open. It is immutable and safe for concurrent
// use.
type Program struct {
	code     *bytecode.Program
	builtins []builtin.Func
}

// Open reads a section that internal/plan/build made. The text is used where it
// lies, for as long as the program and any value that came of it. It is an error
// if the section is damaged, of another version, or calls a builtin that there is
// none of here. Not all damage is seen at once: an evaluation may find more.
func Open(text string) (p *Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, fmt.Errorf("%w: %v", bytecode.ErrDamaged, r)
		}
	}()
	code, err := bytecode.Open(text)
	if err != nil {
		return nil, err
	}
	if code.Builtins() > maxBuiltins {
		return nil, bytecode.ErrDamaged
	}
	p = &Program{code: code, builtins: make([]builtin.Func, code.Builtins())}
	for i := range p.builtins {
		name := code.Builtin(i)
		if p.builtins[i] = builtin.Lookup(name); p.builtins[i] == nil {
			return nil, fmt.Errorf("the compiled plan calls %s, which is not here", name)
		}
	}
	return p, nil
}

// maxBuiltins is more than OPA has.
const maxBuiltins = 1000

// Has reports whether the program has a rule at a path below data.
func (p *Program) Has(path ...string) (has bool) {
	defer func() {
		if recover() != nil {
			has = false
		}
	}()
	return p.code.Find(entry(path)) >= 0
}
