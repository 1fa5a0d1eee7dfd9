package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/install"
	"gate/internal/places"
	"gate/internal/sealed"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/internal/sync"
	"gate/scopes"
)

// beside lists what stands beside managed policies on this machine and would
// like to have a say, though it is no setting: other sources, hooks of sessions,
// files in the wrong place, variables, what agents' own settings do about gate,
// and what was refused. Where nothing is managed there is nothing to defend.
func (f *placeFlags) beside(p process, g *setup.Gate) []string {
	d, project, err := f.places()
	if err != nil || !g.Administered() {
		return nil
	}
	return slices.Concat(otherSources(p, g), sessionHooks(p, d), misplaced(p, d, project, g.Where), forgotten(p, g, d), misleading(p), f.weakened(p), refusals(d))
}

// otherSources are those of less authority than managed ones.
func otherSources(p process, g *setup.Gate) []string {
	var list []string
	for _, src := range g.Set.Sources() {
		if src.Library || src.Authority == hook.Managed || len(src.Hooks) == 0 {
			continue
		}
		list = append(list, fmt.Sprintf("%s (%s): %s; %s", src.Name, p.tilde(g.Where[src.Name]), screen.Counted(len(src.Hooks), "hook"), most(src)))
	}
	return list
}

// most is the most that a source can bring about beside managed policies.
func most(src *scopes.Source) string {
	switch {
	case src.Inactive():
		return "inactive"
	case src.Authority == hook.User:
		return "its allow rules do not hold against managed policies"
	case src.Runs():
		return "trusted: it may rewrite calls, which gate judges again, and cannot allow any"
	}
	return "it only tightens"
}

// sessionHooks are the hooks of skills, sub-agents and files that hold for
// sessions now.
func sessionHooks(p process, d dirs) []string {
	var list []string
	memories, _ := d.Sessions().All()
	for _, file := range slices.Sorted(maps.Keys(memories)) {
		for i := range memories[file].Registered {
			r := &memories[file].Registered[i]
			list = append(list, fmt.Sprintf("hooks of a session (%s): %s %s (%s), since %s; they only tighten, or rewrite calls where a person trusts them",
				filepath.Base(file), r.Kind, r.Name, p.tilde(r.File), r.Since.Local().Format(time.DateTime)))
		}
	}
	return list
}

// misplaced are files with names that mean something in the managed directory
// only, and settings of plugins, which have none.
func misplaced(p process, d dirs, project string, where map[string]string) []string {
	var list []string
	there := func(path string) bool {
		_, err := os.Lstat(path)
		return !errors.Is(err, fs.ErrNotExist)
	}
	dirs := []string{d.User}
	if project != "" {
		dirs = append(dirs, filepath.Join(project, places.ProjectDir))
	}
	for _, dir := range dirs {
		for _, name := range []string{sync.KeysFile, sync.SeenFile, sync.ChannelFile, sources.RecoveryFile, sync.Dir} {
			if path := filepath.Join(dir, name); there(path) {
				list = append(list, p.tilde(path)+": it counts in the managed directory only")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(where)) {
		if !strings.HasPrefix(name, "plugin:") {
			continue
		}
		for _, file := range []string{"settings.json", "gate/settings.json"} {
			if path := filepath.Join(where[name], filepath.FromSlash(file)); there(path) {
				list = append(list, p.tilde(path)+": plugins have no settings of gate's")
			}
		}
	}
	return list
}

// misleading are variables that look as if they led gate somewhere else.
func misleading(p process) []string {
	var list []string
	home := places.AccountHome()
	for _, name := range slices.Sorted(slices.Values(p.env)) {
		name, value, _ := strings.Cut(name, "=")
		switch {
		case strings.HasPrefix(name, "GATE_") && value != "":
			list = append(list, name+" is set: gate's hook reads no such variable")
		case name == "HOME" && home != "" && value != home,
			name == "XDG_CONFIG_HOME" && value != "", name == "XDG_STATE_HOME" && value != "":
			list = append(list, fmt.Sprintf("%s is %s: gate's hook goes by the account database", name, value))
		}
	}
	return list
}

// weakened is what agents' own settings, and who owns what, do about gate.
func (f *placeFlags) weakened(p process) []string {
	i := installFlags{dirs: f.dirs, dir: f.dir}
	m, err := i.machine(p)
	if err != nil {
		return nil
	}
	var list []string
	for _, x := range weaknesses(m) {
		where := p.tilde(x.File)
		if x.Line > 0 {
			where = fmt.Sprintf("%s:%d", where, x.Line)
		}
		list = append(list, strings.TrimPrefix(where+": ", ": ")+x.Message)
	}
	return list
}

// weaknesses are the findings about agents' settings but that gate is not there
// yet.
func weaknesses(m install.Machine, agents ...string) []install.Finding {
	return slices.DeleteFunc(m.Doctor(agents...).Findings, func(x install.Finding) bool {
		return x.ID == "gate.missing" || x.ID == "gate.project_only"
	})
}

// mostRecords bounds how far back the log is read.
const mostRecords = 10_000

// forgotten are bundles in force of which the machine should have seen more than
// it remembers.
func forgotten(p process, g *setup.Gate, d dirs) []string {
	path := filepath.Join(d.Managed, sync.SeenFile)
	data, err := readFile(path, 1<<20)
	if err != nil {
		return nil
	}
	seen, err := sealed.ParseSeen(data)
	if err != nil {
		return []string{p.tilde(path) + ": " + err.Error()}
	}
	var list []string
	for _, b := range g.Loaded.Signed {
		if known := seen.Bundles[b.Name].Version; !b.Trial && known < b.Version {
			list = append(list, fmt.Sprintf("%s: of %s version %d was seen, and version %d is in force; somebody has changed it", p.tilde(path), b.Name, known, b.Version))
		}
	}
	return list
}

// refusals are the calls that would have changed what guards this machine, and
// the bundles that were not taken, as far as the log knows.
func refusals(d dirs) []string {
	h, err := audit.OpenHistory(d.State)
	if err != nil {
		return nil // gate log says why
	}
	kinds := []struct {
		policy, noun, what string
		count              int
		last               time.Time
	}{
		{policy: "gate.self_protection", noun: "call", what: "that would have touched what guards this machine"},
		{policy: "bundle", noun: "offer", what: "of a bundle, a key set or a channel"},
	}
	read, begins := 0, time.Time{}
	for r, err := range h.Newest() {
		if read++; read > mostRecords {
			begins = time.Time{}
			break
		}
		if err != nil {
			continue
		}
		begins = r.Time
		if r.Effect == hook.Pass {
			continue
		}
		for i := range kinds {
			if k := &kinds[i]; tookPart(&r, k.policy) {
				k.count++
				k.last = later(k.last, r.Time)
			}
		}
	}
	var list []string
	if !begins.IsZero() {
		list = append(list, "the decision log begins on "+begins.Local().Format(time.DateTime))
	}
	for _, k := range kinds {
		if k.count > 0 {
			list = append(list, fmt.Sprintf("%s refused %s, last on %s: gate log --policy %s",
				screen.Counted(k.count, k.noun), k.what, k.last.Local().Format(time.DateTime), k.policy))
		}
	}
	return list
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
