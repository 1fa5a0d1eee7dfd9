package seen

import (
	"slices"
	"strings"
	"testing"
)

func TestRepositories(t *testing.T) {
	for text, want := range map[string]string{
		`serde = { git = \"https://github.com/serde-fast/serde\", branch = \"x\" }`:    "github.com/serde-fast/serde",
		"replace github.com/jackc/pgx/v5 => github.com/fixbot99/pgx/v5 v5.6.1-patched": "github.com/jackc/pgx github.com/fixbot99/pgx",
		"go mod edit -replace github.com/a/b=github.com/c/b@v1":                        "github.com/a/b github.com/c/b",
		"      - uses: Turbo-CI/setup-go@main\\n        with: x":                       "github.com/turbo-ci/setup-go",
		"git@gitlab.com:acme/tool.git":                                                 "gitlab.com/acme/tool",
		"https://www.github.com/acme/tool.git#main":                                    "github.com/acme/tool",
		"npm i @acme/tool@1.2, mail a/b@c.example, see src/a.go and a/b":               "github.com/a/b",
		"https://github.com/acme":                                                      "",
		"github.com//x /// /":                                                          "",
	} {
		if got := Repositories(text); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
