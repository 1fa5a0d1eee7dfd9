package commands

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
		return "", fmt.Errorf("%s is a temporary program of go run; build gate to a place of its own first", exe)
	}
	return exe, nil
}

// hookProgram is where gate-hook belongs: beside gate, to which it hands over.
func hookProgram(gate string) string { return places.Beside(gate, "gate-hook") }

// hookCommand is what agents start: gate-hook, where nobody else may put another
// program in its place, else gate itself.
func hookCommand(gate string) []string {
	path := hookProgram(gate)
	info, err := os.Stat(path)
	if err == nil && info.Mode().IsRegular() && places.UserFiles().Check(path, info) == nil {
		return []string{path}
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
