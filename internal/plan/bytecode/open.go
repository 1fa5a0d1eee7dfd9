package bytecode

import (
	"cmp"
	"errors"
	"sort"
)

// ErrDamaged is what is wrong with a section that does not hold together.
var ErrDamaged = errors.New("the compiled plan is damaged")

// ErrVersion is what is wrong with a section of another version.
var ErrVersion = errors.New("the compiled plan is of another version")

// A Program is an open section. It is immutable and safe for concurrent use.
type Program struct {
	text   string
	tables [tables]struct{ at, n int } // at in bytes
}

// Open reads the head of a section. The text is used where it lies for as long
// as the program and any value that came of it. Opening takes the same time
// whatever the size; that a section's parts fit together is checked when they
// are used, so a damaged one may also end an evaluation with [ErrDamaged].
func Open(text string) (*Program, error) {
	if len(text) < len(magic) || text[:len(magic)] != magic {
		return nil, ErrVersion
	}
	p := &Program{text: text}
	if len(text) < headWords*4 || int(word(text, headWords-1)) != len(text) {
		return nil, ErrDamaged
	}
	sizes := [tables]int{4, 4, 4, 4 * functionWords, 4 * pathWords, 4 * policyWords, 4 * ruleWords, 4 * patternWords, 4, 1}
	next := headWords * 4
	for i := range p.tables {
		at, n := int(word(text, len(magic)/4+2*i)), int(word(text, len(magic)/4+2*i+1))
		if at != next || n > (len(text)-at)/sizes[i] {
			return nil, ErrDamaged
		}
		p.tables[i].at, p.tables[i].n = at, n
		next = at + n*sizes[i]
	}
	if next != len(text) {
		return nil, ErrDamaged
	}
	return p, nil
}

// word returns word i of a text.
func word(text string, i int) uint32 {
	b := text[4*i : 4*i+4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// entry returns word i of a table; it panics when there is none.
func (p *Program) entry(table, i int) uint32 {
	return word(p.text, p.tables[table].at/4+i)
}

func (p *Program) check(table, i int) {
	if i < 0 || i >= p.tables[table].n {
		panic(ErrDamaged)
	}
}

// Code returns the words of all functions, as bytes.
func (p *Program) Code() string {
	t := p.tables[tableCode]
	return p.text[t.at : t.at+4*t.n]
}

// Strings, Numbers, Builtins and Functions return how many there are of each.
func (p *Program) Strings() int   { return p.tables[tableStrings].n }
func (p *Program) Numbers() int   { return p.tables[tableNumbers].n }
func (p *Program) Builtins() int  { return p.tables[tableBuiltins].n }
func (p *Program) Functions() int { return p.tables[tableFunctions].n }

// String returns string i. Like the methods below it panics with [ErrDamaged], or
// by reading out of bounds, if there is none.
func (p *Program) String(i int) string {
	p.check(tableStrings, i)
	from := 0
	if i > 0 {
		from = int(p.entry(tableStrings, i-1))
	}
	bytes := p.text[p.tables[tableBytes].at:]
	return bytes[from:int(p.entry(tableStrings, i))]
}

// Number returns the text of number i.
func (p *Program) Number(i int) string {
	p.check(tableNumbers, i)
	return p.String(int(p.entry(tableNumbers, i)))
}

// Builtin returns the name of builtin i.
func (p *Program) Builtin(i int) string {
	p.check(tableBuiltins, i)
	return p.String(int(p.entry(tableBuiltins, i)))
}

// Function returns function i.
func (p *Program) Function(i int) Function {
	p.check(tableFunctions, i)
	at := i * functionWords
	args := p.entry(tableFunctions, at+3)
	f := Function{
		Start:    int(p.entry(tableFunctions, at)),
		End:      int(p.entry(tableFunctions, at+1)),
		Locals:   int(p.entry(tableFunctions, at+2)),
		Args:     int(args >> 1),
		Memoized: args&1 != 0,
	}
	if f.Start > f.End || f.End > p.tables[tableCode].n || f.Locals > MaxLocals || f.Args > f.Locals {
		panic(ErrDamaged)
	}
	return f
}

// MaxLocals bounds the variables of one function.
const MaxLocals = 1 << 16

// Find returns the function at a path, -1 if there is none. A path is the parts
// of a rule's name, with a zero byte between them.
func (p *Program) Find(path string) int {
	i, found := p.search(tablePaths, pathWords, path)
	if !found {
		return -1
	}
	return int(p.entry(tablePaths, i*pathWords+1))
}

// Policies returns how many packages there are that are asked for rules.
func (p *Program) Policies() int { return p.tables[tablePolicies].n }

// Policy returns the rules that a package is asked for, none if it has none or is
// not in the program. Packages are mostly asked for in their order: the search
// begins at near, the place of one that was asked for before, or any number, and
// returns the place of this one.
func (p *Program) Policy(name string, near int) (rules Rules, place int) {
	i := p.place(name, near)
	if i < 0 {
		return Rules{}, near
	}
	rules = Rules{program: p, first: int(p.entry(tablePolicies, i*policyWords+1)), n: int(p.entry(tablePolicies, i*policyWords+2))}
	if rules.n > maxRules {
		panic(ErrDamaged)
	}
	return rules, i
}

// place returns the place of a package, -1 if there is none.
func (p *Program) place(name string, near int) int {
	for i := max(near, 0); i < min(near+nearby, p.Policies()); i++ {
		if p.String(int(p.entry(tablePolicies, i*policyWords))) == name {
			return i
		}
	}
	if i, found := p.search(tablePolicies, policyWords, name); found {
		return i
	}
	return -1
}

// nearby is how many packages are looked at before all.
const nearby = 4

// Rules are those of one package.
type Rules struct {
	program  *Program
	first, n int
}

// Len returns the number of rules.
func (r Rules) Len() int { return r.n }

// At returns rule i.
func (r Rules) At(i int) Rule {
	r.program.check(tableRules, r.first+i)
	at := (r.first + i) * ruleWords
	return Rule{
		Kind:     int(r.program.entry(tableRules, at)),
		Function: int(r.program.entry(tableRules, at+1)),
		Pos:      r.program.String(int(r.program.entry(tableRules, at+2))),
	}
}

// maxRules is more than a policy has that are asked for.
const maxRules = 64

// search finds a string in a table that is in the order of strings.
func (p *Program) search(table, words int, s string) (int, bool) {
	return sort.Find(p.tables[table].n, func(i int) int {
		return cmp.Compare(s, p.String(int(p.entry(table, i*words))))
	})
}

// Pattern returns the compiled forms of a pattern. There are none of most texts.
func (p *Program) Pattern(text string) Pattern {
	n := uint32(p.tables[tablePatterns].n)
	if n == 0 {
		return Pattern{}
	}
	i := hash(text) % n
	for range n {
		at := int(i) * patternWords
		s := int(p.entry(tablePatterns, at))
		if s == 0 {
			break
		}
		if p.String(s-1) == text {
			return Pattern{text, p.optional(at + 1), p.optional(at + 2)}
		}
		i = (i + 1) % n
	}
	return Pattern{}
}

// optional returns the string that a word of the patterns names, "" for none.
func (p *Program) optional(at int) string {
	if s := int(p.entry(tablePatterns, at)); s > 0 {
		return p.String(s - 1)
	}
	return ""
}
