package commands

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"gate/internal/hostfs"
	"gate/internal/install"
	"gate/internal/places"
	"gate/internal/setup"
)

// installedProgram is the absolute path of this program, which stays there.
func installedProgram() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil && strings.Contains(filepath.ToSlash(real), "/go-build") {
		return "", fmt.Errorf("%s: %w", exe, install.ErrRun)
	}
	return exe, nil
}

// written has entries name the programs of gate by paths that stay. What it returns the
// person should know. The error, if there is one, is for who would write an entry: the
// machine then has the program that was started.
func (p process) written(m *install.Machine, exe string, copies bool) (install.Written, error) {
	m.Version, m.Path, m.Temp = setup.Version(), p.searched(), temporary()
	home := places.AccountHome()
	if p.root != "" { // a test, which writes into no account's home
		home = p.home()
	}
	if home == "" {
		m.NoCopies = "this account has no home directory in the account database"
	} else {
		m.Copies = places.Programs(home)
	}
	start := m.Started(exe)
	start.Copy = copies
	w, err := start.Written()
	if err != nil {
		w = install.Written{Program: exe}
	}
	beside := w.Program
	if w.Copy {
		m.Source, beside = start.Real, start.Real
	}
	m.Program, m.Command = w.Program, hookCommand(w.Program, beside)
	return w, err
}

// searched are the directories of PATH.
func (p process) searched() []string {
	dirs := filepath.SplitList(p.getenv("PATH"))
	return slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
}

// temporary are the directories of temporary files.
func temporary() []string {
	dirs := []string{os.TempDir()}
	if runtime.GOOS != "windows" {
		dirs = append(dirs, "/tmp", "/var/tmp", "/dev/shm")
	}
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil && !slices.Contains(dirs, real) {
			dirs = append(dirs, real)
		}
	}
	return dirs
}

// hookProgram is where gate-hook belongs: beside gate, to which it hands over.
func hookProgram(gate string) string { return places.Beside(gate, "gate-hook") }

// hookCommand is what agents start: gate-hook, where nobody else may put another
// program in its place, else gate itself. source is gate where it lies now.
func hookCommand(gate, source string) []string {
	path := hookProgram(source)
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() && places.UserFiles().Check(path, info) == nil {
		return []string{hookProgram(gate)}
	}
	return []string{gate, "hook"}
}

// programFindings say what is wrong with the programs that belong beside gate.
func programFindings(gate string) []install.Finding {
	return slices.Concat(
		besideFindings(gate, "gate-hook", "agents start gate itself; each call then takes several times as long"),
		besideFindings(gate, server, "hooks that ask a language model or an MCP server cannot answer, so their calls close; serve, mcp, sync and registries do not work either"),
	)
}

// present is gate as entries name it, or where it lies while the copy of it is still to
// be made.
func present(m install.Machine) string {
	if m.Source != "" && !hostfs.Exists(m.Program) {
		return m.Source
	}
	return m.Program
}

// copyFindings say that entries start copies of another build.
func copyFindings(m install.Machine) []install.Finding {
	if !m.Outdated() {
		return nil
	}
	return []install.Finding{{ID: "gate.copies", Severity: install.Warning, File: m.Copies,
		Message: "the copies of gate's programs that entries name are another build than this gate", Remedy: "gate doctor --fix"}}
}

// besideFindings say what is wrong with one of them, and what it means that it is
// not there.
func besideFindings(gate, name, without string) []install.Finding {
	path := places.Beside(gate, name)
	id := strings.Replace(name, "-", ".", 1)
	const rebuild = "build all programs into one directory, then run gate install again"
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []install.Finding{{ID: id, Severity: install.Notice, File: path, Message: name + " is not there: " + without, Remedy: rebuild}}
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("it is no file")
	case err == nil:
		err = places.UserFiles().Check(path, info)
	}
	if err != nil {
		return []install.Finding{{ID: id, Severity: install.Error, File: path,
			Message: name + " is not to be trusted: " + oneLine(hostfs.Reason(err).Error()),
			Remedy:  "give it to the right account, let no other account write it, then run gate install again"}}
	}
	own, ok := debug.ReadBuildInfo()
	other, err := readBuild(path)
	if !ok || err != nil {
		return nil
	}
	if why := anotherBuild(own, other); why != "" {
		return []install.Finding{{ID: id, Severity: install.Warning, File: path, Message: name + " " + why, Remedy: rebuild}}
	}
	return nil
}

// anotherBuild says how a program differs from this one, "" if it does not as far
// as their builds tell.
func anotherBuild(own, other *debug.BuildInfo) string {
	value := func(b *debug.BuildInfo, key string) string {
		for _, s := range b.Settings {
			if s.Key == key {
				return s.Value
			}
		}
		return ""
	}
	const revision, when = "vcs.revision", "vcs.time" // times are RFC 3339 in UTC: their order is that of the texts
	switch mine, its := value(own, when), value(other, when); {
	case mine != "" && its != "" && its < mine:
		return fmt.Sprintf("is older than gate: it was made of %s, gate of %s; it decides by older rules", its, mine)
	case value(own, revision) != value(other, revision), own.Main.Version != other.Main.Version:
		return fmt.Sprintf("is another version than gate: %s, not %s", oneLine(other.Main.Version), oneLine(own.Main.Version))
	}
	return ""
}

func readBuild(path string) (*debug.BuildInfo, error) {
	file, err := hostfs.Regular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return buildinfo.Read(file)
}

// otherPrograms reports other copies of gate that a command line would start
// by its name: an older one decides by older rules.
func otherPrograms(p process, own string) []install.Finding {
	sum, err := digestOf(own)
	if err != nil {
		return nil
	}
	var list []install.Finding
	seen := []string{sum}
	for _, dir := range filepath.SplitList(p.getenv("PATH")) {
		for _, name := range []string{"gate", "gate.exe"} {
			path := filepath.Join(dir, name)
			if !filepath.IsAbs(path) {
				continue
			}
			info, err := readBuild(path)
			if err != nil || info.Path != "gate/cmd/gate" {
				continue // not there, or another program of that name
			}
			if other, err := digestOf(path); err != nil || slices.Contains(seen, other) {
				continue
			} else {
				seen = append(seen, other)
			}
			list = append(list, install.Finding{
				ID: "gate.other", Severity: install.Warning, File: path,
				Message: fmt.Sprintf("another gate, %s, is in PATH; this one is %s", oneLine(info.Main.Version), setup.Version()),
				Remedy:  "remove it, or put the same program there: an entry that names it decides by other rules",
			})
		}
	}
	return list
}
