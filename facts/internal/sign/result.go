package sign

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gate/facts/internal/draft"
	"gate/hook"
	"gate/internal/addressed"
	"gate/internal/strictjson"
)

// ReadsResult reports an event with what a tool of an MCP server gave back, or why it failed.
func ReadsResult(ev *hook.Event) bool {
	name := ev.Name.Canonical()
	return (name == hook.PostToolUse || name == hook.PostToolUseFailure) && strings.HasPrefix(ev.Tool(), "mcp__")
}

// LookResult adds the signs of what a tool gave back. That is data, which may speak of
// anything: a sign is only what speaks to an agent, as package addressed finds it, and
// characters that carry what no person sees.
func LookResult(d *draft.Draft) {
	l := look{Draft: d, Of: "result", Name: d.Event.Tool(), left: maxBytes}
	l.result("tool_response", d.Event.Fields["tool_response"], 0)
	l.result("error", d.Event.Fields["error"], 0)
	if l.cut {
		d.Limit("more of what a tool of an MCP server gave back than gate looks through")
	}
}

func (l *look) result(field string, v any, depth int) {
	if depth > maxDepth {
		l.cut = true
		return
	}
	switch v := v.(type) {
	case string:
		if l.left -= len(v); l.left < 0 {
			l.cut = true
			return
		}
		for _, part := range addressed.Parts(v) {
			l.add(instruction, field, part)
		}
		if r := smuggles(v); r != 0 {
			l.add(hidden, field, strings.Trim(strictjson.Quoted(string(r)), `"`))
		}
	case []any:
		for i, e := range v {
			l.result(ended(field+"["+strconv.Itoa(i)+"]"), e, depth+1)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			l.result(ended(field+"."+key), v[key], depth+1)
		}
	}
}

// smuggles is the first character of a text that nobody sees and that is there for no layout:
// pages and documents are full of the others. 0: there is none.
func smuggles(text string) rune {
	for rest := text; ; {
		at, found := draft.Misleads(rest)
		if !found {
			return 0
		}
		r, size := utf8.DecodeRuneInString(rest[at:])
		if 0x202A <= r && r <= 0x202E || 0x2066 <= r && r <= 0x2069 || 0xE0000 <= r && r <= 0xE01EF {
			return r
		}
		rest = rest[at+size:]
	}
}
