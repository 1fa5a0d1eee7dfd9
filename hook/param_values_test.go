package hook_test

import (
	"strings"
	"testing"

	"gate/hook"
)

// TestParamValues holds a parameter to the values that it allows, where it lists any.
func TestParamValues(t *testing.T) {
	list := hook.Param{Type: "array", Values: []string{"host", "package"}}
	word := hook.Param{Type: "string", Values: []string{"host", "package"}}
	for _, c := range []struct {
		param hook.Param
		value any
		want  string // of the error; "": there is none
	}{
		{list, []any{"host"}, ""},
		{list, []any{}, ""},
		{list, []string{"package", "host"}, ""},
		{list, []any{"host", "pakcage"}, `"pakcage" is none of the values that it knows: host, package`},
		{list, []any{"host", true}, "boolean where a text is wanted"},
		{list, "host", "string where array is wanted"},
		{word, "host", ""},
		{word, "hosts", `"hosts" is none of`},
		{hook.Param{Type: "array"}, []any{"anything", true}, ""},
	} {
		err := c.param.Check(c.value)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", c.value, err, c.want)
		}
	}
}
