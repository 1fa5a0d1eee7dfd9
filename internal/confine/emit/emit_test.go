package emit

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"gate/internal/confine/profile"
)

func at(t *testing.T, name, home string) (profile.Profile, profile.Place) {
	t.Helper()
	place := profile.Place{Home: home, Project: home + "/app"}
	p, ok := profile.Builtin(name)
	if !ok {
		t.Fatal(name)
	}
	p, err := p.At(place)
	if err != nil {
		t.Fatal(err)
	}
	return p, place
}

// TestFor holds that each text is one of its language, has what the profile denies, and
// names what it lacks.
func TestFor(t *testing.T) {
	for _, name := range profile.Names() {
		p, place := at(t, name, "/home/de v'x")
		for _, to := range Names() {
			text, err := For(to, p, place, func(string) (there, dir bool) { return true, true })
			if err != nil || text.Body == "" || len(text.Lacks) == 0 {
				t.Fatalf("%s for %s: %v", name, to, err)
			}
			lacks := strings.Join(text.Lacks, "\n")
			if name == "project-net" != strings.Contains(lacks, "hosts") {
				t.Errorf("%s for %s: hosts: %s", name, to, lacks)
			}
			if name != "look" && !strings.Contains(lacks, "caches") {
				t.Errorf("%s for %s: caches: %s", name, to, lacks)
			}
			switch to {
			case "claude":
				var doc struct {
					Sandbox struct {
						Enabled, FailIfUnavailable, AllowUnsandboxedCommands bool
						Filesystem                                           struct{ AllowWrite, DenyWrite, DenyRead []string }
						Network                                              struct{ AllowedDomains []string }
					}
				}
				if err := json.Unmarshal([]byte(text.Body), &doc); err != nil {
					t.Fatal(err)
				}
				s := doc.Sandbox
				if !s.Enabled || !s.FailIfUnavailable || s.AllowUnsandboxedCommands || !slices.Contains(s.Filesystem.DenyRead, place.Home+"/.ssh") {
					t.Errorf("%s: %+v", name, s)
				}
				if writes := slices.Contains(s.Filesystem.AllowWrite, place.Project); writes != (name != "look") ||
					writes != slices.Contains(s.Filesystem.DenyWrite, place.Project+"/.git/hooks") {
					t.Errorf("%s: %+v", name, s.Filesystem)
				}
				if (name == "project-net") != slices.Contains(s.Network.AllowedDomains, "pypi.org") {
					t.Errorf("%s: %+v", name, s.Network)
				}
			case "codex":
				var doc map[string]any
				if err := toml.Unmarshal([]byte(text.Body), &doc); err != nil {
					t.Fatalf("%v\n%s", err, text.Body)
				}
				if want := map[bool]string{true: "read-only", false: "workspace-write"}[name == "look"]; doc["sandbox_mode"] != want {
					t.Errorf("%s: %v", name, doc)
				}
			case "seatbelt":
				if !strings.HasPrefix(text.Body, "(version 1)\n(deny default)\n") || strings.Count(text.Body, "(") != strings.Count(text.Body, ")") {
					t.Errorf("%s:\n%s", name, text.Body)
				}
				if !strings.Contains(lacks, "nobody has tried it") {
					t.Error("it is not called untried")
				}
			}
		}
	}
	if _, err := For("moon", profile.Profile{}, profile.Place{}, nil); err == nil || !strings.Contains(err.Error(), "claude, codex, bwrap, seatbelt") {
		t.Error(err)
	}
}

// TestBwrap holds that the script runs a program by the profile, where bubblewrap is.
func TestBwrap(t *testing.T) {
	if err := exec.Command("bwrap", "--unshare-all", "--ro-bind", "/", "/", "true").Run(); err != nil {
		t.Skip("bubblewrap cannot run here: ", err)
	}
	home := t.TempDir()
	for _, name := range []string{".ssh/id_rsa", "notes/x", "app/.git/hooks/pre-commit", "app/main.go"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte("canary"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	look := func(name string) (there, dir bool) {
		info, err := os.Stat(name)
		return err == nil, err == nil && info.IsDir()
	}
	for name, writes := range map[string]bool{"project": true, "look": false} {
		p, place := at(t, name, home)
		text, err := For("bwrap", p, place, look)
		if err != nil {
			t.Fatal(err)
		}
		script := filepath.Join(t.TempDir(), "run.sh")
		if err := os.WriteFile(script, []byte(text.Body), 0o700); err != nil {
			t.Fatal(err)
		}
		for line, works := range map[string]bool{
			"cat main.go": true, "cat ~/.ssh/id_rsa": false, "cat ~/notes/x": false, "touch made": writes, "echo x >.git/hooks/pre-commit": false, "touch /usr/made": false,
			"exec 3<>/dev/tcp/127.0.0.1/1": false,
		} {
			cmd := exec.Command("/bin/sh", script, "bash", "-c", line)
			cmd.Env = append(os.Environ(), "HOME="+home)
			if out, err := cmd.CombinedOutput(); (err == nil) != works {
				t.Errorf("%s: %s: %v %s", name, line, err, out)
			}
		}
	}
}
