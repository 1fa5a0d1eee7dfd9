// Package secret is the one list of secrets: the shapes of tokens (shapes.rows), names
// that promise one (names.rows), and files that hold them (files.rows). The decision
// log, facts, judges and messages all read it, so facts know whatever the log masks.
//
// To show a text, call [Redact]; to judge a text that leaves the machine, [Sent]; for a
// variable without a known value, [Variable]. The package reads no file and knows no
// program; the catalogue of facts says what an option means.
package secret

import (
	_ "embed"
	"strconv"
	"strings"
)

// Mark stands where a secret was.
const Mark = "[redacted]"

// A Grade says how sure it is that something is a secret, and so what follows.
type Grade uint8

// The grades, from the least sure.
const (
	None    Grade = iota // no secret
	Masked               // it may be one: it is masked, and nothing else comes of it
	Address              // of a name: its value is an address, which may hold a password
	Named                // its name promises it: masked; a variable of that name is a secret to facts
	Certain              // its shape alone tells it: masked, and facts say who is sent it
)

func gradeOf(word string) Grade {
	switch word {
	case "masked":
		return Masked
	case "address":
		return Address
	case "named":
		return Named
	case "certain":
		return Certain
	}
	return None
}

// A Place is where a secret stands in a text, in bytes.
type Place struct {
	From, To int
	Grade    Grade  // Masked, Named or Certain
	row      uint16 // of a Certain one, where its row stands
}

// What is the kind of secret that a Certain one is, such as "cloud credentials"; "" for
// the others.
func (p Place) What() string {
	if p.Grade != Certain {
		return ""
	}
	sh := rowAt(int(p.row))
	return sh.what
}

// Redact returns s without what looks like a secret: tokens of known shapes,
// private keys, passwords in addresses, and values whose name says what they
// are (password=…, --token …, "apiKey": "…", Authorization: …). A reference to
// a variable such as $TOKEN stays. It is a help, not a promise: a secret that
// looks like any other word remains. Redacting twice changes nothing more.
func Redact(s string) string { return Mask(s, Find(s)) }

// Mask puts [Mark] in the places of s, which are in order and do not overlap.
func Mask(s string, places []Place) string {
	if len(places) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, p := range places {
		b.WriteString(s[at:p.From])
		b.WriteString(Mark)
		at = p.To
	}
	b.WriteString(s[at:])
	return b.String()
}

// Sent returns what kind of certain secret text gives away to who gets it, such as
// "cloud credentials", and "" for none. host is set where text is an address: there
// some issuers take their tokens.
func Sent(text, host string) (what string) {
	if plain := unescaped(text); plain != text {
		if what = Sent(plain, host); what != "" {
			return what
		}
	}
	for _, p := range Find(text) {
		if p.Grade == Certain {
			if sh := rowAt(int(p.row)); !sh.takenBy(host) {
				return sh.what
			}
		}
	}
	return ""
}

// unescaped decodes %XX, as an address has it. What is no code stays as it is.
func unescaped(text string) string {
	if strings.Count(text, "%") < 2 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// takenBy reports that a host is one of those that take the token in an address.
func (sh *shape) takenBy(host string) bool {
	for h := range strings.FieldsSeq(sh.hosts) {
		if host == h || strings.HasSuffix(host, "."+h) {
			return true
		}
	}
	return false
}

// Files are rows of files that hold secrets, in the form of facts/internal/world/places.rows:
// their classes are secret.key, a secret and nothing else, and secret.config.
//
//go:embed files.rows
var Files string

// Directories are those below the home directory that hold secrets and little else.
const Directories = ".ssh .aws .gnupg .kube .config/gcloud .password-store"
