package hostfs

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Spellings returns paths as they are and as they are behind symbolic links, as
// patterns for facts that match nothing else.
func Spellings(paths ...string) []string {
	var s speller
	out := make([]string, 0, len(paths))
	for _, path := range paths {
		out = append(out, quoted(path))
		if real := s.real(path); real != path {
			out = append(out, quoted(real))
		}
	}
	return out
}

// A speller looks at each directory once: most paths have the first ones in
// common.
type speller struct{ plain []string } // what is no link, nor what leads to it

// real is a path behind symbolic links; where that is not known, the path.
func (s *speller) real(path string) string {
	if runtime.GOOS == "windows" || !filepath.IsAbs(path) || path != filepath.Clean(path) {
		return eval(path) // names have other spellings there besides
	}
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' || slices.Contains(s.plain, path[:i]) {
			continue
		}
		link, err := isLink(path[:i])
		switch {
		case err != nil:
			return path
		case link:
			return eval(path)
		}
		s.plain = append(s.plain, path[:i])
	}
	return path
}

func eval(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
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
