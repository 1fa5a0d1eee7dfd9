package offer

import "testing"

// TestWithoutComments holds what is a comment, and what no two readers would read alike.
func TestWithoutComments(t *testing.T) {
	for text, want := range map[string]string{
		"// a\n// b\r\n{\"a\": 1}":              "    \n     \n{\"a\": 1}",
		`{"a": "//", /* " */ "b": "\"/*"} // "`: `{"a": "//",         "b": "\"/*"}     `,
		"{/*/ \n*/}":                            "{    \n  }",
		"// a\r{\"hooks\": 1}\n{}":              "error",
		"// a\u2028{\"hooks\": 1}\n{}":          "error",
		"// a\xe2\x80\n{}":                      "error",
		"{} /* a":                               "error",
		"{\"a":                                  "{\"a",
		`{"a\`:                                  `{"a\`,
		"":                                      "",
	} {
		out, err := withoutComments([]byte(text))
		got := string(out)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %q %v, want %q", text, got, err, want)
		}
	}
}
