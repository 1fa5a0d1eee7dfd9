package hostfs

import (
	"path/filepath"
	"strings"
)

// Spellings returns a path as it is and as it is behind symbolic links, as
// patterns for facts that match nothing else.
func Spellings(path string) []string {
	quote := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)
	out := []string{quote.Replace(filepath.ToSlash(path))}
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		out = append(out, quote.Replace(filepath.ToSlash(real)))
	}
	return out
}
