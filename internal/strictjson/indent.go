package strictjson

import (
	"maps"
	"slices"
	"strings"
)

// Indent returns v as JSON for people to read: two blanks a level.
func Indent(v any) string {
	var b strings.Builder
	indent(&b, v, "\n")
	return b.String()
}

func indent(b *strings.Builder, v any, nl string) {
	inner := nl + "  "
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			b.WriteString("{}")
			return
		}
		b.WriteByte('{')
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(inner)
			b.Write(appendString(nil, k))
			b.WriteString(": ")
			indent(b, v[k], inner)
		}
		b.WriteString(nl + "}")
	case []any:
		if len(v) == 0 || !nested(v) {
			b.Write(Append(nil, v))
			return
		}
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(inner)
			indent(b, e, inner)
		}
		b.WriteString(nl + "]")
	default:
		b.Write(Append(nil, v))
	}
}

func nested(list []any) bool {
	for _, e := range list {
		switch e.(type) {
		case map[string]any, []any:
			return true
		}
	}
	return false
}
