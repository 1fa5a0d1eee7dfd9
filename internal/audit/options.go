package audit

import (
	_ "embed"
	"strings"

	"gate/hook"
)

//go:embed options.rows
var optionRows string

// optioned learns what a program is given as a password by the place of a word alone, by
// the rows of options.rows.
func (x *secrets) optioned(c *hook.ShellCommand) {
	if c.Program == nil || len(c.Words) == 0 {
		return
	}
	program := *c.Program
	program = program[strings.LastIndexByte(program, '/')+1:]
	for line := range strings.Lines(optionRows) {
		names, forms, row := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		if !row || !strings.Contains(" "+names+" ", " "+program+" ") {
			continue
		}
		for form := range strings.FieldsSeq(forms) {
			if form == "<" {
				x.input(c)
				continue
			}
			for i := range c.Words {
				next := ""
				if i+1 < len(c.Words) {
					next = text(c.Words[i+1].Value)
				}
				if value := optionValue(form, text(c.Words[i].Value), next); value != "" && i > 0 {
					x.values(c, []any{value}, "")
				}
			}
		}
	}
}

// optionValue is the secret that a word of a form has, or the word behind it; "" for none.
func optionValue(form, word, next string) string {
	if form == "a:b@c" {
		user, host := strings.IndexByte(word, ':'), strings.LastIndexByte(word, '@')
		if user > 0 && host > user && !strings.HasPrefix(word[user:], "://") {
			return word[user+1 : host]
		}
		return ""
	}
	name, last := form[:len(form)-1], form[len(form)-1]
	switch last {
	case '*':
		value, _ := strings.CutPrefix(word, name)
		if value == word {
			return ""
		}
		return value
	case '.':
		if word == name {
			return next
		}
		return ""
	case '%', ',':
		_, value, _ := strings.Cut(optionValue(name, word, next), string(last))
		return value
	}
	if word == form {
		return next
	}
	if short := len(form) == 2 && form[0] == '-'; !short {
		form += "="
	}
	if value, ok := strings.CutPrefix(word, form); ok {
		return value
	}
	return ""
}

// Beginnings of private keys in base64, as they stand between the lines of PEM: DER of
// more than 255 bytes, and OpenSSH's own form.
var keyBodies = [...]string{"MII", "b3BlbnNzaC1rZXktdjE"}

// Limits of what is taken for the body of a key, in bytes: shorter than a line of PEM, and
// than its last line.
const (
	leastBody = 48
	leastLine = 12
)

// bodies learns the bodies of keys in words that have lost their first line, look like
// options, or stand one by one between the first line and the last.
func (x *secrets) bodies(c *hook.ShellCommand) {
	within := false
	for _, w := range c.Words {
		word := ahead(text(w.Value), 2*maxField)
		switch {
		case strings.Contains(word, "-----BEGIN"):
			within = true
		case strings.Contains(word, "-----END"):
			within = false
		}
		plain := strings.TrimLeft(word, "-")
		begins := strings.HasPrefix(plain, keyBodies[0]) || strings.HasPrefix(plain, keyBodies[1])
		if strings.ContainsFunc(plain, noBase64) || !(begins && len(plain) >= leastBody || within && len(plain) >= leastLine) {
			continue
		}
		x.add(plain)
		if plain != word {
			for cut := range 4 { // letters that were read as options of their own, and an option's value behind them
				x.add(plain[cut+1:])
			}
		}
	}
}

func noBase64(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+/=\r\n", r))
}
