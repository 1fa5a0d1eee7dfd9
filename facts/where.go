package facts

import (
	"path"
	"strings"

	"gate/facts/flow"
)

// A where says from where relative paths are seen.
type where struct {
	dirs   []string // the directories that it may be; none means unknown
	under  string   // the relative directory that it went to from an unknown one, "" if that is not known either
	remote bool     // on another machine or in a container
}

const maxDirs = 4

// below is where a directory that is not known lies below another one: by the
// names that the line has said since it knew one.
func (at where) below(to []string, target flow.Word) string {
	v := target.Value()
	if len(to) > 0 || len(at.dirs) > 0 || v == nil || *v == "" || *v == "-" || strings.HasPrefix(*v, "~") {
		return ""
	}
	return strings.TrimPrefix(path.Join("/", at.under, *v), "/")
}

// here is where the event's own directory is.
func (w *draft) here() where { return at(w.world.Dir) }

// at is one known directory, or none for "".
func at(dir string) where {
	if dir == "" {
		return where{}
	}
	return where{dirs: []string{dir}}
}
