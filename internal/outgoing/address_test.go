package outgoing_test

import (
	"strings"
	"testing"

	"gate/internal/outgoing"
)

func TestCheckAddress(t *testing.T) {
	for address, want := range map[string]string{
		"https://policy.acme.example/check?team=a":     "",
		"http://localhost:8181/v1":                     "",
		"http://127.0.0.1:8181":                        "",
		"http://[::1]:8181/":                           "",
		"http://policy.acme.example":                   "https://",
		"http://127.0.0.1.acme.example":                "https://",
		"http://0.0.0.0:80":                            "https://",
		"http://10.0.0.1":                              "https://",
		"ftp://acme.example":                           "https://",
		"file:///etc/passwd":                           "https://",
		"//acme.example":                               "https://",
		"https://":                                     "a host",
		"https://ana:secret@acme.example":              "neither a user",
		"https://acme.example/#x":                      "fragment",
		"https:acme.example":                           "a host",
		"https://acme.example/\nHost: x":               "no address",
		"http://localhost@acme.example/":               "https://",
		"https://169.254.169.254/latest/meta-data/%zz": "no address",
	} {
		err := outgoing.CheckAddress(address)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", address, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error shows it: %v", address, err)
		}
	}
}

func TestFillHeader(t *testing.T) {
	env := []string{"TOKEN", "LINE", "EMPTY", "GONE"}
	lookup := func(name string) (string, bool) {
		v, ok := map[string]string{"TOKEN": "s3cret", "LINE": "s3cret\r\nX: y", "EMPTY": "", "OTHER": "other"}[name]
		return v, ok
	}
	for value, want := range map[string]string{
		"plain $TOKEN":              "plain $TOKEN",
		"Bearer ${TOKEN}":           "Bearer s3cret",
		"${TOKEN}${EMPTY}-${TOKEN}": "s3cret-s3cret",
		"${OTHER}":                  "error: env does not name the variable OTHER",
		"${GONE}":                   "error: the environment has no GONE",
		"${LINE}":                   "error: the variable LINE holds a control character, such as the end of a line",
		"${TOKEN":                   `error: "${TOKEN" is no variable; write ${NAME}`,
		"${TO KEN}":                 `error: "${TO KEN}" is no variable; write ${NAME}`,
		"a\tb":                      "error: holds a control character",
	} {
		got, err := outgoing.FillHeader(value, env, lookup)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", value, got, want)
		}
	}
}

func TestCheckHeader(t *testing.T) {
	for name, want := range map[string]string{
		"Authorization": "", "X-Team": "",
		"host": "of the connection", "Content-Length": "of the connection", "Proxy-Authorization": "of the connection",
		"user-agent": "gate sets", "Mcp-Session-Id": "gate sets", "a b": "no name", "": "no name", "A:": "no name",
	} {
		err := outgoing.CheckHeader(name, "x", nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}
