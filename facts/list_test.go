package facts_test

import (
	"slices"
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
)

// TestLists holds that the names in a file decide what a command deletes that is fed with it.
func TestLists(t *testing.T) {
	on := files{"/p/list": "# old\nbuild/old\n/home/dev/photos\n", "/p/ours": "build/old\ntarget\n", "/p/names": "photos\n", "/p/zeros": "build\x00/home/dev/photos\x00",
		"/p/many": strings.Repeat("build/a\n", 500) + "/home/dev/photos\n", "/p/words": "build/old /home/dev/photos\n"}
	deletes := func(line string) bool {
		r := facts.New(facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: on})
		return slices.ContainsFunc(r.Of(toolEvent("Bash", map[string]any{"command": line})).Effects, func(e hook.FactEffect) bool {
			d, ok := e.Is.(*hook.FSDelete)
			return ok && d.Path != nil && *d.Path == "/home/dev/photos"
		})
	}
	for _, line := range []string{
		"xargs rm -rf < list", "xargs -a list rm -rf", "cat list | xargs -d '\\n' rm -rf", "xargs -I{} rm -rf {} < list", "xargs -0 rm -rf < zeros", "xargs rm -rf < words",
		"while read -r p; do rm -rf \"$p\"; done < list", "cat list | while read p; do rm -rf \"$p\"; done", "for p in $(cat list); do rm -rf \"$p\"; done",
		"rm -rf $(cat list)", "rm -rf $(<list)", "mapfile -t a < list && rm -rf \"${a[@]}\"", "while read p; do rm -rf \"$HOME/$p\"; done < names",
		"sort -u list | xargs rm -rf", "grep -v '^#' list | xargs rm -rf", "xargs rm -rf < many", "while read p; do find \"$p\" -delete; done < list",
	} {
		if !deletes(line) {
			t.Errorf("%s: nothing", line)
		}
		if ours := strings.NewReplacer("list", "ours", "names", "ours", "zeros", "ours", "many", "ours", "words", "ours").Replace(line); deletes(ours) {
			t.Errorf("%s: deletes what the list does not name", ours)
		}
	}
	for _, line := range []string{"xargs ls < list", "while read p; do echo \"$p\"; done < list", "rm -rf list"} {
		if deletes(line) {
			t.Errorf("%s: deletes", line)
		}
	}
}
