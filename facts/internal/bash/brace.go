package bash

import (
	"fmt"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxBraces bounds the words that one word becomes; further braces stay as they
// are written.
const maxBraces = 256

// Braces returns the parts of a word once for each brace expansion.
func Braces(word *syntax.Word) [][]syntax.WordPart {
	c := *word
	if !syntax.SplitBraces(&c) {
		return [][]syntax.WordPart{word.Parts}
	}
	return expandBraces(c.Parts)
}

func expandBraces(parts []syntax.WordPart) [][]syntax.WordPart {
	out := [][]syntax.WordPart{nil}
	for _, p := range parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			for i := range out {
				out[i] = append(clip(out[i]), p)
			}
			continue
		}
		var choices [][]syntax.WordPart
		if b.Sequence {
			choices = sequence(b)
		} else {
			for _, e := range b.Elems {
				choices = append(choices, expandBraces(e.Parts)...)
			}
		}
		if len(choices)*len(out) > maxBraces {
			choices = [][]syntax.WordPart{{b}}
		}
		var next [][]syntax.WordPart
		for _, o := range out {
			for _, c := range choices {
				next = append(next, append(clip(o), c...))
			}
		}
		out = next
	}
	return out
}

func clip(p []syntax.WordPart) []syntax.WordPart { return p[:len(p):len(p)] }

// sequence expands {1..5} and {a..e}.
func sequence(b *syntax.BraceExp) [][]syntax.WordPart {
	text := func(i int) string {
		if i >= len(b.Elems) {
			return ""
		}
		return b.Elems[i].Lit()
	}
	from, to := text(0), text(1)
	step := 1
	if s, err := strconv.Atoi(text(2)); err == nil && s != 0 {
		step = max(s, -s)
	}
	lo, err1 := strconv.Atoi(from)
	hi, err2 := strconv.Atoi(to)
	char := len(from) == 1 && len(to) == 1 && (err1 != nil || err2 != nil)
	switch {
	case char:
		lo, hi = int(from[0]), int(to[0])
	case err1 != nil || err2 != nil:
		return [][]syntax.WordPart{{b}}
	}
	if abs(hi-lo)/step > maxBraces {
		return [][]syntax.WordPart{{b}}
	}
	if lo > hi {
		step = -step
	}
	width := 0
	if padded(from) || padded(to) {
		width = max(len(from), len(to))
	}
	var out [][]syntax.WordPart
	for n := lo; (step > 0 && n <= hi) || (step < 0 && n >= hi); n += step {
		v := fmt.Sprintf("%0*d", width, n)
		if char {
			v = string(rune(n))
		}
		out = append(out, []syntax.WordPart{&syntax.Lit{Value: v}})
	}
	return out
}

// padded reports a number with zeros in front: {01..10} keeps them.
func padded(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) > 1 && s[0] == '0'
}

func abs(n int) int { return max(n, -n) }
