package main

import "gate/internal/places"

// dirs are gate's own directories, dirFlags the flags that name them.
type (
	dirs     = places.Dirs
	dirFlags = places.Flags
)

// home is what "~" means to the programs that the person or the agent runs.
func (p process) home() string { return places.Home(p.lookupEnv) }

// tilde shortens a path below the home directory for people.
func (p process) tilde(path string) string { return p.page().Tilde(path) }
