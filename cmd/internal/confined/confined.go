// Package confined is the command gate run: it reads its arguments, finds the
// directories that a profile is about, and has internal/confine run the program.
//
// Both gate and gate-hook have it, so that a call can be confined at the cost of the thin
// program's start. Start with [Run].
package confined

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gate/internal/confine"
	"gate/internal/confine/profile"
	"gate/internal/confine/proxy"
	"gate/internal/confine/record"
	"gate/internal/places"
	"gate/internal/strictjson"
)

// The exit statuses that are not the program's.
const (
	Refused  = 125 // nothing ran
	NotRun   = 126 // the program cannot be run
	NotFound = 127 // there is no such program, or none that the profile lets be seen
)

// A Process is what the command has of its process.
type Process struct {
	Args   []string // after the word run
	Env    []string
	Now    func() time.Time
	Stdout io.Writer
	Stderr io.Writer
}

// Usage is how the command is called.
const Usage = "run --probe | run [--state-dir DIR] --call ID | run [--profile NAME] [--project DIR] [--state-dir DIR] (--line 'LINE' | -- PROGRAM [ARG...])"

// flags are what the arguments say.
type flags struct {
	profile, project, line, state, call string
	argv                                []string
	dir                                 string // of state, as it was found
}

// Run runs a program confined, and returns the exit status.
func Run(p Process) int {
	if len(p.Args) == 1 && (p.Args[0] == "--probe" || p.Args[0] == "--probe=json") {
		return probe(p, p.Args[0] == "--probe=json")
	}
	if len(p.Args) == 2 && p.Args[0] == confine.SweepFlag {
		return sweep(p)
	}
	f, err := parse(p.Args)
	if err == nil {
		var c confine.Command
		if c, err = f.command(p); err == nil {
			var out confine.Outcome
			out, err = c.Run()
			f.tell(p, out, err)
			found(p.Stderr, out)
			if err == nil {
				if len(out.Refused) > 0 {
					fmt.Fprintf(p.Stderr, "gate run: refused: %s\n", refused(out.Refused))
				}
				return out.Status
			}
		}
	}
	fmt.Fprintf(p.Stderr, "gate run: %v\n", err)
	var program *confine.ProgramError
	switch {
	case !errors.As(err, &program):
		return Refused
	case program.Found:
		return NotRun
	}
	return NotFound
}

// found says what the search after a program's end has found.
func found(to io.Writer, out confine.Outcome) {
	for _, name := range left(out) {
		fmt.Fprintf(to, "gate run: set aside, since it starts by itself or steers an agent and was not there before: %s\n", name)
	}
	if out.Unsearched {
		fmt.Fprintf(to, "gate run: the project has too many files to be searched for what starts by itself or steers an agent\n")
	}
	for _, text := range out.Repository {
		fmt.Fprintf(to, "gate run: %s\n", text)
	}
}

// sweep does what a launcher could not do that was killed. Launchers start it.
func sweep(p Process) int {
	fd, err := strconv.Atoi(p.Args[1])
	if err == nil {
		err = confine.Sweep(fd)
	}
	if err != nil {
		fmt.Fprintf(p.Stderr, "gate run: nothing was swept: %v\n", err)
		return Refused
	}
	return 0
}

// tell keeps what became of a call for whoever decides about its output. A program that
// has run must not fail because nobody could be told.
func (f flags) tell(p Process, out confine.Outcome, err error) {
	if f.call == "" {
		return
	}
	e := record.End{Level: out.Level.String(), Status: out.Status}
	e.Planted, e.Git = left(out), out.Repository
	for _, r := range out.Refused {
		e.Refused = append(e.Refused, refused([]proxy.Refusal{r}))
	}
	if err != nil {
		e.Nothing = err.Error()
	}
	if err := record.Tell(record.Dir(f.dir), f.call, e); err != nil {
		fmt.Fprintf(p.Stderr, "gate run: nobody can be told how it ended: %v\n", err)
	}
}

// mostLeft is how many of the files that a program has left are named.
const mostLeft = 20

// left names what a program has left that starts by itself or steers an agent.
func left(out confine.Outcome) (names []string) {
	for i, p := range out.Planted {
		if i == mostLeft {
			return append(names, fmt.Sprintf("and %d more", len(out.Planted)-i))
		}
		names = append(names, p.String())
	}
	return names
}

// refused says in one line which hosts a program could not reach.
func refused(list []proxy.Refusal) string {
	var said []string
	for _, r := range list {
		host := r.Host
		if host == "" {
			host = "a request"
		}
		said = append(said, host+" ("+r.Why+")")
	}
	return strings.Join(said, ", ")
}

// probe says what this machine can hold.
func probe(p Process, asJSON bool) int {
	c := confine.Probe()
	if asJSON { // for gate
		if _, err := p.Stdout.Write(append(strictjson.Append(nil, c.Document()), '\n')); err != nil {
			return Refused
		}
		return 0
	}
	fmt.Fprintf(p.Stdout, "%s: Landlock %d", c.Level, c.Landlock)
	if c.Missing != "" {
		fmt.Fprintf(p.Stdout, "; %s", c.Missing)
	}
	fmt.Fprintln(p.Stdout)
	if c.Level == confine.None {
		return Refused
	}
	return 0
}

// parse reads the arguments. Flags stand before the program.
func parse(args []string) (f flags, err error) {
	for len(args) > 0 {
		name, value, joined := strings.Cut(args[0], "=")
		var to *string
		switch name {
		case "--":
			f.argv = args[1:]
			return f, f.check()
		case "--profile":
			to = &f.profile
		case "--project":
			to = &f.project
		case "--call":
			to = &f.call
		case "--line":
			to = &f.line
		case "--state-dir":
			to = &f.state
		default:
			return f, fmt.Errorf("%q is no flag; a program stands behind --: gate %s", args[0], Usage)
		}
		args = args[1:]
		if !joined {
			if len(args) == 0 {
				return f, fmt.Errorf("%s needs a value", name)
			}
			value, args = args[0], args[1:]
		}
		if *to = value; value == "" {
			return f, fmt.Errorf("%s needs a value", name)
		}
	}
	return f, f.check()
}

// check reports flags that do not go together, and fills in what they leave open.
func (f *flags) check() error {
	if f.call != "" {
		if f.profile != "" || f.project != "" || f.line != "" || len(f.argv) > 0 {
			return errors.New("--call takes all else from its record: gate " + Usage)
		}
		return nil
	}
	if f.profile == "" {
		f.profile = "project"
	}
	if (f.line == "") == (len(f.argv) == 0) {
		return errors.New("give either --line or, behind --, a program: gate " + Usage)
	}
	return nil
}

// command is what to run.
func (f *flags) command(p Process) (confine.Command, error) {
	env := p.Env
	lookup := func(key string) (value string, ok bool) {
		for _, entry := range env {
			if k, v, cut := strings.Cut(entry, "="); cut && k == key {
				value, ok = v, true
			}
		}
		return value, ok
	}
	dir, err := os.Getwd()
	if err != nil {
		return confine.Command{}, err
	}
	dirs, err := places.Flags{State: f.state}.ForPeople(lookup)
	if err != nil {
		return confine.Command{}, err
	}
	if f.dir = dirs.State; f.call != "" {
		r, err := record.Take(record.Dir(dirs.State), f.call, dir, p.Now())
		if err != nil {
			return confine.Command{}, err
		}
		may := without(r.Profile, dirs.State)
		return confine.Command{Profile: may, Place: r.Place, Args: []string{shell(), "-c", r.Line}, Dir: dir, Env: env, Store: store(dirs.State, r.Place.Project)}, nil
	}
	place := profile.Place{Home: places.Home(lookup), Project: places.ProjectRoot("", dir)}
	if f.project != "" {
		if place.Project, err = filepath.Abs(f.project); err != nil {
			return confine.Command{}, err
		}
	}
	if place.Home == "" {
		return confine.Command{}, errors.New("no home directory; set HOME")
	}
	may, ok := profile.Builtin(f.profile)
	if !ok {
		return confine.Command{}, fmt.Errorf("there is no profile %q; there are %s", f.profile, strings.Join(profile.Names(), ", "))
	}
	if account := places.AccountHome(); account != "" { // HOME does not make another home a project
		if _, err := may.At(profile.Place{Home: account, Project: place.Project}); err != nil {
			return confine.Command{}, err
		}
	}
	if may, err = may.At(place); err != nil {
		return confine.Command{}, err
	}
	argv := f.argv
	if f.line != "" {
		argv = []string{shell(), "-c", f.line}
	}
	may = without(may, dirs.State)
	return confine.Command{Profile: may, Place: place, Args: argv, Dir: dir, Env: env, Store: store(dirs.State, place.Project)}, nil
}

// without takes gate's directory of state out of a profile's view: a program could make
// records there, or read those of others.
func without(p profile.Profile, state string) profile.Profile {
	if p.May(profile.ToRead, filepath.Clean(state)) {
		if _, err := os.Lstat(state); err == nil || p.May(profile.ToWrite, filepath.Clean(state)) {
			p.Deny = append(slices.Clone(p.Deny), filepath.Clean(state))
		}
	}
	return p
}

// store is where changes in caches are kept of a project.
func store(state, project string) string {
	sum := sha256.Sum256([]byte(project))
	return filepath.Join(state, "confined", hex.EncodeToString(sum[:16]))
}

// shell is what runs a line: bash, as agents do, or what every machine has.
func shell() string {
	for _, name := range []string{"/bin/bash", "/usr/bin/bash"} {
		if _, err := os.Stat(name); err == nil {
			return name
		}
	}
	return "/bin/sh"
}
