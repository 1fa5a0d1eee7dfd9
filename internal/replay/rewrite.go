package replay

import (
	"bytes"
	"strings"

	"gate/internal/audit"
	"gate/internal/strictjson"
)

// sameRewrite compares what the call runs with. Where the log has not kept a
// rewrite, or not whole, only whether there was one can be compared.
func sameRewrite(then, now *audit.Record) bool {
	a, knownA := rewrite(then)
	b, knownB := rewrite(now)
	if knownA && knownB {
		return bytes.Equal(a, b)
	}
	return (len(then.Changed) > 0) == (len(now.Changed) > 0)
}

// rewrite returns the rewritten input as JSON, nil for none, and whether that
// is all of it.
func rewrite(r *audit.Record) (text []byte, known bool) {
	if r.Kept == nil {
		return nil, len(r.Changed) == 0
	}
	for _, c := range r.Kept.Cut {
		if strings.HasPrefix(c.At, "/rewrite") {
			return nil, false
		}
	}
	final := r.Kept.Final()
	if final == nil {
		return nil, true
	}
	return strictjson.Append(nil, final), true
}
