package seen

import (
	"strings"

	"gate/hook"
	"gate/internal/wordlist"
)

// recipients are the tokens of the fields of a call that say to whom something goes, and of
// those the ones that get each mail from then on.
func recipients(ev *hook.Event) (to, always map[token]bool) {
	var l, rule lexer
	texts("", any(ev.ToolInput()), func(field, text string) {
		if name := plainOf(field); len(text) <= maxQuery && (strings.HasPrefix(name, "forward") || strings.HasPrefix(name, "redirect") || strings.HasPrefix(name, "autoforward") || strings.HasPrefix(name, "delegate")) {
			l.text(text)
			rule.text(text)
		}
		if len(text) <= maxQuery && wordlist.Has(" to cc bcc recipient recipients email emails emailaddress emailaddresses attendees invitees guests phone phonenumber number mobile sharewith user users member members principal ", plainOf(field)) {
			l.text(text)
			l.numbers(text)
		}
	})
	return l.have, rule.have
}

// contacts adds the addresses of mail and numbers that stand as somebody's own: as a whole value
// of a JSON text, or behind From: and the like at the beginning of a line. Others write the
// text of a mail; its fields a server fills in.
//
// prompted reports a word that a prompt has. Of somebody whom a prompt names the domain is kept, too.
func (l *lexer) contacts(s string, prompted func(words ...string) bool) {
	own := func(begin, end int) bool {
		if begin > 0 && s[begin-1] == '"' && end < len(s) && s[end] == '"' && (begin < 2 || s[begin-2] != '\\') {
			return true
		}
		line := s[max(0, begin-maxHeader):begin]
		line = line[strings.LastIndexAny(line, "\n\"")+1:]
		name, _, ok := strings.Cut(strings.TrimLeft(line, " *-"), ":")
		return ok && wordlist.Has(" from to cc reply-to sender author organizer attendee attendees participants ", strings.ToLower(name))
	}
	for done := 0; ; {
		at := strings.IndexByte(s[done:], '@')
		if at < 0 {
			break
		}
		begin, end := done+at, done+at
		for begin > done && parts[s[begin-1]] != gap {
			begin--
		}
		for end < len(s) && parts[s[end]] != gap {
			end++
		}
		if own(begin, end) {
			var one lexer
			one.word(s[begin:end], false)
			for _, t := range one.tokens {
				if t.kind == kindMail {
					l.add(kindWord, contact+t.text)
					if _, domain, _ := strings.Cut(t.text, "@"); !wordlist.Has(anybodys, domain) && prompted(calledAs(t.text)...) {
						l.add(kindWord, contactsAt+domain)
					}
				}
			}
		}
		done = end
	}
	eachNumber(s, func(number string, begin, end int) {
		if own(begin, end) {
			l.add(kindWord, contact+number)
		}
	})
}

// calledAs are the words by which people may call the owner of an address.
func calledAs(address string) (words []string) {
	local, _, _ := strings.Cut(strings.ToLower(address), "@")
	for _, w := range strings.FieldsFunc(local, func(r rune) bool { return r < 'a' || r > 'z' }) {
		if len(w) > 2 {
			words = append(words, w)
		}
	}
	return words
}

// colleague reports an address whose owner a prompt names, at a domain where somebody else whom a
// prompt names has an own one.
func (c *content) colleague(address string) bool {
	_, domain, _ := strings.Cut(address, "@")
	return c.named([]string{contactsAt}, domain) && c.named([]string{inPrompt}, calledAs(address)...)
}

// anybodys are domains where anybody gets an address.
const anybodys = " gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com icloud.com me.com mac.com proton.me protonmail.com pm.me gmx.de gmx.net gmx.com web.de aol.com mail.com mail.ru yandex.ru yandex.com qq.com 163.com 126.com tutanota.com tuta.io fastmail.com zoho.com hey.com t-online.de orange.fr free.fr "

// maxHeader is how far from its name the value of a header stands, in bytes.
const maxHeader = 80

// numbers adds the numbers of telephones of a text.
func (l *lexer) numbers(s string) {
	eachNumber(s, func(number string, _, _ int) { l.add(kindPhone, number) })
}

// eachNumber calls f for each number of a telephone with its country: a plus and 8 to 15 digits.
func eachNumber(s string, f func(number string, begin, end int)) {
	for done := 0; ; {
		at := strings.IndexByte(s[done:], '+')
		if at < 0 {
			return
		}
		begin := done + at
		var digits []byte
		i := begin + 1
		for ; i < len(s) && len(digits) < 16; i++ {
			if c := s[i]; c >= '0' && c <= '9' {
				digits = append(digits, c)
			} else if i == begin+1 || strings.IndexByte(" -()/", c) < 0 || i+1 < len(s) && s[i+1] == c {
				break
			}
		}
		if len(digits) >= 8 && len(digits) <= 15 {
			f("+"+string(digits), begin, i)
		}
		done = max(i, begin+1)
	}
}

// filled are the addresses of a call whose query the agent filled in, without it, as far as
// that hands over text and the address is one that only counts who comes by: a picture, a
// track. Interfaces get queries, too.
func filled(tokens []token) map[token]token {
	var of map[token]token
	for _, t := range tokens {
		base, query, ok := strings.Cut(t.text, "?")
		if t.kind != kindAddress || !ok || !counts(base) || !carries(query) {
			continue
		}
		if of == nil {
			of = map[token]token{}
		}
		of[token{kindAddress, base}] = t
	}
	return of
}

// counts reports an address that is asked for to be seen asking.
func counts(address string) bool {
	_, last, _ := strings.Cut(address, "/")
	last = strings.ToLower(last[strings.LastIndexByte(last, '/')+1:])
	name, ext, _ := strings.Cut(last, ".")
	return wordlist.Has(" gif png jpg jpeg ico bmp webp ", ext) ||
		wordlist.Has(" pixel beacon track tracker tracking collect collector telemetry ping log logs report exfil t b c px hit stats metrics event events ", name)
}

// leastText is how long a value is that hands text over.
const leastText = 24

// carries reports a query that hands over text: of several words or lines, or encoded.
func carries(query string) bool {
	for _, pair := range strings.Split(query, "&") {
		_, value, ok := strings.Cut(pair, "=")
		if !ok {
			value = pair
		}
		value = percents(strings.ReplaceAll(value, "+", " "))
		if len(value) >= leastText && (strings.ContainsAny(value, " \n\t{};") || strings.Trim(value, "0123456789abcdefABCDEF") == "" || len(value) >= 2*leastText && strings.IndexByte(value, '/') < 0) {
			return true
		}
	}
	return false
}
