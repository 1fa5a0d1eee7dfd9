package seen

import "strings"

// A window is a piece of a value as it is looked for: letters and digits alone, letters
// in lower case. So signs between the pieces of a value, and its case, hide nothing, and
// a part of a value is found. A text is gone through once for each length of a window.
//
// Whoever has the key and the file can test guesses of a window, so that each has 62 bits
// or more where its characters are random: 12 letters and digits, 16 digits of hex, or 20
// decimal digits. Only a value that is shorter as a whole has fewer.
const (
	windowLength  = 12
	hexWindow     = 16
	decimalWindow = 20
	maxWindows    = 7 // of one value
)

// inWindow is what a byte is in a window, 0 for nothing.
func inWindow(c byte) byte {
	switch {
	case '0' <= c && c <= '9', 'a' <= c && c <= 'z':
		return c
	case 'A' <= c && c <= 'Z':
		return c - 'A' + 'a'
	}
	return 0
}

// fold appends what a text is in windows.
func fold(out []byte, text string) []byte {
	for i := range len(text) {
		if c := inWindow(text[i]); c != 0 {
			out = append(out, c)
		}
	}
	return out
}

// windowOf is how long a window must be that begins with a text.
func windowOf(text []byte) int {
	size := decimalWindow
	for _, c := range text {
		switch {
		case c > 'f':
			return windowLength
		case c > '9':
			size = hexWindow
		}
	}
	return size
}

// windows are those of a value. They do not overlap but for the last one: of two that do,
// one gives away much of the other to whoever has the key. Where any is true, those count
// as well that look like words. A value with too few letters and digits has none.
func windows(v string, any bool) (list []string) {
	v = unprefixed(v)
	at := make([]int, 0, len(v)+1) // where each byte stands in the value
	for i := range len(v) {
		if inWindow(v[i]) != 0 {
			at = append(at, i)
		}
	}
	if len(at) > maxWindows*windowLength {
		at = at[len(at)-maxWindows*windowLength:]
	}
	text := make([]byte, len(at))
	for i, place := range at {
		text[i] = inWindow(v[place])
	}
	take := func(from, to int) {
		part := string(text[from:to])
		if entropy(part) >= leastEntropy && (any || random(v[at[from]:at[to-1]+1])) {
			list = append(list, part)
		}
	}
	from := 0
	for from+windowLength <= len(text) {
		size := windowOf(text[from : from+windowLength])
		if size > windowLength { // more of it may have other characters
			size = windowOf(text[from:min(len(text), from+size)])
		}
		size = max(size, windowLength)
		if from+size > len(text) {
			break
		}
		take(from, from+size)
		from += size
	}
	if from < len(text) && len(text) >= windowLength {
		size := min(len(text), windowOf(text[len(text)-windowLength:]))
		take(len(text)-size, len(text))
	}
	return list
}

// unprefixed is a value without what all of its kind begin with: sk_live_, ghp_, AKIA. Of
// a token in three parts (JWT) it is the signature: what stands before is not secret.
func unprefixed(v string) string {
	if strings.HasPrefix(v, "eyJ") && strings.Count(v, ".") == 2 {
		return v[strings.LastIndexByte(v, '.')+1:]
	}
	rest := v
	for _, known := range []string{"AKIA", "ASIA", "AIza"} {
		rest = strings.TrimPrefix(rest, known)
	}
	for {
		end := strings.IndexAny(rest, "_-.")
		if end < 0 || end > maxPrefix || strings.Trim(strings.ToLower(rest[:end]), "abcdefghijklmnopqrstuvwxyz") != "" {
			break
		}
		rest = rest[end+1:]
	}
	if len(fold(nil, rest)) < windowLength {
		return v
	}
	return rest
}

// maxPrefix is how long a word is that a kind of tokens begins with.
const maxPrefix = 8
