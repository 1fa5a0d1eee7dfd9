// Package value holds the values that compiled policies work on: those of Rego,
// with OPA's order, equality and text.
//
// A value is null, a bool, a number, a string, an array, a set or an object;
// undefined is no value, and is nil where one may be missing. Numbers keep the
// text they were written with, so that 1.0 stays 1.0 and is equal to 1. Start
// with [From] or [ParseJSON]; read composite values with their methods and
// compare any two with [Compare].
//
// It is not for evaluating anything, and knows no builtins.
//
// Values are shared freely, never copied deep: only who made an array, a set or
// an object changes it, and only before handing it on. Reading may still put
// elements in order, so a value that several goroutines read goes through
// [Freeze] first.
package value

import "math"

// A Value is one of [Null], [Bool], [Int], [Decimal], [String], [*Array], [*Set]
// and [*Object]. The nil Value means undefined.
type Value interface {
	kind() Kind
}

// A Kind is a type of Rego. Their order is that of values of different types.
type Kind uint8

// The kinds, in OPA's order.
const (
	KindNull Kind = iota
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
	KindSet
)

// String returns the name that Rego's type_name gives.
func (k Kind) String() string {
	return [...]string{"null", "boolean", "number", "string", "array", "object", "set"}[k]
}

type (
	// Null is the value null.
	Null struct{}
	// Bool is true or false.
	Bool bool
	// Int is a number whose text is that of an int64.
	Int int64
	// Decimal is the text of any other number: a fraction, one with an
	// exponent, or one beyond int64. [Number] makes it; text that is no number
	// must not be converted.
	Decimal string
	// String is a string. It need not be valid UTF-8.
	String string
)

func (Null) kind() Kind    { return KindNull }
func (Bool) kind() Kind    { return KindBool }
func (Int) kind() Kind     { return KindNumber }
func (Decimal) kind() Kind { return KindNumber }
func (String) kind() Kind  { return KindString }
func (*Array) kind() Kind  { return KindArray }
func (*Object) kind() Kind { return KindObject }
func (*Set) kind() Kind    { return KindSet }

// KindOf returns the kind of v, which must not be nil.
func KindOf(v Value) Kind { return v.kind() }

// Weight says how much there is in v, written out: one for each value in it and
// for each 32 bytes of text. A value held twice counts twice, so this is what
// comparing, printing or copying v costs at most. It is known without looking.
func Weight(v Value) int {
	switch v := v.(type) {
	case String:
		return 1 + len(v)/32
	case Decimal:
		return 1 + len(v)/32
	case *Array:
		return v.weigh() + 1
	case *Set:
		return v.weight + 1
	case *Object:
		return v.weigh() + 1
	}
	return 1
}

// addWeight adds without running over: doubling soon leaves every int.
func addWeight(a, b int) int {
	if b > math.MaxInt-1-a {
		return math.MaxInt - 1
	}
	return a + b
}
