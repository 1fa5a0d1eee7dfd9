package pattern

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// A clause is words of which each match holds one.
type clause struct {
	how   int
	words []string
}

const (
	maxWords   = 16 // of one clause
	maxClauses = 4
)

// A part is what is known of the matches of a part of an expression.
type part struct {
	exact   []string   // each match is one of these; nil: they are not known
	simple  bool       // and each of these is a match wherever it stands
	clauses [][]string // each match holds one of each
}

var empty = part{exact: []string{""}, simple: true}

// required returns what a match of an expression holds, and whether every text
// that does is one. The most telling comes first.
func required(re *syntax.Regexp) (list []clause, enough bool) {
	subs := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		subs = re.Sub
	}
	subs, begin, end := trim(subs)
	inner, first, last := concat(subs)
	if inner.exact != nil {
		how, words := anywhere, inner.exact
		switch {
		case begin && end:
			how = whole
		case begin:
			how = atBegin
		case end:
			how = atEnd
		default:
			words = shortest(words)
		}
		return []clause{{how, words}}, inner.simple
	}
	if begin && first != nil {
		list = append(list, clause{atBegin, first})
	}
	if end && last != nil {
		list = append(list, clause{atEnd, last})
	}
	for _, words := range inner.clauses {
		list = append(list, clause{anywhere, words})
	}
	slices.SortStableFunc(list, func(a, b clause) int { return telling(b.words) - telling(a.words) })
	return list[:min(len(list), maxClauses)], false
}

// trim takes off what does not matter at the ends of a concatenation, and the
// anchors there.
func trim(subs []*syntax.Regexp) (rest []*syntax.Regexp, begin, end bool) {
	if n := len(subs); n > 0 && subs[0].Op == syntax.OpBeginText {
		subs, begin = subs[1:], true
	}
	if n := len(subs); n > 0 && subs[n-1].Op == syntax.OpEndText {
		subs, end = subs[:n-1], true
	}
	for len(subs) > 0 && (anything(subs[0]) || !begin && optional(subs[0])) {
		subs, begin = subs[1:], false
	}
	for n := len(subs); n > 0 && (anything(subs[n-1]) || !end && optional(subs[n-1])); n = len(subs) {
		subs, end = subs[:n-1], false
	}
	return subs, begin, end
}

// anything reports an expression that matches every text.
func anything(re *syntax.Regexp) bool {
	return re.Op == syntax.OpStar && re.Sub[0].Op == syntax.OpAnyChar
}

// optional reports an expression that matches the empty text everywhere.
func optional(re *syntax.Regexp) bool {
	return re.Op == syntax.OpStar || re.Op == syntax.OpQuest || re.Op == syntax.OpEmptyMatch
}

// look returns what is known of the matches of an expression.
func look(re *syntax.Regexp) part {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return empty
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return part{exact: []string{""}}
	case syntax.OpLiteral:
		return literal(re)
	case syntax.OpCharClass:
		return characters(re.Rune)
	case syntax.OpCapture:
		return look(re.Sub[0])
	case syntax.OpQuest:
		if sub := look(re.Sub[0]); sub.exact != nil && len(sub.exact) < maxWords {
			return part{exact: append([]string{""}, sub.exact...), simple: sub.simple}
		}
	case syntax.OpPlus:
		return part{clauses: look(re.Sub[0]).held()}
	case syntax.OpConcat:
		p, _, _ := concat(re.Sub)
		return p
	case syntax.OpAlternate:
		return alternate(re.Sub)
	}
	return part{}
}

func literal(re *syntax.Regexp) part {
	for _, r := range re.Rune {
		if !encodable(r) || re.Flags&syntax.FoldCase != 0 && folds(r) {
			return part{}
		}
	}
	return part{exact: []string{string(re.Rune)}, simple: true}
}

func characters(pairs []rune) part {
	p := part{simple: true}
	for i := 0; i < len(pairs); i += 2 {
		for r := pairs[i]; r <= pairs[i+1]; r++ {
			if !encodable(r) || len(p.exact) == maxWords {
				return part{}
			}
			p.exact = append(p.exact, string(r))
		}
	}
	return p
}

// concat returns, too, the words of which one begins every match, and those of
// which one ends it, nil where they are not known.
func concat(subs []*syntax.Regexp) (p part, first, last []string) {
	run, whole := empty, true // what is known since something was not
	flush := func() {
		held := run.held()
		p.clauses = append(p.clauses, held...)
		last = nil
		if held != nil {
			last = run.exact
		}
		if whole {
			first = last
		}
		run, whole = empty, false
	}
	for _, re := range subs {
		sub := look(re)
		if sub.exact != nil && len(run.exact)*len(sub.exact) <= maxWords {
			run = part{exact: joined(run.exact, sub.exact), simple: run.simple && sub.simple}
			continue
		}
		flush()
		if sub.exact != nil {
			run = sub
			continue
		}
		p.clauses = append(p.clauses, sub.clauses...)
	}
	if whole {
		return run, nil, nil
	}
	flush()
	return p, first, last
}

func joined(before, after []string) []string {
	out := make([]string, 0, len(before)*len(after))
	for _, a := range before {
		for _, b := range after {
			out = append(out, a+b)
		}
	}
	return out
}

func alternate(subs []*syntax.Regexp) part {
	all := part{simple: true}
	known := true
	var words []string
	for _, re := range subs {
		sub := look(re)
		known = known && sub.exact != nil && len(all.exact)+len(sub.exact) <= maxWords
		if known {
			all.exact, all.simple = append(all.exact, sub.exact...), all.simple && sub.simple
		}
		words = append(words, best(sub.held())...)
		if len(sub.held()) == 0 {
			words = append(words, "")
		}
	}
	if known {
		return all
	}
	return part{clauses: part{exact: words}.held()}
}

// held returns the clauses of a part. Words that may be empty say nothing.
func (p part) held() [][]string {
	if p.exact == nil {
		return p.clauses
	}
	words := shortest(p.exact)
	if len(words) == 0 || words[0] == "" || len(words) > maxWords {
		return nil
	}
	return [][]string{words}
}

// shortest leaves out words that hold another.
func shortest(words []string) []string {
	words = slices.Clone(words)
	slices.SortFunc(words, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	var kept []string
	for _, w := range words {
		if !slices.ContainsFunc(kept, func(k string) bool { return strings.Contains(w, k) }) {
			kept = append(kept, w)
		}
	}
	return kept
}

// folds reports a character that has another case.
func folds(r rune) bool { return unicode.SimpleFold(r) != r }

// best returns the most telling clause.
func best(clauses [][]string) []string {
	var found []string
	for _, c := range clauses {
		if found == nil || telling(c) > telling(found) {
			found = c
		}
	}
	return found
}

// telling says how seldom a text holds one of some words by chance.
func telling(words []string) int {
	least := len(words[0])
	for _, w := range words {
		least = min(least, len(w))
	}
	return least*maxWords - len(words)
}
