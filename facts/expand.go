package facts

import (
	"strconv"
	"strings"

	"gate/hook"
	"mvdan.cc/sh/v3/syntax"
)

const maxBraces = 256

// fields expands words as bash does: braces, tilde, parameters, commands,
// arithmetic, splitting. Wildcards stay in the text, unquoted.
func (w *walker) fields(s *state, words ...*syntax.Word) []field {
	var out []field
	for _, word := range words {
		for _, parts := range braces(word) {
			x := expander{walker: w, state: s, split: true}
			x.parts(parts, false)
			fields := x.finish()
			for i := range fields {
				fields[i].span = w.span(word)
			}
			out = append(out, fields...)
			if len(out) > maxWords {
				w.unknown("limit", "more words than gate looks at", 0, nil)
				return out
			}
		}
	}
	return out
}

// word expands one word to one field, without splitting: an assignment, a
// redirection, the word of a case.
func (w *walker) word(s *state, word *syntax.Word) field {
	if word == nil {
		return literalField("")
	}
	x := expander{walker: w, state: s}
	x.parts(word.Parts, false)
	f := join(x.finish())
	f.span = w.span(word)
	return f
}

// An expander builds the fields of one word.
type expander struct {
	*walker
	state *state
	split bool
	cur   field
	open  bool // cur holds something, if only quotes
	out   []field
}

func (x *expander) add(p part) {
	x.cur.parts = append(x.cur.parts, p)
	x.open = true
}

func (x *expander) flush() {
	if x.open {
		x.out = append(x.out, x.cur)
	}
	x.cur, x.open = field{}, false
}

func (x *expander) finish() []field {
	x.flush()
	return x.out
}

func (x *expander) parts(parts []syntax.WordPart, quoted bool) {
	for i, p := range parts {
		switch p := p.(type) {
		case *syntax.Lit:
			text := p.Value
			if i == 0 && !quoted && !x.open {
				text = x.tilde(text)
			}
			x.literal(text, quoted)
		case *syntax.SglQuoted:
			text := p.Value
			if p.Dollar {
				text = ansiC(text)
			}
			x.add(part{text: text, quoted: true})
		case *syntax.DblQuoted:
			x.open = x.open || !onlyList(p)
			x.parts(p.Parts, true)
		case *syntax.ParamExp:
			x.param(p, quoted)
		case *syntax.CmdSubst:
			x.values([]field{x.substitution(x.state, p)}, quoted, false)
		case *syntax.ArithmExp:
			x.values([]field{x.arithmetic(x.state, p.X)}, true, false)
		case *syntax.ProcSubst:
			x.add(part{hole: x.process(x.state, p)})
		case *syntax.ExtGlob:
			if strings.Contains(p.Pattern.Value, ":") || p.Pattern.Value == "" {
				x.unknown("dialect", "in zsh this pattern can run code", 0, x.span(p))
			}
			x.add(part{text: "*"}) // what it matches is judged as "anything"
		case *syntax.BraceExp:
			x.add(part{text: "*"})
		default:
			x.unknown("syntax", "a part of a word gate does not know", 0, nil)
			x.add(part{hole: &hole{why: "unknown syntax", empty: true, many: true}})
		}
	}
}

// onlyList reports "$@" and "${a[@]}", which are no word at all when empty.
func onlyList(q *syntax.DblQuoted) bool {
	if len(q.Parts) != 1 {
		return false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	return ok && p.Param != nil && (p.Param.Value == "@" || indexAll(p) == "@")
}

// literal adds text with its backslashes resolved.
func (x *expander) literal(text string, quoted bool) {
	if !strings.Contains(text, `\`) {
		x.add(part{text: text, quoted: quoted})
		return
	}
	var run strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' || i+1 == len(text) {
			run.WriteByte(c)
			continue
		}
		next := text[i+1]
		switch {
		case next == '\n':
			i++
		case quoted && strings.IndexByte("$`\"\\", next) < 0:
			run.WriteByte(c)
		case quoted:
			run.WriteByte(next)
			i++
		default:
			x.add(part{text: run.String()})
			run.Reset()
			x.add(part{text: string(next), quoted: true})
			i++
		}
	}
	x.add(part{text: run.String(), quoted: quoted})
}

// tilde resolves a leading ~ and adds the directory; it returns the rest.
func (x *expander) tilde(text string) string {
	if !strings.HasPrefix(text, "~") {
		return text
	}
	user, rest := text[1:], ""
	if i := strings.IndexByte(text, '/'); i >= 0 {
		user, rest = text[1:i], text[i:]
	}
	switch dir := x.home(x.state, user); {
	case dir != "":
		x.add(part{text: dir, quoted: true})
	case strings.ContainsAny(user, `\'"`):
		return text
	default:
		x.add(part{hole: &hole{why: "the home of another user"}})
	}
	return rest
}

// home returns what ~user stands for, "" when that is not known.
func (w *walker) home(s *state, user string) string {
	switch {
	case user == "":
		if v, ok := s.vars["HOME"]; ok {
			if text := v.value.value(); text != nil {
				return *text
			}
			return ""
		}
		return w.world.Home
	case user == "+" && len(s.dirs) == 1:
		return s.dirs[0]
	case user == "-" && len(s.old) > 0:
		return s.old[len(s.old)-1]
	case user == w.world.User && user != "":
		return w.world.Home
	case user == "root":
		return "/root"
	case user == "+" || user == "-" || !plainName(user):
		return ""
	}
	return parent(w.world.Home) + "/" + user
}

func plainName(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.' {
			return false
		}
	}
	return s != ""
}

// values adds expanded values. Unquoted ones are split and may hold wildcards.
func (x *expander) values(values []field, quoted, list bool) {
	for i, v := range values {
		if i > 0 && list {
			x.flush()
		}
		if quoted || !x.split {
			for _, p := range v.parts {
				p.quoted = p.quoted || quoted
				x.add(p)
			}
			x.open = x.open || quoted
			continue
		}
		x.splitField(v)
	}
}

// splitField adds an unquoted expansion, cut at blanks (or IFS).
func (x *expander) splitField(v field) {
	sep, known := x.separators()
	for _, p := range v.parts {
		if p.hole != nil {
			if vs := p.hole.alts; len(vs) > 0 && strings.ContainsAny(strings.Join(vs, ""), sep) {
				p = part{hole: &hole{why: p.hole.why, empty: p.hole.empty, many: true, taint: p.hole.taint}}
			} else if len(vs) == 0 {
				h := *p.hole
				h.many = true
				p.hole = &h
			}
			x.add(p)
			continue
		}
		if !known {
			x.add(part{hole: &hole{why: "split by an unknown IFS", empty: true, many: true}})
			continue
		}
		for len(p.text) > 0 {
			i := strings.IndexAny(p.text, sep)
			if i < 0 {
				x.add(part{text: p.text})
				break
			}
			if i > 0 {
				x.add(part{text: p.text[:i]})
			}
			x.flush()
			p.text = p.text[i+1:]
		}
	}
}

func (x *expander) separators() (string, bool) {
	v, ok := x.state.vars["IFS"]
	if !ok {
		return " \t\n", true
	}
	text := v.value.value()
	if text == nil {
		return "", false
	}
	return *text, true
}

// braces returns the parts of a word once for each brace expansion.
func braces(word *syntax.Word) [][]syntax.WordPart {
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
	var out [][]syntax.WordPart
	for n := lo; (step > 0 && n <= hi) || (step < 0 && n >= hi); n += step {
		v := strconv.Itoa(n)
		if char {
			v = string(rune(n))
		}
		out = append(out, []syntax.WordPart{&syntax.Lit{Value: v}})
	}
	return out
}

func abs(n int) int { return max(n, -n) }

// ansiC resolves the escapes of $'…'.
func ansiC(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'a', 'b', 'f', 'v':
			b.WriteByte(map[byte]byte{'a': 7, 'b': 8, 'f': 12, 'v': 11}[c])
		case 'e', 'E':
			b.WriteByte(27)
		case 'x':
			i += number(&b, s[i+1:], 16, 2, false)
		case 'u':
			i += number(&b, s[i+1:], 16, 4, true)
		case 'U':
			i += number(&b, s[i+1:], 16, 8, true)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			i += number(&b, s[i:], 8, 3, false) - 1
		case 'c':
			if i+1 < len(s) {
				i++
				b.WriteByte(s[i] & 0x1F)
			}
		default:
			if strings.IndexByte(`\'"?`, c) < 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

// number reads up to n digits and writes the character; it returns how many
// digits there were.
func number(b *strings.Builder, s string, base, n int, wide bool) int {
	i := 0
	for i < n && i < len(s) && digit(s[i]) < base {
		i++
	}
	v, err := strconv.ParseUint(s[:i], base, 32)
	switch {
	case err != nil:
	case wide:
		b.WriteRune(rune(v))
	default:
		b.WriteByte(byte(v))
	}
	return i
}

func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return 99
}

// span converts a node's place to code points; nil inside nested text.
func (w *walker) span(n syntax.Node) *hook.Span {
	if w.nested > 0 || n == nil {
		return nil
	}
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from >= to || to > len(w.text) {
		return nil
	}
	return &hook.Span{w.points(from), w.points(to)}
}
