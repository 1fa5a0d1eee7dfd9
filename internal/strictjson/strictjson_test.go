package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"gate/internal/strictjson"
)

func Example() {
	doc, err := strictjson.Object([]byte(`{"tool_name":"Bash","Tool_Name":"Read"}`), strictjson.Limits{})
	fmt.Println(doc, err)
	// Output: map[] keys "tool_name" and "Tool_Name" look alike
}

func TestDecode(t *testing.T) {
	for in, want := range map[string]any{
		`null`:                       nil,
		` true `:                     true,
		`"a\u00e4\ud83d\ude00\n"`:    "aä😀\n",
		`"\b\f\n\r\t\/\"\\n\\"`:      "\b\f\n\r\t/\"\\n\\",
		`"\u00E4\uD83D\uDE00\u0041"`: "ä😀A",
		`12345678901234567890`:       json.Number("12345678901234567890"),
		`-0.5e+3`:                    json.Number("-0.5e+3"),
		`[]`:                         []any{},
		`{}`:                         map[string]any{},
		"[1,\t\"\\u0000\",{}]\r\n":   []any{json.Number("1"), "\x00", map[string]any{}},
		`{"a":{"A":1},"b":[{"a":2}]}`: map[string]any{
			"a": map[string]any{"A": json.Number("1")},
			"b": []any{map[string]any{"a": json.Number("2")}},
		},
		`{"Вася":1,"vasya":2}`: map[string]any{"Вася": json.Number("1"), "vasya": json.Number("2")},
	} {
		got, err := strictjson.Decode([]byte(in), strictjson.Limits{})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Decode(%s) = %#v, %v; want %#v", in, got, err, want)
		}
	}
}

// BenchmarkDecode reads what a tool put out: a megabyte of lines.
func BenchmarkDecode(b *testing.B) {
	doc := []byte(`{"stdout":"` + strings.Repeat(`ok  \tshop.example/orders/internal/part\t0.05s\n`, 20_000) + `"}`)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := strictjson.Decode(doc, strictjson.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, `empty input`},
		{" \n", `empty input`},
		{`{`, `ends too early`},
		{`{"a"`, `ends too early`},
		{`{"a":1`, `ends too early`},
		{`[1`, `ends too early`},
		{`"a`, `ends too early`},
		{`{}{}`, `more than one document`},
		{`{} x`, `more than one document`},
		{"{}\x00", `more than one document`},
		{`1 2`, `more than one document`},
		{"\ufeff{}", `invalid character`},
		{`{'a':1}`, `invalid character`},
		{`{a:1}`, `invalid character`},
		{`{"a":1,}`, `invalid character`},
		{`[1,]`, `invalid character`},
		{`{"a":NaN}`, `invalid character`},
		{`{"a":Infinity}`, `invalid character`},
		{`{"a":01}`, `invalid character`},
		{`{"a":0x1}`, `invalid character`},
		{`{"a":1}//`, `more than one document`},
		{"{\"a\":\"\n\"}", `invalid character`},
		{"\"\xff\"", `invalid UTF-8`},
		{"\"\xc0\xaf\"", `invalid UTF-8`},
		{"\"\xed\xa0\x80\"", `invalid UTF-8`},
		{`"\ud800"`, `surrogate`},
		{`"\ud800\u0041"`, `surrogate`},
		{`"\udc00"`, `surrogate`},
		{`"\x41"`, `invalid escape`},
		{`{"a":1,"a":2}`, `duplicate key "a"`},
		{`{"a":1,"\u0061":2}`, `duplicate key "a"`},
		{`{"x":[{"a":1,"a":2}]}`, `duplicate key "a"`},
		{`{"A":1,"b":2,"A":3}`, `duplicate key "A"`},
		{`{"a":1,"A":2}`, `keys "a" and "A" look alike`},
		{`{"A":1,"b":1,"a":2}`, `keys "A" and "a" look alike`},
		{`[[{"k":1,"\u212a":2}]]`, `look alike`},
		{`{"command":1,"comm\u0430nd":2}`, `keys "command" and "comm\u0430nd" look alike`},
		{`{"command":1,"com\u200bmand":2}`, `look alike`},
		{`{"command":1,"command\u007f":2}`, `look alike`},
		{`{"command":1,"c\u0000ommand":2}`, `look alike`},
		{`{"command":1,"comman\u0301d":2}`, `look alike`},
		{`{"command":1,"command\u3164":2}`, `look alike`},
		{`{"command":1,"\uff43ommand":2}`, `look alike`},
		{`{"command":1,"\ud835\udc84ommand":2}`, `look alike`},
		{`{"host":1,"\u0397ost":2}`, `look alike`},
		{`{"\u017fource":1,"source":2}`, `look alike`},
		{`1e999`, `number 1e999 is out of range`},
		{`-1e999`, `out of range`},
		{strings.Repeat("9", 10_000), `a number of 10000 characters`},
		{strings.Repeat("[", 65) + strings.Repeat("]", 65), `nested deeper than 64 (byte 64)`},
		{strings.Repeat("[", 1_000_000), `nested deeper than 64`},
		{strings.Repeat(`{"a":`, 65), `nested deeper than 64`},
		{`{"` + strings.Repeat("k", 1000) + `":1,"` + strings.Repeat("K", 1000) + `":2}`, `look alike`},
	} {
		v, err := strictjson.Decode([]byte(c.in), strictjson.Limits{})
		switch {
		case err == nil:
			t.Errorf("Decode(%.60q) = %#v, want an error with %q", c.in, v, c.want)
		case !strings.Contains(err.Error(), c.want):
			t.Errorf("Decode(%.60q): %v, want %q", c.in, err, c.want)
		case strings.ContainsAny(err.Error(), "\n\x00\x1b") || len(err.Error()) > 300:
			t.Errorf("Decode(%.60q): error is not one short line: %q", c.in, err)
		}
	}
}

func TestLimits(t *testing.T) {
	long := `"` + strings.Repeat("x", 98) + `"`
	many := "[" + strings.Repeat("0,", 9) + "0]"
	for _, c := range []struct {
		in   string
		l    strictjson.Limits
		want string
	}{
		{long, strictjson.Limits{Bytes: 100}, ""},
		{long, strictjson.Limits{Bytes: 99}, "larger than 99 bytes"},
		{`[[[]]]`, strictjson.Limits{Depth: 3}, ""},
		{`[[[]]]`, strictjson.Limits{Depth: 2}, "nested deeper than 2"},
		{`["[[[[[\"[[["]`, strictjson.Limits{Depth: 1}, ""},
		{`["\\",[[]]]`, strictjson.Limits{Depth: 2}, "nested deeper"},
		{many, strictjson.Limits{Keys: 10}, ""},
		{many, strictjson.Limits{Keys: 9}, "too many keys and elements"},
		{`{"a":{"b":1},"c":2}`, strictjson.Limits{Keys: 2}, "too many keys and elements"},
	} {
		_, err := strictjson.Decode([]byte(c.in), c.l)
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && !strings.Contains(got, c.want) {
			t.Errorf("Decode(%.40q, %+v): %v, want %q", c.in, c.l, err, c.want)
		}
	}
}

// TestLookAlikes takes keys that only look alike, and no duplicates even then.
func TestLookAlikes(t *testing.T) {
	data := strictjson.Limits{LookAlikes: true}
	got, err := strictjson.Decode([]byte(`{"Deploy":1,"deploy":2}`), data)
	if want := (map[string]any{"Deploy": json.Number("1"), "deploy": json.Number("2")}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := strictjson.Decode([]byte(`{"deploy":1,"deploy":2}`), data); err == nil {
		t.Errorf("duplicates decode to %v", got)
	}
}

func TestObjectNamesTheType(t *testing.T) {
	for in, want := range map[string]string{
		`[]`: "an array", `"a"`: "a string", `1`: "a number", `true`: "a boolean", `null`: "null",
	} {
		if _, err := strictjson.Object([]byte(in), strictjson.Limits{}); err == nil || err.Error() != want+" where an object is wanted" {
			t.Errorf("Object(%s): %v", in, err)
		}
	}
	if _, err := strictjson.Object(nil, strictjson.Limits{}); !errors.Is(err, strictjson.ErrEmpty) {
		t.Errorf("Object(nil): %v, want ErrEmpty", err)
	}
}

func TestAppend(t *testing.T) {
	for _, c := range []struct {
		in   any
		want string
	}{
		{map[string]any{"b": 1, "a": []any{nil, true, int64(-2), 1.5}}, `{"a":[null,true,-2,1.5],"b":1}`},
		{map[string]string{"k": "v"}, `{"k":"v"}`},
		{[]string{"a", "b"}, `["a","b"]`},
		{[]map[string]any{{}, nil}, `[{},{}]`},
		{[]any(nil), `[]`},
		{json.Number("1e5"), `1e5`},
		{json.Number(`1,"x":2`), `null`},
		{json.Number(""), `null`},
		{math.NaN(), `null`},
		{math.Inf(-1), `null`},
		{1e300, `1e+300`},
		{"\"\\/\n\t\r\b\x00\x1b\x7f", `"\"\\/\n\t\u000d\u0008\u0000\u001b\u007f"`},
		{"a\u200b\u202e\u2028\u2066\ufeff\u00ad\u0085\u061c\U000E0041", `"a\u200b\u202e\u2028\u2066\ufeff\u00ad\u0085\u061c\udb40\udc41"`},
		{"äß漢😀", `"äß漢😀"`},
		{"\xffa\xc0", "\"\ufffda\ufffd\""},
	} {
		if got := string(strictjson.Append(nil, c.in)); got != c.want {
			t.Errorf("Append(%#v) = %s, want %s", c.in, got, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	deep := any("x")
	for range 70 {
		deep = []any{deep}
	}
	for _, v := range []any{
		math.NaN(), math.Inf(1), json.Number("0x1"), json.Number("01"), json.Number("-"), json.Number("1."), json.Number("1e"), json.Number("1e+"),
		"\xff", uint8(1), struct{}{}, deep, []any{func() {}},
		map[string]any{"a": []any{json.Number("x")}}, map[string]any{"\xff": 1}, map[string]string{"a": "\xff"},
	} {
		if strictjson.Check(v) == nil {
			t.Errorf("Check(%#v) = nil", v)
		}
	}
	for _, v := range []any{
		nil, 1, int64(1), 0.5, "a", true, json.Number("-0.10e-7"), json.Number("0"), json.Number("10"),
		[]any{map[string]any{"a": []string{"b"}}}, []map[string]any{{"a": nil}}, map[string]string{"a": "b"},
	} {
		if err := strictjson.Check(v); err != nil {
			t.Errorf("Check(%#v): %v", v, err)
		}
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain, äß漢😀\n\tok":         "plain, äß漢😀\n\tok",
		"\x1b[31mred\r\x00\x7f":     `\x1b[31mred\x0d\x00\x7f`,
		"a\u202eb\u200bc\U000E0041": `a\u202eb\u200bc\U000e0041`,
		"\xff":                      "\ufffd",
		"\u0085\u2028":              `\x85\u2028`,
	} {
		if got := strictjson.Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestIndent(t *testing.T) {
	v := map[string]any{"b": []any{1, "x"}, "a": map[string]any{}, "c": []any{map[string]any{"d": nil}}}
	want := "{\n  \"a\": {},\n  \"b\": [1,\"x\"],\n  \"c\": [\n    {\n      \"d\": null\n    }\n  ]\n}"
	if got := strictjson.Indent(v); got != want {
		t.Errorf("Indent:\n%s\nwant:\n%s", got, want)
	}
}

func TestFold(t *testing.T) {
	for _, twin := range []string{
		"command", "COMMAND", "Command", "сommand", "cоmmand", "com\u200bmand", "command\u00ad", "ｃｏｍｍａｎｄ", "comma\u0301nd",
		"\x7fcommand", "𝐜𝐨𝐦𝐦𝐚𝐧𝐝", "𝒄ommand", "СОММАND", "c\u2060ommand", "command\ufe0f",
	} {
		if got := strictjson.Fold(twin); got != "command" {
			t.Errorf("Fold(%q) = %q", twin, got)
		}
	}
	for _, other := range []string{"comand", "command_", "commands", "kommando"} {
		if strictjson.Fold(other) == "command" {
			t.Errorf("Fold(%q) = command", other)
		}
	}
}

// FuzzDecode holds that whatever is accepted is written and read again as the
// same value, by us and by encoding/json, and that refusals are one line.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2.5e-3,"\u202e\ud83d\ude00",null,true]}`, `{"a":1,"A":2}`, "\"\xff\"", `[[[[`, `{"K":1,"k":2}`, `1e999`, `"\ud800"`, `{}{}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := strictjson.Decode(data, strictjson.Limits{Keys: 10_000})
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x1b\x00") || len(err.Error()) > 500 {
				t.Fatalf("error is not one short line: %q", err)
			}
			return
		}
		if err := strictjson.Check(v); err != nil {
			t.Fatalf("Check refuses what Decode returned: %v", err)
		}
		out := strictjson.Append(nil, v)
		again, err := strictjson.Decode(out, strictjson.Limits{Bytes: len(out) + 1})
		if err != nil || !reflect.DeepEqual(v, again) {
			t.Fatalf("Decode(Append(v)) = %#v, %v; want %#v; text %s", again, err, v, out)
		}
		if string(strictjson.Append(nil, again)) != string(out) {
			t.Fatalf("Append is not stable for %s", out)
		}
		indented, err := strictjson.Decode([]byte(strictjson.Indent(v)), strictjson.Limits{})
		if err != nil || !reflect.DeepEqual(v, indented) {
			t.Fatalf("Decode(Indent(v)) = %#v, %v", indented, err)
		}
		var std any
		dec := json.NewDecoder(strings.NewReader(string(data)))
		dec.UseNumber()
		if err := dec.Decode(&std); err != nil || !reflect.DeepEqual(v, std) {
			t.Fatalf("encoding/json reads %#v, %v; want %#v", std, err, v)
		}
	})
}

// FuzzAppend holds that any text comes out as one line that reads back.
func FuzzAppend(f *testing.F) {
	f.Add("a\x1b[0m\u202e\n", "k\u2028")
	f.Fuzz(func(t *testing.T, s, k string) {
		out := strictjson.Append(nil, map[string]any{k: s})
		for _, r := range string(out) {
			if r < 0x20 || r == 0x7f || r == 0x2028 || r == 0x202e {
				t.Fatalf("%q in %q", r, out)
			}
		}
		v, err := strictjson.Object(out, strictjson.Limits{})
		if err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		if utf8.ValidString(s) && utf8.ValidString(k) && v[k] != s {
			t.Fatalf("%q became %q", s, v[k])
		}
		if !utf8.ValidString(strictjson.Visible(s)) || strings.ContainsAny(strictjson.Visible(s), "\x1b\r\u202e\u200b") {
			t.Fatalf("Visible(%q) = %q", s, strictjson.Visible(s))
		}
	})
}
