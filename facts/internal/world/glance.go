package world

import "io/fs"

// maxGlances bounds what is remembered: names come from the agent.
const maxGlances = 1000

// Glances are files of which each is looked at once: a line's paths have most
// of their directories in common, and a path is followed several times. They
// are for one event and one goroutine.
type Glances struct {
	Files
	seen map[string]glance
}

// A glance is what a look at a file showed.
type glance struct {
	info fs.FileInfo
	err  error
}

// SameAs is that of Files, where they tell.
func (g *Glances) SameAs(info fs.FileInfo, names []string) string {
	if files, ok := g.Files.(hardLinks); ok {
		return files.SameAs(info, names)
	}
	return ""
}

// ReadDir is that of Files, where they tell.
func (g *Glances) ReadDir(name string, limit int) ([]fs.DirEntry, error) {
	return World{Files: g.Files}.List(name, limit)
}

// Lstat is that of Files the first time, and the same answer from then on.
func (g *Glances) Lstat(name string) (fs.FileInfo, error) {
	if s, ok := g.seen[name]; ok {
		return s.info, s.err
	}
	info, err := g.Files.Lstat(name)
	if len(g.seen) < maxGlances {
		if g.seen == nil {
			g.seen = map[string]glance{}
		}
		g.seen[name] = glance{info, err}
	}
	return info, err
}
