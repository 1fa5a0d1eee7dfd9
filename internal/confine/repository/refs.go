package repository

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// isName reports the hexadecimal name of an object, as git writes it.
func isName(text string, hexes int) bool {
	if len(text) != hexes {
		return false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// mostRefName is how many bytes the name of a ref may have.
const mostRefName = 1024

// isRef reports a name below refs/ that git takes for one of a ref: see git-check-ref-format(1).
func isRef(name string) bool {
	if !strings.HasPrefix(name, "refs/") || len(name) > mostRefName || strings.Count(name, "/") < 1 || strings.Contains(name, "@{") || strings.Contains(name, "..") {
		return false
	}
	for step := range strings.SplitSeq(name, "/") {
		if step == "" || step[0] == '.' || strings.HasSuffix(step, ".") || strings.HasSuffix(strings.ToLower(step), ".lock") {
			return false
		}
	}
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c == 0x7f || strings.IndexByte(`~^:?*[\`, c) >= 0 {
			return false
		}
	}
	return true
}

// symbolic begins the text of a ref that stands for another one.
const symbolic = "ref: "

// readRef reads the file of a ref: it is the name of an object, or "ref: " and another ref.
func readRef(text []byte, hexes int) (string, error) {
	value, ok := strings.CutSuffix(string(text), "\n")
	if to, link := strings.CutPrefix(value, symbolic); link && isRef(to) || isName(value, hexes) {
		return value, nil
	}
	if ok && len(text) == 1 || len(text) == 0 {
		return "", errors.New("it is empty")
	}
	return "", errors.New("it names no object and no ref")
}

// readHead reads HEAD: it stands for a branch, or is the name of an object.
func readHead(text []byte, hexes int) (string, error) {
	value, err := readRef(text, hexes)
	if to, link := strings.CutPrefix(value, symbolic); err == nil && link && !strings.HasPrefix(to, "refs/heads/") {
		return "", errors.New("it stands for no branch")
	}
	return value, err
}

// readPacked reads packed-refs: a ref and its object a line. A line that git would not have
// written makes all of it an error.
func readPacked(text []byte, hexes int) (map[string]string, error) {
	refs := map[string]string{}
	n, last := 0, false
	for line := range strings.Lines(string(text)) {
		n++
		line, whole := strings.CutSuffix(line, "\n")
		peeled, isPeeled := strings.CutPrefix(line, "^")
		object, ref, _ := strings.Cut(line, " ")
		switch {
		case !whole:
			return nil, fmt.Errorf("line %d has no end", n)
		case n == 1 && strings.HasPrefix(line, "# pack-refs with:"):
		case isPeeled && last && isName(peeled, hexes):
			last = false
		case isName(object, hexes) && isRef(ref):
			if _, twice := refs[ref]; twice {
				return nil, fmt.Errorf("line %d names a ref again", n)
			}
			refs[ref], last = object, true
		default:
			return nil, fmt.Errorf("line %d is none of a ref", n)
		}
	}
	return refs, nil
}

// withoutRefs is packed-refs without some of them, and reports whether any was there.
func withoutRefs(text []byte, gone map[string]bool) (rest []byte, found bool) {
	drop := false
	for line := range bytes.Lines(text) {
		if line[0] != '^' {
			_, ref, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
			drop = line[0] != '#' && gone[ref]
			found = found || drop
		}
		if !drop {
			rest = append(rest, line...)
		}
	}
	return rest, found
}

// isLog reports the lines of a log of a ref: two objects, somebody, a time, a message.
func isLog(text []byte, hexes int) bool {
	for line := range bytes.Lines(text) {
		rest, whole := bytes.CutSuffix(line, []byte("\n"))
		before, _, _ := bytes.Cut(rest, []byte("\t"))
		if !whole || len(before) < 2*hexes+2 || before[hexes] != ' ' || before[2*hexes+1] != ' ' || bytes.IndexByte(rest, 0) >= 0 ||
			!isName(string(before[:hexes]), hexes) || !isName(string(before[hexes+1:2*hexes+1]), hexes) || !bytes.Contains(before, []byte("> ")) {
			return false
		}
	}
	return true
}

// A form says what one of git's own files may hold.
type form uint8

const (
	message form = iota // text for people, without zero bytes
	objects             // names of objects, one a line
	fetched             // names of objects with what is to become of them
)

// plain are files of git's own that hold nothing but what their form says. No other file of
// the top of a repository is taken over, but HEAD, index, packed-refs and logs.
func plain(name string) (form, bool) {
	switch name {
	case "ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "AUTO_MERGE", "shallow":
		return objects, true
	case "FETCH_HEAD":
		return fetched, true
	case "MERGE_MSG", "MERGE_MODE", "SQUASH_MSG", "COMMIT_EDITMSG", "TAG_EDITMSG", "NOTES_EDITMSG":
		return message, true
	}
	return 0, false
}

// holds reports that a text has a form.
func (f form) holds(text []byte, hexes int) bool {
	if f == message {
		return bytes.IndexByte(text, 0) < 0
	}
	for line := range bytes.Lines(text) {
		object, rest, more := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
		if !isName(object, hexes) || more != (f == fetched) || strings.IndexByte(rest, 0) >= 0 {
			return false
		}
	}
	return true
}
