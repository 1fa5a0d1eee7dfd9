package pattern

import (
	"regexp/syntax"
	"unicode/utf8"
)

// A run is the matching of one text.
type run struct {
	Program
	*Scratch
	delimiters []rune
	tables     int
}

const noRune rune = -1 // before the text and after it

// match goes through the text once, with all instructions at a time that a match
// may have come to.
func (r *run) match(text string, start int, anchored bool) bool {
	before := noRune
	for pos := 0; ; {
		c, size := runeAt(text, pos)
		look := syntax.EmptyOpContext(before, c)
		if (pos == 0 || !anchored) && r.follow(&r.now, uint32(start), look) {
			return true
		}
		if c == noRune || anchored && len(r.now.there) == 0 {
			return false
		}
		pos += size
		ahead, _ := runeAt(text, pos)
		look = syntax.EmptyOpContext(c, ahead)
		r.next.there = r.next.there[:0]
		for _, i := range r.now.there {
			at := headSize + instruction*int(i)
			if r.takes(r.word(at), c) && r.follow(&r.next, uint32(r.word(at+1)), look) {
				return true
			}
		}
		r.now, r.next, before = r.next, r.now, c
	}
}

func runeAt(text string, pos int) (rune, int) {
	if pos >= len(text) {
		return noRune, 0
	}
	if c := text[pos]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(text[pos:])
}

// takes reports whether an instruction takes a character.
func (r *run) takes(word int, c rune) bool {
	switch arg := word >> 8; word & 0xff {
	case opRune:
		return rune(arg) == c
	case opRanges:
		return r.inRanges(c, arg)
	case opAny:
		return true
	case opLine:
		return c != '\n'
	case opPart:
		return r.inPart(c)
	}
	return false
}

// follow adds an instruction and those that it leads to without a character, and
// reports that the text matches.
func (r *run) follow(to *states, first uint32, look syntax.EmptyOp) bool {
	r.open = append(r.open[:0], first)
	for len(r.open) > 0 {
		i := r.open[len(r.open)-1]
		r.open = r.open[:len(r.open)-1]
		if !to.add(i) {
			continue
		}
		at := headSize + instruction*int(i)
		switch word := r.word(at); word & 0xff {
		case opMatch:
			return true
		case opFork:
			r.open = append(r.open, uint32(r.word(at+1)), uint32(word>>8))
		case opLook:
			if needs := syntax.EmptyOp(word >> 8); needs&^look == 0 {
				r.open = append(r.open, uint32(r.word(at+1)))
			}
		}
	}
	return false
}
