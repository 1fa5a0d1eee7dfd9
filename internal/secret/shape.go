package secret

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

//go:embed shapes.rows
var shapeRows string

// A shape is a row of shapes.rows.
type shape struct {
	prefix, alphabet, what, hosts string
	least                         int
	grade                         Grade
	at                            uint16 // where the row stands
}

// rowAt reads one.
func rowAt(at int) shape {
	line, _, _ := strings.Cut(shapeRows[at:], "\n")
	var cells [7]string
	for i := range cells {
		cells[i], line, _ = strings.Cut(line, " | ")
		cells[i] = strings.TrimSpace(cells[i])
	}
	least, _ := strconv.Atoi(cells[1])
	return shape{prefix: cells[0], least: least, alphabet: cells[2], grade: gradeOf(cells[3]), what: cells[4], hosts: cells[6], at: uint16(at)}
}

// form is the row of a form that no prefix tells, by its name.
func form(name string) shape {
	return rowAt(strings.Index(shapeRows, "\n"+name) + 1)
}

// place is that of a token in which keep bytes may stay to say what it was.
func (sh *shape) place(keep, to int, sure bool) Place {
	p := Place{From: keep, To: to, Grade: Masked}
	if sure && sh.grade == Certain {
		p.Grade, p.row = Certain, sh.at
	}
	return p
}

// leastToken is the length of the shortest token of any kind.
const leastToken = 15

// token returns the token that s begins with, without as much of it as may stay
// to say what it was. Words of a token's length that are made of letters only are
// names, not tokens. The rows are read where they stand: few words are as long as a
// token and begin like one.
func token(s string) Place {
	if span(ahead(s, leastToken), tokened) < leastToken {
		return Place{}
	}
	c := s[0]
	if c == 'e' {
		if p := webToken(s); p.To > 0 {
			return p
		}
	}
	if c == 'b' || classes[c]&digit != 0 {
		if p := botToken(s); p.To > 0 {
			return p
		}
	}
	if s[14] == '.' || c >= 'M' && c <= 'O' {
		if p := dotted(s); p.To > 0 {
			return p
		}
	}
	x := prefixes()
	for i := x.first[s[0]]; i > 0; i = x.next[i] {
		line := shapeRows[x.at[i]:]
		if line[1] != s[1] {
			continue
		}
		if prefix, _, _ := strings.Cut(line, " "); strings.HasPrefix(s, prefix) {
			sh := rowAt(int(x.at[i]))
			if p := sh.match(s); p.To > 0 {
				return p
			}
		}
	}
	return Place{}
}

// An index tells where the rows stand whose prefix begins with a byte: the number of
// the first of them, and of each the next; 0 for none.
type index struct {
	first ['z' + 1]uint8
	next  []uint8
	at    []uint16
}

// prefixes looks through the rows, when a word may be a token for the first time.
var prefixes = sync.OnceValue(func() *index {
	x := &index{at: []uint16{0}}
	at := 0
	for line := range strings.Lines(shapeRows) {
		if isWord(line[0]) {
			x.at = append(x.at, uint16(at))
		}
		at += len(line)
	}
	x.next = make([]uint8, len(x.at))
	for i := len(x.at) - 1; i > 0; i-- {
		c := shapeRows[x.at[i]]
		x.next[i], x.first[c] = x.first[c], uint8(i)
	}
	return x
})

// match returns the token that s begins with, which has the prefix of the row.
func (sh *shape) match(s string) Place {
	body := ahead(s[len(sh.prefix):], maxBody)
	strict := body[:sh.run(body)]
	sure := len(strict) >= sh.least && (mixed(strict) || sh.plain(strict)) && random(strict, sh.least)
	body = body[:span(body, tokened)]
	if !sure && (len(body) < sh.least || !mixed(body)) {
		return Place{}
	}
	return sh.place(len(sh.prefix), span(s, tokened), sure)
}

// plain reports that what follows the prefix is a token even without a digit and
// letters of both cases: behind a prefix that no word begins with, one word.
func (sh *shape) plain(body string) bool {
	end := sh.prefix[len(sh.prefix)-1]
	return sh.alphabet == "base32" || (end == '_' || end == '-') && !strings.ContainsAny(body, "-_")
}

// run returns how many bytes at the beginning of s are of the alphabet of the row.
func (sh *shape) run(s string) int {
	n := 0
	for n < len(s) && sh.letter(s[n]) {
		n++
	}
	return n
}

// letter reports whether a byte is of the alphabet of the row.
func (sh *shape) letter(c byte) bool {
	switch sh.alphabet {
	case "base32":
		return c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
	case "base62":
		return c != '_' && isWord(c)
	}
	return isWord(c) || c == '-'
}

// examples are words that stand for a token in examples: sk-ant-your-key-here.
const examples = " your my the example placeholder changeme change me redacted dummy fake sample test token key secret here goes insert replace with this api value todo xxx "

// random reports that enough of a token is neither a word of an example nor the
// same few letters again and again.
func random(body string, least int) bool {
	var seen [256]bool
	n, letters := 0, 0
	for body != "" {
		end := strings.IndexAny(body, "-_")
		if end < 0 {
			end = len(body)
		}
		part := body[:end]
		if body = body[min(end+1, len(body)):]; strings.Contains(examples, " "+strings.ToLower(part)+" ") {
			continue
		}
		n += len(part) + 1
		for i := range len(part) {
			if !seen[part[i]] {
				seen[part[i]] = true
				letters++
			}
		}
	}
	return n > least && letters > 5
}

// webToken returns a JSON web token, or its likes.
func webToken(s string) Place {
	if !strings.HasPrefix(s, "eyJ") {
		return Place{}
	}
	head := ahead(s, Reach)
	n := span(head, tokened)
	if n < 24 || strings.IndexByte(head[:n], '.') < 0 {
		return Place{}
	}
	sh := form("(web token)")
	parts := strings.Split(s[:span(s, keyed)], ".")
	sure := len(parts) == 3 && strings.HasPrefix(parts[1], "eyJ") && len(parts[2]) >= sh.least
	return sh.place(3, span(s, tokened), sure)
}

// botToken returns a Telegram token: a number, a colon, and 35 characters that
// begin with AA. In addresses bot stands before it.
func botToken(s string) Place {
	from := 0
	if strings.HasPrefix(s, "bot") {
		from = len("bot")
	}
	colon := from + span(ahead(s[from:], 12), digit)
	if colon-from < 8 || !strings.HasPrefix(s[colon:], ":AA") {
		return Place{}
	}
	sh := form("(bot token)")
	if body := sh.run(ahead(s[colon+1:], maxBody)); body >= sh.least {
		return sh.place(from, colon+1+body, true)
	}
	return Place{}
}

// dotted returns a token of three parts: Discord's, and Terraform's with atlasv1 in
// the middle.
func dotted(s string) Place {
	head := ahead(s, maxBody)
	head = head[:span(head, tokened)]
	first, rest, _ := strings.Cut(head, ".")
	second, third, found := strings.Cut(rest, ".")
	name := ""
	switch {
	case !found || !mixed(first) || !mixed(third):
		return Place{}
	case len(first) == 14 && second == "atlasv1" && len(third) >= 40:
		name = "(atlas token)"
	case len(first) >= 23 && len(first) <= 28 && strings.IndexByte("MNO", s[0]) >= 0 && len(second) == 6 && len(third) >= 27:
		name = "(user token)"
	default:
		return Place{}
	}
	sh := form(name)
	return sh.place(0, span(s, tokened), true)
}

// mixed reports that a text has a digit or letters of both cases, as random
// ones of some length have.
func mixed(s string) bool {
	var digit, upper, lower bool
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digit = true
		case c >= 'A' && c <= 'Z':
			upper = true
		case c >= 'a' && c <= 'z':
			lower = true
		}
	}
	return digit || upper && lower
}

// privateKey returns the key block at the beginning of s; one without an end
// reaches to the end of the text.
func privateKey(s string) Place {
	if n := keyBlock(s); n > 0 {
		sh := form("(private key)")
		return sh.place(0, n, true)
	}
	return Place{}
}

func keyBlock(s string) int {
	const dashes = "-----"
	head := strings.Index(s[len(dashes):], dashes)
	if head < 0 {
		return 0
	}
	head += 2 * len(dashes)
	if !strings.Contains(s[:head], "PRIVATE KEY") {
		return 0
	}
	foot := strings.Index(s[head:], "-----END ")
	if foot < 0 {
		return len(s)
	}
	end := head + foot + len("-----END ")
	if tail := strings.Index(s[end:], dashes); tail >= 0 {
		return end + tail + len(dashes)
	}
	return len(s)
}

// password returns the password in an address whose "://" s begins with.
func password(s string) Place {
	authority := s[3:]
	if i := strings.IndexAny(authority, "/?# \t\r\n\"'`<>\\"); i >= 0 {
		authority = authority[:i]
	}
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return Place{}
	}
	colon := strings.IndexByte(authority[:at], ':')
	from, to := 3+colon+1, 3+at
	if colon < 0 { // a token in the place of the user
		from = 3
		if at < 20 || !mixed(authority[:at]) {
			return Place{}
		}
	}
	if from == to || Harmless(s[from:to]) {
		return Place{}
	}
	return Place{From: from, To: to, Grade: Named}
}
