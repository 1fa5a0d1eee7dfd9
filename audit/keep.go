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
	"gate/strictjson"
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

	input, rewrite rendered // what [Record.Keep] made, in place of the above

	Cut      []Cut    // what was left out
	Redacted []string // JSON pointers to what lost a secret, such as "/input/tool_input/command"
}

// rendered is a value that was written already; nil: it was not.
type rendered []byte

// write writes it, or v where it was not.
func (r rendered) write(w *strictjson.Writer, v any) {
	if r == nil {
		w.Value(v)
		return
	}
	w.Written(r)
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
	var known secrets
	k := keeper{line: known.ofCall(ev, facts), path: make([]string, 0, 16), keys: make([]string, 0, 64)}
	k.secrets, k.out.JSON = known, make([]byte, 0, usual)
	doc := ev.DocumentWith(nil)
	delete(doc, "facts")
	var ofFacts marks
	if facts != nil {
		// Whole or not at all: half of them would read as if there were no more.
		var all rendered
		if all, ofFacts = k.keep(facts.Document(), maxFacts, "input", "facts"); len(ofFacts.cuts) == 0 {
			doc["facts"] = all
		} else {
			ofFacts = marks{cuts: []Cut{{At: factsPointer}}}
		}
	}
	k.line = nil
	input, m := k.keep(doc, maxInput, "input")
	kept := &Kept{input: input}
	kept.mark(m)
	if d.Rewrite != nil {
		kept.rewrite, m = k.keep(d.Rewrite, maxInput/2, "result", "rewrite")
		kept.mark(m)
	}
	kept.mark(ofFacts)
	r.Kept = kept
	r.mask(&known)
}

// usual is what the facts of a call and the call with them take, together.
const usual = 4 << 10

// marks are what was done to a tree.
type marks struct {
	cuts     []Cut
	redacted []string // in order
}

func (k *Kept) mark(m marks) {
	k.Cut, k.Redacted = append(k.Cut, m.cuts...), append(k.Redacted, m.redacted...)
}

// A keeper writes trees without their secrets, and bounds them.
type keeper struct {
	secrets secrets
	line    shifts   // how the spans of facts move with what was taken out of the line
	path    []string // keys down to the current value
	keys    []string // of the objects that are open
	left    int      // bytes that there is still room for
	tight   bool     // there is no room for all of it

	out strictjson.Writer
	marks
}

// keep returns the tree as the record has it; path is where it stands there.
// Only where there is no room for all of it, it matters what comes first, and
// that is the call itself.
func (k *keeper) keep(v any, room int, path ...string) (rendered, marks) {
	behind := k.out.JSON[len(k.out.JSON):] // what was kept before
	for _, k.tight = range []bool{false, true} {
		k.out.JSON = behind
		k.path, k.left, k.marks = append(k.path[:0], path...), room, marks{}
		if k.value(v); k.left >= 0 {
			break
		}
	}
	slices.Sort(k.redacted)
	return k.out.JSON, k.marks
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

// value writes v as it is to be kept.
func (k *keeper) value(v any) {
	if k.left < 0 && !k.tight {
		return // the next time, in order
	}
	if len(k.path) > maxNested {
		k.cut(0)
		k.out.Value(nil)
		return
	}
	k.left -= 4
	switch v := v.(type) {
	case nil, bool, json.Number, int, int64, float64:
		k.out.Value(v)
	case string:
		k.out.Text(k.text(v))
	case map[string]any:
		k.object(v)
	case map[string]string:
		k.object(anyMap(v))
	case []any:
		if !k.span(v) {
			list(k, v)
		}
	case []string:
		list(k, v)
	case []map[string]any:
		list(k, v)
	default:
		k.out.Text(fmt.Sprintf("(%T)", v)) // nobody's JSON: a mistake that must not cost the record
	}
}

func anyMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for key, v := range m {
		out[key] = v
	}
	return out
}

func (k *keeper) object(m map[string]any) {
	open := len(k.keys)
	for key := range m {
		k.keys = append(k.keys, key)
	}
	keys := k.keys[open:]
	if k.tight || slices.ContainsFunc(keys, func(key string) bool { return keyOf(key) != key }) {
		k.ordered(m)
	} else {
		slices.Sort(keys)
		k.out.Object()
		for _, key := range keys {
			k.out.Key(key)
			k.member(key, m[key])
		}
		k.out.EndObject()
	}
	k.keys = k.keys[:open]
}

// member writes the value of a key. What was written already takes no room.
func (k *keeper) member(key string, v any) {
	if done, ok := v.(rendered); ok {
		k.out.Written(done)
		return
	}
	k.left -= len(key) + 4
	k.path = append(k.path, key)
	k.value(v)
	k.path = k.path[:len(k.path)-1]
}

// ordered writes as much of an object as there is room for, or one with keys
// that have other names in the record.
func (k *keeper) ordered(m map[string]any) {
	out, full := k.out, false
	members := make(map[string]rendered, len(m))
	for _, key := range slices.SortedFunc(maps.Keys(m), callFirst) {
		if _, done := m[key].(rendered); !done && k.tight && k.left < len(key)+4 {
			if !full {
				k.cut(0)
				full, k.left = true, k.left-len(key)-4
			}
			continue
		}
		k.out = strictjson.Writer{}
		k.member(key, m[key])
		members[keyOf(key)] = k.out.JSON
	}
	k.out = out
	k.out.Object()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		k.out.Key(name).Written(members[name])
	}
	k.out.EndObject()
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

func list[T any](k *keeper, in []T) {
	k.out.List()
	for i, v := range in {
		if k.left < 0 && k.tight {
			k.cut(0)
			break
		}
		k.path = append(k.path, strconv.Itoa(i))
		k.value(v)
		k.path = k.path[:len(k.path)-1]
	}
	k.out.EndList()
}

// span writes a span of the line as one of where its text stands in the redacted
// line; false: it is none.
func (k *keeper) span(v []any) bool {
	if len(k.line) == 0 || len(v) != 2 || k.path[len(k.path)-1] != "span" {
		return false
	}
	from, ok := v[0].(int)
	to, ok2 := v[1].(int)
	if ok && ok2 {
		k.out.List()
		k.out.Int(int64(k.line.move(from)))
		k.out.Int(int64(k.line.move(to)))
		k.out.EndList()
	}
	return ok && ok2
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
func (k *keeper) text(s string) string {
	most := maxField
	if len(k.path) > 1 && k.path[1] == "tool_response" {
		most = maxOutput
	}
	if k.tight {
		most = max(min(most, k.left), 0)
	}
	whole := ahead(s, most+maxHead) // so that the cut goes through no secret unseen
	places := k.secrets.in(whole)
	kept := masked(whole, places)
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
	return kept
}

func (k *keeper) cut(bytes int) {
	if len(k.cuts) < maxMarks {
		k.cuts = append(k.cuts, Cut{k.pointer(), bytes})
	}
}
