package builtin

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"gate/internal/plan/value"
)

// A version is a semantic version. What follows a plus does not count.
type version struct {
	numbers [3]int64
	before  string // of the release, without its dash
}

// versionOf reads a version, which may begin with v.
func versionOf(s string) (v version, ok bool) {
	s, build, found := strings.Cut(strings.TrimPrefix(s, "v"), "+")
	if found && !identifiers(build) {
		return v, false
	}
	s, v.before, found = strings.Cut(s, "-")
	if found && (!identifiers(v.before) || !noLeadingZeros(v.before)) {
		return v, false
	}
	parts := strings.Split(s, ".")
	if len(parts) != len(v.numbers) {
		return v, false
	}
	for i, p := range parts {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil || !decimal(p[:1]) || len(p) > 1 && p[0] == '0' {
			return v, false
		}
		v.numbers[i] = n
	}
	return v, true
}

// identifiers reports words of letters, digits and dashes between dots.
func identifiers(s string) bool {
	for word := range strings.SplitSeq(s, ".") {
		if word == "" || strings.ContainsFunc(word, func(r rune) bool {
			return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-'
		}) {
			return false
		}
	}
	return true
}

func noLeadingZeros(s string) bool {
	for word := range strings.SplitSeq(s, ".") {
		if len(word) > 1 && word[0] == '0' && decimal(word) {
			return false
		}
	}
	return true
}

func decimal(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func (v version) compare(w version) int {
	for i, n := range v.numbers {
		if c := cmp.Compare(n, w.numbers[i]); c != 0 {
			return c
		}
	}
	switch {
	case v.before == w.before:
		return 0
	case v.before == "": // the release itself
		return 1
	case w.before == "":
		return -1
	}
	a, b := strings.Split(v.before, "."), strings.Split(w.before, ".")
	for i := range min(len(a), len(b)) {
		if c := compareIdentifiers(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// compareIdentifiers puts numbers first. Those beyond an int64 are all as large
// as it.
func compareIdentifiers(a, b string) int {
	switch {
	case decimal(a) && decimal(b):
		m, _ := strconv.ParseInt(a, 10, 64)
		n, _ := strconv.ParseInt(b, 10, 64)
		return cmp.Compare(m, n)
	case decimal(a):
		return -1
	case decimal(b):
		return 1
	}
	return strings.Compare(a, b)
}

func semverCompare(_ *Context, args []value.Value) (value.Value, error) {
	var s [2]string
	if err := texts(args, &s[0], &s[1]); err != nil {
		return nil, err
	}
	var versions [2]version
	for i := range s {
		v, ok := versionOf(s[i])
		if !ok {
			return nil, fmt.Errorf("operand %d: string %s is not a valid SemVer", i+1, value.Text(args[i]))
		}
		versions[i] = v
	}
	return value.Int(versions[0].compare(versions[1])), nil
}
