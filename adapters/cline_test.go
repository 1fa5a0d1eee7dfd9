package adapters_test

import (
	"strings"
	"testing"

	"gate/adapters"
)

// TestClineForms holds which calls that Cline tells of in both of its forms are
// one: the older form has all parameters as text, objects as JSON, in whatever order
// their keys are.
func TestClineForms(t *testing.T) {
	cline, known := adapters.Lookup("cline")
	if !known {
		t.Fatal("unknown")
	}
	for _, test := range []struct {
		older, newer string
		one          bool
	}{
		{`{"command":"ls","requires_approval":"true"}`, `{"command":"ls","requires_approval":true}`, true},
		{`{"arguments":"{\"b\":1, \"a\":[\"x\"]}"}`, `{"arguments":{"b":1,"a":["x"]}}`, true},
		{`{"arguments":"{\"b\":1,\"a\":2}"}`, `{"arguments":{"b":1,"a":3}}`, false},
		{`{"arguments":"{\"a\":3,\"a\":2}"}`, `{"arguments":{"a":2}}`, false},
		{`{"content":"{\"a\": 1}"}`, `{"content":"{\"a\":1}"}`, false},
		{`{"command":"ls"}`, `{"command":"ls","cwd":"/"}`, false},
		{`{"command":"ls","cwd":""}`, `{"command":"ls","cmd":""}`, false},
		{`{"command":"1"}`, `{"command":1}`, true},
	} {
		event := `{"hookName":"PreToolUse","preToolUse":{"toolName":"use_mcp_tool","parameters":OLDER},"tool_call":{"name":"use_mcp_tool","input":NEWER}}`
		event = strings.NewReplacer("OLDER", test.older, "NEWER", test.newer).Replace(event)
		_, err := cline.Parse([]byte(event), "PreToolUse")
		if differs := err != nil && strings.Contains(err.Error(), "two calls"); differs == test.one {
			t.Errorf("%s\n%s\n%v", test.older, test.newer, err)
		}
	}
}
