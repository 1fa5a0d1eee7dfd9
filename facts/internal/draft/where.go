package draft

import (
	"path"
	"strings"

	"gate/facts/internal/flow"
)

// A Where says where a command runs: from there relative paths are seen. The zero Where
// is a directory that is not known, on this machine.
type Where struct {
	Dirs    []string // the directories that it may be; none means unknown
	Under   string   // the relative directory that it went to from an unknown one, "" if that is not known either
	Remote  bool     // on another machine or in a container
	Windows bool     // paths are read as Windows reads them, too: see WindowsPath
}

// MaxDirs is how many directories a shell may be in before its directory is unknown.
const MaxDirs = 4

// Below is where a directory that is not known lies below another one: by the
// names that the line has said since it knew one.
func (at Where) Below(to []string, target flow.Word) string {
	v := target.Value()
	if len(to) > 0 || len(at.Dirs) > 0 || v == nil || *v == "" || *v == "-" || strings.HasPrefix(*v, "~") {
		return ""
	}
	return strings.TrimPrefix(path.Join("/", at.Under, *v), "/")
}

// Here is where the event's own directory is.
func (d *Draft) Here() Where { return at(d.World.Dir) }

// at is one known directory, or none for "".
func at(dir string) Where {
	if dir == "" {
		return Where{}
	}
	return Where{Dirs: []string{dir}}
}
