package peer_test

import (
	"testing"

	"gate/facts/internal/peer"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]peer.Peer{
		"https://user@API.example.com:8443/x": {Host: "api.example.com"},
		`https://example.com\@other.example/`: {Host: "example.com"},
		"dev@build.example.com:/srv":          {Host: "build.example.com"},
		"localhost:8080":                      {Host: "localhost", Private: true},
		"[::1]:80":                            {Host: "::1", Private: true},
		"10.0.0.7":                            {Host: "10.0.0.7", Private: true},
		"0x7f.1":                              {Host: "0x7f.1", Private: true},
		"2852039166":                          {Host: "2852039166", Private: true, Metadata: true},
		"http://169.254.169.254/latest":       {Host: "169.254.169.254", Private: true, Metadata: true},
		"http://[::ffff:169.254.169.254]/":    {Host: "::ffff:169.254.169.254", Private: true, Metadata: true},
		"http://①②⑦.0.0.1/":                   {Host: "127.0.0.1", Private: true},
		"file:///etc/passwd":                  {},
		"":                                    {},
	} {
		got := peer.Parse(text, false)
		if got.Host != want.Host || got.Private != want.Private || got.Metadata != want.Metadata {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	if p := peer.Parse("example.com/x", true); p.Host != "example.com" || p.URL != "example.com/x" {
		t.Errorf("%+v", p)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"https://a@b:1/c", "[::1", "a:b:c", "0x7f.1", "http://\\x", "１.２", "file:x", "://", "@", "64:ff9b::1"} {
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, isURL bool) {
		p := peer.Parse(text, isURL)
		if private, metadata := peer.Reach(p.Host); private != p.Private || metadata != p.Metadata {
			t.Errorf("%q: %+v", text, p)
		}
	})
}
