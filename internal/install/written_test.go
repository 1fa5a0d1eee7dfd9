package install

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWritten holds which path entries name, for a program in each of the places that
// package managers and others use.
func TestWritten(t *testing.T) {
	const (
		home   = "/home/dev"
		copies = "/home/dev/.local/share/gate/programs"
		copied = copies + "/gate"
	)
	link := func(path, real string) Link {
		return Link{Path: path, Real: real, Hook: filepath.Join(filepath.Dir(real), "gate-hook")}
	}
	for _, c := range []struct {
		name, real string
		links      []Link
		change     func(*Start)
		want       string // "" for an error
		copy       bool
		note       string // part of it; "" for none
	}{
		{"a package", "/usr/bin/gate", nil, nil, "/usr/bin/gate", false, ""},
		{"by hand", "/home/dev/bin/gate", nil, nil, "/home/dev/bin/gate", false, ""},
		{"go install", "/home/dev/go/bin/gate", nil, nil, "/home/dev/go/bin/gate", false, ""},
		{"npm for the machine", "/usr/local/lib/node_modules/@acme/gate/node_modules/@acme/gate-linux-x64/bin/gate", nil, nil, copied, true, "loses its programs during each upgrade"},
		{"npm on Windows", "C:/Users/dev/AppData/Roaming/npm/node_modules/@acme/gate/node_modules/@acme/gate-win32-x64/bin/gate.exe", nil, nil, copied + ".exe", true, "loses its programs"},
		{"npm below nvm", "/home/dev/.nvm/versions/node/v22.1.0/lib/node_modules/@acme/gate/node_modules/@acme/gate-linux-x64/bin/gate", nil, nil, copied, true, "loses its programs"},
		{"yarn for the account", "/home/dev/.config/yarn/global/node_modules/@acme/gate-linux-x64/bin/gate", nil, nil, copied, true, "loses its programs"},
		{"bun for the account", "/home/dev/.bun/install/global/node_modules/@acme/gate-linux-x64/bin/gate", nil, nil, copied, true, "loses its programs"},
		{"pnpm for the account", "/home/dev/.local/share/pnpm/store/v11/links/@acme/gate-linux-x64/1.0.0/abc/node_modules/@acme/gate-linux-x64/bin/gate", nil, nil, copied, true, "pnpm's store"},
		{"pnpm for the account, older", "/home/dev/.local/share/pnpm/global/5/.pnpm/@acme+gate-linux-x64@1.0.0/node_modules/@acme/gate-linux-x64/bin/gate", nil, nil, copied, true, "loses its programs"},
		{"stable, and a copy wanted", "/usr/bin/gate", nil, func(s *Start) { s.Copy = true }, copied, true, "run this again after each upgrade"},
		{"the copy itself", copied, nil, func(s *Start) { s.Copied, s.Copy = true, true }, copied, false, ""},

		{"go run", "/tmp/go-build123/b001/exe/gate", nil, nil, "", false, "build gate to a place of its own first"},
		{"go run from its cache", "/home/dev/.cache/go-build/ab/abc-d/gate", nil, nil, "", false, "build gate to a place of its own first"},
		{"npx", "/home/dev/.npm/_npx/0123abcd/node_modules/gate-linux-x64/bin/gate", nil, nil, copied, true, "npx's cache"},
		{"pnpm dlx", "/home/dev/.cache/pnpm/dlx/abc/1-2/node_modules/.pnpm/gate-linux-x64@1.2.3/node_modules/gate-linux-x64/bin/gate", nil, nil, copied, true, "pnpm dlx"},
		{"pnpm dlx of old", "/home/dev/.local/share/pnpm/dlx-77/node_modules/gate/bin/gate", nil, nil, copied, true, "pnpm dlx"},
		{"yarn dlx", "/tmp/xfs-abc/dlx-77/.yarn/unplugged/@acme-gate-linux-x64-npm-1.0.0-abc/node_modules/@acme/gate-linux-x64/bin/gate", nil, nil, copied, true, "yarn dlx"},
		{"bunx", "/home/dev/.bun/install/cache/.bunx-1000/@acme/gate@latest/node_modules/@acme/gate-linux-x64/bin/gate", nil, nil, copied, true, "the cache of bunx"},
		{"a project with yarn", "/home/dev/app/.yarn/unplugged/@acme-gate-linux-x64-npm-1.0.0-abc/node_modules/@acme/gate-linux-x64/bin/gate", nil, nil, copied, true, "a project's packages, where agents write"},
		{"bunx of old", "/tmp/bunx-1000-gate@latest/node_modules/gate/bin/gate", nil, nil, copied, true, "bunx"},
		{"an AppImage", "/tmp/.mount_gateAb12/usr/bin/gate", nil, nil, copied, true, "an AppImage"},
		{"unpacked in /tmp", "/tmp/gate-1.2.3/gate", nil, nil, copied, true, "temporary files"},
		{"a home in /tmp", "/tmp/home/bin/gate", nil, func(s *Start) { s.Home = "/tmp/home" }, "/tmp/home/bin/gate", false, ""},
		{"a project", "/home/dev/app/node_modules/gate-linux-x64/bin/gate", nil, nil, copied, true, "a project's node_modules, where agents write"},
		{"a project with pnpm", "/home/dev/app/node_modules/.pnpm/gate-linux-x64@1.2.3/node_modules/gate-linux-x64/bin/gate", nil, nil, copied, true, "a project's node_modules"},
		{"no place for copies", "/home/dev/.npm/_npx/0123abcd/node_modules/gate/bin/gate", nil,
			func(s *Start) { s.Copies, s.NoCopies = "", "this account has no home directory" }, "", false, "no home directory"},

		{"Homebrew", "/opt/homebrew/Cellar/gate/1.2.3/bin/gate", []Link{link("/opt/homebrew/bin/gate", "/opt/homebrew/Cellar/gate/1.2.3/bin/gate")}, nil,
			"/opt/homebrew/bin/gate", false, "survives an upgrade"},
		{"Homebrew, not linked", "/opt/homebrew/Cellar/gate/1.2.3/bin/gate", nil, nil, "/opt/homebrew/Cellar/gate/1.2.3/bin/gate", false, "an upgrade removes this program"},
		{"Homebrew, with a link to another", "/opt/homebrew/Cellar/gate/1.2.3/bin/gate", []Link{link("/opt/homebrew/bin/gate", "/opt/homebrew/Cellar/gate/1.3.0/bin/gate")}, nil,
			"/opt/homebrew/Cellar/gate/1.2.3/bin/gate", false, "an upgrade removes this program"},
		{"a link that others could change", "/opt/homebrew/Cellar/gate/1.2.3/bin/gate",
			[]Link{{"/opt/homebrew/bin/gate", "/opt/homebrew/Cellar/gate/1.2.3/bin/gate", "", "everybody may write /opt/homebrew/bin"}}, nil,
			"/opt/homebrew/Cellar/gate/1.2.3/bin/gate", false, "does not serve: everybody may write /opt/homebrew/bin"},
		{"the safe one of two links", "/nix/store/abc-gate-1.2.3/bin/gate",
			[]Link{{"/srv/bin/gate", "/nix/store/abc-gate-1.2.3/bin/gate", "", "everybody may write /srv/bin"}, link("/home/dev/.nix-profile/bin/gate", "/nix/store/abc-gate-1.2.3/bin/gate")}, nil,
			"/home/dev/.nix-profile/bin/gate", false, "survives"},
		{"the link with gate-hook beside", "/nix/store/abc-gate-1.2.3/bin/gate",
			[]Link{{"/usr/local/bin/gate", "/nix/store/abc-gate-1.2.3/bin/gate", "", ""}, link("/home/dev/.nix-profile/bin/gate", "/nix/store/abc-gate-1.2.3/bin/gate")}, nil,
			"/home/dev/.nix-profile/bin/gate", false, "survives"},
		{"a link in a project", "/nix/store/abc-gate-1.2.3/bin/gate", []Link{link("/home/dev/app/node_modules/.bin/gate", "/nix/store/abc-gate-1.2.3/bin/gate")}, nil,
			"/nix/store/abc-gate-1.2.3/bin/gate", false, "an upgrade removes"},
		{"Scoop", "C:/Users/dev/scoop/apps/gate/1.2/gate.exe", []Link{link("C:/Users/dev/scoop/apps/gate/current/gate.exe", "C:/Users/dev/scoop/apps/gate/1.2/gate.exe")}, nil,
			"C:/Users/dev/scoop/apps/gate/current/gate.exe", false, "survives"},
		{"mise", "/home/dev/.local/share/mise/installs/gate/1.2.3/bin/gate", []Link{
			link("/home/dev/.local/share/mise/installs/gate/1.2.3/bin/gate", "/home/dev/.local/share/mise/installs/gate/1.2.3/bin/gate"),
			link("/home/dev/.local/share/mise/installs/gate/latest/bin/gate", "/home/dev/.local/share/mise/installs/gate/1.2.3/bin/gate")}, nil,
			"/home/dev/.local/share/mise/installs/gate/latest/bin/gate", false, "survives"},
		{"asdf", "/home/dev/.asdf/installs/gate/1.2.3/bin/gate", nil, nil, "/home/dev/.asdf/installs/gate/1.2.3/bin/gate", false, "an upgrade removes"},
		{"asdf, and copies are there", "/home/dev/.asdf/installs/gate/1.2.3/bin/gate", nil, func(s *Start) { s.Copied = true }, copied, true, "a version of asdf's"},
		{"a snap", "/snap/gate/42/bin/gate", []Link{link("/snap/gate/current/bin/gate", "/snap/gate/42/bin/gate")}, nil, "/snap/gate/current/bin/gate", false, "survives"},
		{"the module cache", "/home/dev/go/pkg/mod/gate@v1.2.3/gate", nil, nil, "/home/dev/go/pkg/mod/gate@v1.2.3/gate", false, "Go's module cache"},
		{"a version's directory", "/opt/gate-1.2.3/gate", []Link{link("/usr/local/bin/gate", "/opt/gate-1.2.3/gate")}, nil, "/usr/local/bin/gate", false, "survives"},
		{"its version somewhere in a name", "/opt/acme-gate-v1.2.3-linux/gate", nil, nil, "/opt/acme-gate-v1.2.3-linux/gate", false, "the directory of one version"},
		{"a name with other digits", "/opt/acme-7/gate", nil, nil, "/opt/acme-7/gate", false, ""},
	} {
		s := Start{Program: c.real, Real: c.real, Links: c.links, Temp: []string{"/tmp"}, Home: home, Version: "v1.2.3", Copies: copies}
		if c.change != nil {
			c.change(&s)
		}
		w, err := s.Written()
		said := w.Note
		if err != nil {
			said = err.Error()
		}
		if (err != nil) != (c.want == "") || w.Program != c.want || w.Copy != c.copy || !strings.Contains(said, c.note) || (said == "") != (c.note == "") {
			t.Errorf("%s: %+v, %v", c.name, w, err)
		}
		if strings.Contains(c.note, "an upgrade removes") != (w.Remedy != "") && !strings.Contains(w.Note, "an upgrade removes") {
			t.Errorf("%s: the remedy is %q", c.name, w.Remedy)
		}
	}
	if _, err := (Start{Program: "/tmp/go-build1/gate", Real: "/tmp/go-build1/gate"}).Written(); !errors.Is(err, ErrRun) {
		t.Error(err)
	}
}

// TestCandidates holds where links are looked for beside PATH.
func TestCandidates(t *testing.T) {
	for real, want := range map[string]string{
		"/usr/bin/gate": "",
		"/home/linuxbrew/.linuxbrew/Cellar/gate/1.2/bin/gate":  "/home/linuxbrew/.linuxbrew/bin/gate",
		"/opt/homebrew/Cellar/gate/1.2/bin/gate":               "/opt/homebrew/opt/gate/bin/gate",
		"/nix/store/abc-gate/bin/gate":                         "/home/dev/.nix-profile/bin/gate",
		"C:/Users/dev/scoop/apps/gate/1.2/gate.exe":            "C:/Users/dev/scoop/apps/gate/current/gate.exe",
		"/snap/gate/42/bin/gate":                               "/snap/gate/current/bin/gate",
		"/home/dev/.local/share/mise/installs/gate/1/bin/gate": "/home/dev/.local/share/mise/installs/gate/latest/bin/gate",
		"/opt/gate/1.2/bin/gate":                               "/opt/gate/current/bin/gate",
	} {
		got := Start{Real: real, Home: "/home/dev"}.Candidates()
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, filepath.FromSlash(want)) {
			t.Errorf("%s: %q", real, got)
		}
	}
}
