package release_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"gate/internal/release"
)

const policy = `# METADATA
# title: Push
# custom:
#   gate:
#     events: [PreToolUse]
package acme.push

deny contains "pushes by force" if {
	some push in input.facts.effects
	push.kind == "git.push"
	push.force
`

func Example() {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	write := func(version int, more string) string {
		at := filepath.Join(dir, fmt.Sprint(version))
		manifest := fmt.Sprintf(`{"roots": ["acme"], "rego_version": 1, "metadata": {"gate": {"name": "acme", "version": %d}}}`, version)
		for name, text := range map[string]string{".manifest": manifest, "acme/push.rego": policy + more + "}\n"} {
			file := filepath.Join(at, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				log.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				log.Fatal(err)
			}
		}
		return at
	}
	old, err := release.Read(write(1, ""), nil)
	if err != nil {
		log.Fatal(err)
	}
	now, err := release.Read(write(2, "\tnot push.delete\n"), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range release.Compare(old, now) {
		fmt.Printf("%s %s %s: %s\n", d.Kind, d.Name, d.Direction, d.Detail)
	}
	// Output:
	// rule acme.push.deny weaker: a definition wants more than before
}
