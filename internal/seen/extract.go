package seen

import (
	"cmp"
	"math"
	"strings"

	"gate/hook"
	"gate/internal/secret"
)

// What a secret must have for gate to look for it: so many characters, and so many bits of
// entropy for each of them by how often they occur in it. What is shorter or more even
// stands in harmless calls, too.
const (
	leastLength  = 12
	leastEntropy = 2.5
)

// length is how much of a value is kept: all of a short one, the end of a long one. A
// later call is gone through once for each length, and there are 29.
func length(n int) int {
	switch {
	case n <= 32:
		return n
	case n < 64:
		return n &^ 3
	}
	return 64
}

// unnamed is what a secret is that only its name tells.
const unnamed = "credentials"

// An extraction gathers the secrets of one output.
type extraction struct {
	file   string // the kind of secret that the call reads, "" for none
	named  bool   // of that the call shows no values by its facts, but names
	values []value
	have   map[string]bool

	register bool // rows about people are those of a register
}

// shown are the secrets in what a call printed.
func (x *extraction) text(name, text string) {
	if len(text) < leastLength {
		return
	}
	if name != "" && secret.Promises(name) {
		x.add(cmp.Or(x.file, unnamed), text, x.file == "")
	}
	if len(text) <= maxClose {
		x.forms(text)
		x.encoded(text)
	}
	if x.file != "" {
		x.places(text)
		x.assignments(text)
		x.words(text)
		return
	}
	if len(text) <= maxClose {
		x.places(text)
		return
	}
	for part := range suspects(text) {
		x.places(part)
	}
}

// encoded adds tokens of known forms that a text has in an encoding, such as a list of numbers.
func (x *extraction) encoded(text string) {
	view := func(plain string) {
		for _, p := range secret.Find(plain) {
			if p.Grade == secret.Certain {
				x.add(cmp.Or(p.What(), x.file, unnamed), plain[p.From:p.To], false)
			}
		}
	}
	d := decoder{view: view, quick: func(string) {}, passes: 1, left: maxEncoded}
	d.decode(text, 1)
}

// maxEncoded is how much of what an output may stand for is looked at, in bytes.
const maxEncoded = 256 << 10

// Shows reports a text that shows a secret, as the output of a call would.
func Shows(text string) bool {
	var x extraction
	x.text("", text)
	return len(x.values) > 0
}

// places adds what the list of secrets finds.
func (x *extraction) places(text string) {
	for _, p := range secret.Find(text) {
		v := text[p.From:p.To]
		switch what := p.What(); {
		case strings.HasPrefix(v, "-----BEGIN "):
			x.block(cmp.Or(what, x.file, unnamed), v)
		case p.Grade == secret.Certain:
			x.add(cmp.Or(what, x.file, unnamed), v, false)
		case p.Grade >= secret.Masked && (x.file != "" || !passes(text[:p.From])):
			x.add(cmp.Or(x.file, unnamed), v, x.file == "")
		}
	}
}

// passes reports what stands before the name of a test: "PASS: TestOne1" tells of no
// password.
func passes(before string) bool { return strings.HasSuffix(strings.TrimRight(before, ": "), "PASS") }

// maxLines is how many lines of a private key are looked for. The first one is much the
// same in all keys.
const maxLines = 4

func (x *extraction) block(what, text string) {
	n := 0
	for line := range strings.Lines(strings.ReplaceAll(text, `\n`, "\n")) {
		line = strings.TrimSpace(line)
		if len(line) < 32 || strings.Contains(line, "-----") {
			continue
		}
		if n++; n > 1 && n <= 1+maxLines {
			x.add(what, line, false)
		}
	}
}

// assignments adds the values of KEY=value lines in a file that is a secret, though their
// form says nothing.
func (x *extraction) assignments(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(unnumbered(line))
		line = strings.TrimPrefix(line, "export ")
		at := strings.IndexAny(line, "=:")
		v := line
		if at >= 0 {
			v = strings.TrimSpace(line[at+1:])
		}
		if at < 0 && strings.ContainsAny(v, " \t") || strings.HasPrefix(v, "//") {
			continue
		}
		v = strings.TrimSuffix(v, ",")
		if len(v) > 1 && (v[0] == '"' || v[0] == '\'') {
			if end := strings.IndexByte(v[1:], v[0]); end >= 0 {
				v = v[1 : 1+end]
			}
		} else if end := strings.Index(v, " #"); end >= 0 {
			v = strings.TrimSpace(v[:end])
		}
		if !harmless(v) {
			x.add(x.file, v, true)
		}
	}
}

// words adds each word of a file that is a secret which looks like nothing but a key.
func (x *extraction) words(text string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < 0x80 && parts[byte(r)] == gap || r == '=' }) {
		if len(word) >= leastLength && !harmless(word) && !number(word) {
			x.add(x.file, word, true)
		}
	}
}

// unnumbered takes away the number that some tools put before a line.
func unnumbered(line string) string {
	rest := strings.TrimLeft(line, " 0123456789")
	if len(rest) == len(line) {
		return line
	}
	for _, mark := range []string{"→", "\t", "| ", "|", ": "} {
		if after, ok := strings.CutPrefix(rest, mark); ok {
			return after
		}
	}
	return line
}

// harmless reports a value that is an address, a path or a name.
func harmless(v string) bool {
	return strings.Contains(v, "://") || strings.HasPrefix(v, "/") || strings.HasPrefix(v, "./") || strings.HasPrefix(v, "~/") ||
		isHost(v) || strings.Count(v, "@") == 1 && isHost(v[strings.IndexByte(v, '@')+1:])
}

// add adds a value. Of one that only its name or its place tells, more than its length is
// asked: text of a program is often named like a secret.
func (x *extraction) add(what, v string, doubtful bool) {
	v = strings.TrimSpace(v)
	if len(v) < leastLength || secret.Harmless(v) || doubtful && !random(v) && !motley(v) {
		return
	}
	if entropy(v[len(v)-length(len(v)):]) < leastEntropy {
		return
	}
	x.keep(what, v, false)
}

// keep adds the windows of a value, and the value itself where it has none.
func (x *extraction) keep(what, v string, words bool) {
	if strings.HasSuffix(strings.TrimSuffix(v, "KEY"), "EXAMPLE") { // as keys of documentation end, which fixtures and pages hold
		return
	}
	list := windows(v, words)
	for _, w := range list {
		x.put(value{what, w, kindWindow})
	}
	if len(list) == 0 {
		x.put(value{what, v[len(v)-length(len(v)):], kindSecret})
	}
}

func (x *extraction) put(v value) {
	if x.have == nil {
		x.have = map[string]bool{}
	}
	if !x.have[v.text] {
		x.have[v.text] = true
		x.values = append(x.values, v)
	}
}

// entropy is how many bits tell a byte of s, by how often each occurs in it.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}

// A letter is what a byte is to somebody who looks whether a text is random.
type letter byte

const (
	apart letter = iota // between words
	digit
	lower
	upper
	other // a sign that words and names do not have
)

func letterOf(c byte) letter {
	switch {
	case c >= '0' && c <= '9':
		return digit
	case c >= 'a' && c <= 'z':
		return lower
	case c >= 'A' && c <= 'Z':
		return upper
	case c > ' ' && strings.IndexByte("-_./:,=@()[]{}<>|&;\"'`\\", c) < 0 && c < 0x80:
		return other
	}
	return apart
}

// random reports that a part of a value looks like no word, name or number: of eight
// characters and more, with digits or signs among the letters, it changes between them
// again and again.
func random(v string) bool {
	var last letter
	n, changes, mixed, letters := 0, 0, false, false
	for i := range len(v) + 1 {
		l := apart
		if i < len(v) {
			l = letterOf(v[i])
		}
		if l == apart {
			if n >= 8 && letters && (mixed && changes >= 3 || changes*3 >= n) {
				return true
			}
			n, changes, mixed, letters, last = 0, 0, false, false, apart
			continue
		}
		if last != apart && l != last {
			changes++
		}
		mixed = mixed || l == digit || l == other
		letters = letters || l == lower || l == upper
		last = l
		n++
	}
	return false
}

// motley reports a value of all kinds of characters, which change again and again, as
// those of good passwords do: no words, no names, no text of a program.
func motley(v string) bool {
	var last letter
	var kinds [other + 1]bool
	n, changes, signs := 0, 0, 0
	for i := range len(v) {
		l := letterOf(v[i])
		if v[i] <= ' ' || v[i] >= 0x7f || strings.IndexByte("()[]{}<>;\"'`\\,=|", v[i]) >= 0 {
			return false
		}
		if l == apart {
			l = other
		}
		if l == other {
			signs++
		}
		kinds[l] = true
		if n > 0 && l != last {
			changes++
		}
		last = l
		n++
	}
	return kinds[digit] && kinds[lower] && kinds[upper] && kinds[other] && changes*5 >= n*2
}

// maxKey is more bytes than a private key has.
const maxKey = 16 << 10

// leastCore is how long a run of letters, digits and signs is in a suspect.
const leastCore = 8

// suspects yields the parts of a text in which a secret of [leastLength] can stand, as it
// is when no file tells: there a word is that long and has a run of letters with digits or
// of both cases, or a private key begins. Everything else need not be looked at closely,
// nor byte by byte: of a run of eight the last is looked at first.
func suspects(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		keys := strings.Contains(text, "-----BEGIN ")
		done := 0 // everything before was looked at
		for at := 0; at+leastCore <= len(text); {
			last := at + leastCore - 1
			for last >= at && parts[text[last]] == core {
				last--
			}
			if last >= at {
				at = last + 1
				continue
			}
			from, end := at, at+leastCore
			for end < len(text) && parts[text[end]] == core {
				end++
			}
			at = end
			if !mixed(text[from:end]) || from > done && text[from-1] == '/' && counted(text[from:end]) && (end == len(text) || text[end] != '@') {
				continue
			}
			for from > done && parts[text[from-1]] != gap {
				from--
			}
			for end < len(text) && parts[text[end]] != gap {
				end++
			}
			at = end
			if end-from < leastLength {
				continue
			}
			if number(text[from:end]) && !promised(text[done:from]) {
				continue
			}
			from = named(text, done, from)
			if !yield(text[from:min(len(text), end+1)]) {
				return
			}
			done = end
		}
		for at := 0; keys; {
			begin := strings.Index(text[at:], "-----BEGIN ")
			if begin < 0 {
				return
			}
			begin += at
			at = begin + len("-----BEGIN ")
			block := ahead(text[begin:], maxKey)
			if next := strings.Index(text[at:at+len(block)-len("-----BEGIN ")], "-----BEGIN "); next >= 0 {
				block = ahead(block, len("-----BEGIN ")+next)
			}
			if !strings.Contains(ahead(block, 64), "PRIVATE KEY") {
				continue
			}
			if foot := strings.Index(block, "-----END "); foot >= 0 {
				block = ahead(block, foot+64)
			}
			if !yield(block) {
				return
			}
		}
	}
}

// named returns where the words begin that may name a value, of which there are two at
// most: "Authorization: Bearer …".
func named(text string, least, from int) int {
	least = max(least, from-2*64)
	for range 2 {
		for from > least && parts[text[from-1]] == gap && text[from-1] != '\n' {
			from--
		}
		for from > least && parts[text[from-1]] != gap {
			from--
		}
	}
	return from
}

// number reports a word of hexadecimal digits, such as a commit or a UUID: most of what
// looks random in outputs is one. Only a name before it tells that it is a secret.
func number(word string) bool {
	for i := range len(word) {
		if hexAlphabet[word[i]]&inCode == 0 && word[i] != '-' {
			return false
		}
	}
	return true
}

// promised reports that the last word before a value may say that it is a secret.
func promised(before string) bool {
	end := len(before)
	for end > 0 && parts[before[end-1]] == gap && before[end-1] != '\n' {
		end--
	}
	begin := end
	for begin > 0 && end-begin < 64 && parts[before[begin-1]] != gap {
		begin--
	}
	word := strings.TrimRight(before[begin:end], "=:")
	return word != "" && (word[0] == '-' || secret.Promises(word) || strings.EqualFold(word, "basic") || strings.EqualFold(word, "digest"))
}

// A part is what a byte is to somebody who looks for long words.
type part byte

const (
	core  part = iota
	joint      // within words of programs, paths and addresses
	gap        // between words
)

var parts = [256]part{' ': gap, '\t': gap, '\r': gap, '\n': gap, '"': gap, '\'': gap, '`': gap, ';': gap, ',': gap, '|': gap, '<': gap, '>': gap,
	'(': gap, ')': gap, '{': gap, '}': gap, '/': joint, '.': joint, ':': joint, '-': joint, '_': joint, '=': joint}

// counted reports a name with a number behind it, as names of files and directories are:
// shards/part1024.
func counted(run string) bool {
	name := strings.TrimRight(run, "0123456789")
	return len(run) <= 16 && len(run)-len(name) <= 4 && strings.IndexFunc(name, func(r rune) bool { return r < 'a' || r > 'z' }) < 0
}

// mixed reports digits among letters, or letters that change between cases.
func mixed(run string) bool {
	digits, letters, changes := false, false, 0
	for i := range len(run) {
		switch c := run[i]; {
		case c >= '0' && c <= '9':
			digits = true
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters = true
			if i > 0 && (c^run[i-1])&0x20 != 0 {
				changes++
			}
		}
	}
	return letters && (digits || changes >= 3)
}

// outputs calls f for each text in the output of a tool, with the name that it stands
// under.
func outputs(ev *hook.Event, f func(name, text string)) {
	texts("", ev.Fields["tool_response"], f)
	texts("", ev.Fields["error"], f)
}

// texts calls f for each text in a tree, with the name that it stands under.
func texts(name string, v any, f func(name, text string)) {
	switch v := v.(type) {
	case string:
		f(name, v)
	case []any:
		for _, e := range v {
			texts(name, e, f)
		}
	case map[string]any:
		for k, e := range v {
			texts(k, e, f)
		}
	}
}
