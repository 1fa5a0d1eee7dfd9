package install_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pelletier/go-toml/v2"

	"gate/internal/install"
)

const codexConfig = "home/.codex/config.toml"

// trusting is what installs gate for Codex and trusts it.
func trusting() install.Request {
	return install.Request{Agent: "codex", Scope: install.User, TrustHooks: true}
}

// TestCodexHash holds the trust that gate writes against the keys and hashes that
// Codex 0.169.0 reported for the same file (app-server, hooks/list).
func TestCodexHash(t *testing.T) {
	sys := newMemory()
	sys.files["home/.codex/hooks.json"] = &fstest.MapFile{Data: []byte(read(t, filepath.Join("testdata", "codex", "hooks.json"))), Mode: 0o600}
	m := sys.machine()
	m.StateDir = "/home/.local/state é<&>/gate"
	plan, err := m.Install(trusting())
	must(t, err)
	must(t, plan.Apply())
	if dir := os.Getenv("CODEX_SAMPLE"); dir != "" { // to ask a Codex
		must(t, os.WriteFile(filepath.Join(dir, "hooks.json"), sys.files["home/.codex/hooks.json"].Data, 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "config.toml"), sys.files[codexConfig].Data, 0o600))
	}
	var doc struct {
		Hooks struct {
			State map[string]struct {
				Hash    string `toml:"trusted_hash"`
				Enabled bool
			}
		}
	}
	must(t, toml.Unmarshal(sys.files[codexConfig].Data, &doc))
	var got []string
	for key, record := range doc.Hooks.State {
		if !record.Enabled {
			t.Errorf("%s is off", key)
		}
		got = append(got, key+" "+record.Hash)
	}
	slices.Sort(got)
	want := strings.Split(strings.TrimSpace(read(t, filepath.Join("testdata", "codex", "trusted.txt"))), "\n")
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestCodexTrustReturns holds that trust is taken back to the byte, whatever the
// file was like, and that a second time changes nothing.
func TestCodexTrustReturns(t *testing.T) {
	for _, before := range []string{
		"-", "", "\n", "model = \"x\"", "model = \"x\" # mine\r\n\r\n", "\ufeffmodel = \"x\"\n\n\n", "[hooks.state]\n", "[a]\nb = 1 # by gate install\n",
		"[hooks.state.\"/other/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:00\"\nenabled = true\n", "[[x]]\ny = {z = [\n1, # one\n]}\n[[x]]\n",
	} {
		sys := newMemory()
		if before != "-" {
			sys.files[codexConfig] = &fstest.MapFile{Data: []byte(before), Mode: 0o600}
		}
		m := sys.machine()
		plan, err := m.Install(trusting())
		must(t, err)
		must(t, plan.Apply())
		if again, err := m.Install(trusting()); err != nil || !again.Empty() {
			t.Errorf("%q: a second time: %v\n%s", before, err, again.Diff())
		}
		if s := statusOf(t, m, "codex"); !s.Guards[0].InForce {
			t.Errorf("%q: not in force: %+v", before, s.Findings)
		}
		undo, err := m.Uninstall(trusting())
		must(t, err)
		must(t, undo.Apply())
		after := "-"
		if f := sys.files[codexConfig]; f != nil {
			after = string(f.Data)
		}
		if after != before || sys.files["home/.codex/hooks.json"] != nil {
			t.Errorf("%q became %q", before, after)
		}
	}
}

// TestCodexTrustKeeps holds what happens to a record that others touched.
func TestCodexTrustKeeps(t *testing.T) {
	installed := func(t *testing.T) (*memory, install.Machine) {
		sys := newMemory()
		m := sys.machine()
		plan, err := m.Install(trusting())
		must(t, err)
		must(t, plan.Apply())
		return sys, m
	}
	change := func(sys *memory, from, to string) {
		text := sys.files[codexConfig].Data
		if !bytes.Contains(text, []byte(from)) {
			t.Fatalf("no %q in\n%s", from, text)
		}
		sys.files[codexConfig].Data = bytes.Replace(text, []byte(from), []byte(to), 1)
	}
	state := func(m install.Machine) string {
		for _, f := range statusOf(t, m, "codex").Findings {
			if f.ID == "gate.untrusted" {
				return f.Message
			}
		}
		return ""
	}
	// Codex, or a person, has a setting behind gate's tables and one within.
	sys, m := installed(t)
	sys.files[codexConfig].Data = append(sys.files[codexConfig].Data, "\n[tui]\ntheme = \"dark\"\n"...)
	change(sys, "enabled = true # by gate install\n", "enabled = true # by gate install\nnote = 1\n")
	undo, err := m.Uninstall(trusting())
	must(t, err)
	must(t, undo.Apply())
	text := string(sys.files[codexConfig].Data)
	if err := toml.Unmarshal([]byte(text), new(map[string]any)); err != nil || !strings.Contains(text, "note = 1") || !strings.HasSuffix(text, "\n[tui]\ntheme = \"dark\"\n") {
		t.Errorf("%v: what is left:\n%s", err, text)
	}
	// A person switched the hook off, or trusted it as it was once: gate does not overrule that.
	for from, want := range map[string]string{"enabled = true # by gate install": "switched off in Codex", "sha256:": "as it was before"} {
		sys, m := installed(t)
		change(sys, from, map[bool]string{true: "enabled = false", false: "sha256:0"}[strings.HasPrefix(from, "enabled")])
		change(sys, "] # by gate install", "]")
		if got := state(m); !strings.Contains(got, want) {
			t.Errorf("%s: %q", want, got)
		}
		if _, err := m.Install(trusting()); err == nil || !strings.Contains(err.Error(), "a person decided") {
			t.Errorf("%s: %v", want, err)
		}
	}
	// What is not known as TOML, or asks for no trust, is refused.
	sys, m = installed(t)
	sys.files[codexConfig].Data = []byte("[[[")
	if _, err := m.Install(trusting()); err == nil {
		t.Error("broken TOML was taken")
	}
	for _, r := range []install.Request{{Agent: "codex", Scope: install.Managed, TrustHooks: true}, {Agent: "gemini", Scope: install.User, TrustHooks: true}} {
		if _, err := m.Install(r); err == nil || !strings.Contains(err.Error(), "asks for no trust") {
			t.Errorf("%s, %s: %v", r.Agent, r.Scope, err)
		}
	}
}
