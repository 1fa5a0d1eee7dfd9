package seen

import (
	"encoding/base32"
	"strconv"
	"strings"
	"unicode/utf8"
)

// leastCodes is how many characters a list of codes or words must have to be looked at.
const leastCodes = leastLength

// A list gathers the characters that numbers stand for. Zeros part what stands apart.
type list struct {
	out     []byte
	n, last int // of the run that goes on, and where its last number ended
}

// maxBetween is what may stand between two numbers, as in "out.append((char) 72);" on lines
// of their own.
const maxBetween = 64

func (l *list) add(code uint64, from, end int) {
	if code < ' ' && code != '\t' && code != '\n' || code > 0x7e {
		return
	}
	if from-l.last > maxBetween {
		l.end()
	}
	l.out = append(l.out, byte(code))
	l.n, l.last = l.n+1, end
}

// end ends a run, and drops one that is too short.
func (l *list) end() {
	if l.n < leastCodes {
		l.out = l.out[:len(l.out)-l.n]
	} else {
		l.out = append(l.out, 0)
	}
	l.n = 0
}

// numbers is what lists of numbers in a text say: 72,105 or chr(72)+chr(105), &#72; and
// 0x48, 0b01001000, and 110 in base 8.
func numbers(text string) string {
	var plain, octal list
	for i := 0; i < len(text); {
		if c := text[i]; (c < '0' || c > '9') && c|0x20 != 'x' {
			i++
			continue
		}
		from := i
		for i < len(text) && inWindow(text[i]) != 0 {
			i++
		}
		if from > 0 && inWindow(text[from-1]) != 0 { // of a word such as sha256
			continue
		}
		code, eight := codes(text[from:i])
		plain.add(code, from, i)
		octal.add(eight, from, i)
	}
	plain.end()
	octal.end()
	return string(append(plain.out, octal.out...))
}

// codes reads one number, and how it reads in base 8; 0 for what is none.
func codes(word string) (code, eight uint64) {
	base, digits := 10, word
	switch lower := strings.ToLower(ahead(word, 2)); {
	case lower == "0x":
		base, digits = 16, word[2:]
	case lower != "" && lower[0] == 'x':
		base, digits = 16, word[1:]
	case lower == "0b":
		base, digits = 2, word[2:]
	case lower == "0o":
		base, digits = 8, word[2:]
	case len(word) >= 7 && strings.Trim(word, "01") == "":
		base = 2
	case len(word) <= 3:
		eight, _ = strconv.ParseUint(word, 8, 8)
	}
	code, err := strconv.ParseUint(digits, base, 8)
	if err != nil {
		code = 0
	}
	return code, eight
}

// spoken are the words for digits; silent are those for signs and for the case of what
// follows.
const (
	spoken = " zero:0 one:1 two:2 three:3 tree:3 four:4 fower:4 five:5 fife:5 six:6 seven:7 eight:8 nine:9 niner:9 "
	silent = " dot dash hyphen minus underscore slash backslash plus equals equal colon semicolon comma space percent hash star asterisk at and " +
		"ampersand bang exclamation question mark dollar caret pipe tilde upper lower uppercase lowercase capital cap caps small big letter digit number point period "
)

// spelled is what the words of a text spell by their first letters, as alphabets for the
// telephone do: "Kilo niner x-ray".
func spelled(text string) string {
	out := make([]byte, 0, len(text)/4)
	for i := 0; i < len(text); i++ {
		if inWindow(text[i]) == 0 {
			continue
		}
		from := i
		for i < len(text) && (inWindow(text[i]) != 0 || i == from+1 && text[i] == '-') { // x-ray is one word
			i++
		}
		word := text[from:i]
		if len(word) > 2 && len(word) < 12 {
			lower := strings.ToLower(word)
			if strings.Contains(silent, " "+lower+" ") {
				continue
			}
			if at := strings.Index(spoken, " "+lower+":"); at >= 0 {
				out = append(out, spoken[at+len(lower)+2])
				continue
			}
		}
		out = append(out, word[0])
		if len(word) == 2 && word[0] >= '0' && word[0] <= '9' {
			out = append(out, word[1])
		}
	}
	return string(out)
}

// labels are the words of a text that are names of hosts or look like them, without their
// dots: a name can carry a code in pieces. Zeros part them.
func labels(text string) string {
	var out []byte
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < 0x80 && parts[byte(r)] == gap || r == '/' || r == ':' || r == '@' }) {
		if len(word) >= leastBase32 && strings.Count(word, ".") >= 2 {
			out = append(out, strings.ReplaceAll(word, ".", "")...)
			out = append(out, 0)
		}
	}
	return string(out)
}

// leastBase32 is what leastLength bytes become.
const leastBase32 = 20

// base32Alphabet is that of base32, in both cases.
var base32Alphabet = alphabet{
	'A': inCode, 'B': inCode, 'C': inCode, 'D': inCode, 'E': inCode, 'F': inCode, 'G': inCode, 'H': inCode, 'I': inCode, 'J': inCode,
	'K': inCode, 'L': inCode, 'M': inCode, 'N': inCode, 'O': inCode, 'P': inCode, 'Q': inCode, 'R': inCode, 'S': inCode, 'T': inCode,
	'U': inCode, 'V': inCode, 'W': inCode, 'X': inCode, 'Y': inCode, 'Z': inCode, 'a': inCode, 'b': inCode, 'c': inCode, 'd': inCode,
	'e': inCode, 'f': inCode, 'g': inCode, 'h': inCode, 'i': inCode, 'j': inCode, 'k': inCode, 'l': inCode, 'm': inCode, 'n': inCode,
	'o': inCode, 'p': inCode, 'q': inCode, 'r': inCode, 's': inCode, 't': inCode, 'u': inCode, 'v': inCode, 'w': inCode, 'x': inCode,
	'y': inCode, 'z': inCode, '2': inCode, '3': inCode, '4': inCode, '5': inCode, '6': inCode, '7': inCode,
	'\n': between, '\r': between,
}

// base32 decodes a run of its characters, which can begin at eight places.
func (d *decoder) base32(run []byte) {
	text := strings.ToUpper(string(run))
	for from := range 8 {
		part := text[min(from, len(text)):]
		switch len(part) % 8 {
		case 1, 3, 6:
			part = part[:len(part)-1]
		}
		out, _ := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(part)
		d.show(string(out))
	}
}

// base85 decodes the runs of a text in the two usual alphabets of base85.
func (d *decoder) base85(text string) {
	for _, digit := range []func(r rune) int{
		func(r rune) int { return int(r) - '!' },
		func(r rune) int { return strings.IndexRune(alphabet85, r) },
	} {
		for run := range strings.FieldsFuncSeq(text, func(r rune) bool { n := digit(r); return n < 0 || n > 84 }) {
			if len(run) < leastLength*5/4 {
				continue
			}
			for from := range 5 {
				d.show(digits85(run[from:], digit))
			}
		}
	}
}

// alphabet85 is that of git and of Python's b85encode.
const alphabet85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// digits85 decodes five digits at a time, and pads the last ones.
func digits85(text string, digit func(rune) int) string {
	out := make([]byte, 0, len(text))
	for len(text) > 1 {
		var n uint64
		take := min(5, len(text))
		for i := range 5 {
			v := 84
			if i < take {
				v = digit(rune(text[i]))
			}
			n = n*85 + uint64(v)
		}
		out = append(out, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
		out = out[:len(out)-(5-take)]
		text = text[take:]
	}
	return string(out)
}

// wide puts the letters of ASCII for those of double width and for those that nothing
// shows (tags).
func wide(text string) string {
	if strings.IndexByte(text, '\xef') < 0 && strings.IndexByte(text, '\xf3') < 0 {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0xff01 && r <= 0xff5e:
			return r - 0xff00 + 0x20
		case r >= 0xe0020 && r <= 0xe007e:
			return r - 0xe0000
		case r == utf8.RuneError:
			return -1
		}
		return r
	}, text)
}

// quoted decodes =XX, as mail has it. It is "" for a text with none.
func quoted(text string) string {
	if strings.Count(text, "=") < leastLength {
		return ""
	}
	return percents(strings.ReplaceAll(strings.ReplaceAll(text, "=\r\n", ""), "=", "%"))
}

// turned shows a text with its letters moved along the alphabet, and mirrored in it. A
// long one is only moved by half of it.
func (d *decoder) turned(text string) {
	from := fold(nil, text)
	if len(from) < windowLength {
		return
	}
	out := make([]byte, len(from))
	turn := func(letter func(byte) byte, digit func(byte) byte) {
		for i, c := range from {
			if c >= 'a' {
				out[i] = letter(c - 'a')
			} else {
				out[i] = digit(c - '0')
			}
		}
		d.shows(string(out), d.quick)
	}
	same := func(n byte) byte { return '0' + n }
	turn(func(n byte) byte { return 'z' - n }, same)
	turn(func(n byte) byte { return 'z' - n }, func(n byte) byte { return '9' - n })
	turn(func(n byte) byte { return 'a' + (n+13)%26 }, func(n byte) byte { return '0' + (n+5)%10 })
	for by := byte(1); by < 26; by++ {
		if by == 13 || len(from) <= maxTurned {
			turn(func(n byte) byte { return 'a' + (n+by)%26 }, same)
		}
	}
	if len(from) <= maxTurned {
		d.show(strings.Map(func(r rune) rune {
			if r > ' ' && r < 0x7f {
				return '!' + (r-'!'+47)%94
			}
			return r
		}, text))
	}
}

// maxTurned is how long a text is whose letters are moved by every number.
const maxTurned = 16 << 10
