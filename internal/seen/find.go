package seen

import (
	"math/bits"
	"slices"
	"strings"

	"gate/hook"
)

// secrets are the hits of an event's call among the secrets of the session.
func (c *content) secrets(ev *hook.Event) []Hit {
	return c.secretsIn(func(f func(string)) { calls(ev, ev.Facts, f) })
}

// secretsIn are the hits among the texts that each calls a function with.
func (c *content) secretsIn(each func(func(string))) []Hit {
	f := c.finder()
	if f == nil {
		return nil
	}
	d := decoder{view: f.text, quick: f.letters, passes: f.views(), left: maxWork}
	var texts, pieces []string
	seen := map[string]bool{}
	each(func(text string) {
		if len(text) < leastCell || seen[text] {
			return
		}
		seen[text] = true
		texts = append(texts, text)
		f.text(text) // all are gone through as they are, whatever there is to decode
		if whole := joined(text); whole != text && !seen[whole] {
			seen[whole] = true
			pieces = append(pieces, whole)
			f.text(whole)
		}
	})
	for _, text := range texts {
		d.decode(text, maxDepth)
		d.turned(text)
		if len(text) <= maxTurned {
			d.base85(text)
			d.ciphered(text)
		}
		if names := labels(text); names != "" {
			d.next(names, 2)
		}
	}
	for _, text := range pieces {
		d.decode(text, 1)
	}
	var hits []Hit
	if d.cut {
		hits = unsure(Secret)
	}
	type piece struct {
		record *record
		what   string
	}
	for _, one := range f.severalPeople() {
		column := strings.TrimPrefix(one.secret.what, People+": ")
		hits = append(hits, Hit{Origin: Secret, What: People, Text: column[:min(len(column), len(registered))], Call: one.record.call, Time: one.record.at, How: Known})
	}
	told := map[piece]bool{} // windows of a value, and values of a call, say the same
	for i := range f.found {
		r, s := f.found[i].record, f.found[i].secret
		if told[piece{r, s.what}] {
			continue
		}
		told[piece{r, s.what}] = true
		hits = append(hits, Hit{Origin: Secret, What: s.what, Call: r.call, Time: r.at, How: Known})
	}
	return hits
}

// A finder looks for the secrets of a session in texts.
type finder struct {
	key    *key
	roller *roller
	passes []pass // for values as they are
	folded []pass // for windows, and the joined words of phrases
	begun  []pass // for the beginnings of the words of phrases
	room   []byte // for what a text is in windows
	found  []found

	again    bool    // a secret is found as often as it is there
	verified []match // what was found then
}

type found struct {
	record *record
	secret *kept
}

// A pass is what a text is gone through for once: the secrets of one length.
type pass struct {
	length int
	marks  *[1 << 16 / 64]uint64
	out    *roller // of the bytes that leave
	of     map[digest]found
}

func (c *content) finder() *finder {
	f := &finder{key: c.key}
	for i := range c.records {
		r := &c.records[i]
		for k := range r.secrets {
			s := &r.secrets[k]
			if f.roller == nil {
				f.roller = c.key.roller()
			}
			switch {
			case s.length&foldedFlag == 0:
				f.passes = f.with(f.passes, s.length, found{r, s})
			case s.length&begunFlag == 0:
				f.folded = f.with(f.folded, s.length&^foldedFlag, found{r, s})
			default:
				f.begun = f.with(f.begun, s.length&^(foldedFlag|begunFlag), found{r, s})
			}
		}
	}
	if f.roller == nil {
		return nil
	}
	return f
}

// with adds a secret to the pass of its length, which it may be the first of.
func (f *finder) with(list []pass, length int, one found) []pass {
	at := slices.IndexFunc(list, func(p pass) bool { return p.length == length })
	if at < 0 {
		at, list = len(list), append(list, *f.roller.pass(length))
	}
	list[at].add(one.record, one.secret)
	return list
}

// views is how often a text is gone through.
func (f *finder) views() int { return len(f.passes) + len(f.folded) + len(f.begun) }

func (r *roller) pass(length int) *pass {
	return &pass{length, new([1 << 16 / 64]uint64), r.leaving(length), map[digest]found{}}
}

func (p *pass) add(r *record, s *kept) {
	p.marks[s.mark/64] |= 1 << (s.mark % 64)
	if _, known := p.of[s.digest]; !known {
		p.of[s.digest] = found{r, s}
	}
}

// leaving are the numbers of bytes that a fingerprint of a length has gone beyond.
func (r *roller) leaving(length int) *roller {
	var out roller
	for i, n := range r {
		out[i] = bits.RotateLeft64(n, length)
	}
	return &out
}

// text looks for the secrets in one text. One that was found is not looked for any more.
func (f *finder) text(text string) {
	f.letters(text)
	if len(f.begun) > 0 {
		for _, words := range beginnings(text) {
			for i := range f.begun {
				f.pass(&f.begun[i], kindPhrase, words)
			}
		}
	}
}

// letters looks for all but the beginnings of words, in a text that has none.
func (f *finder) letters(text string) {
	for i := range f.passes {
		f.pass(&f.passes[i], kindSecret, []byte(text))
	}
	if len(f.folded) > 0 {
		f.room = fold(f.room[:0], text)
		for i := range f.folded {
			f.pass(&f.folded[i], kindWindow, f.room)
		}
	}
}

func (f *finder) pass(p *pass, of kind, text []byte) {
	if len(p.of) == 0 || len(text) < p.length {
		return
	}
	in, out, marks := f.roller, p.out, p.marks
	var sum uint64
	for k := range p.length {
		sum = bits.RotateLeft64(sum, 1) ^ in[text[k]]
	}
	for end := p.length; ; end++ {
		if m := uint16(sum); marks[m/64]&(1<<(m%64)) != 0 {
			f.verify(p, of, text[end-p.length:end])
		}
		if end == len(text) {
			return
		}
		sum = bits.RotateLeft64(sum, 1) ^ in[text[end]] ^ out[text[end-p.length]]
	}
}

func (f *finder) verify(p *pass, of kind, value []byte) {
	d := f.key.of(of, string(value))
	if hit, ok := p.of[d]; ok {
		if f.again {
			f.verified = append(f.verified, match{string(value), of})
			return
		}
		f.found = append(f.found, hit)
		delete(p.of, d)
	}
}

// tokens are the hits of an event's call among what only untrusted text brought.
func (c *content) tokens(ev *hook.Event) []Hit {
	if !c.untrusted() {
		return nil
	}
	var l lexer
	calls(ev, ev.Facts, func(text string) {
		l.text(text)
		if plain := percents(text); plain != text {
			l.text(plain)
		}
	})
	l.to, l.always = recipients(ev)
	for t := range l.to {
		if t.kind == kindPhone {
			l.add(t.kind, t.text)
		}
	}
	if ev.Facts != nil {
		for i := range ev.Facts.Hosts {
			l.add(kindHost, hostOf(text(ev.Facts.Hosts[i].Host)))
		}
	}
	for _, name := range installed(ev.Facts) {
		l.add(kindPackage, name)
	}
	l.filled = filled(l.tokens)
	for t := range l.filled {
		l.add(t.kind, t.text)
	}
	l.runs = ev.Facts != nil && ev.Facts.Shell != nil
	return c.brought(&l)
}

// brought are the hits of the tokens of a call.
func (c *content) brought(l *lexer) []Hit {
	w := c.wanted(l.tokens)
	hits := make([]Hit, len(l.tokens))
	said := make([]bool, len(l.tokens))
	c.each(w, func(i int, r *record) {
		switch {
		case r.source == sourcePerson:
			w.found[i] = true
		case (r.source == sourceKept || r.source == sourceHelper) && !l.kept:
		case r.source == sourceAddressed && !said[i]:
			said[i], hits[i] = true, Hit{}
			fallthrough
		case hits[i].Origin == "":
			hits[i] = Hit{Origin: Untrusted, What: l.tokens[i].kind.String(), Via: r.source.String(), Text: l.tokens[i].text, Call: r.call, Time: r.at, How: Known}
		}
	})
	var out []Hit
	for i, h := range hits {
		t := l.tokens[i]
		if h.Origin == "" || w.found[i] || t.kind == kindHost && !said[i] && c.service(t.text) {
			continue
		}
		h.Host = hostIn(t)
		h.What = c.judged(l, t)
		if full, ok := l.filled[t]; ok {
			h.What = Filled
			for k := range hits { // the text has the query, too
				if hits[k].Text == full.text {
					h.What = kindAddress.String()
				}
			}
		}
		out = append(out, h)
		if said[i] && (t.kind != kindCommand || l.runs) { // a line in a comment runs nowhere
			h.What = Instruction
			out = append(out, h)
		}
	}
	return out
}

// judged is what a token of a call is that only untrusted text brought.
func (c *content) judged(l *lexer, t token) string {
	switch t.kind {
	case kindPackage:
		switch {
		case c.asked(t.text):
		case c.alike(t.text):
			return Lookalike
		case c.named([]string{saidWord}, t.text):
			return Recommended
		default:
			return Unasked
		}
	case kindHost:
		if c.wants(t.text, inPrompt) {
			return AskedHost
		}
	case kindMail, kindPhone:
		if l.to[t] && (l.always[t] || !c.named([]string{contact}, t.text) && !c.colleague(t.text)) && (t.kind == kindPhone || !c.wants(hostIn(t), inPrompt)) {
			return Recipient
		}
	}
	return t.kind.String()
}

// untrusted reports that untrusted text brought anything.
func (c *content) untrusted() bool {
	for i := range c.records {
		if r := &c.records[i]; r.source != sourcePerson && len(r.tokens) > 0 {
			return true
		}
	}
	return false
}

// hostIn is the host of a token that has one.
func hostIn(t token) string {
	switch t.kind {
	case kindHost:
		return t.text
	case kindAddress:
		host, _, _ := strings.Cut(t.text, "/")
		host, _, _ = strings.Cut(host, "?")
		return host
	case kindMail:
		return t.text[strings.LastIndexByte(t.text, '@')+1:]
	}
	return ""
}
