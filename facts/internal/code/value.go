package code

import "strings"

// A valueKind says how much is known about a value.
type valueKind uint8

const (
	opaqueValue valueKind = iota // nothing; text may hold a known beginning
	knownValue                   // text, or a number as text
	listValue                    // items
	mapValue                     // keys and items
	nameValue                    // text is the qualified name of a function, module or unknown variable
	choiceValue                  // one of items, which are known, opaque or lists
)

// valueFlags say where a value came from. They survive calls and operators.
type valueFlags uint8

const (
	fromNetwork valueFlags = 1 << iota
	fromDecoder
	fromEnvironment // the environment as a whole
	fromSecret      // a variable whose name says secret
	isNumber        // not text; belongs to this value only
)

// A value is what is known about the value of an expression. The zero
// value knows nothing.
type value struct {
	kind  valueKind
	flags valueFlags
	text  string
	keys  []string
	items []value
}

func textValue(s string) value { return value{kind: knownValue, text: s} }

func named(s string) value { return value{kind: nameValue, text: s} }

func flagged(f valueFlags) value { return value{flags: f} }

// get returns the item with this key.
func (v value) get(key string) (value, bool) {
	if v.kind == mapValue {
		for i := len(v.keys) - 1; i >= 0; i-- {
			if v.keys[i] == key {
				return v.items[i], true
			}
		}
	}
	return value{}, false
}

// all returns the flags of a value and of what it holds, one level deep.
func (v value) all() valueFlags {
	f := v.flags &^ isNumber
	for _, i := range v.items {
		f |= i.flags &^ isNumber
	}
	return f
}

// truth reports whether an option is switched on.
func (v value) truth() bool {
	return v.kind == knownValue && (v.text == "true" || v.text == "1") || v.kind == opaqueValue && v.text == "" && v.flags == 0
}

// spend takes n bytes from what folding may copy.
func (r *inspection) spend(n int) bool {
	if n > maxFold || r.work < n {
		return false
	}
	r.work -= n + 1
	return true
}

// each applies a fold to a value, or to every choice of it.
func (r *inspection) each(v value, fold func(string) value) value {
	switch v.kind {
	case knownValue:
		if r.work -= len(v.text); r.work < 0 {
			return value{flags: v.all()}
		}
		out := fold(v.text)
		out.flags |= v.flags
		return out
	case choiceValue:
		out := make([]value, 0, len(v.items))
		for _, item := range v.items {
			out = append(out, r.each(item, fold))
		}
		return oneOf(out...)
	}
	return value{flags: v.all()}
}

// concat folds a + b for texts and lists.
func (r *inspection) concat(a, b value) value {
	return r.combine(a, b, func(x, y string) string { return x + y })
}

// joinPath folds the joining of two path segments: an absolute one replaces
// what came before.
func (r *inspection) joinPath(a, b value) value {
	return r.combine(a, b, joinPaths)
}

func joinPaths(x, y string) string {
	switch {
	case x == "" || strings.HasPrefix(y, "/") || strings.HasPrefix(y, "~"):
		return y
	case y == "":
		return x
	case strings.HasSuffix(x, "/"):
		return x + y
	}
	return x + "/" + y
}

// appendPath folds the joining of languages where an absolute segment is just
// one more segment.
func (r *inspection) appendPath(a, b value) value {
	return r.combine(a, b, func(x, y string) string {
		if x == "" {
			return y
		}
		return strings.TrimSuffix(x, "/") + "/" + strings.TrimPrefix(y, "/")
	})
}

func (r *inspection) combine(a, b value, fold func(x, y string) string) value {
	flags := a.all() | b.all()
	switch {
	case a.kind == knownValue && b.kind == knownValue:
		if !r.spend(len(a.text) + len(b.text)) {
			return flagged(flags)
		}
		return value{kind: knownValue, text: fold(a.text, b.text), flags: flags}
	case a.kind == choiceValue && len(a.items)*max(1, len(b.items)) <= maxChoice:
		out := make([]value, len(a.items))
		for i, item := range a.items {
			out[i] = r.combine(item, b, fold)
		}
		return oneOf(out...)
	case b.kind == choiceValue && a.kind != choiceValue:
		out := make([]value, len(b.items))
		for i, item := range b.items {
			out[i] = r.combine(a, item, fold)
		}
		return oneOf(out...)
	case a.kind == knownValue && b.kind != listValue:
		return value{text: a.text, flags: flags} // the beginning is known
	case a.kind == opaqueValue && a.text != "":
		return value{text: a.text, flags: flags}
	case a.kind == listValue && b.kind == listValue && r.spend(len(a.items)+len(b.items)):
		return value{kind: listValue, items: append(append([]value(nil), a.items...), b.items...), flags: flags}
	}
	return flagged(flags)
}

// oneOf is the value that is one of these.
func oneOf(values ...value) value {
	var flags valueFlags
	var out []value
	add := func(v value) {
		if v.kind != knownValue {
			v = flagged(v.all())
		}
		for _, o := range out {
			if o.kind == v.kind && o.text == v.text {
				return
			}
		}
		out = append(out, v)
	}
	for _, v := range values {
		flags |= v.all()
		if v.kind == choiceValue {
			for _, i := range v.items {
				add(i)
			}
			continue
		}
		add(v)
	}
	switch {
	case len(values) == 1:
		return values[0]
	case len(out) == 1 && out[0].kind == knownValue:
		return value{kind: knownValue, text: out[0].text, flags: flags}
	case len(out) < 2 || len(out) > maxChoice:
		return flagged(flags)
	}
	return value{kind: choiceValue, items: out, flags: flags}
}

// element is the value of a variable that goes through v.
func (v value) element() value {
	if v.kind == listValue && len(v.items) > 0 {
		if v.items[0].kind == listValue {
			return v.items[0]
		}
		if len(v.items) > maxChoice {
			return flagged(v.all())
		}
		return oneOf(v.items...)
	}
	return flagged(v.all())
}
