package program

import (
	"strconv"
	"strings"
)

// makeFill puts values in the place of a makefile's names, and what its functions for texts
// make of their arguments in the place of calls.
func (u *use) makeFill(text string, value func(name string) string) string {
	for range 4 {
		text = u.fill(text, makeName(), value)
		next := makeCall().ReplaceAllStringFunc(text, func(s string) string {
			found := makeCall().FindStringSubmatch(s)
			if len(found[3]) > maxArguments {
				return s
			}
			out := found[1] + makeText(found[2], strings.Split(found[3], ","))
			if more := len(out) - len(s); more > 0 {
				if u.Filled+more > maxFilled {
					return s
				}
				u.Filled += more
			}
			return out
		})
		if next == text {
			break
		}
		text = next
	}
	return text
}

// maxArguments bounds the arguments of one call: what it makes of them may be as long as the
// square of that.
const maxArguments = 4 << 10

// makeText is the value of a function of make for texts.
func makeText(name string, args []string) string {
	last := args[len(args)-1]
	words := strings.Fields(last)
	for i := range args[:len(args)-1] {
		args[i] = strings.TrimSpace(args[i])
	}
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch name {
	case "patsubst":
		for i, w := range words {
			words[i] = makePattern(arg(0), arg(1), w)
		}
	case "subst":
		if arg(0) != "" {
			last = strings.ReplaceAll(last, args[0], arg(1))
		}
		return last
	case "addprefix", "addsuffix":
		for i, w := range words {
			if words[i] = arg(0) + w; name == "addsuffix" {
				words[i] = w + arg(0)
			}
		}
	case "word":
		if n, err := strconv.Atoi(arg(0)); err == nil && n > 0 && n <= len(words) {
			return words[n-1]
		}
		return ""
	case "if":
		if arg(0) != "" {
			return arg(1)
		}
		return arg(2)
	case "or":
		for _, a := range args {
			if strings.TrimSpace(a) != "" {
				return strings.TrimSpace(a)
			}
		}
		return ""
	}
	return strings.Join(words, " ") // sort, wildcard, filter: of these words
}

// makePattern is a word with what a pattern says in its place, where it matches.
func makePattern(pattern, with, word string) string {
	before, after, star := strings.Cut(pattern, "%")
	if !star && word == pattern {
		return with
	}
	if !star || len(word) < len(before)+len(after) || !strings.HasPrefix(word, before) || !strings.HasSuffix(word, after) {
		return word
	}
	return strings.Replace(with, "%", word[len(before):len(word)-len(after)], 1)
}

// makeCall finds a call of such a function whose arguments are texts.
var makeCall = lazy(`(^|[^$])\$[({](patsubst|subst|addprefix|addsuffix|word|if|or|sort|wildcard|filter|filter-out) +((?:[^(){}$\n]|\$[$@<^*?]|\$\{\w+\})*)[)}]`)
