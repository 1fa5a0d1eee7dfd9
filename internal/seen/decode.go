package seen

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of what is decoded of one call.
const (
	maxDepth    = 3        // encodings within each other
	maxWork     = 64 << 20 // bytes that are gone through, those of each length of a secret counted
	maxUnpacked = 64 << 10 // bytes of what one gzip stream unpacks to
	leastBase64 = 16       // characters: what leastLength bytes become
	leastHex    = 24
)

// A decoder shows every text that a text may stand for.
type decoder struct {
	view   func(string)
	quick  func(string) // the same but for words
	passes int          // that a view takes
	left   int          // bytes that may still be gone through
	cut    bool         // they did not suffice
}

// decode shows a text backwards, and whatever it decodes to.
func (d *decoder) decode(text string, depth int) {
	if len(text) < leastLength || depth == 0 {
		return
	}
	if plain := percents(text); plain != text {
		d.next(plain, depth)
	}
	if plain := escapes(text); plain != text {
		d.next(plain, depth)
	}
	if plain := quoted(text); plain != "" {
		d.next(plain, depth)
	}
	if plain := wide(text); plain != text {
		d.next(plain, depth)
	}
	d.show(numbers(text))
	d.show(spelled(text))
	runs(text, leastBase64, &base64Alphabet, func(run []byte) { d.base64(run, depth) })
	runs(text, leastBase32, &base32Alphabet, func(run []byte) { d.base32(run) })
	runs(text, leastHex, &hexAlphabet, func(run []byte) { d.hex(run, depth) })
	d.unpack(text, depth)
	if depth == maxDepth { // a code that is turned round is looked into, once on the way
		d.next(backwards(text), depth)
	} else {
		d.next(backwards(text), 1)
	}
}

// show shows what a text was decoded to, as long as there is room.
func (d *decoder) show(text string) bool { return d.shows(text, d.view) }

func (d *decoder) shows(text string, view func(string)) bool {
	if len(text) < leastLength {
		return true
	}
	if d.left -= len(text) * d.passes; d.left < 0 {
		d.cut = true
		return false
	}
	view(text)
	return true
}

// next shows what a text was decoded to, and what that may be decoded to.
func (d *decoder) next(text string, depth int) {
	if !d.show(text) {
		return
	}
	if readable(text) || strings.Contains(text, gzipMagic) || strings.HasPrefix(text, "x") {
		d.decode(text, depth-1)
	}
}

// readable reports text: what is no code for another one decodes to no text.
func readable(text string) bool {
	strange := 0
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\n' && c != '\r' && c != '\t' || c >= 0x7f {
			strange++
		}
	}
	return strange*4 <= len(text)
}

const gzipMagic = "\x1f\x8b\x08"

// base64 decodes a run of its characters. Something may stand before the code without a
// gap, so that it can begin at four places.
func (d *decoder) base64(run []byte, depth int) {
	for from := range 4 {
		d.next(plainBase64(run[min(from, len(run)):]), depth)
	}
}

// plainBase64 decodes base64, for files and for addresses.
func plainBase64(run []byte) string {
	for i, c := range run {
		switch c {
		case '-':
			run[i] = '+'
		case '_':
			run[i] = '/'
		}
	}
	if len(run)%4 == 1 {
		run = run[:len(run)-1]
	}
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(run)))
	n, _ := base64.RawStdEncoding.Decode(out, run)
	return string(out[:n])
}

// hex decodes a run of its digits, which can begin at two places.
func (d *decoder) hex(run []byte, depth int) {
	for from := range 2 {
		d.next(plainHex(run[from:]), depth)
	}
}

func plainHex(run []byte) string {
	run = run[:len(run)&^1]
	out := make([]byte, len(run)/2)
	n, _ := hex.Decode(out, run)
	return string(out[:n])
}

// unpack shows what a stream of gzip or zlib in a text unpacks to.
func (d *decoder) unpack(text string, depth int) {
	if at := strings.Index(text, gzipMagic); at >= 0 {
		if r, err := gzip.NewReader(strings.NewReader(text[at:])); err == nil {
			d.read(r, depth)
		}
	}
	if len(text) > 8 && text[0] == 'x' && (int(text[0])<<8|int(text[1]))%31 == 0 {
		d.read(flate.NewReader(strings.NewReader(text[2:])), depth)
	}
}

// read shows what a reader has, as far as it can be read.
func (d *decoder) read(r io.Reader, depth int) {
	var out bytes.Buffer
	n, _ := io.CopyN(&out, r, maxUnpacked+1)
	if n > maxUnpacked {
		d.cut = true
	}
	d.next(out.String(), depth)
}

// An alphabet has the characters of a code, and those that may stand between them.
type alphabet [256]byte

const (
	inCode  = 1
	between = 2
	small   = 4 // lower case or a digit, which a code has beside upper case
	capital = 8
)

// base64Alphabet is that of base64, for files and for addresses.
var base64Alphabet = alphabet{
	'a': inCode | small, 'b': inCode | small, 'c': inCode | small, 'd': inCode | small, 'e': inCode | small, 'f': inCode | small,
	'g': inCode | small, 'h': inCode | small, 'i': inCode | small, 'j': inCode | small, 'k': inCode | small, 'l': inCode | small,
	'm': inCode | small, 'n': inCode | small, 'o': inCode | small, 'p': inCode | small, 'q': inCode | small, 'r': inCode | small,
	's': inCode | small, 't': inCode | small, 'u': inCode | small, 'v': inCode | small, 'w': inCode | small, 'x': inCode | small,
	'y': inCode | small, 'z': inCode | small, '0': inCode | small, '1': inCode | small, '2': inCode | small, '3': inCode | small,
	'4': inCode | small, '5': inCode | small, '6': inCode | small, '7': inCode | small, '8': inCode | small, '9': inCode | small,
	'A': inCode | capital, 'B': inCode | capital, 'C': inCode | capital, 'D': inCode | capital, 'E': inCode | capital, 'F': inCode | capital,
	'G': inCode | capital, 'H': inCode | capital, 'I': inCode | capital, 'J': inCode | capital, 'K': inCode | capital, 'L': inCode | capital,
	'M': inCode | capital, 'N': inCode | capital, 'O': inCode | capital, 'P': inCode | capital, 'Q': inCode | capital, 'R': inCode | capital,
	'S': inCode | capital, 'T': inCode | capital, 'U': inCode | capital, 'V': inCode | capital, 'W': inCode | capital, 'X': inCode | capital,
	'Y': inCode | capital, 'Z': inCode | capital, '+': inCode, '/': inCode, '-': inCode, '_': inCode, '\n': between, '\r': between,
}

// hexAlphabet is that of hex, whose digits may stand apart.
var hexAlphabet = alphabet{
	'0': inCode, '1': inCode, '2': inCode, '3': inCode, '4': inCode, '5': inCode, '6': inCode, '7': inCode, '8': inCode, '9': inCode,
	'a': inCode, 'b': inCode, 'c': inCode, 'd': inCode, 'e': inCode, 'f': inCode, 'A': inCode, 'B': inCode, 'C': inCode, 'D': inCode,
	'E': inCode, 'F': inCode, '\n': between, '\r': between, ' ': between, ':': between, ',': between, '.': between, '-': between,
	'"': between, '\'': between, '_': between,
}

// runs calls f for each run of characters of an alphabet, of a least length. Breaks of
// lines do not end one.
func runs(text string, least int, of *alphabet, f func([]byte)) {
	for at := 0; at < len(text); at++ {
		if of[text[at]]&inCode == 0 {
			continue
		}
		end, n := at, 0
		var kinds byte
		for end < len(text) {
			c := of[text[end]]
			if c == 0 {
				break
			}
			kinds |= c
			n += int(c & inCode)
			end++
		}
		if n >= least && (of != &base64Alphabet || kinds&(small|capital) == small|capital) {
			run := make([]byte, 0, n)
			for i := at; i < end; i++ {
				if of[text[i]]&inCode != 0 {
					run = append(run, text[i])
				}
			}
			f(run)
		}
		at = end
	}
}

func isHex(c byte) bool { return hexAlphabet[c]&inCode != 0 }

// percents decodes %XX, as addresses have it.
func percents(text string) string {
	if strings.IndexByte(text, '%') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]) {
			n, _ := strconv.ParseUint(text[i+1:i+3], 16, 8)
			out = append(out, byte(n))
			i += 2
			continue
		}
		out = append(out, text[i])
	}
	return string(out)
}

// escapes decodes what JSON, shells and languages write behind a backslash.
func escapes(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			out = append(out, text[i])
			continue
		}
		i++
		c := text[i]
		switch {
		case c == 'n':
			out = append(out, '\n')
		case c == 't':
			out = append(out, '\t')
		case c == 'r':
			out = append(out, '\r')
		case c == 'x' || c == 'u' || c == 'U':
			at, closing := i+1, 0
			if at < len(text) && text[at] == '{' { // \u{48}, as JavaScript, Rust and Swift have it
				at, closing = at+1, 2
			}
			n, used := code(text[at:], 16, map[byte]int{'x': 2 + 4*closing, 'u': 4 + closing, 'U': 8}[c])
			if used > 0 {
				used += closing
			}
			if used == 0 {
				out = append(out, c)
			} else if c == 'x' {
				out = append(out, byte(n))
			} else {
				out = utf8.AppendRune(out, rune(n))
			}
			i += used
		case c >= '0' && c <= '7':
			n, used := code(text[i:], 8, 3)
			if c == '0' && used == 3 && i+3 < len(text) && text[i+3] >= '0' && text[i+3] <= '7' { // \0101, as printf has it
				n, used = code(text[i+1:], 8, 3)
				used++
			}
			out = append(out, byte(n))
			i += used - 1
		case c == '\n':
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// code reads a number of at most a number of digits, and returns how many it took.
func code(text string, base, most int) (n uint64, used int) {
	for used < most && used < len(text) && isHex(text[used]) && (base == 16 || text[used] <= '7') {
		used++
	}
	n, _ = strconv.ParseUint(text[:used], base, 32)
	return n, used
}

// joined is a text without all that stands between the pieces of one word: quotes, blanks,
// and what languages join texts by.
func joined(text string) string {
	if !strings.ContainsAny(text, "\"'\\ ") {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := range len(text) {
		switch c := text[i]; c {
		case '"', '\'', '\\', '+', ' ', '\t', '\r', '\n', ',':
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

func backwards(text string) string {
	out := make([]byte, len(text))
	for i := range len(text) {
		out[len(text)-1-i] = text[i]
	}
	return string(out)
}
