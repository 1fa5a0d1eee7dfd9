package places

import (
	"os"

	"gate/facts"
	"gate/hostfs"
)

// Own lists where gate's own files really are, so that the rule that protects
// them and the layout cannot drift apart.
func Own(d Dirs) []facts.Place {
	var trees, files []string
	for _, dir := range []string{d.Managed, d.User, d.State} {
		for _, p := range hostfs.Spellings(dir) {
			trees = append(trees, p, p+"/**")
		}
	}
	if exe, err := os.Executable(); err == nil {
		files = hostfs.Spellings(exe)
	}
	return []facts.Place{
		{Class: "self", What: "gate's own directory", Patterns: trees},
		{Class: "self", What: "gate's program", Patterns: files},
	}
}
