package facts_test

import (
	"testing"

	"gate/facts"
	"gate/hook"
)

// TestOwnHooks: to switch on hooks of the project is no bypass where none ran before, and they are
// judged by what they do.
func TestOwnHooks(t *testing.T) {
	const harmless, harmful = "#!/bin/sh\ngofmt -l .\n", "#!/bin/sh\nrm -rf /\n"
	for _, c := range []struct {
		line   string
		there  files
		bypass bool
	}{
		{"git config core.hooksPath .githooks", files{"/p/.githooks/pre-commit": harmless}, false},
		{"printf '#!/bin/sh\\ngofmt -l .\\n' > hooks/pre-push; git config core.hooksPath hooks", nil, false},
		{"git config core.hooksPath .githooks", nil, true},
		{"git config core.hooksPath .githooks", files{"/p/.githooks/README": "x"}, true},
		{"git config core.hooksPath .githooks", files{"/p/.githooks/pre-commit": harmless, "/p/.git/hooks/pre-push": harmless}, true},
		{"git config core.hooksPath .githooks", files{"/p/.githooks/pre-commit": harmless, "/p/.git/config": "[core]\n\thooksPath = .husky\n"}, true},
		{"git -c \"$MORE\" config core.hooksPath .githooks", files{"/p/.githooks/pre-commit": harmless}, true},
		{"git config --global core.hooksPath .githooks", files{"/p/.githooks/pre-commit": harmless}, true},
		{"git -c core.hooksPath=.githooks commit -m x", files{"/p/.githooks/pre-commit": harmless}, true},
		{"git config core.hooksPath /tmp/hooks", files{"/tmp/hooks/pre-commit": harmless}, true},
		{"git config core.hooksPath .", files{"/p/pre-commit": harmless}, true},
	} {
		if f := ofProject(c.there, c.line); bypasses(f) != c.bypass {
			t.Errorf("%s with %v: bypass is %t", c.line, c.there, !c.bypass)
		}
	}
	f := ofProject(files{"/p/.githooks/pre-commit": harmful}, "git config core.hooksPath .githooks")
	if bypasses(f) || !asked(f) {
		t.Errorf("a hook that deletes everything: %+v", f.Effects)
	}
}

// ofProject are the facts of a line in a project with some files.
func ofProject(there files, line string) *hook.Facts {
	all := files{"/p/.git/HEAD": "ref: refs/heads/x"}
	for name, text := range there {
		all[name] = text
	}
	return facts.New(facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: all}).Of(toolEvent("Bash", map[string]any{"command": line}))
}

func bypasses(f *hook.Facts) bool {
	for _, e := range f.Effects {
		if _, ok := e.Is.(*hook.GitBypass); ok {
			return true
		}
	}
	return false
}
