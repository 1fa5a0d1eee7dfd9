package sources

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/session"
)

// A skillFile is a file that hooks of a skill or a sub-agent stand in.
type skillFile struct {
	path string // absolute
	head load.Head
	err  error // why it cannot be read
}

// filesOf finds the files that a name of a skill, a command or a type of
// sub-agent may mean, if there are hooks in them. The name is the agent's word:
// it never leads out of the places where such files lie.
func (l *Loaded) filesOf(s For, kind session.Kind, name string) (found []skillFile) {
	parts := strings.Split(name, ":")
	for _, part := range parts {
		if !plainName(part) {
			return nil
		}
	}
	look := func(b skillBase, parts []string) {
		last, above := parts[len(parts)-1], path.Join(parts[:len(parts)-1]...)
		if kind == session.Agent {
			found = append(found, b.agents(path.Join("agents", above), last, s.Foreign)...)
			return
		}
		found = append(found, b.file(path.Join("skills", above, last), "SKILL.md", s.Foreign)...)
		found = append(found, b.file(path.Join("commands", above), last+".md", s.Foreign)...)
	}
	if at := l.Where["plugin:"+parts[0]]; at != "" && len(parts) > 1 {
		look(skillBase{dir: at}, parts[1:])
	}
	for _, b := range skillBases(s) {
		look(b, parts)
	}
	return found
}

// A skillBase is where skills, commands and agents lie.
type skillBase struct {
	dir   string
	below string // dir, to where they lie
	links bool   // a directory may be a link to somewhere else
}

// maxAbove bounds the directories between the agent's and the project's.
const maxAbove = 32

// skillBases are the project's, those of the directories between it and where
// the agent is, and the user's.
func skillBases(s For) (bases []skillBase) {
	const own = ".claude"
	if s.Project != "" {
		bases = append(bases, skillBase{dir: s.Project, below: own})
		at := filepath.Clean(s.Event.Dir())
		for n := 0; n < maxAbove && at != s.Project && isBelow(s.Project, at); n++ {
			bases = append(bases, skillBase{dir: at, below: own})
			at = filepath.Dir(at)
		}
	}
	user := filepath.Join(s.Home, own)
	if s.LookupEnv != nil {
		if dir, _ := s.LookupEnv("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
			user = filepath.Clean(dir)
		}
	}
	if filepath.IsAbs(user) && user != filepath.Join(s.Project, own) {
		bases = append(bases, skillBase{dir: user, links: true})
	}
	return bases
}

// open opens one of the directories, nil if it is not there.
func (b skillBase) open(dir string) *places.Place {
	dir = filepath.Join(b.below, filepath.FromSlash(dir))
	if !b.links {
		return places.Open(b.dir, dir, nil)
	}
	real, err := filepath.EvalSymlinks(filepath.Join(b.dir, dir))
	if err != nil {
		return nil
	}
	return places.Open(real, ".", nil)
}

// file reads the head of one file, if there are hooks in it.
func (b skillBase) file(dir, name string, foreign bool) []skillFile {
	p := b.open(dir)
	defer p.Close()
	if p == nil {
		return nil
	}
	f := skillFile{path: filepath.Join(p.Dir, name), err: p.Err}
	if p.Err == nil {
		f.head, f.err = readHead(p, name, foreign)
	}
	if errors.Is(f.err, fs.ErrNotExist) || f.err == nil && !f.head.Hooks {
		return nil
	}
	return []skillFile{f}
}

// maxAgentFiles is how many files are looked into for a sub-agent's name.
const maxAgentFiles = 512

// agents reads the heads of the files that describe a type of sub-agent: what
// they say is its name counts, and else that of the file.
func (b skillBase) agents(dir, name string, foreign bool) (found []skillFile) {
	p := b.open(dir)
	defer p.Close()
	if p == nil {
		return nil
	}
	if p.Err != nil {
		return []skillFile{{path: filepath.Join(p.Dir, name+".md"), err: p.Err}}
	}
	seen := 0
	err := fs.WalkDir(p.Files, ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Ext(file) != ".md" {
			return nil
		}
		if seen++; seen > maxAgentFiles {
			return fmt.Errorf("more than %d files; not all of them were looked into", maxAgentFiles)
		}
		f := skillFile{path: filepath.Join(p.Dir, filepath.FromSlash(file))}
		f.head, f.err = readHead(p, file, foreign)
		called := f.head.Name
		if called == "" {
			called = strings.TrimSuffix(path.Base(file), ".md")
		}
		if called == name && (f.err != nil || f.head.Hooks) {
			found = append(found, f)
		}
		return nil
	})
	if err != nil {
		found = append(found, skillFile{path: filepath.Join(p.Dir, name+".md"), err: err})
	}
	return found
}
