package facts_test

import (
	"io/fs"
	"testing"

	"gate/facts"
	"gate/internal/hostfs"
)

// counted counts the looks at files.
type counted struct {
	hostfs.Files
	looks map[string]int
}

func (c counted) Lstat(name string) (fs.FileInfo, error) {
	c.looks[name]++
	return c.Files.Lstat(name)
}

// TestGlances holds that a file is looked at once an event, and anew for the
// next one.
func TestGlances(t *testing.T) {
	dir := t.TempDir()
	w := facts.World{Home: dir, OS: "linux", Project: dir}
	looks := map[string]int{}
	w.Files = counted{looks: looks}
	reader := facts.New(w)
	line := event("cat a/b >a/c; cd a; touch b c; ls " + dir)
	line.Fields["cwd"] = dir
	for events := 1; events <= 2; events++ {
		reader.Of(line)
		for _, name := range []string{dir, dir + "/a", dir + "/a/b", dir + "/a/c"} {
			if looks[name] != events {
				t.Errorf("%d looks at %s in %d events", looks[name], name, events)
			}
		}
	}
}
