// Package offer says whether a call can run confined, and writes down how it will.
//
// It is for the programs that decide about calls, gate-hook among them, and links nothing
// that confines. Start with [Machine.Plan]. Package record has the launcher read what a
// plan writes down.
package offer

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/confine/profile"
	"gate/internal/confine/record"
	"gate/internal/places"
)

// A Machine is where calls are to run confined.
type Machine struct {
	State     string // gate's directory of state
	Home      string // of the account
	Project   string // its root, "" if it is not known
	LookupEnv func(string) (string, bool)
	Root      string // of the file system; "/" except in tests

	// Launcher is the absolute path of gate-run, whether or not it is there. "" means that
	// no call is about to be made: nobody asks what the machine can hold, and nothing is
	// kept.
	Launcher string

	// Profiles are what settings say of a profile, those of the highest authority first; nil:
	// nothing.
	Profiles func(name string) []profile.Change
}

// lifetime is how long a call may wait for its start, such as for a person's answer.
const lifetime = 12 * time.Hour

// joint stands between the names of profiles of which a call may do what all let it do.
const joint = "+"

// Plan is that of an engine's Confiner.
func (m Machine) Plan(_ context.Context, ev *hook.Event, names []string) (name, why string) {
	line, ok := ev.ToolInput()["command"].(string)
	if ev.Tool() != "Bash" || !ok || strings.TrimSpace(line) == "" {
		return "", "only a line for the shell can"
	}
	if strings.ContainsRune(line, 0) {
		return "", "its line has a character that no program can be given"
	}
	var parts []string
	for _, n := range names {
		parts = append(parts, strings.Split(n, joint)...)
	}
	slices.Sort(parts)
	name = strings.Join(slices.Compact(parts), joint)
	p, _, err := m.profile(name, ev.Dir())
	switch {
	case err != nil:
		return "", err.Error()
	case !p.May(profile.ToRead, filepath.Clean(ev.Dir())):
		return "", fmt.Sprintf("the profile %s does not let it see %s, where it starts", name, ev.Dir())
	}
	if what := own(line, ev.Dir()); what != "" {
		return "", what + " has to change the agent's own shell; put what needs it in parentheses, or leave it out"
	}
	if m.Launcher == "" {
		return name, ""
	}
	if why := m.lacks(ev, p); why != "" {
		return "", why
	}
	return name, ""
}

// lacks says what keeps a call from running confined by a profile here.
func (m Machine) lacks(ev *hook.Event, p profile.Profile) string {
	if runtime.GOOS != "linux" {
		return "only Linux has what confines a program here"
	}
	info, err := os.Stat(m.Launcher)
	if err == nil {
		err = places.UserFiles().Check(m.Launcher, info)
	}
	if err != nil {
		return "the program gate-run must lie beside gate: " + err.Error()
	}
	holds, err := m.Holds()
	if err != nil {
		return err.Error()
	}
	if why := holds.Lacks(p); why != "" {
		return fmt.Sprintf("profile %s cannot be held here: %s", p.Name, why)
	}
	return m.others(ev)
}

// Profile returns what a profile lets a call do that starts in a directory; of several,
// whose names are joined, what all let it do.
func (m Machine) Profile(name, dir string) (profile.Profile, error) {
	p, _, err := m.profile(name, dir)
	return p, err
}

// profile returns what profiles of a name, or of several, let a call do that starts in a
// directory.
func (m Machine) profile(name, dir string) (p profile.Profile, at profile.Place, err error) {
	at = profile.Place{Home: m.Home, Project: m.Project}
	if at.Project == "" {
		at.Project = places.ProjectRoot("", dir)
	}
	if at.Home == "" || at.Project == "" {
		return p, at, fmt.Errorf("it is not known which directory is the project or the home")
	}
	if who, err := places.Listed(); m.Launcher != "" && err == nil && filepath.IsAbs(who.Home) { // HOME makes no other home a project
		if _, err := profile.Of("project", nil, profile.Place{Home: who.Home, Project: at.Project}); err != nil {
			return p, at, err
		}
	}
	for i, part := range strings.Split(name, joint) {
		var said []profile.Change
		if m.Profiles != nil {
			said = m.Profiles(part)
		}
		next, err := profile.Of(part, said, at)
		if err != nil {
			return p, at, err
		}
		if i > 0 {
			next = profile.Narrow(p, next)
		}
		p = next
	}
	p.Name = name
	return p, at, nil
}

// Keep is that of an engine's Confiner. Where no call is about to be made the line that it
// returns starts nothing.
func (m Machine) Keep(_ context.Context, ev *hook.Event) (map[string]any, error) {
	input := maps.Clone(ev.ToolInput())
	if m.Launcher == "" {
		input["command"] = "gate run --call ID"
		return input, nil
	}
	p, at, err := m.profile(ev.Confined, ev.Dir())
	if err != nil {
		return nil, err
	}
	line, _ := input["command"].(string)
	r := record.Record{
		Agent: ev.Agent, Session: ev.SessionID(), Call: callOf(ev), Profile: p, Place: at,
		Line: line, Dir: ev.Dir(), Launcher: m.Launcher, State: m.State, Expires: time.Now().Add(lifetime),
	}
	id, err := record.Keep(record.Dir(m.State), r, time.Now())
	if err != nil {
		return nil, err
	}
	input["command"] = r.Form(id)
	return input, nil
}
