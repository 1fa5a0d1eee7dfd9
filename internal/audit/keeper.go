package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gate/internal/secret"
	"gate/internal/strictjson"
)

// A keeper writes trees without their secrets, and bounds them.
type keeper struct {
	secrets secrets
	line    shifts   // how the spans of facts move with what was taken out of the line
	path    []string // keys down to the current value
	keys    []string // of the objects that are open
	left    int      // bytes that there is still room for
	tight   bool     // there is no room for all of it
	own     bool     // the value is of an effect that an author named, with fields of any name

	out strictjson.Writer
	marks
}

// keep returns the tree as the record has it; path is where it stands there.
// Only where there is no room for all of it, it matters what comes first, and
// that is the call itself.
func (k *keeper) keep(v any, room int, path ...string) (rendered, marks) {
	k.start(room, path...)
	if k.value(v); k.left < 0 {
		k.out.JSON = k.out.JSON[:0]
		k.start(room, path...)
		k.tight = true
		k.value(v)
	}
	slices.Sort(k.redacted)
	return k.out.JSON, k.marks
}

// start goes on behind what was kept before.
func (k *keeper) start(room int, path ...string) {
	k.out.JSON = k.out.JSON[len(k.out.JSON):]
	k.path, k.left, k.tight, k.marks = append(k.path[:0], path...), room, false, marks{}
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
	if len(key) <= word && !strings.ContainsFunc(key, strange) {
		return key
	}
	return short(key, 2*word)
}

// strange reports what is in no ordinary name.
func strange(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
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
		object(k, v, func(v any) any { return v })
	case map[string]string:
		object(k, v, func(v string) any { return v })
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

func object[T any](k *keeper, m map[string]T, value func(T) any) {
	open := len(k.keys)
	for key := range m {
		k.keys = append(k.keys, key)
	}
	k.fields(open, func(key string) any { return value(m[key]) })
}

// fields writes an object with the last keys, and takes them away.
func (k *keeper) fields(open int, value func(key string) any) {
	keys := k.keys[open:]
	if k.tight || slices.ContainsFunc(keys, func(key string) bool { return keyOf(key) != key }) {
		k.ordered(keys, value)
	} else {
		slices.Sort(keys)
		k.out.Object()
		for _, key := range keys {
			k.member(key, value(key))
		}
		k.out.EndObject()
	}
	k.keys = k.keys[:open]
}

// member writes a member of an object.
func (k *keeper) member(key string, v any) {
	k.out.Key(key)
	k.below(key, v)
}

// below writes what stands below a key. What was written already takes no room.
func (k *keeper) below(key string, v any) {
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
func (k *keeper) ordered(keys []string, value func(key string) any) {
	out, full := k.out, false
	members := make(map[string]rendered, len(keys))
	slices.SortFunc(keys, callFirst)
	for _, key := range keys {
		v := value(key)
		if _, done := v.(rendered); !done && k.tight && k.left < len(key)+4 {
			if !full {
				k.cut(0)
				full, k.left = true, k.left-len(key)-4
			}
			continue
		}
		k.out = strictjson.Writer{}
		k.below(key, v)
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
// session_id, that say nothing of the kind, and the field secret of gate's own effects
// has a kind of secret, such as "environment file".
func (k *keeper) named() bool {
	if n := len(k.path) - 1; n == 4 && k.path[1] == "facts" && k.path[n] == "secret" && !k.own {
		return false
	}
	for i := len(k.path) - 1; i > 1; i-- {
		if key := k.path[i]; key == "" || key[0] < '0' || key[0] > '9' { // not the index of a list
			return secret.Promises(key)
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
	whole := ahead(s, most+secret.Reach) // so that the cut goes through no secret unseen
	places := k.secrets.in(whole)
	kept := secret.Mask(whole, places)
	if !secret.Harmless(s) && k.named() {
		kept = secret.Mark
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
