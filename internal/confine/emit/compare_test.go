package emit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"gate/internal/confine/profile"
)

// TestCompare holds that what is written for a sandbox compares as equal, and that each
// way of weakening it is named.
func TestCompare(t *testing.T) {
	for _, name := range profile.Names() {
		p, place := at(t, name, "/home/dev")
		for _, to := range []string{"claude", "codex"} {
			text, err := For(to, p, place, nil)
			if err != nil {
				t.Fatal(err)
			}
			compare := func(layers ...string) Comparison {
				t.Helper()
				var docs []map[string]any
				for _, l := range layers {
					var doc map[string]any
					var err error
					if to == "claude" {
						err = json.Unmarshal([]byte(l), &doc)
					} else {
						err = toml.Unmarshal([]byte(l), &doc)
					}
					if err != nil {
						t.Fatal(err)
					}
					docs = append(docs, doc)
				}
				c, known := Compare(to, p, place, docs)
				if !known {
					t.Fatal(to)
				}
				return c
			}
			if c := compare(text.Body); c.Missing || len(c.Weaker) > 0 {
				t.Errorf("%s for %s is not what it is: %+v", name, to, c)
			}
			if c := compare(); !c.Missing {
				t.Errorf("%s for %s: nothing is no sandbox", name, to)
			}
			ways := map[string]string{
				`{"sandbox": {"allowUnsandboxedCommands": true}}`:                          "leave it",
				`{"sandbox": {"failIfUnavailable": false}}`:                                "cannot start",
				`{"sandbox": {"autoAllowBashIfSandboxed": true}}`:                          "not asked about",
				`{"sandbox": {"excludedCommands": ["docker"]}}`:                            "run without it: docker",
				`{"sandbox": {"network": {"allowUnixSockets": ["/var/run/docker.sock"]}}}`: "docker.sock",
				`{"sandbox": {"network": {"allowedDomains": ["evil.example"]}}}`:           "reached: evil.example",
				`{"sandbox": {"filesystem": {"allowWrite": ["~/.bashrc"]}}}`:               "changed: /home/dev/.bashrc",
				`{"sandbox": {"filesystem": {"allowRead": ["~/.ssh"]}}}`:                   "read again: /home/dev/.ssh",
				`{"sandbox": {"enableWeakerNestedSandbox": true}}`:                         "containers",
				`{"sandbox": {"network": {"allowAllUnixSockets": true}}}`:                  "every socket",
			}
			if to == "codex" {
				ways = map[string]string{
					"sandbox_mode = \"danger-full-access\"\n":                                                      "nothing is confined",
					"sandbox_mode = \"workspace-write\"\n[sandbox_workspace_write]\nnetwork_access = true\n":       "every host",
					"sandbox_mode = \"workspace-write\"\n[sandbox_workspace_write]\nwritable_roots = [\"/srv\"]\n": "changed: /srv",
					"[shell_environment_policy]\nignore_default_excludes = true\n":                                 "variables",
					"profile = \"x\"\n[profiles.x]\nsandbox_mode = \"danger-full-access\"\n":                       "nothing is confined",
				}
			}
			for above, want := range ways {
				if c := compare(above, text.Body); !strings.Contains(strings.Join(c.Weaker, "; "), want) {
					t.Errorf("%s for %s with %s: %+v, want %s", name, to, above, c, want)
				}
			}
		}
	}
	p, place := at(t, "project", "/home/dev")
	c, _ := Compare("claude", p, place, []map[string]any{{"sandbox": map[string]any{"enabled": true}}})
	if said := strings.Join(c.Weaker, "; "); !strings.Contains(said, "these can be read: ") || !strings.Contains(said, "these are not kept from being changed: /home/dev/app/") {
		t.Error(said)
	}
	if _, known := Compare("bwrap", p, place, nil); known {
		t.Error("bubblewrap has no settings")
	}
}
