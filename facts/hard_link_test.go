//go:build unix

package facts_test

import (
	"os"
	"path/filepath"
	"testing"

	"gate/facts"
	"gate/internal/hostfs"
)

// TestHardLinks holds that another name of a file that matters is judged as that file,
// and that other files with several names are not.
func TestHardLinks(t *testing.T) {
	dir := t.TempDir()
	home, project := dir+"/home", dir+"/project"
	must(t, os.MkdirAll(home+"/.ssh", 0o700))
	must(t, os.MkdirAll(project+"/.claude", 0o700))
	for file, name := range map[string]string{"home/.ssh/id_rsa": "project/key", "project/.claude/settings.json": "project/s", "project/a": "project/b"} {
		must(t, os.WriteFile(filepath.Join(dir, file), []byte("{}"), 0o600))
		must(t, os.Link(filepath.Join(dir, file), filepath.Join(dir, name)))
	}
	reader := facts.New(facts.World{Home: home, OS: "linux", Project: project, Files: hostfs.Files{}})
	for line, want := range map[string]string{"cat key": "secret.read", "echo {} > s": "self", "sed -i x s": "self", "cat b": "", "echo x > b": ""} {
		ev := event(line)
		ev.Fields["cwd"] = project
		got := ""
		for _, e := range reader.Of(ev).Effects {
			if kind := e.Kind(); kind == "secret.read" || kind == "self" {
				got = kind
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
