package acs

import (
	"encoding/hex"
	"maps"
	"os"
	"testing"

	"gate/internal/strictjson"
)

func readDoc(t *testing.T, file string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return doc
}

// TestEnvelopeVectors signs and verifies what implementations of the standard signed.
func TestEnvelopeVectors(t *testing.T) {
	doc := readDoc(t, "testdata/envelope-vectors.json")
	secret, _ := hex.DecodeString(textOf(doc, "ikm_hex"))
	key, err := SessionKey(secret, textOf(doc, "session_id"))
	if err != nil || hex.EncodeToString(key) != doc["session_key_hex"] {
		t.Fatalf("session key %x: %v", key, err)
	}
	for name, part := range map[string]Part{"request": Params, "response": Result} {
		row := doc[name].(map[string]any)
		signed := row["signed"].(map[string]any)
		input, err := SigningInput(signed, part)
		if err != nil || string(input) != row["signing_input"] {
			t.Errorf("%s: signing input %s: %v", name, input, err)
		}
		if err := Verify(key, signed, part); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		again := maps.Clone(signed)
		inner := maps.Clone(signed[string(part)].(map[string]any))
		again[string(part)] = inner
		want := inner["signature"]
		delete(inner, "signature")
		if err := Sign(key, textOf(doc, "key_id"), again, part); err != nil || !sameJSON(inner["signature"], want) {
			t.Errorf("%s: signed as %v, %v; want %v", name, inner["signature"], err, want)
		}
		inner["more"] = "not covered"
		if Verify(key, again, part) == nil {
			t.Errorf("%s: a member that the signature does not cover is taken", name)
		}
		if Verify(secret, signed, part) == nil {
			t.Errorf("%s: the signature holds under another key", name)
		}
	}
}

// TestChainVectors computes the hashes that implementations of the standard computed.
func TestChainVectors(t *testing.T) {
	doc := readDoc(t, "testdata/chain-vectors.json")
	row := doc["request_hash"].(map[string]any)
	params := row["params"].(map[string]any)
	canonical, err := Canonical(params)
	if err != nil || string(canonical) != row["canonical"] {
		t.Errorf("canonical params: %s, %v", canonical, err)
	}
	if hash, err := RequestHash(params); err != nil || hash != row["hash"] {
		t.Errorf("request hash %s, %v; want %v", hash, err, row["hash"])
	}
	for i, v := range doc["chain"].([]any) {
		link := v.(map[string]any)
		hash, err := EntryHash(link["entry"].(map[string]any), textOf(link, "previous_hash"))
		if err != nil || hash != link["entry_hash"] {
			t.Errorf("entry %d: %s, %v; want %v", i, hash, err, link["entry_hash"])
		}
	}
}

// TestCanonical holds the examples of RFC 8785.
func TestCanonical(t *testing.T) {
	for _, row := range []struct{ in, want string }{
		{
			`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		},
		{
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\"}",
		},
		{`{"a":-0}`, `{"a":0}`},
	} {
		doc, err := strictjson.Object([]byte(row.in), strictjson.Limits{LookAlikes: true})
		if err != nil {
			t.Fatalf("%s: %v", row.in, err)
		}
		got, err := Canonical(doc)
		if string(got) != row.want || err != nil {
			t.Errorf("%s\ngot  %s, %v\nwant %s", row.in, got, err, row.want)
		}
	}
}

func sameJSON(a, b any) bool {
	return string(strictjson.Append(nil, a)) == string(strictjson.Append(nil, b))
}
