package plan

import (
	"errors"
	"strconv"

	"gate/internal/plan/builtin"
	"gate/internal/plan/bytecode"
	"gate/internal/plan/value"
)

// A status says how the body of a function, scan, not or with ended.
type status uint8

const (
	undefined status = iota
	done
	returned
	failed
)

// A run is one call of a function.
type run struct {
	*Machine
	locals   []value.Value
	result   value.Value
	function bool // it has arguments of its own
}

func (r *run) word(i int) uint32 {
	b := r.code[4*i : 4*i+4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// local returns which variable word i names.
func (r *run) local(i int) int { return int(r.word(i)) }

// operand returns what the operand in word i stands for, nil if it is undefined.
func (r *run) operand(i int) value.Value {
	kind, n := bytecode.SplitOperand(r.word(i))
	switch kind {
	case bytecode.OfLocal:
		return r.locals[n]
	case bytecode.OfString:
		return r.text(n)
	case bytecode.OfBool:
		return value.Bool(n != 0)
	}
	panic(bytecode.ErrDamaged)
}

// defined is operand for what cannot be undefined in a program that is whole.
func (r *run) defined(i int) value.Value {
	v := r.operand(i)
	if v == nil {
		panic(bytecode.ErrDamaged)
	}
	return v
}

// body runs the instructions from pc until end.
func (r *run) body(pc, end int) status {
	if pc < 0 || end > len(r.code)/4 {
		panic(bytecode.ErrDamaged)
	}
	if r.depth++; r.depth > maxDepth {
		return r.fail(&builtin.Halt{Err: errDeep})
	}
	steps := 0
	for pc < end {
		steps++
		w := r.word(pc)
		length, st := r.step(bytecode.Op(w), pc)
		switch st {
		case done:
			if length <= 0 {
				return r.ended(steps, done)
			}
			pc += length
		case undefined:
			ahead := int(w >> 8)
			if ahead == 0 {
				panic(bytecode.ErrDamaged)
			}
			pc += ahead
		default:
			return r.ended(steps, st)
		}
	}
	return r.ended(steps, undefined)
}

func (r *run) ended(steps int, st status) status {
	r.depth--
	if !r.spend(steps) {
		return failed
	}
	return st
}

func defined(is bool) status {
	if is {
		return done
	}
	return undefined
}

// step does one instruction and returns its length in words; the length of Done
// is 0. It is longer than a screen because it is a table: one case an instruction,
// which the compiler makes one jump of.
func (r *run) step(op bytecode.Op, pc int) (length int, st status) {
	switch op {
	case bytecode.DotData:
		if r.unlikeStorage(r.operand(pc+2), r.defined(pc+3)) {
			return 0, r.fail(&builtin.Halt{Err: builtin.ErrUnsure})
		}
		return 4, r.dot(pc)
	case bytecode.Dot:
		return 4, r.dot(pc)
	case bytecode.Equal:
		return 3, r.equal(pc, true)
	case bytecode.NotEqual:
		return 3, r.equal(pc, false)
	case bytecode.Assign:
		r.locals[r.local(pc+1)] = r.operand(pc + 2)
		return 3, done
	case bytecode.Call:
		return r.callRule(pc)
	case bytecode.Builtin:
		return r.callBuiltin(pc)
	case bytecode.Scan:
		return r.scan(pc)
	case bytecode.Not:
		return r.not(pc)
	case bytecode.With:
		return r.with(pc)
	case bytecode.Dynamic:
		return r.callDynamic(pc)
	case bytecode.Jump:
		return 1, undefined
	case bytecode.Done:
		return 0, done
	case bytecode.Return:
		r.result = r.locals[r.local(pc+1)]
		return 2, returned
	case bytecode.Defined:
		return 2, defined(r.locals[r.local(pc+1)] != nil)
	case bytecode.Undefined:
		return 2, defined(r.locals[r.local(pc+1)] == nil)
	case bytecode.IsArray:
		_, is := r.operand(pc + 1).(*value.Array)
		return 2, defined(is)
	case bytecode.IsObject:
		_, is := r.operand(pc + 1).(*value.Object)
		return 2, defined(is)
	case bytecode.IsSet:
		_, is := r.operand(pc + 1).(*value.Set)
		return 2, defined(is)
	case bytecode.AssignOnce:
		return 5, r.assignOnce(pc)
	case bytecode.Len:
		r.locals[r.local(pc+1)] = value.Int(size(r.operand(pc + 2)))
		return 3, done
	}
	return r.make(op, pc)
}

// make does the instructions that make values and let them grow.
func (r *run) make(op bytecode.Op, pc int) (length int, st status) {
	var made value.Value
	switch op {
	case bytecode.Append:
		return 3, r.grow(pc)
	case bytecode.Add:
		return 3, r.grow(pc)
	case bytecode.Insert:
		return 4, r.insert(pc)
	case bytecode.InsertOnce:
		return 6, r.insertOnce(pc)
	case bytecode.Merge:
		return 6, r.merge(pc)
	case bytecode.Int:
		r.locals[r.local(pc+1)] = value.Int(int64(uint64(r.word(pc+2)) | uint64(r.word(pc+3))<<32))
		return 4, done
	case bytecode.Number:
		r.locals[r.local(pc+1)] = r.number(r.local(pc + 2))
		return 3, done
	case bytecode.Array:
		length, made = 3, &value.Array{}
	case bytecode.Null:
		length, made = 2, value.Null{}
	case bytecode.Object:
		length, made = 2, &value.Object{}
	case bytecode.Set:
		length, made = 2, &value.Set{}
	case bytecode.Reset:
		length = 2
	default:
		panic(bytecode.ErrDamaged)
	}
	r.locals[r.local(pc+1)] = made
	return length, done
}

func (r *run) dot(pc int) status {
	var v value.Value
	switch source := r.operand(pc + 2).(type) {
	case *value.Object:
		v = source.Get(r.defined(pc + 3))
	case *value.Array:
		v = source.Get(r.defined(pc + 3))
	case *value.Set:
		v = source.Get(r.defined(pc + 3))
	}
	r.locals[r.local(pc+1)] = v
	return defined(v != nil)
}

// unlikeStorage reports a look-up that OPA's storage, which takes keys for the
// parts of a path, answers in another way: a number finds the key of its text,
// and a text of digits an element of an array. Only OPA knows whether it asks its
// storage here.
func (r *run) unlikeStorage(source, key value.Value) bool {
	switch key := key.(type) {
	case value.String:
		if a, ok := source.(*value.Array); ok {
			i, err := strconv.Atoi(string(key))
			return err == nil && i >= 0 && i < a.Len()
		}
	case value.Int:
		o, ok := source.(*value.Object)
		return ok && o.Get(value.String(value.NumberText(key))) != nil
	case value.Decimal:
		switch source := source.(type) {
		case *value.Array:
			return source.Get(key) != nil
		case *value.Object:
			return source.Get(value.String(key)) != nil
		}
	}
	return false
}

func (r *run) equal(pc int, wanted bool) status {
	a, b := r.operand(pc+1), r.operand(pc+2)
	is, ok := r.same(a, b)
	if !ok {
		return failed
	}
	return defined(is == wanted)
}

// same compares two values, which takes steps if they are large.
func (r *run) same(a, b value.Value) (is, ok bool) {
	if a == nil || b == nil {
		return a == nil && b == nil, true
	}
	if n := min(value.Weight(a), value.Weight(b)); n > 16 && !r.spend(n) {
		return false, false
	}
	return value.Equal(a, b), true
}

func size(v value.Value) int {
	switch v := v.(type) {
	case *value.Array:
		return v.Len()
	case *value.Object:
		return v.Len()
	case *value.Set:
		return v.Len()
	}
	return 0
}

func (r *run) assignOnce(pc int) status {
	target, v := r.local(pc+1), r.operand(pc+2)
	if old := r.locals[target]; old != nil {
		is, ok := r.same(old, v)
		switch {
		case !ok:
			return failed
		case !is:
			if r.function {
				return r.conflict(pc+3, "functions must not produce multiple outputs for same inputs")
			}
			return r.conflict(pc+3, "complete rules must not produce multiple outputs")
		}
		return done
	}
	r.locals[target] = v
	return done
}

// conflict ends the evaluation with an error at the place in words i and i+1.
func (r *run) conflict(i int, message string) status {
	return r.fail(r.errorAt(i, CodeConflict, message, nil))
}

func (r *run) errorAt(i int, code, message string, err error) error {
	return &Error{File: r.program.String(r.local(i)), Row: r.local(i + 1), Code: code, Message: message, Err: err}
}

// halts reports an error that ends the evaluation even if builtins' do not.
func halts(err error) bool {
	var halt *builtin.Halt
	return errors.As(err, &halt)
}
