package shell

import (
	"slices"
	"strconv"
	"strings"

	"gate/facts/internal/flow"
)

// A variable is a scalar or an array.
type variable struct {
	value    flow.Word
	list     []flow.Word // of an array, in the order of its keys
	keys     []string    // of list, where they are not 0, 1, 2 …
	array    bool
	words    bool   // keys are words, in an order nobody knows (declare -A)
	unset    bool   // it is known not to be set
	exported bool   // programs see it
	declared bool   // by the line, as an array of its own
	integer  bool   // declare -i: what is assigned is an expression
	fold     byte   // declare -l, -u: 'l' or 'u'
	held     held   // readonly
	ref      string // declare -n: the variable it stands for
}

// held says whether a variable keeps its value, whatever is assigned to it.
type held byte

const (
	free  held = iota
	maybe      // on one way only
	surely
)

// first is the value of a scalar, or of element 0.
func (v variable) first() flow.Word {
	if v.array {
		return v.element("0")
	}
	return v.value
}

// element is the value at a key: nothing where there is none.
func (v variable) element(key string) flow.Word {
	if !v.array {
		if key == "0" || v.value.Many() {
			return v.value
		}
		return flow.Literal("")
	}
	i := v.index(key)
	if i < 0 && v.keys == nil && strings.HasPrefix(key, "-") {
		if n, err := strconv.Atoi(key); err == nil {
			i = len(v.list) + n
		}
	}
	switch {
	case i < 0:
		return flow.Literal("")
	case !flow.Countable(v.list[:min(i, len(v.list))]):
		return flow.Unknown(&flow.Hole{Why: "an element after many", Empty: true, Taint: flow.Join(v.list).Taint()})
	case i >= len(v.list):
		return flow.Literal("")
	}
	return v.list[i]
}

// index is where a key stands in the list, -1 for none.
func (v variable) index(key string) int {
	if v.keys != nil {
		return slices.Index(v.keys, key)
	}
	n, err := strconv.Atoi(key)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// with returns the array with one element set. Keys of an indexed array stay
// in order.
func (v variable) with(key string, f flow.Word) variable {
	if !v.array {
		old := v.value
		had := len(old.Parts) > 0 && !v.unset
		v.array, v.value, v.list, v.unset = true, flow.Word{}, nil, false
		if had && !v.words {
			v.list = []flow.Word{old}
		}
	}
	if v.words && v.keys == nil {
		v.keys = []string{}
	}
	if !flow.Countable(v.list) || !v.array && v.value.Many() {
		u := unknownArray()
		u.words, u.exported = v.words, v.exported
		return u
	}
	n, err := strconv.Atoi(key)
	if v.keys == nil && (err != nil || n != len(v.list) && (n < 0 || n > len(v.list))) {
		v.keys = v.allKeys()
	}
	v.list, v.keys = slices.Clone(v.list), slices.Clone(v.keys)
	i := v.index(key)
	switch {
	case i >= 0 && i < len(v.list):
		v.list[i] = f
	case v.keys == nil:
		v.list = append(v.list, f)
	default:
		at := len(v.keys)
		for !v.words && at > 0 && toInt(v.keys[at-1]) > n {
			at--
		}
		v.keys = slices.Insert(v.keys, at, key)
		v.list = slices.Insert(v.list, at, f)
	}
	return v
}

// without returns the array with one element removed.
func (v variable) without(key string) variable {
	i := v.index(key)
	if !flow.Countable(v.list) {
		return unknownArray()
	}
	if i < 0 || i >= len(v.list) {
		return v
	}
	v.keys = slices.Delete(v.allKeys(), i, i+1)
	v.list = slices.Delete(slices.Clone(v.list), i, i+1)
	return v
}

func (v variable) allKeys() []string {
	if v.keys != nil {
		return slices.Clone(v.keys)
	}
	keys := make([]string, len(v.list))
	for i := range keys {
		keys[i] = strconv.Itoa(i)
	}
	return keys
}

func toInt(key string) int {
	n, _ := strconv.Atoi(key)
	return n
}

// lookup returns the variable a name stands for, through references.
func (s *state) lookup(name string) (variable, bool) {
	v, ok := s.vars[name]
	for hops := 0; ok && v.ref != "" && hops < 8; hops++ {
		v, ok = s.vars[v.ref]
	}
	return v, ok
}

// target is the name that an assignment to name changes.
func (s *state) target(name string) string {
	for hops := 0; hops < 8 && s.vars[name].ref != ""; hops++ {
		name = s.vars[name].ref
	}
	return name
}

// set assigns a value, as the variable's attributes say.
func (s *state) set(name string, f flow.Word) {
	name = s.target(name)
	v := s.vars[name]
	f = v.shaped(f)
	switch {
	case v.held == surely:
		return
	case v.held == maybe:
		f = flow.Either(v.first(), f)
	}
	s.own()
	if v.array {
		s.vars[name] = v.with("0", f)
		return
	}
	v.value, v.unset = f, false
	v.exported = v.exported || s.exports
	s.vars[name] = v
}

// replace makes name a new variable, with the attributes of the old one.
func (s *state) replace(name string, v variable) {
	name = s.target(name)
	old := s.vars[name]
	switch old.held {
	case surely:
		return
	case maybe:
		v = joinVariable(s.vars, name, v)
	}
	v.exported, v.integer, v.fold, v.words = old.exported || v.exported, old.integer, old.fold, old.words || v.words
	s.own()
	s.vars[name] = v
}

// unsetVariable removes a variable or, for A[i], an element.
func (s *state) unsetVariable(name string) {
	base, key, element := subscript(name)
	if !element {
		base = name
	}
	if s.vars[base].held == surely {
		return
	}
	s.own()
	if element {
		if v, set := s.vars[base]; set && v.array {
			s.vars[base] = v.without(key)
			return
		} else if key != "0" || !set {
			return
		}
		name = base
	}
	s.vars[name] = variable{value: flow.Literal(""), unset: true}
}

// setNamed assigns to a name that may have a subscript, as printf -v and read
// take it.
func (s *state) setNamed(name string, f flow.Word) {
	base, key, ok := subscript(name)
	if !ok {
		s.set(name, f)
		return
	}
	v := s.keyed(base)
	if _, err := strconv.Atoi(key); err != nil && !v.words {
		s.replace(base, unknownArray())
		return
	}
	s.replace(base, v.with(key, v.shaped(f)))
}

func subscript(name string) (base, key string, ok bool) {
	i := strings.IndexByte(name, '[')
	if i <= 0 || !strings.HasSuffix(name, "]") {
		return "", "", false
	}
	return name[:i], strings.Trim(name[i+1:len(name)-1], `"'`), true
}

func unknownArray() variable {
	return variable{value: flow.Unknown(&flow.Hole{Why: "an element of an array", Empty: true, Many: true})}
}

// shaped is what a value becomes when it is assigned: declare -i, -l, -u.
func (v variable) shaped(f flow.Word) flow.Word {
	switch {
	case v.integer:
		if t := f.Value(); t == nil || strconv.Itoa(toInt(*t)) != *t {
			return flow.Unknown(&flow.Hole{Why: "an integer"})
		}
	case v.fold == 'l':
		return flow.Map(f, strings.ToLower)
	case v.fold == 'u':
		return flow.Map(f, strings.ToUpper)
	}
	return f
}

// joinVariable is what a variable may be after either of two ways.
func joinVariable(vars map[string]variable, name string, b variable) variable {
	a, ok := vars[name]
	if !ok && !b.array {
		// Not set in this line before: most likely nowhere else either.
		a = variable{value: flow.Literal(""), unset: true}
	}
	if name == "IFS" { // without it blanks separate
		for _, v := range []*variable{&a, &b} {
			if v.unset {
				v.value, v.unset = flow.Literal(" \t\n"), false
			}
		}
	}
	out := b
	out.unset = a.unset && b.unset
	out.exported = a.exported && b.exported
	if out.held = a.held; a.held != b.held {
		out.held = maybe
	}
	switch {
	case !a.array && !b.array:
		out.value = flow.Either(a.value, b.value)
	case a.array == b.array && len(a.list) == len(b.list) && slices.Equal(a.keys, b.keys):
		out.list = make([]flow.Word, len(a.list))
		for i := range a.list {
			out.list[i] = flow.Either(a.list[i], b.list[i])
		}
	default:
		return variable{value: flow.Unknown(&flow.Hole{Why: "an array set on one way only", Empty: true, Many: true})}
	}
	return out
}
