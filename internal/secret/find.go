package secret

import "strings"

// Find returns the places of s that [Redact] takes out, in order.
func Find(s string) []Place {
	if !suspicious(s) {
		return nil
	}
	f := finder{in: s}
	for f.at < len(s) {
		f.step()
	}
	return f.found
}

// suspicious is a quick look for anything that the finder acts on.
func suspicious(s string) bool {
	return len(s) >= leastToken || strings.ContainsAny(s, ":=-_.AaEeBbSsUu")
}

// A finder goes through a text once, from left to right.
type finder struct {
	in     string
	at     int
	behind int  // an escape ends here, so that a word may begin
	shapes bool // names say nothing
	found  []Place
}

// How far one look goes, so that the time for a text stays in proportion to its
// length whatever stands in it.
const (
	maxName = 128 // the name of a value
	maxBody = 128 // what tells a token from a word
)

// Reach is how many bytes behind its beginning may tell that something is a
// secret: who cuts a text looks so far behind the cut.
const Reach = 1024

func ahead(s string, most int) string { return s[:min(len(s), most)] }

// step goes over what begins at the current place.
func (f *finder) step() {
	rest := f.in[f.at:]
	switch c := rest[0]; {
	case c == '-' && strings.HasPrefix(rest, "-----BEGIN "):
		if p := privateKey(rest); p.To > 0 {
			f.take(p)
			return
		}
	case c == ':' && strings.HasPrefix(rest, "://"):
		if p := password(rest); p.To > p.From {
			f.take(p)
			return
		}
	case c == '[' && strings.HasPrefix(rest, Mark):
		f.at += len(Mark)
		return
	case c == '\\' || c == '%':
		if n := escape(rest); n > 0 {
			f.at += n
			f.behind = f.at
			return
		}
	}
	begins := f.at == 0 || f.at == f.behind || !isWord(f.in[f.at-1])
	if !begins || !isWord(rest[0]) {
		f.at++
		for f.at < len(f.in) && classes[f.in[f.at]]&(wordly|telling) == 0 {
			f.at++
		}
		return
	}
	if p := token(rest); p.To > 0 {
		f.take(p)
		return
	}
	if !f.shapes {
		key := span(ahead(rest, maxName), keyed)
		if p := value(rest, key, f.dashes()); p.To > p.From {
			f.take(p)
			return
		}
	}
	f.at += span(rest, wordly)
}

// escape returns the length of an escape behind which a word may begin: \n in a
// string, %20 in an address.
func escape(s string) int {
	switch {
	case len(s) > 2 && s[0] == '\\' && strings.IndexByte("nrt", s[1]) >= 0 && isWord(s[2]):
		return 2
	case len(s) > 3 && s[0] == '%' && isHex(s[1]) && isHex(s[2]):
		return 3
	}
	return 0
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// dashes counts the dashes directly before the current place, two at most.
func (f *finder) dashes() int {
	n := 0
	for n < 2 && n < f.at && f.in[f.at-1-n] == '-' {
		n++
	}
	return n
}

// take finds a secret in what lies ahead, and goes behind it. What its name or its
// place told is certain where its shape tells it, too.
func (f *finder) take(p Place) {
	if p.Grade < Certain && !f.shapes {
		inner := finder{in: f.in[f.at+p.From : f.at+p.To], shapes: true}
		for inner.at < len(inner.in) {
			inner.step()
		}
		for _, q := range inner.found {
			if q.Grade == Certain {
				p.Grade, p.row = Certain, q.row
				break
			}
		}
	}
	p.From, p.To = p.From+f.at, p.To+f.at
	f.found = append(f.found, p)
	f.at = p.To
}
