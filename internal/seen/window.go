package seen

import "strings"

// A window is a piece of a value as it is looked for: letters and digits alone, letters
// in lower case. So signs between the pieces of a value, and its case, hide nothing, and
// a part of a value is found. Windows have one length, and a text is gone through once.
const (
	windowLength = 12
	maxWindows   = 7 // of one value
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

// windows are those of a value. They do not overlap but for the last one: of two that do,
// one gives away much of the other to whoever has the key. Where any is true, those count
// as well that look like words. A value with too few letters and digits has none.
func windows(v string, any bool) (list []string) {
	if strings.HasPrefix(v, "eyJ") && strings.Count(v, ".") == 2 {
		v = v[strings.LastIndexByte(v, '.')+1:] // what stands before the signature is not secret
	}
	at := make([]int, 0, len(v)+1) // where each byte stands in the value
	for i := range len(v) {
		if inWindow(v[i]) != 0 {
			at = append(at, i)
		}
	}
	if len(at) > maxWindows*windowLength {
		at = at[len(at)-maxWindows*windowLength:]
	}
	take := func(from int) {
		part := v[at[from] : at[from+windowLength-1]+1]
		text := string(fold(nil, part))
		if entropy(text) >= leastEntropy && (any || random(part)) {
			list = append(list, text)
		}
	}
	from := 0
	for ; from+windowLength <= len(at); from += windowLength {
		take(from)
	}
	if from > 0 && from < len(at) {
		take(len(at) - windowLength)
	}
	return list
}
