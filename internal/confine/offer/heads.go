package offer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gate/internal/load"
)

// Files of skills, sub-agents and commands may begin with hooks, which run while the agent
// follows such a file. Nobody says which ones it follows now, so each counts.

const (
	mostNames = 100_000 // that are looked at in a search for such files
	deepest   = 3       // directories below the project that may have files of their own
)

// heads names a file with hooks that an agent may follow; "" for none. It looks in the
// person's directories, and in those of some names in the project and above the call's.
func (m Machine) heads(own []string, dir string, names ...string) string {
	seen := 0
	roots := append(slices.Clone(own), below(above(dir), names...)...)
	if m.Project != "" {
		roots = append(roots, nested(m.Project, names, deepest, &seen)...)
	}
	slices.Sort(roots)
	for _, root := range slices.Compact(roots) {
		for _, kind := range []string{"agents", "skills", "commands"} {
			if why := headsIn(filepath.Join(root, kind), &seen); why != "" {
				return why
			}
		}
	}
	if seen > mostNames {
		return "the project has too many files to be searched for hooks of skills and sub-agents"
	}
	return ""
}

// nested are directories of some names in a directory and in those below it.
func nested(dir string, names []string, depth int, seen *int) (found []string) {
	entries, _ := os.ReadDir(dir)
	if *seen += len(entries); *seen > mostNames {
		return nil
	}
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		switch {
		case slices.Contains(names, e.Name()):
			found = append(found, at)
		case e.IsDir() && depth > 0 && e.Name() != ".git" && e.Name() != "node_modules":
			found = append(found, nested(at, names, depth-1, seen)...)
		}
	}
	return found
}

// headsIn names a file with hooks in a directory; "" for none. Symbolic links are followed,
// as the agent does.
func headsIn(dir string, seen *int) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		if os.IsNotExist(err) {
			return ""
		}
		return fmt.Sprintf("%s cannot be searched for hooks", dir)
	}
	if *seen += len(entries); *seen > mostNames {
		return fmt.Sprintf("%s has too many files to be searched for hooks", dir)
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		info, err := os.Stat(name)
		switch {
		case err != nil:
			continue // a link to nothing
		case info.IsDir():
			if strings.Count(name, string(filepath.Separator)) > 64 {
				return fmt.Sprintf("%s lies too deep to be searched for hooks", name)
			}
			if why := headsIn(name, seen); why != "" {
				return why
			}
			continue
		case !strings.HasSuffix(strings.ToLower(e.Name()), ".md"):
			continue
		}
		text, err := textOf(name)
		if err != nil {
			return err.Error()
		}
		head, err := load.Frontmatter(name, bytes.TrimPrefix(text, []byte("\ufeff")), true)
		if err != nil {
			return fmt.Sprintf("%s cannot be read for its hooks: %v", name, err)
		}
		if head.Hooks {
			return "hooks at the head of " + name + " may see the same call, and may put their own line in the place of this one"
		}
	}
	return ""
}
