package load_test

import (
	"regexp"
	"strings"
)

// The matchers of the systems as their documents print them, in Go.

func cocodeMatches(pattern, value string) bool {
	switch {
	case pattern == "":
		return true
	case strings.Contains(pattern, "|"):
		for p := range strings.SplitSeq(pattern, "|") {
			if p == value {
				return true
			}
		}
		return false
	case strings.HasPrefix(pattern, "^"), strings.Contains(pattern, ".*"):
		re, err := regexp.Compile(pattern)
		return err == nil && re.MatchString(value)
	case strings.HasSuffix(pattern, "*"):
		return strings.HasPrefix(value, strings.TrimSuffix(pattern, "*"))
	}
	return pattern == value
}

func zephMatches(pattern, value string) bool {
	for token := range strings.SplitSeq(pattern, "|") {
		if token != "" && strings.Contains(value, token) {
			return true
		}
	}
	return false
}

func massgenMatches(pattern, value string) bool {
	if strings.TrimSpace(pattern) == "" {
		return true
	}
	for item := range strings.SplitSeq(pattern, "|") {
		if item = strings.TrimSpace(item); item != "" && fnmatch(item).MatchString(value) {
			return true
		}
	}
	return false
}

// fnmatch is Python's fnmatch.translate.
func fnmatch(pattern string) *regexp.Regexp {
	var b strings.Builder
	for i := 0; i < len(pattern); {
		c := pattern[i]
		i++
		switch c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteString(".")
		case '[':
			j := i
			if j < len(pattern) && pattern[j] == '!' {
				j++
			}
			if j < len(pattern) && pattern[j] == ']' {
				j++
			}
			for j < len(pattern) && pattern[j] != ']' {
				j++
			}
			if j >= len(pattern) {
				b.WriteString(`\[`)
				continue
			}
			set := strings.ReplaceAll(pattern[i:j], `\`, `\\`)
			i = j + 1
			if rest, negated := strings.CutPrefix(set, "!"); negated {
				set = "^" + rest
			} else if strings.HasPrefix(set, "^") {
				set = `\` + set
			}
			b.WriteString("[" + strings.ReplaceAll(set, "[", `\[`) + "]")
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return regexp.MustCompile(`(?s)\A(?:` + b.String() + `)\z`)
}
