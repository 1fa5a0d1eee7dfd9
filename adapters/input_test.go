package adapters_test

import (
	"testing"

	"gate/adapters"
)

func TestCheckInput(t *testing.T) {
	for _, row := range []struct {
		tool  string
		input map[string]any
		ok    bool
	}{
		{"Bash", map[string]any{"command": "ls"}, true},
		{"Bash", map[string]any{"command": "ls", "run_in_background": true}, true},
		{"Bash", map[string]any{}, false},
		{"Bash", map[string]any{"command": nil}, false},
		{"Bash", map[string]any{"command": []any{"ls"}}, false},
		{"Bash", map[string]any{"command": "ls", "Command": "rm"}, false},
		{"Write", map[string]any{"file_path": "/x"}, false},
		{"Write", map[string]any{"file_path": "/x", "content": ""}, true},
		{"mcp__fs__write", map[string]any{"anything": 1}, true},
		{"SomethingNew", nil, true},
	} {
		if err := adapters.CheckInput(row.tool, row.input); (err == nil) != row.ok {
			t.Errorf("%s %v: %v", row.tool, row.input, err)
		}
	}
}
