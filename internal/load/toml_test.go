package load

import (
	"strings"
	"testing"
	"testing/fstest"

	"gate/hook"
)

// TestDottedKeys holds that a key of very many parts is refused before the decoder
// sees it, wherever keys stand, and that many dots in values and short keys are not.
func TestDottedKeys(t *testing.T) {
	long := strings.Repeat("a.", 200_000) + "a"
	for text, deep := range map[string]bool{
		long + " = 1\n":                                true,
		"[" + long + "]\nb = 1\n":                      true,
		"x = {" + long + " = 1}\n":                     true,
		strings.Repeat(`"a".`, 40) + "b = 1\n":         true,
		"labels = {a = \"" + long + "\"}\n":            false,
		"# " + long + "\nlog = true\n":                 false,
		"x = [" + strings.Repeat("1.5, ", 200) + "]\n": false,
		"[labels]\na.b.c = \"x.y\"\n":                  false,
	} {
		c := Settings(fstest.MapFS{"settings.toml": {Data: []byte(text)}}, "/", hook.User)
		said := ""
		if c.Source != nil {
			for i := range c.Source.Faults {
				said += c.Source.Faults[i].Error()
			}
		}
		if strings.Contains(said, "nested deeper") != deep {
			t.Errorf("%.40q: %q", text, said)
		}
	}
}
