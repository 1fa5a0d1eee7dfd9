package load_test

import (
	"slices"
	"strings"
	"testing"

	"gate/internal/load"
)

// TestRecorded packs files, and reads them as they were.
func TestRecorded(t *testing.T) {
	for _, c := range []struct {
		bundle, text string
		want         string // the text in the bundle; "": as it is
		parts        []string
		err          string
	}{
		{text: "package a\n\nx := input.gate.lib\n"},
		{text: "package gate.lib\n\nx := 1\n"},
		{text: "package a\n\n# data.gate.lib\nx := \"data.gate.params\"\n"},
		{text: "package a\n\nx := data.gate.bundles.b.settings\n"},
		{
			text:  "package a\n\nimport data.gate.lib as l\n\nx if l.is(1, 2, 3)\n",
			want:  "package a\n\nimport data.gate.bundles.b.recorded.lib as l\n\nx if l.is(1, 2, 3)\n",
			parts: []string{"lib"},
		},
		{
			text:  "package a\n\n# é\nx if data.gate.lib.is(data.gate.params.a.b, 2, 3) with data.gate.params.a.b as 1\n",
			want:  "package a\n\n# é\nx if @lib.is(@params.a.b, 2, 3) with @params.a.b as 1\n",
			parts: []string{"lib", "params"},
		},
		{
			bundle: "my-team",
			text:   "package a\n\nx := data.gate.params[y] if some y in [1]\n",
			want:   "package a\n\nx := data.gate.bundles[\"my-team\"].recorded.params[y] if some y in [1]\n",
			parts:  []string{"params"},
		},
		{text: "package a\n\nimport data.gate.proof\n", want: "package a\n\nimport @proof\n", parts: []string{"proof"}},
		{text: "package a\n\nimport data.gate\n", err: "f.rego:3: data.gate: write data.gate.lib, data.gate.proof or data.gate.params"},
		{text: "package a\n\nx := data[\"gate\"].lib.y\n", err: "f.rego:3: data.gate.lib.y: write"},
		{text: "package a\n\nx := data.gate[y] if some y in [1]\n", err: "f.rego:3: data.gate[y]: write"},
		{text: "package\n", err: "f.rego:2: rego_parse_error"},
	} {
		bundle := c.bundle
		if bundle == "" {
			bundle = "b"
		}
		got, parts, err := load.Recorded(bundle, "f.rego", c.text)
		if c.err != "" || err != nil {
			if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", c.text, err, c.err)
			}
			continue
		}
		want := strings.ReplaceAll(c.want, "@", "data.gate.bundles.b.recorded.")
		if want == "" {
			want = c.text
		}
		if got != want || !slices.Equal(parts, c.parts) {
			t.Errorf("got %s %q, want %s %q", got, parts, want, c.parts)
		}
		if back := load.Unrecorded(got); back != c.text {
			t.Errorf("read as\n%s", back)
		}
	}
}
