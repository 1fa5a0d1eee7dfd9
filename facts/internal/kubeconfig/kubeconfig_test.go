package kubeconfig

import (
	"testing"

	"go.yaml.in/yaml/v3"
)

// FuzzKubeconfig has YAML's own reader read the same text: what gate takes for
// the current context must be what is there.
func FuzzKubeconfig(f *testing.F) {
	for _, text := range []string{
		"apiVersion: v1\nclusters:\n- cluster:\n    server: https://x\n  name: a\ncurrent-context: \"prod\" # x\nkind: Config\npreferences: {}\n",
		"{current-context: prod}", "\"current-context\": prod", "current-context: a\n b", "current-context: >-\n prod", "current-context: &x prod", "current-context: !!str 5",
		"a: |\n x\ncurrent-context: a\n---\ncurrent-context: b", "a: \"\ncurrent-context: x\"", "current-context: a\rcurrent-context: b", "? current-context\n: b", "current-context:\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, known := CurrentContext(text)
		var doc map[string]yaml.Node
		if !known || yaml.Unmarshal([]byte(text), &doc) != nil {
			return
		}
		if is := doc["current-context"]; is.Value != name && is.Tag != "!!null" {
			t.Errorf("%q: the context is %q, gate says %q", text, is.Value, name)
		}
	})
}
