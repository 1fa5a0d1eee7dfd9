package strictjson_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"gate/internal/strictjson"
)

// sorted is what AppendSorted must write: the tree, by encoding/json.
func sorted(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

func TestAppendSorted(t *testing.T) {
	for in, want := range map[string]string{
		`null`:                               `null`,
		` [ true , false ] `:                 `[true,false]`,
		`{}`:                                 `{}`,
		`{"b":1.0,"a":[-0,1E+2]}`:            `{"a":[-0,1E+2],"b":1.0}`,
		`{"b":{"d":1,"c":2},"a":{}}`:         `{"a":{},"b":{"c":2,"d":1}}`,
		`{"ä":1,"z":2,"\u0061":3}`:           `{"a":3,"z":2,"ä":1}`,
		`{"aa":1,"a":2,"":3}`:                `{"":3,"a":2,"aa":1}`,
		`"<\/&>\u0041\u2028\u2029\u2027"`:    `"</&>A\u2028\u2029` + "\u2027" + `"`,
		`"\u0000\b\f\n\r\t\u001f\u007f\\\""`: `"\u0000\b\f\n\r\t\u001f` + "\x7f" + `\\\""`,
		`"\ud83d\ude00"`:                     `"😀"`,
	} {
		got, err := strictjson.AppendSorted([]byte("x"), []byte(in), strictjson.Limits{})
		if err != nil || string(got) != "x"+want {
			t.Errorf("AppendSorted(%s) = %s, %v; want %s", in, got, err, want)
		}
	}
}

// FuzzAppendSorted holds AppendSorted against Decode: it takes the
// same documents, and writes the same values.
func FuzzAppendSorted(f *testing.F) {
	for _, s := range []string{
		`{"b":[1,{"z":null,"y":"\u2028\\"}],"a":{"k":true,"K":2}}`, `{"a":1,"A":2}`, `[[[[]]]]`, `[1,2`, `{"a":1e999}`, `{"a":1,"\u0061":2}`, "\"\xff\"", `{"b":1,"B":2,"a":3}`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, l := range []strictjson.Limits{{Depth: 4}, {LookAlikes: true, Keys: 6}} {
			tree, want := strictjson.Decode(data, l)
			got, err := strictjson.AppendSorted(nil, data, l)
			switch {
			case (err == nil) != (want == nil):
				t.Fatalf("AppendSorted: %v, Decode: %v", err, want)
			case err == nil && string(got) != sorted(t, tree):
				t.Fatalf("got %s, want %s", got, sorted(t, tree))
			}
		}
	})
}
