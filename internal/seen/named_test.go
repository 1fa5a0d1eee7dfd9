package seen

import (
	"slices"
	"strings"
	"testing"
)

func TestNamesIn(t *testing.T) {
	for line, want := range map[string]string{
		"conf/app.yml:12:db_password: x":        "conf/app.yml",
		"./conf/app.yml:db_password: x":         "./conf/app.yml",
		"conf/app-2-x.yml-12-db_password = x":   "conf/app conf/app-2-x.yml",
		"==> conf/app.yml <==":                  "conf/app.yml",
		"conf/app.yml":                          "conf/app.yml",
		"# conf/app.yml #":                      "conf/app.yml",
		"12:db_password: x":                     "",
		"db_password: Kx93":                     "",
		"":                                      "",
		strings.Repeat("a/", 300) + "b.yml:1:x": "",
	} {
		if got := namesIn(line); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("namesIn(%q) = %q, want %q", line, got, want)
		}
	}
}
