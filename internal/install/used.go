package install

import (
	"path/filepath"
	"time"
)

// Bounds on the look for an agent's last sign of life: directories below one another, and
// files and directories in all.
const (
	usedDepth = 4
	mostUsed  = 5000
)

// Used is when an agent last wrote down a session of its own: the newest of its transcripts,
// whether or not gate was asked. It is zero where none is known.
func (m Machine) Used(name string) time.Time {
	a, err := lookup(name)
	if err != nil {
		return time.Time{}
	}
	dir := a.transcripts(m)
	if dir == "" {
		return time.Time{}
	}
	left := mostUsed
	return m.newest(dir, usedDepth, &left)
}

// newest is when the newest transcript below a directory was written. It looks at no more
// than left files and directories.
func (m Machine) newest(dir string, depth int, left *int) (last time.Time) {
	entries, _ := m.system().ReadDir(dir)
	for i := len(entries) - 1; i >= 0 && *left > 0; i-- { // of dates the newest are the last
		*left--
		e, at := entries[i], time.Time{}
		switch {
		case e.IsDir() && depth > 1:
			at = m.newest(filepath.Join(dir, e.Name()), depth-1, left)
		case e.Type().IsRegular() && filepath.Ext(e.Name()) == ".jsonl":
			if info, err := e.Info(); err == nil {
				at = info.ModTime()
			}
		}
		if at.After(last) {
			last = at
		}
	}
	return last
}

func (c claude) transcripts(m Machine) string { return below(c.dir(m), "projects") }

func (t *table) transcripts(m Machine) string { return below(t.dir(m), t.sessions) }

func below(dir, name string) string {
	if dir == "" || name == "" {
		return ""
	}
	return filepath.Join(dir, name)
}
