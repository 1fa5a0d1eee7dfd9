package shell

import (
	"strconv"
	"strings"

	"gate/facts/internal/flow"
)

// A reading is one read or mapfile: its options, and the names it sets.
type reading struct {
	array     flow.Word // -a
	delimiter flow.Word // -d
	raw       bool      // -r
	count     int       // -n, -N: at most so many characters
	skip      int       // -s of mapfile
	origin    int       // -O of mapfile
	trim      bool      // -t of mapfile
	callback  flow.Word // -C of mapfile
	from      flow.Word // -u
	strange   bool      // an option that changes what is read in a way gate does not follow
	names     []flow.Word
}

// reading takes the words apart; valued are the letters that have a value.
func (c *Call) reading(valued string) reading {
	r := reading{count: -1}
	args := c.Given()
	for i := 0; i < len(args); i++ {
		text := args[i].Text()
		if len(text) < 2 || text[0] != '-' || !args[i].Literal() || len(r.names) > 0 {
			r.names = append(r.names, args[i])
			continue
		}
		for j := 1; j < len(text); j++ {
			if strings.IndexByte(valued, text[j]) < 0 {
				r.flag(text[j])
				continue
			}
			value := flow.Literal(text[j+1:])
			if j+1 == len(text) && i+1 < len(args) {
				i++
				value = args[i]
			}
			r.value(text[j], value, c.Words[0].Text() == "read")
			break
		}
	}
	if len(r.from.Parts) > 0 { // another input
		st, ok := c.Files[fdPath+r.from.Text()]
		if c.Stdin = st; !ok || !r.from.Literal() {
			c.Stdin, r.strange = flow.Stream{Some: true}, true
		}
	}
	return r
}

func (r *reading) flag(letter byte) {
	switch letter {
	case 'r':
		r.raw = true
	case 't':
		r.trim = true
	}
}

func (r *reading) value(letter byte, f flow.Word, read bool) {
	n, known := f.Number()
	switch {
	case letter == 'a':
		r.array = f
	case letter == 'd':
		r.delimiter = f
	case letter == 'n', letter == 'N':
		r.count, r.strange = n, r.strange || !known || n < 0
	case letter == 'u':
		r.from = f
	case letter == 's' && !read:
		r.skip, r.strange = n, r.strange || !known
	case letter == 'O':
		r.origin, r.strange = n, r.strange || !known
	case letter == 'C':
		r.callback = f
	}
}

// take returns the next piece of the input, up to the delimiter, and moves on.
func (c *Call) take(r *reading) (string, bool) {
	rest, ok := c.Stdin.Left()
	delimiter := "\n"
	if len(r.delimiter.Parts) > 0 {
		v := r.delimiter.Value()
		if v == nil {
			ok = false
		} else {
			delimiter = (*v + "\x00")[:1]
		}
	}
	if !ok || r.strange {
		c.lose()
		return "", false
	}
	line, after, _ := strings.Cut(rest, delimiter)
	if r.count >= 0 && r.count < len(line) {
		line, after = line[:r.count], line[r.count:]+after
	}
	if !r.raw && strings.Contains(line, "\\") {
		c.lose()
		return "", false
	}
	if p := c.Stdin.Read; p != nil {
		p.At = len(*c.Stdin.Text) - len(after)
		if c.maybe > p.Maybe {
			c.lose() // where it is read on a way that may not be taken
		}
	}
	return line, true
}

// lose notes that nobody knows how far the input has been read.
func (c *Call) lose() {
	if c.Stdin.Read != nil {
		c.Stdin.Read.At = -1
	}
}

// unread is what read sets where the input is not known.
func (c *Call) unread() flow.Word {
	if names := c.Stdin.Names(); len(names) == 1 && c.Stdin.File == "" {
		return names[0]
	}
	return flow.Unknown(&flow.Hole{Why: "text that was read", Empty: true, Taint: c.Stdin.Taint, File: c.Stdin.File})
}

func (c *Call) unreadArray() variable {
	f := c.unread()
	return variable{value: flow.Unknown(&flow.Hole{Why: "text that was read", Empty: true, Many: true, Taint: f.Taint(), File: c.Stdin.File})}
}

// read takes variables from a line of its input.
func (c *Call) read() (flow.Stream, bool) {
	c.plainNamed()
	r := c.reading("adinNptu")
	for _, n := range r.names {
		c.evaluated(c.s, n)
	}
	line, known := c.take(&r)
	s := c.s
	if len(c.Env) > 0 { // IFS=, read …
		s = s.clone()
		for _, e := range c.Env {
			s.set(e.Name, e.Value)
		}
	}
	x := expander{Shell: c.Shell, state: s}
	sep, knownSep := x.separators()
	switch {
	case len(r.array.Parts) > 0:
		v := c.unreadArray()
		if known && knownSep {
			x.splitText(line, sep)
			v = variable{array: true, list: x.finish()}
		}
		if name := r.array.Value(); name != nil {
			c.s.replace(*name, v)
		}
	case len(r.names) == 0:
		c.assignRead(flow.Literal("REPLY"), line, known)
	case !known || !knownSep:
		for _, n := range r.names {
			c.assignRead(n, "", false)
		}
	default:
		for i, n := range r.names {
			var word string
			word, line = readWord(line, sep, i == len(r.names)-1)
			c.assignRead(n, word, true)
		}
	}
	return flow.Stream{}, true
}

// assignRead sets one name; a name that is not known may be any.
func (c *Call) assignRead(name flow.Word, text string, known bool) {
	f := c.unread()
	if known {
		f = flow.Literal(text)
	}
	if n := name.Value(); n != nil {
		c.s.setNamed(*n, f)
		c.sets(c.ID, *n, f)
	}
}

// readWord cuts the first word off a line, as read does: the last name takes
// all that is left.
func readWord(line, sep string, last bool) (word, rest string) {
	blanks := ""
	for _, b := range " \t\n" {
		if strings.ContainsRune(sep, b) {
			blanks += string(b)
		}
	}
	line = strings.TrimLeft(line, blanks)
	i := strings.IndexAny(line, sep)
	if last || i < 0 {
		word = strings.TrimRight(line, blanks)
		if last && i >= 0 && strings.IndexAny(word, sep) == len(word)-1 && strings.ContainsAny(word, sep) {
			word = word[:len(word)-1] // one separator at the end is dropped
		}
		return word, ""
	}
	word, rest = line[:i], strings.TrimLeft(line[i:], blanks)
	if rest != "" && strings.IndexByte(sep, rest[0]) >= 0 && strings.IndexByte(blanks, rest[0]) < 0 {
		rest = rest[1:]
	}
	return word, strings.TrimLeft(rest, blanks)
}

// maxLines bounds the lines that mapfile reads.
const maxLines = 256

// mapfile takes an array from the lines of its input.
func (c *Call) mapfile() (flow.Stream, bool) {
	c.plainNamed()
	r := c.reading("dnOsuCc")
	name := flow.Literal("MAPFILE")
	if len(r.names) > 0 {
		name = r.names[0]
	}
	v := variable{array: true}
	delimiter, limit := "\n", r.count
	if d := r.delimiter.Value(); d != nil && len(r.delimiter.Parts) > 0 {
		delimiter = (*d + "\x00")[:1]
	}
	rest, known := c.Stdin.Left()
	c.lose()
	lines := strings.SplitAfter(rest, delimiter)
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if r.strange || !known || len(lines) > maxLines {
		v = c.unreadArray()
		lines = nil
	}
	for i, l := range lines[min(max(r.skip, 0), len(lines)):] {
		if limit > 0 && i >= limit {
			break
		}
		if r.trim {
			l = strings.TrimSuffix(l, delimiter)
		}
		v = v.with(strconv.Itoa(r.origin+i), flow.Literal(l))
	}
	if len(r.callback.Parts) > 0 {
		more := flow.Unknown(&flow.Hole{Why: "a line that was read", Many: true, File: c.Stdin.File})
		c.Text(flow.Join([]flow.Word{r.callback, more}), flow.Stream{})
	}
	if n := name.Value(); n != nil {
		c.s.replace(*n, v)
	}
	return flow.Stream{}, true
}

// getopts sets a variable to the option it finds, and OPTARG to its value.
func (c *Call) getopts() (flow.Stream, bool) {
	c.plainNamed()
	if args := c.Given(); len(args) > 1 {
		if n := args[1].Value(); n != nil {
			c.s.set(*n, flow.Unknown(&flow.Hole{Why: "an option"}))
		}
	}
	c.s.set("OPTARG", flow.Unknown(&flow.Hole{Why: "the value of an option", Empty: true}))
	c.s.set("OPTIND", unknownNumber())
	return flow.Stream{}, true
}
