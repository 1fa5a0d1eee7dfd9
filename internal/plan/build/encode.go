package build

import (
	"fmt"
	"math"

	"github.com/open-policy-agent/opa/v1/ir"

	"gate/internal/plan/bytecode"
)

// An encoder writes the functions of a plan.
type encoder struct {
	*bytecode.Writer
	static    *ir.Static
	functions map[string]int // by name
	named     bool           // all can be found by their path
	patterns  patterns
}

// A coder writes one function.
type coder struct {
	*encoder
	code   []uint32
	locals map[ir.Local]uint32 // numbered anew, arguments first
	data   map[ir.Local]bool   // that may hold data, or a part of it
	blocks []*block            // that are open in the innermost body
	err    error
}

// A block is where what is undefined leads to: its end.
type block struct {
	jumps []int // instructions that lead there
}

// function writes a function of the planner.
func (e *encoder) function(f *ir.Func, named bool) error {
	c := &coder{encoder: e, locals: map[ir.Local]uint32{}, data: map[ir.Local]bool{}}
	if len(f.Params) > 1 {
		c.data[f.Params[1]] = true // after the input
	}
	for _, p := range f.Params {
		c.local(p)
	}
	c.local(f.Return)
	for _, b := range f.Blocks {
		c.block(b)
	}
	if c.err != nil {
		return fmt.Errorf("%s: %w", f.Name, c.err)
	}
	if len(c.locals) > bytecode.MaxLocals {
		return fmt.Errorf("%s has more than %d variables", f.Name, bytecode.MaxLocals)
	}
	var path []string
	if named {
		path = f.Path
	}
	e.Function(bytecode.Function{Locals: len(c.locals), Args: len(f.Params), Memoized: len(f.Params) == 2}, path, c.code)
	return nil
}

func (c *coder) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// local returns the word of a variable.
func (c *coder) local(l ir.Local) uint32 {
	n, known := c.locals[l]
	if !known {
		n = uint32(len(c.locals))
		c.locals[l] = n
	}
	return n
}

func (c *encoder) constant(i int) string { return c.static.Strings[i].Value }

// operand returns the word of an operand.
func (c *coder) operand(o ir.Operand) uint32 {
	switch v := plain(o.Value).(type) {
	case ir.Local:
		return bytecode.Operand(bytecode.OfLocal, int(c.local(v)))
	case ir.StringIndex:
		return bytecode.Operand(bytecode.OfString, c.String(c.constant(int(v))))
	case ir.Bool:
		if v {
			return bytecode.Operand(bytecode.OfBool, 1)
		}
		return bytecode.Operand(bytecode.OfBool, 0)
	}
	c.fail("operand of type %T", o.Value)
	return 0
}

// plain returns a value that was read from JSON, as a pointer, as the planner
// makes it.
func plain(v ir.Val) ir.Val {
	switch v := v.(type) {
	case *ir.Local:
		return *v
	case *ir.StringIndex:
		return *v
	case *ir.Bool:
		return *v
	}
	return v
}

// emit writes an instruction that is always defined.
func (c *coder) emit(op bytecode.Op, words ...uint32) {
	c.code = append(append(c.code, bytecode.Instruction(op, 0)), words...)
}

// may writes an instruction that leads to the end of the innermost block if it is
// undefined.
func (c *coder) may(op bytecode.Op, words ...uint32) { c.leads(0, op, words...) }

// leads is may for the block that lies n further out.
func (c *coder) leads(n int, op bytecode.Op, words ...uint32) {
	if n >= len(c.blocks) {
		c.fail("a jump out of a body")
		return
	}
	b := c.blocks[len(c.blocks)-1-n]
	b.jumps = append(b.jumps, len(c.code))
	c.emit(op, words...)
}

// block writes statements; what is undefined leads behind them.
func (c *coder) block(b *ir.Block) { c.closed(b, func() {}) }

// closed writes statements and what is to stand at their end.
func (c *coder) closed(b *ir.Block, end func()) {
	open := &block{}
	c.blocks = append(c.blocks, open)
	for _, s := range b.Stmts {
		c.statement(s)
	}
	end()
	c.blocks = c.blocks[:len(c.blocks)-1]
	for _, at := range open.jumps {
		ahead := len(c.code) - at
		if ahead > bytecode.MaxAhead {
			c.fail("a rule that is too large")
			return
		}
		c.code[at] |= bytecode.Instruction(0, ahead)
	}
}

// body writes the body of the instruction that begins at from and notes its
// length in the word length of it. The end is Done where it matters that it was
// come to. No jump leads out of a body.
func (c *coder) body(from, length int, b *ir.Block, ends bool) {
	outside := c.blocks
	c.blocks = nil
	start := len(c.code)
	c.closed(b, func() {
		if ends {
			c.emit(bytecode.Done)
		}
	})
	c.blocks = outside
	c.code[from+length] = uint32(len(c.code) - start)
}

// place returns the words of a statement's place.
func (c *coder) place(l ir.Location) []uint32 {
	file := ""
	if l.File >= 0 && l.File < len(c.static.Files) {
		file = c.static.Files[l.File].Value
	}
	return []uint32{uint32(c.String(file)), uint32(max(0, min(l.Row, math.MaxInt32)))}
}
