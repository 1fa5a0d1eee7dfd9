package build

import (
	"strconv"

	"github.com/open-policy-agent/opa/v1/ir"

	"gate/internal/plan/bytecode"
)

// statement writes one statement.
func (c *coder) statement(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.NopStmt:
	case *ir.BlockStmt:
		for _, b := range s.Blocks {
			c.block(b)
		}
	case *ir.BreakStmt:
		c.leads(int(s.Index), bytecode.Jump)
	case *ir.ReturnLocalStmt:
		c.emit(bytecode.Return, c.local(s.Source))
	case *ir.CallStmt:
		c.call(s)
	case *ir.CallDynamicStmt:
		c.callDynamic(s)
	case *ir.DotStmt:
		c.dot(s)
	case *ir.LenStmt:
		c.emit(bytecode.Len, c.local(s.Target), c.operand(s.Source))
	case *ir.EqualStmt:
		c.may(bytecode.Equal, c.operand(s.A), c.operand(s.B))
	case *ir.NotEqualStmt:
		c.may(bytecode.NotEqual, c.operand(s.A), c.operand(s.B))
	case *ir.IsArrayStmt:
		c.may(bytecode.IsArray, c.operand(s.Source))
	case *ir.IsObjectStmt:
		c.may(bytecode.IsObject, c.operand(s.Source))
	case *ir.IsSetStmt:
		c.may(bytecode.IsSet, c.operand(s.Source))
	case *ir.IsDefinedStmt:
		c.may(bytecode.Defined, c.local(s.Source))
	case *ir.IsUndefinedStmt:
		c.may(bytecode.Undefined, c.local(s.Source))
	case *ir.AssignVarStmt:
		c.keepsData(s.Source, s.Target)
		c.emit(bytecode.Assign, c.local(s.Target), c.operand(s.Source))
	case *ir.AssignVarOnceStmt:
		c.emit(bytecode.AssignOnce, append([]uint32{c.local(s.Target), c.operand(s.Source)}, c.place(s.Location)...)...)
	case *ir.ResetLocalStmt:
		c.emit(bytecode.Reset, c.local(s.Target))
	default:
		c.composite(s)
	}
}

// dot writes the look-up of a key. OPA looks base documents up by path in its
// storage, where keys that are no strings are something else, so the machine is
// told where it may have one before it.
func (c *coder) dot(s *ir.DotStmt) {
	op := bytecode.Dot
	if c.keepsData(s.Source, s.Target) {
		op = bytecode.DotData
	}
	c.may(op, c.local(s.Target), c.operand(s.Source), c.operand(s.Key))
}

// keepsData notes that a variable holds data, or a part of it, if what it is made
// of does.
func (c *coder) keepsData(source ir.Operand, target ir.Local) bool {
	l, ok := plain(source.Value).(ir.Local)
	if ok = ok && c.data[l]; ok {
		c.data[target] = true
	}
	return ok
}

// composite writes statements that make values or have a body.
func (c *coder) composite(s ir.Stmt) {
	switch s := s.(type) {
	case *ir.AssignIntStmt:
		c.integer(s.Target, s.Value)
	case *ir.MakeNumberIntStmt:
		c.integer(s.Target, s.Value)
	case *ir.MakeNumberRefStmt:
		text := c.constant(s.Index)
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
			c.integer(s.Target, n)
			return
		}
		c.emit(bytecode.Number, c.local(s.Target), uint32(c.Number(text)))
	case *ir.MakeNullStmt:
		c.emit(bytecode.Null, c.local(s.Target))
	case *ir.MakeArrayStmt:
		c.emit(bytecode.Array, c.local(s.Target), uint32(max(0, s.Capacity)))
	case *ir.MakeObjectStmt:
		c.emit(bytecode.Object, c.local(s.Target))
	case *ir.MakeSetStmt:
		c.emit(bytecode.Set, c.local(s.Target))
	case *ir.ArrayAppendStmt:
		c.emit(bytecode.Append, c.local(s.Array), c.operand(s.Value))
	case *ir.SetAddStmt:
		c.emit(bytecode.Add, c.local(s.Set), c.operand(s.Value))
	case *ir.ObjectInsertStmt:
		c.emit(bytecode.Insert, c.local(s.Object), c.operand(s.Key), c.operand(s.Value))
	case *ir.ObjectInsertOnceStmt:
		c.emit(bytecode.InsertOnce, append([]uint32{c.local(s.Object), c.operand(s.Key), c.operand(s.Value)}, c.place(s.Location)...)...)
	case *ir.ObjectMergeStmt:
		c.emit(bytecode.Merge, append([]uint32{c.local(s.A), c.local(s.B), c.local(s.Target)}, c.place(s.Location)...)...)
	case *ir.ScanStmt:
		c.keepsData(ir.Operand{Value: s.Source}, s.Value)
		from := len(c.code)
		c.emit(bytecode.Scan, c.local(s.Source), c.local(s.Key), c.local(s.Value), 0)
		c.body(from, 4, s.Block, false)
	case *ir.NotStmt:
		from := len(c.code)
		c.may(bytecode.Not, 0)
		c.body(from, 1, s.Block, true)
	case *ir.WithStmt:
		c.with(s)
	default:
		c.fail("statement of type %T", s)
	}
}

func (c *coder) integer(target ir.Local, n int64) {
	c.emit(bytecode.Int, c.local(target), uint32(uint64(n)), uint32(uint64(n)>>32))
}

func (c *coder) call(s *ir.CallStmt) {
	words := []uint32{0, c.local(s.Result), uint32(len(s.Args))}
	for _, a := range s.Args {
		words = append(words, c.operand(a))
	}
	if f, own := c.functions[s.Func]; own {
		words[0] = uint32(f)
		c.may(bytecode.Call, words...)
		return
	}
	words[0] = uint32(c.Builtin(s.Func))
	c.may(bytecode.Builtin, append(words, c.place(s.Location)...)...)
}

func (c *coder) callDynamic(s *ir.CallDynamicStmt) {
	words := []uint32{c.local(s.Result), uint32(len(s.Args)), uint32(len(s.Path))}
	for _, a := range s.Args {
		words = append(words, c.local(a))
	}
	for _, p := range s.Path {
		words = append(words, c.operand(p))
	}
	c.may(bytecode.Dynamic, words...)
}

func (c *coder) with(s *ir.WithStmt) {
	words := []uint32{c.local(s.Local), c.operand(s.Value), uint32(len(s.Path)), 0}
	for _, p := range s.Path {
		words = append(words, uint32(c.String(c.constant(p))))
	}
	from := len(c.code)
	c.may(bytecode.With, words...)
	c.body(from, 4, s.Block, true)
}
