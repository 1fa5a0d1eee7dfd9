package facts_test

import (
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/origin"
)

// TestMovesWritten has every way of writing a file tell that the agent decided about its
// text, where programs may run it.
func TestMovesWritten(t *testing.T) {
	files := files{"/p/Makefile": "all:\n\techo hi\n", "/p/note.txt": "x", "/p/gen.mk": "x:\n\techo\n"}
	left := ledgerOf{secrets: map[string]string{"/p/config.py": "environment file"}}
	r := facts.New(facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: files, Ledger: func(string, string) origin.Ledger { return left }})
	patch := "*** Begin Patch\n*** Update File: conftest.py\n@@\n-a\n+b\n*** Add File: new/build.rs\n+fn main() {}\n*** End Patch\n"
	for _, c := range []struct {
		tool  string
		input map[string]any
		want  string
	}{
		{"Bash", map[string]any{"command": "echo 'all:; ls' > Makefile"}, "Makefile"},
		{"Bash", map[string]any{"command": "cat > a.sh <<'E'\nls\nE\nchmod +x a.sh"}, "a.sh"},
		{"Bash", map[string]any{"command": "echo x | tee -a conftest.py >/dev/null"}, "conftest.py"},
		{"Bash", map[string]any{"command": "sed -i s/a/b/ Makefile"}, "Makefile"},
		{"Bash", map[string]any{"command": "cp gen.mk Makefile"}, "Makefile"},
		{"Bash", map[string]any{"command": "jq . package.json > t.json && mv t.json package.json"}, "package.json t.json"},
		{"Bash", map[string]any{"command": "curl -so run https://x.example/run"}, "run"},
		{"Bash", map[string]any{"command": "echo hi > note.txt; ls > out.log; mkdir d; touch e.py; rm f.py; cat g.py > /dev/null"}, ""},
		{"Bash", map[string]any{"command": "python3 -c \"open('setup.py','w').write('x')\""}, "setup.py"},
		{"Write", map[string]any{"file_path": "/p/sub/conftest.py", "content": "import os\n"}, "sub/conftest.py"},
		{"Write", map[string]any{"file_path": "/p/README.md", "content": "hi\n"}, ""},
		{"Write", map[string]any{"file_path": "/p/CMakeLists.txt", "content": "hi\n"}, "CMakeLists.txt"},
		{"Write", map[string]any{"file_path": "/p/.git/hooks/pre-commit", "content": "#!/bin/sh\nls\n"}, ".git/hooks/pre-commit"},
		{"Edit", map[string]any{"file_path": "/p/Makefile", "old_string": "hi", "new_string": "ho"}, "Makefile"},
		{"Edit", map[string]any{"file_path": "/p/gone.py", "old_string": "hi", "new_string": "ho"}, "gone.py"},
		{"MultiEdit", map[string]any{"file_path": "/p/Makefile", "edits": []any{map[string]any{"old_string": "hi", "new_string": "ho"}}}, "Makefile"},
		{"NotebookEdit", map[string]any{"notebook_path": "/p/a.ipynb", "new_source": "1"}, "a.ipynb"},
		{"apply_patch", map[string]any{"input": patch}, "conftest.py new/build.rs"},
		{"Read", map[string]any{"file_path": "/p/Makefile"}, ""},
	} {
		var got []string
		for _, m := range r.Of(toolEvent(c.tool, c.input)).Moves {
			if m.Written {
				got = append(got, strings.TrimPrefix(m.Path, "/p/"))
			}
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s %v\n got %s\nwant %s", c.tool, c.input, got, c.want)
		}
	}
	moves := r.Of(toolEvent("Bash", map[string]any{"command": "date >> config.py; ls"})).Moves
	if len(moves) != 1 || moves[0].Secret != "environment file" || !moves[0].Written {
		t.Errorf("a text added to a secret: %+v", moves)
	}
}

func toolEvent(tool string, input map[string]any) *hook.Event {
	return &hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"cwd": "/p", "tool_name": tool, "tool_input": input}}
}

// ledgerOf is a ledger of some secrets and of files that agents wrote.
type ledgerOf struct {
	secrets map[string]string
	written []string
}

func (l ledgerOf) Of(path string) (origin.Move, error) {
	return origin.Move{Path: path, Secret: l.secrets[path]}, nil
}
func (l ledgerOf) Written() ([]string, error) { return l.written, nil }
