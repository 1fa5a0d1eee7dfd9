package bytecode

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Writer makes a section. The zero value is empty and ready to use.
type Writer struct {
	strings   []string
	places    map[string]int
	numbers   []uint32
	byNumber  map[string]int
	builtins  []uint32
	byBuiltin map[string]int
	functions []uint32
	paths     [][2]uint32
	policies  []policy
	patterns  []Pattern
	code      []uint32
}

type policy struct {
	name  string
	rules []Rule
}

// String returns the number of a string.
func (w *Writer) String(s string) int {
	i, known := w.places[s]
	if !known {
		if w.places == nil {
			w.places = map[string]int{}
		}
		i = len(w.strings)
		w.strings = append(w.strings, s)
		w.places[s] = i
	}
	return i
}

// Number returns the number of a number, given as text.
func (w *Writer) Number(text string) int {
	return numbered(&w.byNumber, text, func() { w.numbers = append(w.numbers, uint32(w.String(text))) })
}

// Builtin returns the number of a builtin.
func (w *Writer) Builtin(name string) int {
	return numbered(&w.byBuiltin, name, func() { w.builtins = append(w.builtins, uint32(w.String(name))) })
}

func numbered(known *map[string]int, key string, add func()) int {
	if i, ok := (*known)[key]; ok {
		return i
	}
	if *known == nil {
		*known = map[string]int{}
	}
	i := len(*known)
	(*known)[key] = i
	add()
	return i
}

// Builtins returns the names of the builtins that were asked for.
func (w *Writer) Builtins() []string {
	names := make([]string, 0, len(w.builtins))
	for _, s := range w.builtins {
		names = append(names, w.strings[s])
	}
	return names
}

// Function adds a function, whose number is that of those before it. Start and
// End of f do not count. The path, if there is one, is what calls by path find.
func (w *Writer) Function(f Function, path []string, code []uint32) {
	memoized := uint32(0)
	if f.Memoized {
		memoized = 1
	}
	if len(path) > 0 {
		w.paths = append(w.paths, [2]uint32{uint32(w.String(Path(path...))), uint32(len(w.functions) / functionWords)})
	}
	start := uint32(len(w.code))
	w.code = append(w.code, code...)
	w.functions = append(w.functions, start, uint32(len(w.code)), uint32(f.Locals), uint32(f.Args)<<1|memoized)
}

// Policy adds a package and the rules that it is asked for.
func (w *Writer) Policy(name string, rules []Rule) {
	w.policies = append(w.policies, policy{name, rules})
}

// Pattern adds a pattern, once.
func (w *Writer) Pattern(p Pattern) { w.patterns = append(w.patterns, p) }

// Path returns what [Program.Find] is asked for the parts of a path.
func Path(parts ...string) string { return strings.Join(parts, "\x00") }

// Bytes returns the section. Functions with equal paths are an error, as are
// packages with equal names and a section of more than 2 GiB.
func (w *Writer) Bytes() ([]byte, error) {
	paths, err := w.sortedPaths()
	if err != nil {
		return nil, err
	}
	policies, rules, err := w.sortedPolicies()
	if err != nil {
		return nil, err
	}
	patterns := w.hashedPatterns()
	ends, bytes := w.ends()
	lists := [tables][]uint32{ends, w.numbers, w.builtins, w.functions, paths, policies, rules, patterns, w.code}
	sizes := [tables]int{1, 1, 1, functionWords, pathWords, policyWords, ruleWords, patternWords, 1, 1}
	size := headWords*4 + bytes
	for _, list := range lists {
		size += 4 * len(list)
	}
	if size > math.MaxInt32 {
		return nil, errors.New("a compiled plan of more than 2 GiB")
	}
	out := append(make([]byte, 0, size), magic...)
	at := headWords * 4
	for i, list := range lists {
		n := len(list) / sizes[i]
		if i == tableBytes {
			n = bytes
		}
		out = appendWord(appendWord(out, uint32(at)), uint32(n))
		at += 4 * len(list)
	}
	out = appendWord(out, uint32(size))
	for _, list := range lists {
		for _, word := range list {
			out = appendWord(out, word)
		}
	}
	for _, s := range w.strings {
		out = append(out, s...)
	}
	return out, nil
}

// ends returns where each string ends, and how long all are.
func (w *Writer) ends() (ends []uint32, bytes int) {
	for _, s := range w.strings {
		bytes += len(s)
		ends = append(ends, uint32(bytes))
	}
	return ends, bytes
}

func (w *Writer) sortedPaths() ([]uint32, error) {
	slices.SortFunc(w.paths, func(a, b [2]uint32) int { return cmp.Compare(w.strings[a[0]], w.strings[b[0]]) })
	var list []uint32
	for i, p := range w.paths {
		if i > 0 && w.paths[i-1][0] == p[0] {
			return nil, fmt.Errorf("two functions at %q", w.strings[p[0]])
		}
		list = append(list, p[0], p[1])
	}
	return list, nil
}

func (w *Writer) sortedPolicies() (policies, rules []uint32, err error) {
	slices.SortFunc(w.policies, func(a, b policy) int { return cmp.Compare(a.name, b.name) })
	for i, p := range w.policies {
		if i > 0 && w.policies[i-1].name == p.name {
			return nil, nil, fmt.Errorf("two policies named %s", p.name)
		}
		if len(p.rules) > maxRules {
			return nil, nil, fmt.Errorf("%s has %d rules", p.name, len(p.rules))
		}
		policies = append(policies, uint32(w.String(p.name)), uint32(len(rules)/ruleWords), uint32(len(p.rules)))
		for _, r := range p.rules {
			rules = append(rules, uint32(r.Kind), uint32(r.Function), uint32(w.String(r.Pos)))
		}
	}
	return policies, rules, nil
}

// hashedPatterns leaves half of the places free, so that a search soon ends.
func (w *Writer) hashedPatterns() []uint32 {
	n := uint32(2 * len(w.patterns))
	slots := make([]uint32, n*patternWords)
	number := func(s string) uint32 {
		if s == "" {
			return 0
		}
		return uint32(w.String(s)) + 1
	}
	for _, p := range w.patterns {
		i := hash(p.Text) % n
		for slots[i*patternWords] != 0 {
			i = (i + 1) % n
		}
		copy(slots[i*patternWords:], []uint32{uint32(w.String(p.Text)) + 1, number(p.Regex), number(p.Glob)})
	}
	return slots
}

func appendWord(out []byte, w uint32) []byte {
	return append(out, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
}
