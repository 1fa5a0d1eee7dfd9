package hookpath

import (
	"errors"
	"flag"
	"io"
	"strings"
	"time"

	"gate/adapters"
	"gate/engine"
	"gate/hook"
	"gate/internal/places"
	"gate/internal/strictjson"
)

// flags are those of gate hook.
type flags struct {
	agent   string
	event   string
	scope   string // whose settings of the agent start this hook
	timeout time.Duration
	handed  Handed // by the program before
	batch   bool
	dirs    places.Flags
}

// parseFlags reads the command line. What could be read of agent and event
// comes with an error, so that it can be answered in their form.
func parseFlags(args []string) (flags, error) {
	if f, ok := plainFlags(args); ok {
		return f, nil
	}
	var f flags
	set := flag.NewFlagSet("gate hook", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.agent, "agent", "", "")
	set.StringVar(&f.event, "event", "", "")
	set.StringVar(&f.scope, "scope", "", "")
	set.DurationVar(&f.timeout, "timeout", 0, "")
	set.DurationVar(&f.handed.Spent, "spent", 0, "")
	set.BoolVar(&f.handed.Counted, "counted", false, "")
	set.BoolVar(&f.batch, "batch", false, "")
	set.StringVar(&f.dirs.Managed, "managed-dir", "", "")
	set.StringVar(&f.dirs.User, "user-dir", "", "")
	set.StringVar(&f.dirs.State, "state-dir", "", "")
	err := set.Parse(args)
	switch {
	case err != nil:
		scavenge(args, "agent", &f.agent)
		scavenge(args, "event", &f.event)
		if name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); unknown {
			err = errors.New("unknown flag: --" + name)
		}
		return f, err
	case set.NArg() > 0:
		return f, errors.New("unexpected argument " + strictjson.Quoted(set.Arg(0)))
	case f.timeout < 0:
		return f, errors.New("--timeout must not be negative")
	case f.handed.Spent < 0:
		return f, errors.New("--spent must not be negative")
	}
	return f, nil
}

// plainFlags reads what gate install writes, in a fraction of the time: words
// such as --agent claude and --timeout=10s.
func plainFlags(args []string) (f flags, ok bool) {
	for i := 0; i < len(args); i++ {
		name, value, has := strings.Cut(args[i], "=")
		if !has {
			if i++; i >= len(args) {
				return f, false
			}
			value = args[i]
		}
		switch name {
		case "--agent":
			f.agent = value
		case "--event":
			f.event = value
		case "--scope":
			f.scope = value
		case "--managed-dir":
			f.dirs.Managed = value
		case "--user-dir":
			f.dirs.User = value
		case "--state-dir":
			f.dirs.State = value
		case "--counted":
			if f.handed.Counted = value == "true"; !f.handed.Counted {
				return f, false
			}
		case "--timeout", "--spent":
			d, err := time.ParseDuration(value)
			if err != nil || d < 0 {
				return f, false
			}
			if name == "--spent" {
				f.handed.Spent = d
			} else {
				f.timeout = d
			}
		default:
			return f, false
		}
	}
	return f, true
}

// scavenge finds a flag's value on a command line that is not to be understood
// as a whole.
func scavenge(args []string, name string, into *string) {
	for i, arg := range args {
		rest, ok := strings.CutPrefix(strings.TrimPrefix(arg, "-"), "-"+name)
		switch {
		case *into != "" || !ok:
		case strings.HasPrefix(rest, "="):
			*into = rest[1:]
		case rest == "" && i+1 < len(args):
			*into = args[i+1]
		}
	}
}

// limit is the one deadline for the whole call: the agent's, less a fifth, and
// never more than the engine's own. What was spent before is gone.
func (f flags) limit(a adapters.Adapter, n hook.Name) time.Duration {
	wait := a.Deadline(n)
	if f.timeout > 0 {
		wait = f.timeout
	}
	return min(engine.Limit, wait*4/5) - f.handed.Spent
}

// Adapter finds an agent's adapter. The error says which there are.
func Adapter(agent string) (adapters.Adapter, error) {
	if a, ok := adapters.Lookup(agent); ok {
		return a, nil
	}
	if agent == "" {
		return nil, errors.New("no agent: give --agent with one of: " + strings.Join(adapters.Names(), ", "))
	}
	return nil, errors.New("unknown agent " + strictjson.Quoted(agent) + "; known are: " + strings.Join(adapters.Names(), ", "))
}
