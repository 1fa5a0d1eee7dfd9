package hostfs

import (
	"path/filepath"
	"strings"
)

// Spellings returns a path as it is and as it is behind symbolic links, as
// patterns for facts that match nothing else.
func Spellings(path string) []string {
	out := []string{quoted(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		out = append(out, quoted(real))
	}
	return out
}

// quoted is a path as a pattern. Few paths hold what a pattern would read, and
// to make a replacer ready takes longer than to see that.
func quoted(path string) string {
	slashed := filepath.ToSlash(path)
	if !strings.ContainsAny(slashed, `\*?[`) {
		return slashed
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(slashed)
}
