package install_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPage holds that docs/repair.md explains every finding there is.
func TestPage(t *testing.T) {
	page := read(t, "../../docs/repair.md")
	id := regexp.MustCompile(`"((?:gate|settings|hooks|managed|permissions|mcp|env|client)\.[a-z_]+)"`)
	files, err := filepath.Glob("*.go")
	must(t, err)
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for _, m := range id.FindAllSubmatch(text, -1) {
			if name := string(m[1]); !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(name, ".json") && name != "settings.d" {
				seen[name] = true
			}
		}
	}
	for name := range seen {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page says nothing about %s", name)
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d findings were found in the code", len(seen))
	}
}
