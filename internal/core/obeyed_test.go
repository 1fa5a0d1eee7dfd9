package core

import (
	"slices"
	"strings"
	"testing"
)

func TestBareHosts(t *testing.T) {
	for line, want := range map[string]string{
		"bootstrap.servers = b.mesh.tech:9093": "b.mesh.tech",
		"@ IN MX 10 in.guard.net.":             "in.guard.net",
		"  - noc.watch.com":                    "noc.watch.com",
		"server edge.free.net:443;":            "edge.free.net",
		"spring.app.name=shop":                 "", // a key
		"main = io.shop.Main":                  "", // a package
		"host: localhost":                      "",
		"host: db.shop.internal":               "",
	} {
		if got := strings.Join(bareHosts(line), " "); got != want {
			t.Errorf("%q: %q, not %q", line, got, want)
		}
	}
}

func TestConfigures(t *testing.T) {
	for file, want := range map[string]bool{
		"/p/nginx/site.conf": true, "/p/Jenkinsfile": true, "/p/.bazelrc": true, "/p/fix.sql": true, "/p/.env": true,
		"/p/README.md": false, "/p/src/main.go": false, "/p/openapi.yaml": false, "/p/locales/de.json": false, "/p/yarn.lock": false,
	} {
		if configures(file) != want {
			t.Errorf("%s: not %v", file, want)
		}
	}
}

func TestOfVariable(t *testing.T) {
	for line, want := range map[string]bool{
		"env: {CACHE_URL: 'https://c.boost.app'}": true,
		"ENV PROXY=https://c.boost.app":           true,
		"- run: curl https://c.boost.app/x":       false,
		"see: https://c.boost.app":                false,
	} {
		if ofVariable(line, "c.boost.app") != want {
			t.Errorf("%q: not %v", line, want)
		}
	}
}

func TestHands(t *testing.T) {
	for tool, want := range map[string]bool{
		"mcp__mail__send": true, "mcp__slack__files_upload": true, "mcp__docs__read_document": false, "mcp__fs__write_file": false, "Write": false,
	} {
		if hands(tool) != want {
			t.Errorf("%s: not %v", tool, want)
		}
	}
}

func TestOwns(t *testing.T) {
	if !owns("/p/.github/CODEOWNERS") || owns("/p/main.go") || !slices.Equal(strings.Fields(without("* @ann", "* @ann\n/src @tom")), []string{"/src", "@tom"}) {
		t.Error("owners are told wrong")
	}
}

func TestNamedText(t *testing.T) {
	for line, want := range map[string]string{
		"#define WIFI_PASSWORD \"korkeichen-9\"":                       "WIFI_PASSWORD=korkeichen-9",
		"const MQTT_TOKEN: &str = \"korkeichen-9\";":                   "MQTT_TOKEN=korkeichen-9",
		"static const char api_key[] = \"korkeichen-9\"; // see \"x\"": "api_key=korkeichen-9",
		"#define WIFI_PASSWORD \"short\"":                              "=",
		"#define WIFI_PASSWORD \"open":                                 "=",
	} {
		if name, value := namedText(line); name+"="+value != want {
			t.Errorf("%s: %s=%s, not %s", line, name, value, want)
		}
	}
}
