package facts

import "strings"

// A codeKind says how much is known about a value.
type codeKind uint8

const (
	codeOpaque codeKind = iota // nothing; text may hold a known beginning
	codeKnown                  // text, or a number as text
	codeList                   // items
	codeMap                    // keys and items
	codeName                   // text is the qualified name of a function, module or unknown variable
	codeChoice                 // one of items, which are known, opaque or lists
)

// codeFlags say where a value came from. They survive calls and operators.
type codeFlags uint8

const (
	fromNetwork codeFlags = 1 << iota
	fromDecoder
	fromEnvironment // the environment as a whole
	fromSecret      // a variable whose name says secret
	isNumber        // not text; belongs to this value only
)

// A codeValue is what is known about the value of an expression. The zero
// value knows nothing.
type codeValue struct {
	kind  codeKind
	flags codeFlags
	text  string
	keys  []string
	items []codeValue
}

func codeString(s string) codeValue { return codeValue{kind: codeKnown, text: s} }

func codeNamed(s string) codeValue { return codeValue{kind: codeName, text: s} }

func codeFlagged(f codeFlags) codeValue { return codeValue{flags: f} }

// get returns the item with this key.
func (v codeValue) get(key string) (codeValue, bool) {
	if v.kind == codeMap {
		for i := len(v.keys) - 1; i >= 0; i-- {
			if v.keys[i] == key {
				return v.items[i], true
			}
		}
	}
	return codeValue{}, false
}

// all returns the flags of a value and of what it holds, one level deep.
//
//go:noinline
func (v codeValue) all() codeFlags {
	f := v.flags &^ isNumber
	for _, i := range v.items {
		f |= i.flags &^ isNumber
	}
	return f
}

// truth reports whether an option is switched on.
func (v codeValue) truth() bool {
	return v.kind == codeKnown && (v.text == "true" || v.text == "1") || v.kind == codeOpaque && v.text == "" && v.flags == 0
}

// spend takes n bytes from what folding may copy.
func (r *codeRun) spend(n int) bool {
	if n > maxCodeFold || r.work < n {
		return false
	}
	r.work -= n + 1
	return true
}

// each applies a fold to a value, or to every choice of it.
func (r *codeRun) each(v codeValue, fold func(string) codeValue) codeValue {
	switch v.kind {
	case codeKnown:
		if r.work -= len(v.text); r.work < 0 {
			return codeValue{flags: v.all()}
		}
		out := fold(v.text)
		out.flags |= v.flags
		return out
	case codeChoice:
		out := make([]codeValue, 0, len(v.items))
		for _, item := range v.items {
			out = append(out, r.each(item, fold))
		}
		return codeOneOf(out...)
	}
	return codeValue{flags: v.all()}
}

// concat folds a + b for texts and lists.
//
//go:noinline
func (r *codeRun) concat(a, b codeValue) codeValue {
	return r.combine(a, b, func(x, y string) string { return x + y })
}

// joinPath folds the joining of two path segments: an absolute one replaces
// what came before.
func (r *codeRun) joinPath(a, b codeValue) codeValue {
	return r.combine(a, b, codeJoin)
}

func codeJoin(x, y string) string {
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
func (r *codeRun) appendPath(a, b codeValue) codeValue {
	return r.combine(a, b, func(x, y string) string {
		if x == "" {
			return y
		}
		return strings.TrimSuffix(x, "/") + "/" + strings.TrimPrefix(y, "/")
	})
}

func (r *codeRun) combine(a, b codeValue, fold func(x, y string) string) codeValue {
	flags := a.all() | b.all()
	switch {
	case a.kind == codeKnown && b.kind == codeKnown:
		if !r.spend(len(a.text) + len(b.text)) {
			return codeFlagged(flags)
		}
		return codeValue{kind: codeKnown, text: fold(a.text, b.text), flags: flags}
	case a.kind == codeChoice && len(a.items)*max(1, len(b.items)) <= maxCodeChoice:
		out := make([]codeValue, len(a.items))
		for i, item := range a.items {
			out[i] = r.combine(item, b, fold)
		}
		return codeOneOf(out...)
	case b.kind == codeChoice && a.kind != codeChoice:
		out := make([]codeValue, len(b.items))
		for i, item := range b.items {
			out[i] = r.combine(a, item, fold)
		}
		return codeOneOf(out...)
	case a.kind == codeKnown && b.kind != codeList:
		return codeValue{text: a.text, flags: flags} // the beginning is known
	case a.kind == codeOpaque && a.text != "":
		return codeValue{text: a.text, flags: flags}
	case a.kind == codeList && b.kind == codeList && r.spend(len(a.items)+len(b.items)):
		return codeValue{kind: codeList, items: append(append([]codeValue(nil), a.items...), b.items...), flags: flags}
	}
	return codeFlagged(flags)
}

// codeOneOf is the value that is one of these.
func codeOneOf(values ...codeValue) codeValue {
	var flags codeFlags
	var out []codeValue
	add := func(v codeValue) {
		if v.kind != codeKnown {
			v = codeFlagged(v.all())
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
		if v.kind == codeChoice {
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
	case len(out) == 1 && out[0].kind == codeKnown:
		return codeValue{kind: codeKnown, text: out[0].text, flags: flags}
	case len(out) < 2 || len(out) > maxCodeChoice:
		return codeFlagged(flags)
	}
	return codeValue{kind: codeChoice, items: out, flags: flags}
}

// element is the value of a variable that goes through v.
func (v codeValue) element() codeValue {
	if v.kind == codeList && len(v.items) > 0 {
		if v.items[0].kind == codeList {
			return v.items[0]
		}
		if len(v.items) > maxCodeChoice {
			return codeFlagged(v.all())
		}
		return codeOneOf(v.items...)
	}
	return codeFlagged(v.all())
}
