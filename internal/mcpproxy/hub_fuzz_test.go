package mcpproxy

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzName gives a call another name, as the hub does, and holds what came of it against
// encoding/json, which folds case and takes the last of two keys: the name is the new one, and
// all else is as it was.
func FuzzName(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one__look","arguments":{"name":"a"}}}`,
		`{"params":{"name":"a","name":"b"},"method":"x"}`, `{"params":{"name":"a","NAME":"b"},"method":"x"}`,
		`{"params":{"na\u006de":"a"},"method":"x"}`, `{"params":{"name": "a\ud83d\ude00" },"method":"x"}`,
		`{"params":{"ref":{"name":"a"},"name":{"name":"b"}},"method":"x"}`, `{"params":[],"method":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := scan(data)
		if err != nil {
			return
		}
		name, at, err := findText(m.raw, m.params, "name")
		if err != nil {
			return
		}
		type call struct {
			Method string
			Params struct{ Name string }
		}
		var before, after call
		var was, is map[string]any
		changed := splice(m.raw, at, []byte(`"another"`))
		if json.Unmarshal(data, &before) != nil {
			return // its reader wants more of a message
		}
		if before.Params.Name != name {
			t.Fatalf("%q names %q, and not %q", data, before.Params.Name, name)
		}
		if err := json.Unmarshal(changed, &after); err != nil || after.Params.Name != "another" || after.Method != before.Method {
			t.Fatalf("%q became %q: %v", data, changed, err)
		}
		if json.Unmarshal(data, &was) != nil || json.Unmarshal(changed, &is) != nil {
			t.Fatalf("%q became %q", data, changed)
		}
		was["params"].(map[string]any)["name"] = "another"
		if !reflect.DeepEqual(was, is) {
			t.Fatalf("%q became %q", data, changed)
		}
	})
}
