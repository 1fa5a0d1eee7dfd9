// Package pattern keeps regular expressions and globs in a form that matches
// where it lies: what the standard library makes of an expression when a process
// first uses it was made before, when policies were compiled.
//
// A [Program] says whether a text matches, no more: where, and what its groups
// hold, is for package regexp. [Regex] and [Glob] make programs, and make none of
// what is too large; [Program.Match] runs one. Most texts do not hold the words
// that a match must have, and the answer takes a look for these.
package pattern

import (
	"errors"
	"slices"
	"strings"
)

// A Program is a compiled pattern; "" is none. Any text may be run as one: what
// does not hold together panics, or answers wrongly, and never runs for long.
type Program string

// ErrDamaged is what methods of a Program panic with, or an index out of range,
// where it does not hold together.
var ErrDamaged = errors.New("a compiled pattern is damaged")

// A program is words of 32 bits, little-endian: a head, the instructions, what
// they refer to, and the words that matches hold.
const (
	headFlags  = iota // and above them the number of instructions
	headStart         // the first instruction
	headTables        // word at which ranges of characters begin
	headWords         // word at which the words begin that matches hold
	headSize

	instruction = 2 // words of one
)

// Flags of a program.
const (
	decided   = 1 << iota // what holds the words matches
	anchored              // matches begin where the text does
	flagsBits = 8
)

// Kinds of instructions, in the low byte of their first word; above is the
// argument. The second word is the instruction that follows.
const (
	opFail   = iota
	opMatch  // the text matches
	opFork   // argument: another instruction that follows
	opLook   // argument: what must hold between two characters, as regexp/syntax has it
	opRune   // argument: the character
	opRanges // argument: where in the tables a number of pairs begins, and the pairs
	opAny    // any character
	opLine   // any but a line feed
	opPart   // any but the delimiters of a glob
)

// Where words must stand, in the low byte of a clause's first word; above is how
// many words it has, of which one must be there. Each is its length and its
// bytes, filled up to words.
const (
	anywhere = iota
	atBegin
	atEnd
	whole
)

func (p Program) word(i int) int {
	b := p[4*i : 4*i+4]
	return int(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
}

// Size returns how many instructions the program has: matching takes at most as
// many steps for each character of the text.
func (p Program) Size() int { return p.word(headFlags) >> flagsBits }

// Decided reports whether [Program.MayMatch] says all.
func (p Program) Decided() bool { return p.word(headFlags)&decided != 0 }

// MayMatch reports whether a text holds the words that a match must have. If not,
// it does not match.
func (p Program) MayMatch(text string) bool {
	at := p.word(headWords)
	clauses := p.word(at)
	at++
	for range clauses {
		how, n := p.word(at)&0xff, p.word(at)>>8
		at++
		found := false
		for range n {
			size := p.word(at)
			at++
			found = found || holds(text, string(p[4*at:4*at+size]), how)
			at += (size + 3) / 4
		}
		if !found {
			return false
		}
	}
	return true
}

func holds(text, word string, how int) bool {
	switch how {
	case atBegin:
		return strings.HasPrefix(text, word)
	case atEnd:
		return strings.HasSuffix(text, word)
	case whole:
		return text == word
	}
	return strings.Contains(text, word)
}

// Match reports whether a text matches. A glob's star does not match delimiters.
// The zero Scratch is ready to use and may be used again.
func (p Program) Match(text string, delimiters []rune, s *Scratch) bool {
	if !p.MayMatch(text) {
		return false
	}
	if p.Decided() {
		return true
	}
	n := p.Size()
	if n > len(p)/(4*instruction) {
		panic(ErrDamaged)
	}
	r := run{Program: p, delimiters: delimiters, tables: p.word(headTables), Scratch: s}
	s.now.ready(n)
	s.next.ready(n)
	return r.match(text, p.word(headStart), p.word(headFlags)&anchored != 0)
}

// A Scratch is room for matching.
type Scratch struct {
	now, next states
	open      []uint32
}

// States are instructions that a match has come to, each once.
type states struct {
	place []uint32 // of an instruction among those there, if it is there
	there []uint32
}

func (s *states) ready(n int) {
	if len(s.place) < n {
		s.place = make([]uint32, max(n, 64))
	}
	s.there = s.there[:0]
}

// add reports whether an instruction was not there.
func (s *states) add(i uint32) bool {
	if at := s.place[i]; int(at) < len(s.there) && s.there[at] == i {
		return false
	}
	s.place[i] = uint32(len(s.there))
	s.there = append(s.there, i)
	return true
}

// inRanges reports whether a character is in the pairs at a place of the tables.
func (r *run) inRanges(c rune, at int) bool {
	at += r.tables
	n := r.word(at)
	for i := at + 1; i < at+1+2*n; i += 2 {
		if int(c) < r.word(i) {
			return false
		}
		if int(c) <= r.word(i+1) {
			return true
		}
	}
	return false
}

func (r *run) inPart(c rune) bool { return !slices.Contains(r.delimiters, c) }
