package seen

import (
	"cmp"
	"strings"

	"gate/internal/secret"
	"gate/internal/wordlist"
)

// maxClose is how long an output is that is looked through for what costs more than a
// glance: files that people read are shorter.
const maxClose = 12 << 10

// forms adds what stands in a text by forms that say what a value is: cookies of
// sessions, pairs of a name and a value, columns of a table, numbers of cards.
func (x *extraction) forms(text string) {
	x.cookies(text)
	x.pairs(text)
	x.sessions(text)
	x.columns(text)
	x.cards(text)
	x.phrases(text)
}

// ofSession reports the name of a cookie by which a server knows who is there, and pwd, which
// is a password where no directory stands under it.
func ofSession(name string) bool {
	name = strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, name))
	for _, end := range []string{"session", "sessionid", "sessid", "sid", "sess", "jwt", "auth", "rememberme", "pwd"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// cookies adds the values of NAME=value where the name is that of a session. It looks at
// no byte of a value twice, however many signs of equality there are.
func (x *extraction) cookies(text string) {
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '=')
		if next < 0 {
			return
		}
		at += next
		from, end := at, at+1
		for from > 0 && at-from < 64 && (inWindow(text[from-1]) != 0 || strings.IndexByte("_-.", text[from-1]) >= 0) {
			from--
		}
		if !ofSession(text[from:at]) {
			at++
			continue
		}
		for end < len(text) && (parts[text[end]] != gap && text[end] != '&') {
			end++
		}
		if v := text[at+1 : end]; len(v) >= 16 && v[0] != '/' && v[0] != '$' && !strings.Contains(v, `\`) { // PWD=/srv/a is a directory
			x.add(cmp.Or(x.file, unnamed), v, true)
		}
		at = end
	}
}

// sessions adds what a store of sessions holds: the values of "remember": "…" and the like in
// JSON, and keys such as sess:…, of which each opens a session by itself.
func (x *extraction) sessions(text string) {
	pairsOf(text, func(name, v string) {
		if strings.HasPrefix(name, "remember") || strings.HasPrefix(name, "csrf") || strings.HasPrefix(name, "xsrf") ||
			!number(v) && wordlist.Has(" session sessionid sessionkey sessid sessiontoken jwt refresh impersonate ", name) {
			x.add(cmp.Or(x.file, ofSessions), v, true)
		}
	})
	for at := 0; ; {
		next := strings.Index(text[at:], "sess")
		if next < 0 {
			return
		}
		at += next + len("sess")
		colon := strings.IndexByte(ahead(text[at:], len("ions:sessions:")), ':') // sess:, session:, sessions:
		if colon < 0 || strings.Trim(text[at:at+colon], "ions") != "" {
			continue
		}
		end := at + colon + 1
		for end < len(text) && (inWindow(text[end]) != 0 || strings.IndexByte("_-.", text[end]) >= 0) {
			end++
		}
		if v := text[at+colon+1 : end]; len(v) >= leastSession {
			x.add(cmp.Or(x.file, ofSessions), v, true)
			at = end
		}
	}
}

// ofSessions is the kind of what opens a session.
const ofSessions = "session"

// leastSession is how long the name of a session is that nobody guesses.
const leastSession = 20

// pairs adds the values of "name": "Cookie", "value": "…" and the like.
func (x *extraction) pairs(text string) {
	const mark = `"value"`
	for at := 0; ; {
		next := strings.Index(text[at:], mark)
		if next < 0 {
			return
		}
		at += next + len(mark)
		around := text[max(0, at-256):at]
		brace := strings.LastIndexAny(around, "{}")
		before := around[brace+1:]
		name := ""
		if brace > 0 && around[brace] == '{' { // "db_password": {"value": "…"}
			if head, ok := strings.CutSuffix(strings.TrimRight(around[:brace], " \n\t"), ":"); ok {
				head = strings.TrimSuffix(strings.TrimRight(head, " "), `"`)
				name = head[strings.LastIndexByte(head, '"')+1:]
			}
		}
		for _, key := range []string{`"name"`, `"key"`} {
			if i := strings.Index(before, key); i >= 0 {
				name = inQuotes(before[i+len(key):])
			}
		}
		if v := inQuotes(text[at:]); name != "" && v != "" && (secret.Promises(name) || ofSession(name)) {
			x.add(cmp.Or(x.file, unnamed), v, true)
		}
	}
}

// inQuotes is the text in quotes that follows the colon which s begins with.
func inQuotes(s string) string {
	s, ok := strings.CutPrefix(strings.TrimLeft(s, " "), ":")
	if s = strings.TrimLeft(s, " "); !ok || len(s) < 2 || s[0] != '"' {
		return ""
	}
	end := strings.IndexByte(s[1:], '"')
	if end < 0 {
		return ""
	}
	return s[1 : 1+end]
}

// columns adds what stands in the columns of a table, whose heads say that they hold
// secrets or numbers of cards.
func (x *extraction) columns(text string) {
	var separator string
	var wanted map[int]string
	columns := 0
	for line := range strings.Lines(text) {
		plain := strings.TrimSpace(line)
		line = strings.TrimSpace(unnumbered(line))
		if separator == "" || len(wanted) == 0 { // a head may follow after a remark
			separator, wanted = heads(line, cmp.Or(x.file, unnamed))
			columns = strings.Count(line, separator)
			continue
		}
		if strings.Count(plain, separator) == columns { // the number is that of a row: "7 | acme | …"
			line = plain
		}
		for i, cell := range strings.Split(line, separator) {
			what := wanted[i]
			cell = strings.Trim(cell, `"' `)
			switch {
			case what == "":
			case what == card:
				if digits := onlyDigits(cell); len(digits) >= leastCard && len(digits) <= 19 {
					x.keep(card, digits, true)
				}
			case strings.ContainsAny(cell, " "):
			default:
				x.add(what, cell, true)
			}
		}
	}
}

// maxColumns is how many columns a table has: a line of more parts is none.
const maxColumns = 256

// heads are the columns of a line that is the head of a table, by what they hold.
func heads(line, what string) (separator string, wanted map[int]string) {
	if strings.ContainsAny(line, "={}()") {
		return "", nil
	}
	for _, separator = range []string{",", ";", "\t", "|"} {
		n := 1 + strings.Count(line, separator)
		if n < 2 || n > maxColumns {
			continue
		}
		cells := strings.Split(line, separator)
		wanted = nil
		add := func(i int, what string) {
			if wanted == nil {
				wanted = map[int]string{}
			}
			wanted[i] = what
		}
		for i, cell := range cells {
			switch cell = strings.Trim(cell, `"' `); {
			case isCard(cell):
				add(i, card)
			case len(cell) < 64 && !strings.Contains(cell, " ") && secret.Promises(cell):
				add(i, what)
			}
		}
		if len(wanted) > 0 {
			return separator, wanted
		}
	}
	return "", nil
}

// The number of a card for payments.
const (
	card      = "card number"
	leastCard = 13
)

func isCard(name string) bool {
	if len(name) > 32 {
		return false
	}
	name = strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, name))
	for _, known := range []string{"card", "cardnumber", "cardno", "ccnumber", "ccnum", "creditcard", "creditcardnumber", "pan", "iban"} {
		if name == known {
			return true
		}
	}
	return false
}

func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// cards adds numbers whose last digit fits the others, in a text about cards.
func (x *extraction) cards(text string) {
	lower := strings.ToLower(text)
	if !strings.Contains(lower, "cvv") && !strings.Contains(lower, "cvc") && !strings.Contains(lower, "card") {
		return
	}
	for run := range strings.FieldsFuncSeq(text, func(r rune) bool { return (r < '0' || r > '9') && r != ' ' && r != '-' }) {
		if digits := onlyDigits(run); len(digits) >= leastCard && len(digits) <= 19 && digits[0] >= '3' && digits[0] <= '6' && luhn(digits) {
			x.keep(card, digits, true)
		}
	}
}

// luhn reports digits whose last one is the check of the others (ISO/IEC 7812-1).
func luhn(digits string) bool {
	sum := 0
	for i := range len(digits) {
		n := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}
