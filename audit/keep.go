package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gate/hook"
)

// A Kept is what a record keeps of the event and the decision beyond its first
// line, so that the decision can be explained, tested and made again. Every
// string in it is redacted, and what was too long is cut.
type Kept struct {
	// Input is the document that policies saw as input (see
	// [hook.Event.Document]), less input.facts where these were too large or
	// are not of this input.
	Input map[string]any

	Rewrite any // the whole final input or prompt; nil if unchanged

	Cut      []Cut    // what was left out
	Redacted []string // JSON pointers to what lost a secret, such as "/input/tool_input/command"
}

// A Cut is one value that was too large.
type Cut struct {
	At    string // JSON pointer, such as "/input/tool_input/content"
	Bytes int    // how long it was; 0 where nobody counted
}

// Limits of what a record keeps. One line stays below [MaxRecord].
const (
	maxField  = 8 << 10  // bytes of one text
	maxOutput = 512      // of one text of a tool's output
	maxInput  = 32 << 10 // of the event, as counted while it is copied
	maxFacts  = 48 << 10 // of the facts: more, and they are left out whole
	maxMarks  = 64       // entries of Cut and of Redacted
	maxNested = 70       // strictjson's own limit, and what stands above it here
)

// Keep adds the event and what was rewritten. facts are those of ev as it came;
// nil leaves them out.
func (r *Record) Keep(ev *hook.Event, d *hook.Decision, facts *hook.Facts) {
	doc := withFacts(ev, nil).Document()
	delete(doc, "facts")
	var known secrets
	line := known.ofCall(ev, facts)
	k := keeper{secrets: known}
	input, _ := k.keep(doc, maxInput, "input").(map[string]any)
	kept := &Kept{Input: input, Cut: k.cuts, Redacted: k.redacted}
	if d.Rewrite != nil {
		k = keeper{secrets: known}
		kept.Rewrite = k.keep(d.Rewrite, maxInput/2, "result", "rewrite")
		kept.Cut, kept.Redacted = append(kept.Cut, k.cuts...), append(kept.Redacted, k.redacted...)
	}
	if facts != nil {
		// Whole or not at all: half of them would read as if there were no more.
		k = keeper{secrets: known, line: line}
		if all := k.keep(facts.Document(), maxFacts, "input", "facts"); len(k.cuts) > 0 {
			kept.Cut = append(kept.Cut, Cut{At: factsPointer})
		} else {
			kept.Input["facts"] = all
			kept.Redacted = append(kept.Redacted, k.redacted...)
		}
	}
	r.Kept = kept
	r.mask(&known)
}

func withFacts(ev *hook.Event, f *hook.Facts) *hook.Event {
	c := *ev
	c.Facts = f
	return &c
}

// A keeper takes secrets out of a tree and bounds it. It changes nothing of the
// tree: what it has to change it copies.
type keeper struct {
	secrets secrets
	line    shifts   // how the spans of facts move with what was taken out of the line
	path    []string // keys down to the current value
	left    int      // bytes that there is still room for
	sorted  bool     // go through objects in a fixed order

	cuts     []Cut
	redacted []string
}

// keep returns the tree as the record has it; path is where it stands there.
// Only where there is no room for all of it, the order of keys matters, and the
// call itself comes first.
func (k *keeper) keep(v any, room int, path ...string) any {
	for _, k.sorted = range []bool{false, true} {
		k.path, k.left, k.cuts, k.redacted = path, room, nil, nil
		if kept, _ := k.value(v); k.left >= 0 || k.sorted {
			slices.Sort(k.redacted)
			return kept
		}
	}
	return nil
}

// pointer is where the current value stands. Keys may hold anything, too.
func (k *keeper) pointer() string {
	var b strings.Builder
	for _, key := range k.path {
		key = strings.ReplaceAll(keyOf(key), "~", "~0")
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(key, "/", "~1"))
	}
	return b.String()
}

// keyOf is a key as the record has it: anything can be one.
func keyOf(key string) string {
	const word = 24
	if len(key) <= word && run(key, isWord) == len(key) {
		return key
	}
	return short(key, 2*word)
}

// value returns v as it is to be kept, and whether that is another one.
func (k *keeper) value(v any) (kept any, changed bool) {
	if k.left < 0 && !k.sorted {
		return v, false // the next time, in order
	}
	if len(k.path) > maxNested {
		k.cut(0)
		return nil, true
	}
	k.left -= 4
	switch v := v.(type) {
	case nil, bool, json.Number, int, int64, float64:
		return v, false
	case string:
		return k.text(v)
	case map[string]any:
		return k.object(v)
	case map[string]string:
		return k.object(anyMap(v))
	case []any:
		if span, ok := k.span(v); ok {
			return span, true
		}
		return list(k, v)
	case []string:
		return list(k, v)
	case []map[string]any:
		return list(k, v)
	}
	return fmt.Sprintf("(%T)", v), true // nobody's JSON: a mistake that must not cost the record
}

func anyMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for key, v := range m {
		out[key] = v
	}
	return out
}

func (k *keeper) object(m map[string]any) (any, bool) {
	if k.sorted {
		return k.ordered(m), true
	}
	out := m
	changed := false
	for key, v := range m {
		name := keyOf(key)
		k.left -= len(key) + 4
		k.path = append(k.path, key)
		v, other := k.value(v)
		k.path = k.path[:len(k.path)-1]
		if !other && name == key {
			continue
		}
		if !changed {
			out, changed = maps.Clone(m), true
		}
		delete(out, key)
		out[name] = v
	}
	return out, changed
}

// ordered copies as much of an object as there is room for.
func (k *keeper) ordered(m map[string]any) map[string]any {
	out := map[string]any{}
	for _, key := range slices.SortedFunc(maps.Keys(m), callFirst) {
		if k.left -= len(key) + 4; k.left < 0 {
			k.cut(0)
			break
		}
		k.path = append(k.path, key)
		out[keyOf(key)], _ = k.value(m[key])
		k.path = k.path[:len(k.path)-1]
	}
	return out
}

// callFirst orders keys, those first that say what the call is about.
func callFirst(a, b string) int {
	rank := func(key string) int {
		switch key {
		case "tool_input", "prompt", "command", "file_path":
			return 0
		case "tool_response":
			return 2
		}
		return 1
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
}

func list[T any](k *keeper, in []T) (any, bool) {
	out := make([]any, 0, min(len(in), 1024))
	changed := false
	for i, v := range in {
		if k.left < 0 && k.sorted {
			k.cut(0)
			return out, true
		}
		k.path = append(k.path, strconv.Itoa(i))
		v, other := k.value(v)
		k.path = k.path[:len(k.path)-1]
		out, changed = append(out, v), changed || other
	}
	if !changed {
		return in, false
	}
	return out, true
}

// span moves a span of the line to where its text stands in the redacted line.
func (k *keeper) span(v []any) (any, bool) {
	if len(k.line) == 0 || len(v) != 2 || k.path[len(k.path)-1] != "span" {
		return nil, false
	}
	from, ok := v[0].(int)
	to, ok2 := v[1].(int)
	return []any{k.line.move(from), k.line.move(to)}, ok && ok2
}

// named reports that the name which a value stands under says that it is a
// secret. The fields of events themselves have names of the agent's, such as
// session_id, that say nothing of the kind.
func (k *keeper) named() bool {
	for i := len(k.path) - 1; i > 1; i-- {
		if key := k.path[i]; key == "" || key[0] < '0' || key[0] > '9' { // not the index of a list
			return isSecretName(key)
		}
	}
	return false
}

// text returns a text without secrets, as much of it as there is room for.
func (k *keeper) text(s string) (kept string, changed bool) {
	most := maxField
	if len(k.path) > 1 && k.path[1] == "tool_response" {
		most = maxOutput
	}
	if k.sorted {
		most = max(min(most, k.left), 0)
	}
	whole := ahead(s, most+maxHead) // so that the cut goes through no secret unseen
	places := k.secrets.in(whole)
	kept = masked(whole, places)
	if !harmless(s) && k.named() {
		kept = mark
	}
	if kept != whole && len(k.redacted) < maxMarks {
		k.redacted = append(k.redacted, k.pointer())
	}
	if len(kept) > most || len(whole) < len(s) {
		k.cut(len(s))
		kept = strings.ToValidUTF8(ahead(kept, most), "") + "…"
	}
	k.left -= len(kept)
	return kept, kept != s
}

func (k *keeper) cut(bytes int) {
	if len(k.cuts) < maxMarks {
		k.cuts = append(k.cuts, Cut{k.pointer(), bytes})
	}
}
