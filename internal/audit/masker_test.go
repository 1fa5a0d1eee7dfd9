package audit_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/audit"
)

func TestMasker(t *testing.T) {
	password := "Tr0ub4dor"
	ev := &hook.Event{Fields: map[string]any{
		"session_id": "0f3c9b7a-1111",
		"tool_input": map[string]any{
			"command":                         "mysql -p" + password + " shop",
			"apiKey":                          "k-12345",
			"headers":                         []any{map[string]any{"authorization": "x-12345"}},
			"n":                               json.Number("7"),
			"ghp_abcdefghijklmnop0123456789A": "one",
			"ghp_abcdefghijklmnop0123456789B": "two",
			"long":                            strings.Repeat("a ", 20_000) + "password=hunter22",
		},
		"tool_response": "connected with " + password,
	}, Facts: &hook.Facts{Shell: &hook.Shell{Text: "mysql -p" + password + " shop", Commands: []hook.ShellCommand{{
		ID: 1, Options: map[string][]any{"password": {password}},
	}}}}}
	m := audit.NewMasker(ev)
	got := m.Fields(ev)
	want := map[string]any{
		"session_id": "0f3c9b7a-1111",
		"tool_input": map[string]any{
			"command": "mysql -p[redacted] shop", "apiKey": "[redacted]",
			"headers": []any{map[string]any{"authorization": "[redacted]"}}, "n": json.Number("7"),
			"ghp_[redacted]": "one", "ghp_[redacted]'": "two",
			"long": strings.Repeat("a ", 20_000) + "password=[redacted]",
		},
		"tool_response": "connected with [redacted]",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if s := m.Text("it said " + password); s != "it said [redacted]" {
		t.Error(s)
	}
}
