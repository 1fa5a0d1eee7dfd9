package facts

import (
	"strings"
	"unicode/utf8"
)

// A sedScript is cut into commands as GNU sed cuts it. The fields below text
// hold what the last command says.
type sedScript struct {
	text  string // a hole is a NUL byte in it
	holes []part // those that no field has passed
	past  int    // how far the holes are gone
	pos   int

	name  byte
	runs  bool  // value is run as a shell line
	value field // e: the line; s: what it puts in place
	file  field // r, R, w, W and the flag w of s: the file, without parts for none
}

func newSedScript(f field) *sedScript {
	s := &sedScript{}
	var b strings.Builder
	for _, p := range f.parts {
		if p.hole != nil {
			s.holes = append(s.holes, p)
			p.text = "\x00"
		}
		b.WriteString(p.text)
	}
	s.text = b.String()
	return s
}

// command goes to the next command, or reports that there is none.
func (s *sedScript) command() bool {
	s.name, s.runs, s.value, s.file = 0, false, field{}, field{}
	s.skip(" \t\n;{}")
	s.address()
	if s.skip(" \t"); s.at(",") {
		s.pos++
		s.skip(" \t")
		s.address()
	}
	s.skip(" \t!")
	if s.pos >= len(s.text) {
		return false
	}
	s.name = s.text[s.pos]
	s.pos++
	switch s.name {
	case '#', ':', 'b', 't', 'T':
		s.until("\n;")
	case 'a', 'i', 'c':
		for strings.HasSuffix(s.until("\n"), `\`) && s.pos < len(s.text) {
			s.pos++
		}
	case 'e':
		s.runs, s.value = true, s.line()
	case 'r', 'R', 'w', 'W':
		s.file = s.line()
	case 's':
		s.substitution()
	case 'y':
		if delimiter := s.delimiter(); delimiter != "" {
			s.delimited(delimiter)
			s.delimited(delimiter)
		}
	}
	return true
}

// substitution reads what follows an s.
func (s *sedScript) substitution() {
	delimiter := s.delimiter()
	if delimiter == "" {
		return
	}
	s.delimited(delimiter)
	s.value = s.delimited(delimiter)
	for s.pos < len(s.text) && strings.IndexByte("gpiImMe0123456789", s.text[s.pos]) >= 0 {
		s.runs = s.runs || s.text[s.pos] == 'e'
		s.pos++
	}
	if s.at("w") {
		s.pos++
		s.file = s.line()
	}
}

// address reads what may stand before a command.
func (s *sedScript) address() {
	switch {
	case s.at("/"):
		s.pos++
		s.delimited("/")
		s.skip("IM")
	case s.at(`\`):
		s.pos++
		if delimiter := s.delimiter(); delimiter != "" {
			s.delimited(delimiter)
		}
		s.skip("IM")
	default:
		s.skip("0123456789$~+")
	}
}

func (s *sedScript) at(mark string) bool { return strings.HasPrefix(s.text[s.pos:], mark) }

func (s *sedScript) skip(bytes string) {
	for s.pos < len(s.text) && strings.IndexByte(bytes, s.text[s.pos]) >= 0 {
		s.pos++
	}
}

// until reads as far as one of the bytes.
func (s *sedScript) until(bytes string) string {
	rest := s.text[s.pos:]
	if end := strings.IndexAny(rest, bytes); end >= 0 {
		rest = rest[:end]
	}
	s.pos += len(rest)
	return rest
}

// line is the rest of the line, a file name or a shell line.
func (s *sedScript) line() field {
	s.skip(" \t")
	start := s.pos
	return s.field(start, s.until("\n"))
}

// delimiter is the character that follows, "" at the end.
func (s *sedScript) delimiter() string {
	if s.pos >= len(s.text) || s.at("\n") {
		return ""
	}
	_, size := utf8.DecodeRuneInString(s.text[s.pos:])
	s.pos += size
	return s.text[s.pos-size : s.pos]
}

// delimited reads as far as the delimiter that no backslash protects.
func (s *sedScript) delimited(delimiter string) field {
	start := s.pos
	for s.pos < len(s.text) && !s.at(delimiter) {
		if s.at(`\`) {
			s.pos++
		}
		s.pos = min(s.pos+1, len(s.text))
	}
	text := s.text[start:s.pos]
	s.pos = min(s.pos+len(delimiter), len(s.text))
	return s.field(start, strings.ReplaceAll(text, `\`+delimiter, delimiter))
}

// field puts the holes back into a text that begins at start, behind the last
// one.
func (s *sedScript) field(start int, text string) field {
	s.holes, s.past = s.holes[strings.Count(s.text[s.past:start], "\x00"):], start
	var f field
	for i, known := range strings.Split(text, "\x00") {
		if i > 0 {
			f.parts = append(f.parts, s.holes[i-1])
		}
		if known != "" {
			f.parts = append(f.parts, part{text: known, quoted: true})
		}
	}
	return f
}
