package strictjson_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"gate/internal/strictjson"
)

// write writes a tree with a Writer, as far as it goes without Value.
func write(w *strictjson.Writer, v any) {
	switch v := v.(type) {
	case string:
		w.Text(v)
	case json.Number:
		if n, err := v.Int64(); err == nil && v != "-0" {
			w.Int(n)
			return
		}
		w.Value(v)
	case map[string]any:
		w.Object()
		for _, key := range slices.Sorted(maps.Keys(v)) {
			write(w.Key(key), v[key])
		}
		w.EndObject()
	case []any:
		w.List()
		for i, e := range v {
			if i%3 == 2 {
				w.Written(strictjson.Append(nil, e))
				continue
			}
			write(w, e)
		}
		w.EndList()
	default:
		w.Value(v)
	}
}

// FuzzWriter holds that what is written value by value is what Append makes of
// the whole.
func FuzzWriter(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,{"y":"\u2028\\","z":null},[],{}],"b":{"K":2,"k":true,"{":"[","}":":"}}`, `[[[[]]],[{}],"",","]`, `{"":"{","a":"["}`, `1.5`, `-0`, `[0,-7,1e2]`, `"\u202e"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := strictjson.Decode(data, strictjson.Limits{})
		if err != nil {
			return
		}
		var w strictjson.Writer
		write(&w, tree)
		if want := strictjson.Append(nil, tree); string(w.JSON) != string(want) {
			t.Errorf("%s\nis written as %s", want, w.JSON)
		}
	})
}
