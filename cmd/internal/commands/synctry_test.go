package commands

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"gate/hook"
	"gate/scopes"
)

// TestTestsEnd: the tests of a bundle do not hold up a sync for ever, and who is
// told to end is not the bundle's fault.
func TestTestsEnd(t *testing.T) {
	files := fstest.MapFS{
		"company/a.rego":      {Data: []byte("# METADATA\n# title: A\n# description: B.\n# custom:\n#   gate:\n#     events: [PreToolUse]\npackage company\n\ndeny contains \"no\" if input.tool_name == \"X\"\n")},
		"company/a_test.rego": {Data: []byte("package company_test\n\nimport data.company\n\ntest_a if count(company.deny) == 1 with input as {\"tool_name\": \"X\"}\n")},
	}
	as := scopes.Source{Name: "managed", Scope: hook.Policy, Authority: hook.Managed}
	if _, _, err := runTests(t.Context(), files, as, time.Hour); err != nil {
		t.Error(err)
	}
	if _, _, err := runTests(t.Context(), files, as, 0); err == nil || !strings.Contains(err.Error(), "its own tests take longer than 0s") {
		t.Errorf("no time: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := runTests(ended, files, as, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("told to end: %v", err)
	}
}
