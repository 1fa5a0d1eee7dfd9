// Package sed cuts a script of sed into its commands, as GNU sed does, and says which
// files and shell lines they name; package facts judges these. Start with New, and ask
// for the Next command until there is none.
package sed

import (
	"strings"
	"unicode/utf8"
)

// Hole stands in a script for a part that is not known.
const Hole = '\x00'

// A Command is one command of a script.
type Command struct {
	Name  byte // of comments, labels and blocks, too: # : {
	Runs  bool // Value is run as a shell line
	Value Text // e: the line; s: what it puts in place; a, i, c: the text
	File  Text // r, R, w, W and the flag w of s: the file
}

// A Text is a piece of a script.
type Text struct {
	Text  string // with each Hole in it
	Holes int    // how many the script has before it
}

// A Script is cut while it is read.
type Script struct {
	text  string
	pos   int
	past  int // up to here,
	holes int // there are so many holes
}

// New returns the script of a text.
func New(text string) *Script { return &Script{text: text} }

// Next returns the next command, or reports that there is none.
func (s *Script) Next() (Command, bool) {
	s.skip(" \t\n;{}")
	s.address()
	if s.skip(" \t"); s.at(",") {
		s.pos++
		s.skip(" \t")
		s.address()
	}
	s.skip(" \t!")
	if s.pos >= len(s.text) {
		return Command{}, false
	}
	c := Command{Name: s.text[s.pos]}
	s.pos++
	switch c.Name {
	case '#':
		s.until("\n")
	case ':', 'b', 't', 'T':
		s.until("\n;")
	case 'a', 'i', 'c':
		s.skip(" \t")
		if s.at(`\`) {
			s.pos++
			s.skip(" \t")
			if s.at("\n") {
				s.pos++
			}
		}
		start := s.pos
		for strings.HasSuffix(s.until("\n"), `\`) && s.pos < len(s.text) {
			s.pos++
		}
		c.Value = s.piece(start, s.text[start:s.pos])
	case 'e':
		c.Runs, c.Value = true, s.line()
	case 'r', 'R', 'w', 'W':
		c.File = s.line()
	case 's':
		s.substitution(&c)
	case 'y':
		if delimiter := s.delimiter(); delimiter != "" {
			s.delimited(delimiter)
			s.delimited(delimiter)
		}
	}
	return c, true
}

// substitution reads what follows an s.
func (s *Script) substitution(c *Command) {
	delimiter := s.delimiter()
	if delimiter == "" {
		return
	}
	s.delimited(delimiter)
	c.Value = s.delimited(delimiter)
	for s.pos < len(s.text) && strings.IndexByte("gpiImMe0123456789", s.text[s.pos]) >= 0 {
		c.Runs = c.Runs || s.text[s.pos] == 'e'
		s.pos++
	}
	if s.at("w") {
		s.pos++
		c.File = s.line()
	}
}

// address reads what may stand before a command.
func (s *Script) address() {
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

func (s *Script) at(mark string) bool { return strings.HasPrefix(s.text[s.pos:], mark) }

func (s *Script) skip(bytes string) {
	for s.pos < len(s.text) && strings.IndexByte(bytes, s.text[s.pos]) >= 0 {
		s.pos++
	}
}

// until reads as far as one of the bytes.
func (s *Script) until(bytes string) string {
	rest := s.text[s.pos:]
	if end := strings.IndexAny(rest, bytes); end >= 0 {
		rest = rest[:end]
	}
	s.pos += len(rest)
	return rest
}

// line is the rest of the line, a file name or a shell line.
func (s *Script) line() Text {
	s.skip(" \t")
	start := s.pos
	return s.piece(start, s.until("\n"))
}

// delimiter is the character that follows, "" at the end.
func (s *Script) delimiter() string {
	if s.pos >= len(s.text) || s.at("\n") {
		return ""
	}
	_, size := utf8.DecodeRuneInString(s.text[s.pos:])
	s.pos += size
	return s.text[s.pos-size : s.pos]
}

// delimited reads as far as the delimiter that no backslash protects.
func (s *Script) delimited(delimiter string) Text {
	start := s.pos
	for s.pos < len(s.text) && !s.at(delimiter) {
		if s.at(`\`) {
			s.pos++
		}
		s.pos = min(s.pos+1, len(s.text))
	}
	text := s.text[start:s.pos]
	s.pos = min(s.pos+len(delimiter), len(s.text))
	return s.piece(start, strings.ReplaceAll(text, `\`+delimiter, delimiter))
}

// piece is text, which begins at start, behind the last one.
func (s *Script) piece(start int, text string) Text {
	s.holes += strings.Count(s.text[s.past:start], string(Hole))
	s.past = start
	return Text{Text: text, Holes: s.holes}
}
