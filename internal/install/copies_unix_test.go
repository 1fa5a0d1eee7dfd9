//go:build unix

package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gate/internal/install"
)

// copying is a machine whose gate was started from npx's cache.
func copying(t *testing.T) install.Machine {
	m := machine(t)
	cache := filepath.Join(m.Home, ".npm", "_npx", "0123", "node_modules", "gate-linux-x64", "bin")
	for _, name := range []string{"gate", "gate-hook", "gate-run", "gate-server"} {
		write(t, filepath.Join(cache, name), "#!/bin/sh\necho "+name+" 1\n")
	}
	m.Copies = filepath.Join(m.Home, ".local", "share", "gate", "programs")
	m.Source = filepath.Join(cache, "gate")
	m.Program = filepath.Join(m.Copies, "gate")
	m.Command = []string{filepath.Join(m.Copies, "gate-hook")}
	return m
}

// TestMakeCopies copies programs, brings the copies up to date while one of them is
// open, and leaves what is the same alone.
func TestMakeCopies(t *testing.T) {
	m := copying(t)
	written, err := m.MakeCopies()
	must(t, err)
	if len(written) != 4 {
		t.Errorf("written: %v", written)
	}
	for _, name := range []string{"gate", "gate-hook", "gate-run", "gate-server"} {
		info, err := os.Stat(filepath.Join(m.Copies, name))
		must(t, err)
		if info.Mode().Perm() != 0o755 || read(t, filepath.Join(m.Copies, name)) != "#!/bin/sh\necho "+name+" 1\n" {
			t.Errorf("%s: mode %#o", name, info.Mode().Perm())
		}
	}
	if info, err := os.Stat(m.Copies); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory: %v, %v", info.Mode(), err)
	}
	if written, err := m.MakeCopies(); err != nil || written != nil || m.Outdated() {
		t.Errorf("the second time: %v, %v", written, err)
	}

	running, err := os.Open(m.Command[0])
	must(t, err)
	defer running.Close()
	write(t, filepath.Join(filepath.Dir(m.Source), "gate-hook"), "#!/bin/sh\necho gate-hook 2\n")
	if !m.Outdated() {
		t.Error("an upgrade is not noticed")
	}
	if written, err := m.MakeCopies(); err != nil || len(written) != 1 || written[0] != m.Command[0] {
		t.Errorf("an upgrade: %v, %v", written, err)
	}
	old := make([]byte, 100)
	n, _ := running.Read(old)
	if got := string(old[:n]); !strings.Contains(got, "gate-hook 1") || !strings.Contains(read(t, m.Command[0]), "gate-hook 2") {
		t.Errorf("the one that runs is %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(m.Copies, ".draft-*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// TestMakeCopiesRefuses copies nothing where others could change the copies, where
// nothing can be written, and where one program would be of another build.
func TestMakeCopiesRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(install.Machine) error
		want  string
	}{
		"others may write": {func(m install.Machine) error {
			return os.Chmod(filepath.Dir(filepath.Dir(m.Copies)), 0o777)
		}, "everybody may write it"},
		"no directory": {func(m install.Machine) error {
			return os.WriteFile(filepath.Dir(m.Copies), nil, 0o600)
		}, "cannot be copied"},
		"one is missing": {func(m install.Machine) error {
			must(t, os.MkdirAll(m.Copies, 0o700))
			must(t, os.WriteFile(filepath.Join(m.Copies, "gate-server"), nil, 0o755))
			return os.Remove(filepath.Join(filepath.Dir(m.Source), "gate-server"))
		}, "another build"},
	} {
		m := copying(t)
		must(t, os.MkdirAll(filepath.Dir(filepath.Dir(m.Copies)), 0o700))
		must(t, c.spoil(m))
		if written, err := m.MakeCopies(); err == nil || !strings.Contains(err.Error(), c.want) || written != nil {
			t.Errorf("%s: %v, %v", name, written, err)
		}
		if left, _ := filepath.Glob(filepath.Join(m.Copies, "*gate*")); len(left) > 1 {
			t.Errorf("%s: %v", name, left)
		}
		if left, _ := filepath.Glob(filepath.Join(m.Copies, ".draft-*")); left != nil {
			t.Errorf("%s leaves behind %v", name, left)
		}
	}
}

// TestCopiesNotManaged holds that no copy in one account's home guards a machine.
func TestCopiesNotManaged(t *testing.T) {
	m := copying(t)
	if _, err := m.Install(request(install.User)); err != nil {
		t.Error(err)
	}
	if _, err := m.Install(request(install.Managed)); err == nil || !strings.Contains(err.Error(), "one account's own") {
		t.Error(err)
	}
}

// TestStarted finds the link that an upgrade leaves where it is, and says of entries
// that were written otherwise what becomes of them.
func TestStarted(t *testing.T) {
	m := machine(t)
	brew := filepath.Join(m.Root, "opt", "homebrew")
	cellar := filepath.Join(brew, "Cellar", "gate", "1.2.3", "bin")
	for _, name := range []string{"gate", "gate-hook"} {
		write(t, filepath.Join(cellar, name), "#!/bin/sh\n")
		must(t, os.Chmod(filepath.Join(cellar, name), 0o755))
		must(t, os.MkdirAll(filepath.Join(brew, "bin"), 0o755))
		must(t, os.Symlink(filepath.Join("..", "Cellar", "gate", "1.2.3", "bin", name), filepath.Join(brew, "bin", name)))
	}
	m.Program, m.Command = filepath.Join(cellar, "gate"), []string{filepath.Join(cellar, "gate-hook")}
	for _, agent := range []string{"claude", "gemini"} {
		doInstall(t, m, install.Request{Agent: agent, Scope: install.User})
	}
	versioned := func() (n int, fixable bool) {
		for _, f := range m.Doctor().Findings {
			if f.ID == "gate.versioned" {
				n, fixable = n+1, f.Fixable && f.Remedy == "gate doctor --fix"
			}
		}
		return n, fixable
	}
	if n, fixable := versioned(); n != 2 || fixable {
		t.Errorf("%d findings, fixable %v", n, fixable)
	}
	w, err := m.Started(m.Program).Written()
	must(t, err)
	if want := filepath.Join(brew, "bin", "gate"); w.Program != want {
		t.Fatalf("%+v, want %s", w, want)
	}
	m.Program, m.Command = w.Program, []string{w.Program + "-hook"}
	if n, fixable := versioned(); n != 2 || !fixable {
		t.Errorf("with a link: %d findings, fixable %v", n, fixable)
	}
	plans, err := m.Doctor().Fix()
	must(t, err)
	for i := range plans {
		must(t, plans[i].Apply())
	}
	if n, _ := versioned(); n != 0 {
		t.Errorf("after the repair: %d findings", n)
	}
	for _, s := range m.Status().Agents {
		if !s.Guarded {
			t.Errorf("%s is not guarded: %+v", s.Agent, s.Findings)
		}
	}

	must(t, os.Chmod(filepath.Join(brew, "bin"), 0o777))
	if w, err := m.Started(filepath.Join(cellar, "gate")).Written(); err != nil || !strings.HasPrefix(w.Program, cellar) || !strings.Contains(w.Note, "everybody may write it") {
		t.Errorf("a directory of everybody's: %+v, %v", w, err)
	}
	for _, s := range m.Status().Agents {
		if s.Guarded {
			t.Errorf("%s is guarded through a link that everybody can change", s.Agent)
		}
	}
}
