package offer

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// withoutComments has blanks in the place of the comments that agents take in JSON: Copilot
// CLI writes some into its own config.json. Where a comment ends that readers end at several
// places, nobody knows what an agent reads, and that is an error.
func withoutComments(data []byte) ([]byte, error) {
	out := bytes.Clone(data)
	for at := 0; at < len(out); {
		switch {
		case out[at] == '"':
			at = afterString(out, at)
		case bytes.HasPrefix(out[at:], []byte("//")):
			end := bytes.IndexByte(out[at:], '\n')
			if end < 0 {
				end = len(out) - at
			}
			line := bytes.TrimSuffix(out[at:at+end], []byte("\r"))
			if !utf8.Valid(line) || bytes.ContainsAny(line, "\r\u0085\u2028\u2029") {
				return nil, errors.New("a comment has a character that some take for its end")
			}
			at = blank(out, at, at+end)
		case bytes.HasPrefix(out[at:], []byte("/*")):
			end := bytes.Index(out[at+2:], []byte("*/"))
			if end < 0 {
				return nil, errors.New("a comment does not end")
			}
			at = blank(out, at, at+2+end+2)
		default:
			at++
		}
	}
	return out, nil
}

// afterString is the place behind a string that begins at a place.
func afterString(text []byte, at int) int {
	for at++; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(text)
}

func blank(text []byte, from, to int) int {
	for i := from; i < to; i++ {
		if text[i] != '\n' {
			text[i] = ' '
		}
	}
	return to
}
