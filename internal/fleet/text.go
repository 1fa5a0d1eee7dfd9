package fleet

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"gate/internal/strictjson"
)

// text replaces, in place, the account by its pseudonym and the home directory by ~. The
// spans of facts move with the line that they are in.
func (r *Reducer) text(doc map[string]any) {
	account := func(m map[string]any, key string) {
		if name := text(m, key); name != "" {
			m[key] = r.Pseudonyms.Account(name)
		}
	}
	account(doc, "requested_by")
	input := object(doc, "input")
	account(object(input, "gate"), "user")
	if facts := object(input, "facts"); facts != nil {
		if moved := r.moves(text(object(input, "tool_input"), "command")); moved != nil {
			moveSpans(facts, moved)
		}
	}
	r.homeless(doc)
}

// homeless returns a tree in which ~ stands for the home directory.
func (r *Reducer) homeless(v any) any {
	switch v := v.(type) {
	case string:
		return r.tilde(v)
	case []any:
		for i := range v {
			v[i] = r.homeless(v[i])
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) { // in order: two keys may become one
			value := r.homeless(v[key])
			v[key] = value
			if other := r.tilde(key); other != key && !looksLike(v, other) {
				delete(v, key)
				v[other] = value
			}
		}
	}
	return v
}

// looksLike reports that an object has a key which readers could take for another one.
func looksLike(v map[string]any, key string) bool {
	folded := strictjson.Fold(key)
	for other := range v {
		if strictjson.Fold(other) == folded {
			return true
		}
	}
	return false
}

// A spot is where a home directory stands in a text, in bytes.
type spot struct{ from, to int }

// tilde puts ~ in the place of the home directory.
func (r *Reducer) tilde(s string) string {
	spots := r.spots(s)
	if len(spots) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, x := range spots {
		b.WriteString(s[at:x.from])
		b.WriteByte('~')
		at = x.to
	}
	b.WriteString(s[at:])
	return b.String()
}

// spots finds the home directory in a text: as a whole path or as the beginning of one.
func (r *Reducer) spots(s string) []spot {
	var list []spot
	for at := 0; at < len(s); {
		found := spot{from: -1}
		for _, home := range r.Homes {
			if !isHome(home) {
				continue
			}
			for _, look := range []func(string, int, string) (spot, bool){next, nextElement} {
				if x, ok := look(s, at, home); ok && (found.from < 0 || x.from < found.from || x.from == found.from && x.to > found.to) {
					found = x
				}
			}
		}
		if found.from < 0 {
			break
		}
		list, at = append(list, found), found.to
	}
	return list
}

// isHome reports a directory that can be told from others: the root of the file system is
// everybody's.
func isHome(home string) bool {
	return len(home) > 1 && strings.Trim(home, `/\.`) != "" && filepath.Dir(home) != home
}

// next is the first place from at on where home stands, and is no part of another path.
func next(s string, at int, home string) (spot, bool) {
	for {
		i := strings.Index(s[at:], home)
		if i < 0 {
			return spot{}, false
		}
		x := spot{at + i, at + i + len(home)}
		if !within(s[:x.from]) && !goesOn(s[x.to:]) {
			return x, true
		}
		at = x.from + 1
	}
}

// nextElement is the first place from at on where home stands as the beginning of one
// element of a path, with - for all that is no letter and no digit: agents call the
// directories of their transcripts so, as in ~/.claude/projects/-home-dev-shop.
func nextElement(s string, at int, home string) (spot, bool) {
	home = element(home)
	for {
		i := strings.Index(s[at:], home)
		if i < 0 {
			return spot{}, false
		}
		x := spot{at + i, at + i + len(home)}
		if x.from > 0 && strings.IndexByte(`/\`, s[x.from-1]) >= 0 && (x.to == len(s) || s[x.to] == '-' || !isNameByte(s[x.to])) {
			return x, true
		}
		at = x.from + 1
	}
}

// element is a path as the name of a directory.
func element(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, path)
}

// within reports that a text ends in a path that a following / goes on with, as in
// /mnt/home/dev. An option, as in -I/home/dev, is none.
func within(before string) bool {
	i := len(before)
	for i > 0 && (isNameByte(before[i-1]) || before[i-1] == '/') {
		i--
	}
	word := before[i:]
	return strings.Contains(word, "/") && !strings.HasSuffix(word, "/")
}

// goesOn reports that the name of the directory goes on: it is another one.
func goesOn(after string) bool {
	if after == "" {
		return false
	}
	if after[0] == '.' {
		return len(after) > 1 && after[1] != '.' && isNameByte(after[1])
	}
	return isNameByte(after[0])
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c >= utf8.RuneSelf
}

// A move is where a stretch of a line lost code points.
type move struct{ from, to, lost int }

// moves are those of a line, nil where nothing in it changes.
func (r *Reducer) moves(line string) []move {
	var out []move
	for _, x := range r.spots(line) {
		from := utf8.RuneCountInString(line[:x.from])
		n := utf8.RuneCountInString(line[x.from:x.to])
		out = append(out, move{from, from + n, n - 1})
	}
	return out
}

// moved is where a code point of the line is now. One within a home directory is behind
// its ~.
func moved(moves []move, at int) int {
	lost := 0
	for _, m := range moves {
		if at <= m.from {
			break
		}
		if at < m.to {
			return m.from - lost + 1
		}
		lost += m.lost
	}
	return at - lost
}

// moveSpans moves every span of facts, in place.
func moveSpans(v any, moves []move) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			moveSpans(e, moves)
		}
	case map[string]any:
		for key, value := range v {
			if span, ok := value.([]any); ok && key == "span" && len(span) == 2 {
				for i := range span {
					if n, ok := span[i].(json.Number); ok {
						if at, err := n.Int64(); err == nil {
							span[i] = int64(moved(moves, int(at)))
						}
					}
				}
				continue
			}
			moveSpans(value, moves)
		}
	}
}
