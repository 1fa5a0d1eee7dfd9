package seen

import "strings"

// Limits of what is looked through for values under a constant.
const (
	maxNumbers  = 4096 // of a text
	maxRun      = 512  // numbers of a list: a longer one is a table of data
	maxShifted  = 512  // bytes of one code
	maxShiftedN = 8    // codes of a text
)

// ciphered shows what lists of numbers in a text say under a constant: XORed with one, a sum
// with one, the difference to the number before; and the same of every second number, as
// k[0]=72; k[1]=105 has it.
func (d *decoder) ciphered(text string) {
	for _, run := range integers(text) {
		if len(run) <= maxRun {
			d.underConstant(run)
			d.underConstant(everySecond(run[1:]))
			d.underConstant(everySecond(run))
		}
	}
	if chars := singles(text); chars != "" {
		d.show(chars)
		d.show(backwards(chars))
	}
	if plain := escapes(text); plain != text && len(plain) <= maxShifted {
		d.shifted([]byte(plain))
	}
	left := maxShiftedN
	code := func(places int, decode func([]byte) string) func([]byte) {
		return func(run []byte) {
			if len(run) > maxShifted || left == 0 {
				return
			}
			left--
			for from := range places {
				d.shifted([]byte(decode(run[from:])))
			}
		}
	}
	runs(text, leastBase64, &base64Alphabet, code(4, plainBase64))
	runs(text, leastHex, &hexAlphabet, code(2, plainHex))
}

// underConstant shows what a list of numbers says under each constant.
func (d *decoder) underConstant(list []int) {
	if len(list) < leastCodes {
		return
	}
	bytes, sums := make([]byte, len(list)), make([]byte, len(list))
	sum := 0
	for i, n := range list {
		sum += n
		bytes[i], sums[i] = byte(n), byte(sum)
	}
	d.shows(string(bytes), d.quick)
	d.shows(string(sums), d.quick)
	d.shifted(bytes)
}

// shifted shows bytes under each constant of XOR and of a sum.
func (d *decoder) shifted(code []byte) {
	if len(code) < leastLength {
		return
	}
	out := make([]byte, len(code))
	for by := 1; by <= 0xff && !d.cut; by++ {
		for i, c := range code {
			out[i] = c ^ byte(by)
		}
		d.shows(string(out), d.quick)
		for i, c := range code {
			out[i] = c + byte(by)
		}
		d.shows(string(out), d.quick)
	}
}

// integers are the runs of numbers in a text, with their signs, as far as they stand close
// to each other.
func integers(text string) (list [][]int) {
	var run []int
	last, left := 0, maxNumbers
	end := func() {
		if len(run) >= leastCodes {
			list = append(list, run)
		}
		run = nil
	}
	for i := 0; i < len(text) && left > 0; {
		if text[i] < '0' || text[i] > '9' {
			i++
			continue
		}
		from := i
		for i < len(text) && inWindow(text[i]) != 0 {
			i++
		}
		if from > 0 && inWindow(text[from-1]) != 0 {
			continue
		}
		n, ok := integer(text[from:i])
		if !ok {
			continue
		}
		if from-last > maxBetween {
			end()
		}
		if from > 0 && text[from-1] == '-' {
			n = -n
		}
		run, last = append(run, n), i
		left--
	}
	end()
	return list
}

// integer reads a number below 2^20 in base 10, 16, 8 or 2, as languages write it.
func integer(word string) (n int, ok bool) {
	base, digits := 10, word
	switch lower := strings.ToLower(ahead(word, 2)); lower {
	case "0x":
		base, digits = 16, word[2:]
	case "0b":
		base, digits = 2, word[2:]
	case "0o":
		base, digits = 8, word[2:]
	}
	digits = strings.TrimRight(digits, "uUlL") // of C and Java
	if digits == "" {
		return 0, false
	}
	for _, c := range []byte(digits) {
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if c <= '9' {
			digit = int(c - '0')
		}
		if digit < 0 || digit >= base {
			return 0, false
		}
		if n = n*base + digit; n >= 1<<20 {
			return 0, false
		}
	}
	return n, true
}

func everySecond(list []int) (out []int) {
	for i := 0; i < len(list); i += 2 {
		out = append(out, list[i])
	}
	return out
}

// singles are the single characters in quotes that a text has: k[0]='H'; k[1]='i'.
func singles(text string) string {
	var out []byte
	for i := 0; i+2 < len(text); i++ {
		if c := text[i]; (c == '\'' || c == '"' || c == '`') && text[i+2] == c && text[i+1] > ' ' {
			out = append(out, text[i+1])
			i += 2
		}
	}
	if len(out) < leastCodes {
		return ""
	}
	return string(out)
}
