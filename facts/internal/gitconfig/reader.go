package gitconfig

import "strings"

// A reader reads a file of git's configuration as git does. What git refuses
// ends it: then git does nothing at all.
type reader struct {
	text string
	at   int
	end  bool // there is no more text
}

// Parse takes a configuration file in. Where it includes another one, include is
// called.
func (g Settings) Parse(text string, include func(path string)) {
	r := &reader{text: strings.TrimPrefix(text, "\ufeff")}
	section := ""
	for !r.end {
		c := r.next()
		switch {
		case isSpace(c):
		case c == '#' || c == ';':
			r.line()
		case c == '[':
			var ok bool
			if section, ok = r.section(); !ok {
				return
			}
		case isName(c) && c != '-' && (c < '0' || c > '9'):
			r.at--
			name := r.name()
			value, ok := r.value()
			if !ok {
				return
			}
			g.Set(section+"."+name, value)
			if strings.EqualFold(name, "path") && (section == "include" || strings.HasPrefix(section, "includeif.")) {
				include(value)
			}
		default:
			return
		}
	}
}

// next returns the next character. The end reads as the end of a line.
func (r *reader) next() byte {
	if r.end = r.at >= len(r.text); r.end {
		return '\n'
	}
	r.at++
	if strings.HasPrefix(r.text[r.at-1:], "\r\n") {
		r.at++
	}
	return r.text[r.at-1]
}

// line skips the rest of a line.
func (r *reader) line() {
	for r.next() != '\n' {
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-'
}

// section reads what follows a bracket: a name, and a subsection in quotes.
func (r *reader) section() (string, bool) {
	from := r.at
	for {
		c := r.next()
		name := strings.ToLower(r.text[from:max(r.at-1, from)])
		switch {
		case r.end:
			return "", false
		case c == ']':
			return name, true
		case isSpace(c):
			sub, ok := r.subsection(c)
			return name + "." + sub, ok
		case !isName(c) && c != '.':
			return "", false
		}
	}
}

// subsection reads a quoted name, which is taken as it is, and the bracket
// behind it.
func (r *reader) subsection(c byte) (string, bool) {
	for isSpace(c) {
		if c == '\n' {
			return "", false
		}
		c = r.next()
	}
	if c != '"' {
		return "", false
	}
	var sub []byte
	for c = r.next(); c != '"'; c = r.next() {
		if c == '\\' {
			c = r.next()
		}
		if c == '\n' {
			return "", false
		}
		sub = append(sub, c)
	}
	return string(sub), r.next() == ']'
}

// name reads the name of a value.
func (r *reader) name() string {
	from := r.at
	for r.at < len(r.text) && isName(r.text[r.at]) {
		r.at++
	}
	return r.text[from:r.at]
}

// value reads what follows a name: nothing, which means true, or an equals sign
// and a value to the end of the line.
func (r *reader) value() (string, bool) {
	c := r.next()
	for c == ' ' || c == '\t' {
		c = r.next()
	}
	if c == '\n' {
		return "true", true
	}
	if c != '=' {
		return "", false
	}
	var value []byte
	spaces, quoted := 0, false
	for {
		c = r.next()
		comment := !quoted && (c == '#' || c == ';')
		if comment {
			r.line()
		}
		switch {
		case comment || c == '\n':
			text, _, _ := strings.Cut(string(value), "\x00")
			return text, !quoted
		case !quoted && isSpace(c):
			if len(value) > 0 {
				spaces++
			}
			continue
		}
		value = append(value, strings.Repeat(" ", spaces)...)
		spaces = 0
		switch c {
		case '\\':
			escaped, ok := r.escape()
			if !ok {
				return "", false
			}
			value = append(value, escaped...)
		case '"':
			quoted = !quoted
		default:
			value = append(value, c)
		}
	}
}

// escape reads what follows a backslash. At the end of a line it is nothing.
func (r *reader) escape() (string, bool) {
	switch c := r.next(); c {
	case '\n':
		return "", true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 'b':
		return "\b", true
	case '\\', '"':
		return string(c), true
	}
	return "", false
}
