// Package bytecode is the form in which compiled policies are kept: a section of
// a file that is executed where it lies, without decoding more than what is
// touched.
//
// [Writer] makes a section, [Open] reads one. What the instructions do is the
// matter of package internal/plan, and where they come from that of
// internal/plan/build. A section is a list of 32-bit words, little-endian: a head,
// the tables, the code of all functions, and last the bytes of the strings.
//
// Jumps lead forward only, and never out of the body of a scan, a not or a with,
// so that whatever a section holds, running a function comes to its end.
package bytecode

// An Op is what an instruction does. An instruction is a word that holds the
// operation in its low byte and above it how many words the statement's
// undefined lies ahead, then the words that are named here.
type Op uint8

// The operations. Locals are numbers of a function's variables; an operand is a
// local, a string or a boolean, see [Operand]; a place is file and row.
const (
	Invalid    Op = iota
	Jump          // always to what lies ahead
	Done          // the body of a not or a with has come to its end
	Return        // local
	Call          // function, result, number of operands, operands
	Builtin       // builtin, result, number of operands, operands, place
	Dynamic       // result, number of arguments, number of path operands, arguments, path
	Dot           // target, source operand, key operand
	Equal         // operand, operand
	NotEqual      // operand, operand
	IsArray       // operand
	IsObject      // operand
	IsSet         // operand
	Defined       // local
	Undefined     // local
	Assign        // target, operand
	AssignOnce    // target, operand, place
	Int           // target, low word, high word
	Number        // target, number
	Null          // target
	Reset         // target
	Array         // target, capacity
	Object        // target
	Set           // target
	Append        // array local, operand
	Add           // set local, operand
	Insert        // object local, key operand, value operand
	InsertOnce    // object local, key operand, value operand, place
	Merge         // local, local, target, place
	Len           // target, operand
	Scan          // source, key, value, words of the body
	Not           // words of the body
	With          // local, value operand, number of path strings, words of the body, path
	DotData       // as Dot, of what may be a base document
	ops
)

// Kinds of operands, in the low bits of their word.
const (
	OfLocal  = 0
	OfString = 1
	OfBool   = 2

	operandBits = 2
)

// Operand returns the word of an operand.
func Operand(kind, n int) uint32 { return uint32(n)<<operandBits | uint32(kind) }

// SplitOperand returns the kind of an operand and its number.
func SplitOperand(word uint32) (kind, n int) {
	return int(word & (1<<operandBits - 1)), int(word >> operandBits)
}

// Instruction returns an instruction's first word. Ahead must fit in 24 bits.
func Instruction(op Op, ahead int) uint32 { return uint32(ahead)<<8 | uint32(op) }

// MaxAhead is how far an instruction can lead.
const MaxAhead = 1<<24 - 1

// magic begins a section; it changes whenever the form or its meaning does.
const magic = "gate plan 2\n"

// Tables of a section, in the order of the head, which holds for each where it
// begins and how many entries it has.
const (
	tableStrings   = iota // where each string ends, in the bytes
	tableNumbers          // string
	tableBuiltins         // string
	tableFunctions        // see Function
	tablePaths            // string, function; in the order of strings
	tablePolicies         // string, first rule, number of rules; in the order of strings
	tableRules            // kind, function, position
	tablePatterns         // string, programs as expression and as glob, 0 for none, else one more; by hash, see Pattern
	tableCode             // words
	tableBytes            // bytes, no words
	tables
)

const (
	headWords     = len(magic)/4 + 2*tables + 1
	functionWords = 4
	pathWords     = 2
	policyWords   = 3
	ruleWords     = 3
	patternWords  = 3
)

// A Function is what the table says about one.
type Function struct {
	Start, End int // of its code
	Locals     int // variables, arguments first
	Args       int
	Memoized   bool // its result depends on input and data alone
}

// A Rule is one that a policy is asked for.
type Rule struct {
	Kind     int // which of the rules that policies speak by, as their reader counts
	Function int
	Pos      string // file:line of its first definition
}

// A Pattern is a string that may be an expression of RE2 or a glob, and its
// compiled forms, "" where there is none. The form is the matter of package
// internal/plan/pattern.
type Pattern struct{ Text, Regex, Glob string }

// hash says where the search for a pattern begins.
func hash(s string) uint32 {
	h := uint32(2166136261) // FNV-1a
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
