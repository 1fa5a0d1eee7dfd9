package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/glob"
)

// A search is what the words of find say: where it begins, and what each file
// below is asked.
type search struct {
	starts     []flow.Word
	expression []flow.Word
	follow     bool        // symbolic links are followed
	history    []flow.Word // starts with a .git below, which no word of the expression spares
}

// Candidates are the files that come as far as one place of an expression:
// those that one of its members stands for.
type candidates []candidate

// A candidate is what the tests on one way through an expression let pass. The
// zero value is every file.
type candidate struct {
	names string    // a pattern of names
	only  flow.Word // the one path that -path names, known to the letter
}

// someFiles stands for names of which only this is known: not all have them.
const someFiles = "found*"

// anyFiles stands for names of which nothing is known: they are chosen by what the
// files are.
const anyFiles = "found**"

// search reads the words that were given to find.
func (u *use) search() search {
	words := u.Given()
	s := search{follow: u.has("L")}
	for i := 0; i < len(words); i++ {
		switch t := words[i].Text(); {
		case t == "-D", t == "-f" && i+1 < len(words):
			i++
			if t == "-f" && i < len(words) {
				s.starts = append(s.starts, words[i])
			}
		case strings.HasPrefix(t, "-O"), len(t) > 1 && strings.Trim(t[1:], "HLPEXdsx") == "" && t[0] == '-':
			s.follow = s.follow || strings.ContainsAny(t, "HL")
		case strings.HasPrefix(t, "-"), t == "(", t == "!":
			s.expression = words[i:]
			i = len(words)
		default:
			s.starts = append(s.starts, words[i])
		}
	}
	for i, w := range s.expression {
		if w.Text() == "-files0-from" && i+1 < len(s.expression) {
			s.starts = append(s.starts, flow.Unknown(&flow.Hole{Why: "a name in a file", Many: true}))
		}
		s.follow = s.follow || w.Text() == "-follow" || w.Text() == "-L"
	}
	if len(s.starts) == 0 {
		s.starts = []flow.Word{flow.Literal(".")}
	}
	if strings.Contains(flow.Join(s.expression).Text(), ".git") {
		return s
	}
	for _, start := range s.starts {
		if ts := u.targets(start); len(ts) == 1 && ts[0].Area == "project_root" {
			s.history = append(s.history, start)
		}
	}
	return s
}

// found are the candidates below each start.
func (s search) found(c candidates) []flow.Word {
	var out []flow.Word
	for _, n := range c {
		if len(n.only.Parts) > 0 {
			out = append(out, n.only)
			continue
		}
		for _, start := range s.starts {
			out = append(out, found(start, n.names))
		}
		if n.names == anyFiles {
			for _, start := range s.history {
				out = append(out, found(start, ".git/"+someFiles))
			}
		}
	}
	return out
}

// printed are the files whose names the search prints, by what its tests let
// pass, or nil where that is everything. A program that it runs may print any of
// the names, or the directories of some.
func (s search) printed() []flow.Word {
	var c candidates
	parents := false
	s.walk(func(action string, words []flow.Word, met candidates) {
		switch action {
		case "-print", "-print0", "-ls", "-printf":
			c = c.with(met)
		case "-exec", "-execdir", "-ok", "-okdir":
			parents = parents || len(words) > 0 && path.Base(words[0].Text()) == "dirname"
			c = c.with(met)
		}
	})
	if parents {
		return s.starts
	}
	if slices.ContainsFunc(c, func(one candidate) bool { return one.names == "" }) {
		return nil
	}
	return s.found(c)
}

// asked is an expression on the way through it: as find goes through it for a
// file, with all the files that may come to a place instead of one. A negated
// part keeps whatever it was given, since what a test turns away is not known by
// a pattern of names.
type asked struct {
	words []flow.Word
	next  int
	// act is called for each action, with its words and the files it meets.
	act   func(action string, words []flow.Word, c candidates)
	acted bool // some action was there: else find prints what is left
}

// walk calls act for each action of the expression, and for the -print that is
// meant where there is none.
func (s search) walk(act func(action string, words []flow.Word, c candidates)) {
	a := &asked{words: s.expression, act: act}
	left := a.list(candidates{{}})
	for a.next < len(a.words) { // a bracket that nothing opened
		a.next++
		left = a.list(candidates{{}})
	}
	if !a.acted {
		act("-print", nil, left)
	}
}

func (a *asked) at(words ...string) bool {
	return a.next < len(a.words) && slices.Contains(words, a.words[a.next].Text())
}

func (a *asked) take(words ...string) bool {
	if !a.at(words...) {
		return false
	}
	a.next++
	return true
}

// list is what the last part between commas lets through.
func (a *asked) list(in candidates) candidates {
	out := a.either(in)
	for a.take(",") {
		out = a.either(in)
	}
	return out
}

func (a *asked) either(in candidates) candidates {
	out := a.all(in)
	for a.take("-o", "-or") {
		out = out.with(a.all(in))
	}
	return out
}

func (a *asked) all(in candidates) candidates {
	for a.next < len(a.words) && !a.at(")", "-o", "-or", ",") {
		if !a.take("-a", "-and") {
			in = a.primary(in)
		}
	}
	return in
}

func (a *asked) primary(in candidates) candidates {
	switch {
	case a.take("!", "-not"):
		if a.next < len(a.words) {
			a.primary(in)
		}
		return in
	case a.take("("):
		out := a.list(in)
		a.take(")")
		return out
	}
	name := a.words[a.next].Text()
	a.next++
	if action, n := a.action(name); action {
		a.acted = a.acted || name != "-prune" && name != "-quit"
		words := a.words[a.next : a.next+n]
		a.next += n
		a.act(name, words, in)
		return in
	}
	return a.test(name, in)
}

// action reports whether a word does something, and how many words it takes.
func (a *asked) action(name string) (bool, int) {
	left := a.words[a.next:]
	switch name {
	case "-delete", "-print", "-print0", "-ls", "-prune", "-quit":
		return true, 0
	case "-printf", "-fprint", "-fprint0", "-fls":
		return true, min(1, len(left))
	case "-fprintf":
		return true, min(2, len(left))
	case "-exec", "-execdir", "-ok", "-okdir":
		for i, w := range left {
			if w.Text() == ";" || w.Text() == "+" && i > 0 && left[i-1].Text() == "{}" {
				return true, i + 1
			}
		}
		return true, len(left)
	}
	return false, 0
}

// test is what a test lets through of what comes to it.
func (a *asked) test(name string, in candidates) candidates {
	var value flow.Word
	narrows, names := strings.HasPrefix(name, "-newer"), anyFiles
	switch name {
	case "-empty":
		return in.narrow(candidate{names: someFiles})
	case "-false":
		return nil
	case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname", "-ilname", "-samefile", "-inum":
		narrows, names = true, someFiles
	case "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-used", "-anewer", "-cnewer", "-size", "-user", "-perm":
		narrows = true
	case "-type", "-xtype":
		narrows = a.next < len(a.words) && slices.Contains([]string{"l", "p", "s"}, a.words[a.next].Text()) // what holds nothing itself
		names = someFiles
	case "-maxdepth", "-mindepth", "-group", "-uid", "-gid", "-fstype", "-links", "-regextype", "-context", "-files0-from":
	default:
		if !narrows {
			return in
		}
	}
	if a.next < len(a.words) {
		value = a.words[a.next]
		a.next++
	}
	text := value.Text()
	if !narrows || text == "" || glob.Broad(text) {
		return in
	}
	switch name {
	case "-size":
		if text == "0" { // as -empty
			names = someFiles
		}
	case "-name", "-iname":
		return in.narrow(candidate{names: text})
	case "-samefile":
		return in.narrow(candidate{names: someFiles, only: value})
	case "-regex", "-iregex": // of the whole path: what stands behind the last slash
		last := strings.ReplaceAll(text[strings.LastIndexByte(text, '/')+1:], `\.`, ".")
		if last = strings.ReplaceAll(last, ".*", "*"); last != "" && strings.Trim(last, "*.") != "" && !strings.ContainsAny(last, `\[](){}|+?^$`) {
			return in.narrow(candidate{names: last})
		}
	case "-path", "-wholename":
		if (strings.HasPrefix(text, "./") || strings.HasPrefix(text, "/")) && !glob.Wild(text) && value.Literal() {
			return in.narrow(candidate{names: someFiles, only: value})
		}
		if below := strings.TrimPrefix(strings.TrimPrefix(text, "*"), "./"); strings.Contains(below, "/") && value.Literal() { // or those: */.x/*
			return in.narrow(candidate{names: someFiles}).with(in.narrow(candidate{names: strings.TrimPrefix(below, "/")}))
		}
	}
	return in.narrow(candidate{names: names})
}

// maxCandidates bounds how many patterns of names are told apart; more of them
// count as every file.
const maxCandidates = 64

// with adds what is not yet among the candidates, so that brackets upon
// brackets do not multiply them.
func (c candidates) with(more candidates) candidates {
	out := c[:len(c):len(c)]
	for _, m := range more {
		if !slices.ContainsFunc(out, func(o candidate) bool { return o.names == m.names && o.only.Text() == m.only.Text() }) {
			out = append(out, m)
		}
	}
	if len(out) > maxCandidates {
		return candidates{{}}
	}
	return out
}

// narrow is what one more test leaves of the candidates.
func (c candidates) narrow(by candidate) candidates {
	var out candidates
	for _, one := range c {
		if one.names == "" || by.names != anyFiles && (by.names != someFiles || one.names == anyFiles) {
			one.names = by.names
		}
		if len(by.only.Parts) > 0 {
			one.only = by.only
		}
		out = out.with(candidates{one})
	}
	return out
}
