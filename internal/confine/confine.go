// Package confine runs a program so that it can do no more than a [Profile] lets it.
//
// It is for programs that nobody wants to judge by their text: a build, a test, a script
// out of a package. It never makes a rejected call one that runs, and it judges nothing:
// whoever calls it has decided that the program may run at all.
//
// A profile is data: see package profile. [Probe] says how much of it this machine can hold.
// [Command.Run] runs a program, or says in one sentence why it did not; it never runs one
// with less held than the profile says. On systems other than Linux nothing can be held,
// so nothing runs.
package confine

import (
	"context"
	"net/netip"

	"gate/internal/confine/profile"
	"gate/internal/confine/proxy"
	"gate/internal/strictjson"
)

// Of a [Profile] the package profile knows all that takes no system to know.
type (
	Profile = profile.Profile
	Place   = profile.Place
	Limits  = profile.Limits

	Level      = profile.Level
	Capability = profile.Capability
)

// The levels, from the least.
const (
	None  = profile.None
	Files = profile.Files
	Full  = profile.Full
)

// An Outcome is how a program ended.
type Outcome struct {
	Level      Level
	Status     int             // its exit status, or 128 and the number of the signal that ended it
	Planted    []Planted       // what starts by itself or steers agents and could not be guarded
	Unsearched bool            // the project is too large to be searched for all that could be Planted
	Refused    []proxy.Refusal // hosts that it did not reach
	Repository []string        // sentences about what it changed in repositories and what they do not have
}

// A Planted is a file or a directory that starts by itself or steers agents. A program
// made it: it was not there before, so nothing could hold it.
type Planted struct {
	Name  string
	Aside string // where it is now; "" where it could not be moved
	Why   string // why it could not
}

func (p Planted) String() string {
	if p.Aside == "" {
		return shown(p.Name) + " (which is still there: " + shown(p.Why) + ")"
	}
	return shown(p.Name) + " (now " + shown(p.Aside) + ")"
}

// shown is a name of the program's choice as one line without control characters: agents
// and terminals get it.
func shown(name string) string { return strictjson.OneLine(name) }

// A Command is a program to be run confined, with the standard streams, the terminal and
// the process group of this process.
type Command struct {
	Profile Profile // as [Profile.At] returns it
	Place   Place
	Args    []string // the program, by a path or a name to be looked for in PATH, and its arguments
	Dir     string   // where it starts: a directory that it can see
	Env     []string // what the environment is made of
	Store   string   // a directory of this account's alone for what changes in caches; "": caches cannot be changed

	// lookup finds the addresses of hosts; nil is the system's way.
	lookup func(ctx context.Context, name string) ([]netip.Addr, error)
}

// SweepFlag is the argument of a launcher that does what another one could not do; see
// [Sweep]. Launchers start it, with the number of an open file behind it.
const SweepFlag = "--sweep"

// A ProgramError says that nothing ran because of the program, not of its confinement.
type ProgramError struct {
	Name  string
	Found bool // it is there and cannot be run
	Err   error
}

func (e *ProgramError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap is the reason.
func (e *ProgramError) Unwrap() error { return e.Err }
