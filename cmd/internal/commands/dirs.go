package commands

import (
	"gate/internal/core"
	"gate/internal/places"
)

// dirs are gate's own directories, dirFlags the flags that name them.
type (
	dirs     = places.Dirs
	dirFlags = places.Flags
)

// home is what "~" means to the programs that the person or the agent runs.
func (p process) home() string { return places.Home(p.lookupEnv) }

// machine is whom and what gate is set up for, for a project or "".
func (p process) machine(d dirs, project string) core.Machine {
	return core.Machine{Dirs: d, Account: places.AccountName(), Home: p.home(), Project: project, LookupEnv: p.lookupEnv, Tries: true}
}

// tilde shortens a path below the home directory for people.
func (p process) tilde(path string) string { return p.page().Tilde(path) }
