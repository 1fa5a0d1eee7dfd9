package load_test

import (
	"bytes"
	"testing"

	"gate/hook"
	"gate/internal/load"
)

// FuzzEdit sets a key in any text: what comes out says what was wanted, is read
// without a mistake, and says the same when the key is set again.
func FuzzEdit(f *testing.F) {
	formats := []string{"settings.json", "settings.toml", "settings.yaml"}
	for i, texts := range [][]string{
		{sampleJSON, "", "{}", `{"deadline":"5s" , "policies":{"acme.x":"off"}}`, `{"policies":{"a\u0063me.x":"off"}}`},
		{sampleTOML, "# c\ndeadline = \"5s\"\n[policies]\n\"acme.x\" = 'off' # d\n", "policies.\"acme.x\" = \"off\"\n", "policies = {\"acme.x\" = \"off\"}"},
		{sampleYAML, "policies: # c\n  acme.x: off\n  # d\n", "policies: {acme.x: &a warn, acme.y: *a}\n", "? policies\n: acme.x: |\n    off\n", "---\n{}\n...\n"},
	} {
		for _, text := range texts {
			f.Add(uint8(i), text, "acme.x", "deny")
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, text, policy, level string) {
		file := formats[int(n)%len(formats)]
		var value any = level
		if level == "" {
			value = nil
		}
		out, err := load.Edit(file, []byte(text), hook.User, value, "policies", policy)
		if err != nil {
			return // and the file stays as it is
		}
		if value != nil {
			d, err := load.Decode(file, out)
			if err != nil {
				t.Fatalf("%q became %q: %v", text, out, err)
			}
			if policies, _ := d.Value()["policies"].(map[string]any); policies[policy] != value {
				t.Errorf("%q became %q", text, out)
			}
		}
		again, err := load.Edit(file, out, hook.User, value, "policies", policy)
		if err != nil || !bytes.Equal(again, out) {
			t.Errorf("%q became %q, then %q: %v", text, out, again, err)
		}
	})
}
