package audit

import (
	"bytes"
	"strings"
	"testing"

	"gate/internal/strictjson"
)

// TestHead holds that a head is written as the JSON that it is, and is the same
// whether it is read directly or as JSON.
func TestHead(t *testing.T) {
	for _, h := range []head{
		{log: "57f8b3c71c2f4133", seq: 204, hash: strings.Repeat("ab", 32), size: 1 << 40, begin: 17},
		{log: "a", begin: 1}, {log: `a","seq":7,"x":"`, begin: 1}, {log: `\u0041`, seq: 1, hash: "\n", begin: 9},
		{log: strings.Repeat("x", 300), begin: 1},
	} {
		text := h.encode()
		want := strictjson.Append(nil, map[string]any{"log": h.log, "seq": h.seq, "hash": h.hash, "size": h.size, "begin": h.begin})
		if !bytes.Equal(bytes.TrimSpace(text), want) || len(text) < headSize || text[len(text)-1] != '\n' {
			t.Errorf("%+v is written as %q", h, text)
		}
		if len(text) > headSize {
			continue
		}
		var direct head
		if ok := direct.decode(text); ok && direct != h {
			t.Errorf("%q is read as %+v", text, direct)
		}
		for _, form := range [][]byte{text, append([]byte(" "), want...)} {
			if got, ok := readHead(bytes.NewReader(form)); !ok || got != h {
				t.Errorf("%q: %+v, %v", form, got, ok)
			}
		}
	}
	good := (&head{log: "a", seq: 3, hash: "b", size: 5, begin: 1}).encode()
	var h head
	if !h.decode(good) {
		t.Errorf("%q is not read directly", good)
	}
	for _, bad := range []string{"", "{}", `{"begin":1`, strings.Replace(string(good), "3", "03", 1), strings.Replace(string(good), "3", "+3", 1), string(good[:100])} {
		if h.decode([]byte(bad)) {
			t.Errorf("%q is read", bad)
		}
	}
}
