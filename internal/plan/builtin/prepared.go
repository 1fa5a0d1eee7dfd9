package builtin

import (
	"unicode/utf8"

	"gate/internal/plan/pattern"
)

// maxPrepared is how long a text may be that a program goes through one character
// at a time. Package regexp compiles, and is faster then.
const maxPrepared = 4096

// prepared returns what a pattern was compiled to before, as an expression or as
// a glob; "" for none.
func (c *Context) prepared(text string, glob bool) pattern.Program {
	if c.Patterns == nil {
		return ""
	}
	p := c.Patterns(text)
	if glob {
		return p.Glob
	}
	return p.Regex
}

// match matches a text with a program. It is unknown, and to be compiled, where
// there is none, and where the text is long or is none.
func (c *Context) match(p pattern.Program, text string, delimiters []rune) (matches, known bool, err error) {
	may, err := c.mayMatch(p, text)
	switch {
	case err != nil || p == "":
		return false, false, err
	case !may || p.Decided():
		return may, true, nil
	case len(text) > maxPrepared:
		return false, false, nil
	}
	if err := c.Spend(len(text) * (1 + p.Size()/8)); err != nil {
		return false, false, err
	}
	return p.Match(text, delimiters, &c.scratch), true, nil
}

// mayMatch reports whether there may be a match. Without a program there may.
func (c *Context) mayMatch(p pattern.Program, text string) (bool, error) {
	if p == "" {
		return true, nil
	}
	if err := c.Spend((1 + len(p)/256) * (1 + len(text)/8)); err != nil {
		return false, err
	}
	return p.MayMatch(text), nil
}

// matchGlob is match for a glob: programs of globs are for UTF-8.
func (c *Context) matchGlob(p, text string, delimiters []rune) (matches, known bool, err error) {
	program := c.prepared(p, true)
	if program == "" || !utf8.ValidString(text) {
		return false, false, nil
	}
	return c.match(program, text, delimiters)
}
