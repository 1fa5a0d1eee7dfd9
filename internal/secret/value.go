package secret

import (
	"slices"
	"strings"
)

// value returns the value of the secret whose name is the first key bytes of s,
// behind a number of dashes.
func value(s string, key, dashes int) Place {
	at := key + span(s[key:], quoting)
	if at > key && at < len(s) && s[at] == ',' {
		return argument(s, key, at)
	}
	if at == len(s) || classes[s[at]]&(blank|assigning) == 0 && s[at] != ':' || s[at] == '>' {
		return Place{} // most words: their names need not be looked at
	}
	name := s[:key]
	switch {
	case dashes == 0 && (len(name) == 6 || len(name) == 5) && (strings.EqualFold(name, "bearer") || strings.EqualFold(name, "basic")):
		return scheme(s, key)
	case dashes == 0 && name == "sshpass":
		return sshpass(s, key)
	case dashes == 1 && name == "u", dashes == 2 && name == "user":
		return login(s, key)
	}
	blanks := span(s[at:], blank)
	at += blanks
	separated := false
	switch {
	case at < len(s) && (s[at] == '=' || s[at] == ':') && !strings.HasPrefix(s[at:], "://"):
		at++
		at += span(s[at:], assigning)
		at += span(s[at:], blank)
		separated = true
	case blanks == 0:
		return Place{}
	}
	from, to := word(s, at)
	if w := s[from:to]; !separated && dashes == 0 && !looksSecret(w) && !isScheme(w) {
		return Place{}
	}
	if w := s[from:to]; w == "" || len(w) < 3 && w[0] != '-' && !isScheme(w) {
		return Place{}
	}
	grade := Name(name)
	if grade != Named && grade != Masked && strings.EqualFold(name, "key") && ofIssuer(s[from:to]) {
		grade = Named // other keys are words
	}
	if grade != Named && grade != Masked {
		return Place{}
	}
	if isScheme(s[from:to]) {
		if next, end := word(s, to+span(s[to:], blank)); end > next {
			from, to = next, end
		}
	}
	if key := strings.Index(s[from:min(to+1, len(s))], "-----BEGIN "); key >= 0 { // it goes on behind the blank and the line
		to = max(to, from+key+keyBlock(s[from+key:]))
	}
	w := s[from:to]
	if Harmless(w) || !separated && (w[0] == '-' || dashes == 0 && !looksSecret(w)) {
		return Place{}
	}
	return Place{From: from, To: to, Grade: grade}
}

// ofIssuer reports a value as services issue it: a short prefix such as hk_, and behind it
// sixteen or more letters and digits that alternate as no word does.
func ofIssuer(w string) bool {
	i := strings.IndexAny(w, "_-")
	if i < 2 || i > 6 || len(w)-i-1 < 16 {
		return false
	}
	changes, digit := 0, false
	for n := range len(w) {
		c := w[n]
		isDigit := c >= '0' && c <= '9'
		switch {
		case n < i && (c < 'a' || c > 'z'), n > i && !isDigit && (c|0x20 < 'a' || c|0x20 > 'z'):
			return false
		case n > i && isDigit != digit:
			changes++
		}
		digit = isDigit
	}
	return changes >= 4
}

// argument finds the value in define('NAME', 'value') and the like: behind a name in
// quotes, and in quotes itself.
func argument(s string, key, at int) Place {
	at++
	at += span(s[at:], blank)
	if at == len(s) || s[at] != '"' && s[at] != '\'' {
		return Place{}
	}
	grade := Name(s[:key])
	if grade != Named && grade != Masked {
		return Place{}
	}
	from, to := word(s, at)
	if Harmless(s[from:to]) || !looksSecret(s[from:to]) {
		return Place{}
	}
	return Place{From: from, To: to, Grade: grade}
}

func isScheme(w string) bool {
	return len(w) >= len("basic") && len(w) <= len("bearer") && slices.ContainsFunc([]string{"bearer", "basic", "token", "digest", "apikey"}, func(scheme string) bool { return strings.EqualFold(w, scheme) })
}

// sshpass finds the password in "sshpass -p password".
func sshpass(s string, key int) Place {
	at := key + span(s[key:], blank)
	if at == key || !strings.HasPrefix(s[at:], "-p") {
		return Place{}
	}
	at += len("-p")
	from, to := word(s, at+span(s[at:], blank))
	if Harmless(s[from:to]) {
		return Place{}
	}
	return Place{From: from, To: to, Grade: Named}
}

// login finds the password in the "user:password" of curl and its likes.
func login(s string, key int) Place {
	at := key + span(s[key:], joining)
	from, to := word(s, at)
	colon := strings.IndexByte(s[from:to], ':')
	if at == key || colon < 0 || Harmless(s[from+colon+1:to]) {
		return Place{}
	}
	return Place{From: from + colon + 1, To: to, Grade: Named}
}

// scheme finds the credential after "Bearer" or "Basic".
func scheme(s string, key int) Place {
	blanks := span(s[key:], blank)
	if blanks == 0 {
		return Place{}
	}
	from, to := word(s, key+blanks)
	if to-from < 12 || !mixed(s[from:to]) || Harmless(s[from:to]) {
		return Place{}
	}
	return Place{From: from, To: to, Grade: Named}
}

// looksSecret tells a value from the next word of a sentence, where nothing but
// a blank stands before either of them.
func looksSecret(w string) bool { return len(w) >= 8 && mixed(w) }

// word returns the extent of a value that begins at from: up to the closing
// quote, else up to something that ends a word.
func word(s string, from int) (int, int) {
	for from < len(s) && s[from] == '\\' { // a quote in a string within a string
		from++
	}
	if from < len(s) && (s[from] == '"' || s[from] == '\'') {
		quote := s[from]
		from++
		for i := from; i < len(s); i++ {
			if s[i] == quote || s[i] == '\n' {
				if i > from && s[i-1] == '\\' {
					return from, i - 1
				}
				return from, i
			}
		}
		return from, len(s)
	}
	return from, from + before(s[from:], ending)
}

// Harmless reports a value that gives nothing away: none, a reference to a
// variable, or one that is redacted already.
func Harmless(w string) bool {
	if len(w) < 3 || strings.HasPrefix(w, Mark) || strings.HasPrefix(Mark, w) {
		return true
	}
	if w[0] != '$' {
		return false
	}
	name := strings.TrimSuffix(strings.TrimPrefix(w[1:], "{"), "}")
	return name == "" || span(name, wordly) == len(name)
}
