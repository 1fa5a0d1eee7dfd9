package audit

import (
	"strings"

	"gate/hook"
	"gate/internal/secret"
)

// given learns the secrets that a command is given in a way that only its
// options tell: mysql -pX, docker login -p X, a token on standard input.
func (x *secrets) given(c *hook.ShellCommand) {
	for name, values := range c.Options {
		switch {
		case name == "from-literal" && namesSecret(c.Operands):
			x.values(c, values, "=")
		case name == "password-stdin", name == "with-token", name == "pass-stdin":
			x.input(c)
		case secret.Promises(name):
			x.values(c, values, "")
		}
	}
	x.optioned(c)
	x.bodies(c)
	if n := len(c.Operands); c.Program != nil && *c.Program == "htpasswd" && c.Options["b"] != nil && n > 0 {
		x.values(c, []any{text(c.Operands[n-1])}, "")
	} else if n > 1 && c.Program != nil && *c.Program == "net" && (text(c.Subcommand) == "user" || text(c.Subcommand) == "use") { // NAME PASSWORD
		x.values(c, []any{text(c.Operands[1])}, "")
	}
}

// values learns what an option was given, behind a separator if there is one.
func (x *secrets) values(c *hook.ShellCommand, values []any, behind string) {
	for _, v := range values {
		value, _ := v.(string)
		if i := strings.Index(value, behind); behind != "" && i >= 0 {
			value = value[i+len(behind):]
		}
		if len(value) > 2*maxField || secret.Harmless(value) {
			continue
		}
		x.add(value)
		for _, w := range c.Words { // -pX, too short to be looked for within words
			if word := text(w.Value); len(word) == len(value)+2 && word[0] == '-' && word[2:] == value {
				x.add(word)
			}
		}
	}
}

// input learns the literal text that a command reads.
func (x *secrets) input(c *hook.ShellCommand) {
	if c.Stdin == nil {
		return
	}
	if value := strings.TrimSpace(ahead(text(c.Stdin.Text), 2*maxField)); !secret.Harmless(value) {
		x.add(value)
	}
}

func namesSecret(operands []*string) bool {
	return len(operands) > 0 && text(operands[0]) == "secret"
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
