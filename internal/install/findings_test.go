package install_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/internal/install"
)

// TestFindings reads testdata/findings: a comment of steps, files, and what
// Doctor says then. Lines that begin with # explain. Steps:
//
//	install SCOPE          as gate install
//	files                  lay out the files (default: before the first step)
//	replace FILE OLD NEW   in a file, everywhere
//	chmod MODE FILE
//	link FILE TARGET
//	remove FILE
//	fix                    as gate doctor --fix; what remains is golden
func TestFindings(t *testing.T) {
	files, err := filepath.Glob("testdata/findings/*.txtar")
	must(t, err)
	if len(files) < 10 {
		t.Fatalf("only %d cases", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			must(t, err)
			m := machine(t)
			c := findingCase{t, m, archive, false}
			for line := range strings.Lines(string(archive.Comment)) {
				if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
					c.step(words)
				}
			}
			c.lay()
			got := c.findings()
			last := len(archive.Files) - 1
			if last < 0 || archive.Files[last].Name != "want" {
				archive.Files = append(archive.Files, txtar.File{Name: "want"})
				last++
			}
			if *update {
				archive.Files[last].Data = []byte(got)
				must(t, os.WriteFile(file, txtar.Format(archive), 0o644))
			}
			if want := string(archive.Files[last].Data); got != want {
				t.Errorf("findings\n%s\nwant\n%s", got, want)
			}
		})
	}
}

type findingCase struct {
	t       *testing.T
	m       install.Machine
	archive *txtar.Archive
	laid    bool
}

func (c *findingCase) path(name string) string { return filepath.Join(c.m.Root, name) }

func (c *findingCase) lay() {
	if c.laid {
		return
	}
	c.laid = true
	for _, f := range c.archive.Files {
		if f.Name != "want" {
			write(c.t, c.path(f.Name), strings.ReplaceAll(string(f.Data), "$ROOT", c.m.Root))
		}
	}
}

func (c *findingCase) step(words []string) {
	switch c.lay(); words[0] {
	case "files":
	case "install":
		doInstall(c.t, c.m, request(install.Scope(words[1])))
	case "replace":
		text := read(c.t, c.path(words[1]))
		after := strings.ReplaceAll(text, words[2], strings.Join(words[3:], " "))
		if after == text {
			c.t.Fatalf("%v replaces nothing", words)
		}
		write(c.t, c.path(words[1]), after)
	case "chmod":
		mode, err := strconv.ParseUint(words[1], 8, 32)
		must(c.t, err)
		must(c.t, os.Chmod(c.path(words[2]), os.FileMode(mode)))
	case "link":
		must(c.t, os.RemoveAll(c.path(words[1])))
		must(c.t, os.Symlink(c.path(words[2]), c.path(words[1])))
	case "remove":
		must(c.t, os.RemoveAll(c.path(words[1])))
	case "fix":
		plans, err := c.m.Doctor().Fix()
		must(c.t, err)
		for i := range plans {
			must(c.t, plans[i].Apply())
		}
	default:
		c.t.Fatalf("unknown step %q", words)
	}
}

// findings writes what Doctor says, one a line.
func (c *findingCase) findings() string {
	var b strings.Builder
	status := c.m.Status()
	fmt.Fprintf(&b, "guarded: %v\n", status.Agents[0].Guarded)
	for _, f := range c.m.Doctor().Findings {
		fix := ""
		if f.Fixable {
			fix = " (fixable)"
		}
		file := strings.TrimPrefix(f.File, c.m.Root+"/")
		fmt.Fprintf(&b, "%s %s %s:%d%s: %s\n", f.Severity, f.ID, file, f.Line, fix, strings.ReplaceAll(f.Message, c.m.Root, ""))
		if f.Remedy == "" || f.Message == "" {
			c.t.Errorf("%s has no message or no remedy", f.ID)
		}
	}
	return b.String()
}

// TestBeside holds that gate-hook is looked at, and the gate that it hands over to.
func TestBeside(t *testing.T) {
	m := machine(t)
	gate := m.Command[0]
	m.Command, m.Program = []string{gate + "-hook"}, gate
	write(t, m.Command[0], "#!/bin/sh\n")
	must(t, os.Chmod(m.Command[0], 0o755))
	doInstall(t, m, request(install.User))
	program := func() []string {
		var files []string
		for _, f := range m.Doctor().Findings {
			if f.ID == "gate.program" {
				files = append(files, f.File)
			}
		}
		return files
	}
	if files := program(); files != nil {
		t.Errorf("findings about %v", files)
	}
	for _, path := range []string{gate, m.Command[0]} {
		must(t, os.Chmod(path, 0o757))
		if files := program(); !slices.Contains(files, path) {
			t.Errorf("findings about %v where others can write %s", files, path)
		}
		must(t, os.Chmod(path, 0o755))
	}
	must(t, os.Remove(gate))
	if program() == nil {
		t.Error("no finding where gate is not there")
	}
}
