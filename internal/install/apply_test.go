package install_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gate/internal/install"
)

// A dying system ends the process at its nth write, or only fails there.
type dying struct {
	install.System
	left *int
	end  bool
}

var errDied = errors.New("died")

// step counts a write; true means that this one does not happen.
func (d dying) step() bool {
	if *d.left--; *d.left >= 0 {
		return false
	}
	if d.end {
		panic(errDied)
	}
	return *d.left == -1 // later ones, of the clean-up, work
}

func (d dying) Mkdir(name string, mode fs.FileMode) error {
	if d.step() {
		return errDied
	}
	return d.System.Mkdir(name, mode)
}

func (d dying) Create(name string) (install.File, error) {
	if d.step() {
		return nil, errDied
	}
	f, err := d.System.Create(name)
	return dyingFile{f, d}, err
}

func (d dying) Rename(from, to string) error {
	if d.step() {
		return errDied
	}
	return d.System.Rename(from, to)
}

func (d dying) Remove(name string) error {
	if d.step() {
		return errDied
	}
	return d.System.Remove(name)
}

func (d dying) SyncDir(name string) error {
	if d.step() {
		return errDied
	}
	return d.System.SyncDir(name)
}

type dyingFile struct {
	install.File
	d dying
}

// Write writes a half and dies, or writes all.
func (f dyingFile) Write(p []byte) (int, error) {
	if *f.d.left <= 0 {
		_, _ = f.File.Write(p[:len(p)/2])
	}
	if f.d.step() {
		return len(p) / 2, errDied
	}
	return f.File.Write(p)
}

func (f dyingFile) Chmod(mode fs.FileMode) error {
	if f.d.step() {
		return errDied
	}
	return f.File.Chmod(mode)
}

func (f dyingFile) Sync() error {
	if f.d.step() {
		return errDied
	}
	return f.File.Sync()
}

// attempt applies a plan and survives its end.
func attempt(plan install.Plan) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	return plan.Apply()
}

// TestCrash ends installation and uninstallation at every write: what is there
// is the old file or the new one, and the next attempt works.
func TestCrash(t *testing.T) {
	const old = "{\n  \"model\": \"opus\"\n}\n"
	for _, end := range []bool{true, false} {
		for _, before := range []string{old, "absent"} {
			reached := map[bool]bool{}
			for n := 0; n < 12; n++ {
				m := machine(t)
				if before == old {
					write(t, userSettings(m), old)
				}
				left := n
				m.System = dying{install.Host{}, &left, end}
				plan, err := m.Install(request(install.User))
				must(t, err)
				wanted := string(plan.Changes[0].After)
				died := attempt(plan)
				now := read(t, userSettings(m))
				if now != before && now != wanted {
					t.Fatalf("step %d: neither old nor new:\n%s", n, now)
				}
				if died == nil && now != wanted {
					t.Fatalf("step %d: not applied without an error", n)
				}
				if names := listing(t, filepath.Dir(userSettings(m))); !end && now == before && len(names) > 1 {
					t.Errorf("step %d: a failure leaves %v behind", n, names)
				}
				reached[now == wanted] = true

				m.System = nil
				doInstall(t, m, request(install.User))
				if !guard(t, m, install.User).Complete {
					t.Fatalf("step %d: the next installation is not complete", n)
				}
				left = n % 3
				m.System = dying{install.Host{}, &left, end}
				undo, err := m.Uninstall(request(install.User))
				must(t, err)
				installed := read(t, userSettings(m))
				died = attempt(undo)
				if now := read(t, userSettings(m)); now != before && now != installed {
					t.Fatalf("step %d: uninstallation, %v: neither old nor new:\n%s", n, died, now)
				}
			}
			if len(reached) != 2 {
				t.Errorf("%d states were reached, want the old and the new one", len(reached))
			}
		}
	}
}

// TestChangedMeanwhile leaves a file alone that is not what was planned for.
func TestChangedMeanwhile(t *testing.T) {
	for _, before := range []string{"absent", "{}\n"} {
		for _, s := range []string{"install", "uninstall"} {
			m := machine(t)
			if before != "absent" {
				write(t, userSettings(m), before)
			}
			plan, err := m.Install(request(install.User))
			if s == "uninstall" {
				must(t, plan.Apply())
				plan, err = m.Uninstall(request(install.User))
			}
			must(t, err)
			write(t, userSettings(m), `{"mine": true}`)
			if err := plan.Apply(); err == nil || !strings.Contains(err.Error(), "plan again") {
				t.Errorf("%s over %s: %v", s, before, err)
			}
			if got := read(t, userSettings(m)); got != `{"mine": true}` {
				t.Errorf("%s over %s: the file is %s", s, before, got)
			}
			if names := listing(t, filepath.Dir(userSettings(m))); len(names) != 1 {
				t.Errorf("%s over %s: left behind: %v", s, before, names)
			}
		}
	}
}

// TestLinks keeps links and refuses the ones that cross between what the agent
// may write and what it may not.
func TestLinks(t *testing.T) {
	m := machine(t)
	dotfiles := filepath.Join(m.Home, "dotfiles", "claude.json")
	write(t, dotfiles, "{}\n")
	must(t, os.MkdirAll(filepath.Dir(userSettings(m)), 0o755))
	must(t, os.Symlink("../dotfiles/claude.json", userSettings(m)))
	doInstall(t, m, request(install.User))
	if info, err := os.Lstat(userSettings(m)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if !strings.Contains(read(t, dotfiles), "PreToolUse") || !guard(t, m, install.User).Complete {
		t.Error("what the link leads to was not edited")
	}
	doUninstall(t, m, request(install.User))
	if got := read(t, dotfiles); got != "{}\n" {
		t.Errorf("uninstallation leaves %q", got)
	}

	for _, c := range []struct {
		scope        install.Scope
		link, target string
		want         string
	}{
		{install.User, userSettings(m), filepath.Join(m.Project, "settings.json"), "link into the project"},
		{install.User, filepath.Dir(userSettings(m)), filepath.Join(m.Project, ".claude"), "link into the project"},
		{install.Project, filepath.Join(m.Project, ".claude", "settings.json"), dotfiles, "link out of the project"},
		{install.Local, filepath.Join(m.Project, ".claude"), filepath.Join(m.Home, "dotfiles"), "link out of the project"},
		{install.Managed, filepath.Join(m.Root, "etc", "claude-code"), filepath.Join(m.Home, "dotfiles"), "symbolic link"},
		{install.User, userSettings(m), userSettings(m), "too many symbolic links"},
	} {
		must(t, os.RemoveAll(c.link))
		must(t, os.MkdirAll(filepath.Dir(c.link), 0o755))
		must(t, os.Symlink(c.target, c.link))
		if _, err := m.Install(request(c.scope)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s over a link to %s: %v, want %q", c.scope, c.target, err, c.want)
		}
		must(t, os.Remove(c.link))
	}
}

// TestOwner keeps a file's owner, which only root can try.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("not root")
	}
	m := machine(t)
	write(t, userSettings(m), "{}")
	must(t, os.Chown(userSettings(m), 12345, 23456))
	doInstall(t, m, request(install.User))
	if uid, gid := owner(t, userSettings(m)); uid != 12345 || gid != 23456 {
		t.Errorf("the file belongs to %d, %d now", uid, gid)
	}
	found := false
	for _, f := range m.Doctor().Findings {
		found = found || f.ID == "settings.owner" && !f.Fixable && strings.Contains(f.Message, "belongs to user 12345")
	}
	if !found {
		t.Errorf("no finding about the owner: %+v", m.Doctor().Findings)
	}
	must(t, os.MkdirAll(filepath.Join(m.Root, "etc", "claude-code"), 0o755))
	must(t, os.Chown(filepath.Join(m.Root, "etc", "claude-code"), 12345, 0))
	if _, err := m.Install(request(install.Managed)); err == nil || !strings.Contains(err.Error(), "administrator's alone") {
		t.Errorf("managed directory of somebody else: %v", err)
	}
}
