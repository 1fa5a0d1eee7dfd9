package shell

import (
	"path"
	"strings"

	"gate/facts/internal/bash"
	"gate/facts/internal/flow"
	"gate/internal/wordlist"
)

// Kinds of zsh's aliases, before their names: those that count in every place, and
// those for the end of a file's name.
const (
	everywhere = "-g "
	bySuffix   = "-s "
)

// naming are arrays whose keys are names of commands or directories, in bash and in zsh.
const naming = " BASH_CMDS BASH_ALIASES aliases functions commands nameddirs "

// keyed returns a variable before an element of it is set. The arrays of [naming] have
// words for keys, without a declaration.
func (s *state) keyed(name string) variable {
	v, ok := s.vars[s.target(name)]
	if !ok && wordlist.Has(naming, name) {
		v.array, v.words, v.keys = true, true, []string{}
	}
	return v
}

// named returns what one of these arrays has for a command. An array that the line
// declares is its own.
func (s *state) named(arrays, command string) (f flow.Word, ok bool) {
	for array := range strings.FieldsSeq(arrays) {
		v, set := s.vars[array]
		if !set || !v.array || v.declared {
			continue
		}
		if i := v.index(command); v.words && i >= 0 && i < len(v.list) {
			return v.list[i], true
		}
	}
	return flow.Word{}, false
}

// hashed runs the file that a name stands for. Where such files lie is judged as a
// directory in PATH is.
func (c *Call) hashed(file flow.Word) flow.Stream {
	v := file.Value()
	if v == nil {
		c.Words = append([]flow.Word{file}, c.Given()...)
		return c.unknownProgram()
	}
	out := c.outside.Run(c, *v)
	if !strings.HasPrefix(*v, "/") {
		c.sets(c.ID, "PATH", flow.Literal("."))
	} else {
		c.sets(c.ID, "PATH", flow.Literal(path.Dir(*v)))
	}
	return out
}

// zshAliases judges a command as zsh reads it where the line has made aliases that
// count in every place or for a suffix. Whether zsh reads it is not known.
func (c *Call) zshAliases(name string) {
	try := func(key, body string, rest []flow.Word) {
		if c.running("alias " + key) {
			return
		}
		other := *c
		other.s = c.s.clone()
		c.active = append(c.active, frame{name: "alias " + key})
		other.Handed(body, rest)
		c.active = c.active[:len(c.active)-1]
	}
	if suffix := strings.TrimPrefix(path.Ext(name), "."); suffix != "" {
		if body, ok := c.s.aliases[bySuffix+suffix]; ok {
			try(bySuffix+suffix, body, c.Words)
		}
	}
	before := ""
	for i, word := range c.Words {
		v := word.Value()
		if v == nil {
			return
		}
		if body, ok := c.s.aliases[everywhere+*v]; ok {
			try(everywhere+*v, before+body, c.Words[i+1:])
		}
		before += bash.Quote(*v) + " "
	}
}
