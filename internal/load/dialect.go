package load

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/strictjson"
	"gate/scopes"
)

// A dialect is how one system writes its hooks.
type dialect struct {
	name hook.Dialect

	// hook are the keys of one hook, where it has its handler's beside the others.
	hook fields

	// read takes the whole file in. What is no part of the system's hooks it
	// passes over, if the system keeps other things in the file.
	read func(*dialectReader)

	// timeout is what a hook has that names none; 0 is gate's own default.
	timeout func(*hook.Hook) time.Duration
}

// dialects are the systems whose hook files gate reads, in the order in which
// they are named.
func dialects() []*dialect {
	return []*dialect{&claudeDialect, &cocodeDialect, &codewhaleDialect, &massgenDialect, &zephDialect}
}

// OwnDialect is what files call gate's own format.
const OwnDialect = "gate"

// Dialects are what a file may call its dialect.
func Dialects() []string {
	names := []string{OwnDialect}
	for _, d := range dialects() {
		names = append(names, string(d.name))
	}
	return names
}

// dialectOf returns the dialect of a name; nil is gate's own.
func dialectOf(name string) (*dialect, error) {
	for _, d := range dialects() {
		if string(d.name) == name {
			return d, nil
		}
	}
	if name != OwnDialect {
		return nil, fmt.Errorf("unknown dialect %q; there are %s", name, strings.Join(Dialects(), ", "))
	}
	return nil, nil
}

// A dialectReader collects the hooks of one file of another system.
type dialectReader struct {
	*document
	dialect *dialect
	src     scopes.Source
	guess   bool // what the system would pass over counts against it
	ids     map[string]bool
	hooks   []*hook.Hook
	passed  []passed
	notes   []error // what gate reads otherwise than the system does, and why
	errs    []error
}

func (r *dialectReader) bad(pointer, format string, args ...any) {
	r.errs = append(r.errs, r.errorf(pointer, format, args...))
}

func (r *dialectReader) note(pointer, format string, args ...any) {
	r.notes = append(r.notes, r.errorf(pointer, format, args...))
}

// A passed is a key that the system itself ignores.
type passed struct{ pointer, key string }

// passOver is for keys that the system itself ignores.
func (r *dialectReader) passOver(pointer, key string, known []string) {
	if r.guess {
		r.bad(pointer, "unknown key %s%s", dotted(pointer), didYouMean(key, "", known))
		return
	}
	r.passed = append(r.passed, passed{pointer, key})
	r.note(pointer, "%s is passed over, as %s does", dotted(pointer), r.dialect.name)
}

// others looks at the keys of a file that holds more than hooks: one that is
// meant to be one of ours and is not is a mistake.
func (r *dialectReader) others(pointer string, m map[string]any, ours ...string) {
	for _, key := range r.sorted(m, pointer) {
		if slices.Contains(ours, key) {
			continue
		}
		for _, right := range ours {
			if folded := strictjson.Fold(key); folded == strictjson.Fold(right) || near(key, right) {
				r.bad(below(pointer, key), "unknown key %s; did you mean %q?", dotted(below(pointer, key)), right)
			}
		}
	}
}

// list returns a list of objects, and reports what is something else.
func (r *dialectReader) list(v any, pointer string) []any {
	list, ok := v.([]any)
	switch {
	case v == nil:
		r.bad(pointer, "%s must be a list", dotted(pointer))
	case !ok:
		r.bad(pointer, "%s must be a list, not %s", dotted(pointer), typeName(v))
	}
	return list
}

func (r *dialectReader) object(v any, pointer string) map[string]any {
	m, ok := v.(map[string]any)
	if !ok {
		r.bad(pointer, "%s must be an object, not %s", dotted(pointer), typeName(v))
	}
	return m
}
