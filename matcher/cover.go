package matcher

import (
	"slices"
	"strings"

	"gate/hook"
)

// Covers reports whether conditions cover a call as a whole, so that they may
// loosen something for it: gate understood all of it, and each of its commands,
// or each file and host that it names, meets one of them by itself. A line that
// only begins with what they name, or a command that reads one more file, is
// not covered, and neither is a command with variables, a wrapper or output to
// a file. Going to a directory needs no condition.
func Covers(conditions []Condition, ev *hook.Event) bool {
	f := ev.Facts
	if f == nil || f.Opaque || len(f.Unknown) > 0 {
		return false
	}
	c := cover{conditions, ev}
	if f.Shell == nil {
		if len(f.Paths)+len(f.Hosts) == 0 {
			return c.meets(&hook.Facts{})
		}
		return c.meetsEach(f.Paths, f.Hosts)
	}
	met := false
	for i := range f.Shell.Commands {
		command := f.Shell.Commands[i]
		if GoesOnly(&command) {
			continue
		}
		if !plain(&command) || !c.meetsCommand(command) {
			return false
		}
		met = true
	}
	return met
}

// GoesOnly reports a command that does nothing but go to a directory.
func GoesOnly(c *hook.ShellCommand) bool {
	return c.Program != nil && *c.Program == "cd" && len(c.Redirects) == 0
}

// A cover judges conditions on parts of a call.
type cover struct {
	conditions []Condition
	ev         *hook.Event
}

// meetsCommand reports that a command by itself, or each path and host that it
// names, meets a condition.
func (c cover) meetsCommand(command hook.ShellCommand) bool {
	f := c.ev.Facts
	command.Subcommand = nil // an option between the words could lead elsewhere: git -C
	shell := &hook.Shell{Dialect: f.Shell.Dialect, Text: f.Shell.Text, Commands: []hook.ShellCommand{command}}
	if c.meets(&hook.Facts{Shell: shell}) {
		return true
	}
	paths := slices.DeleteFunc(slices.Clone(f.Paths), func(p hook.Path) bool { return p.Command != command.ID })
	hosts := slices.DeleteFunc(slices.Clone(f.Hosts), func(h hook.Host) bool { return h.Command != command.ID })
	return c.meetsEach(paths, hosts)
}

// plain reports a command that is what its words say: no program of another
// place with the same name, no variables or wrapper that turn it into something
// else, and no file that its output goes to.
func plain(c *hook.ShellCommand) bool {
	elsewhere := func(r hook.Redirect) bool {
		return !strings.HasSuffix(r.Op, "&") && (r.Target == nil || *r.Target != "/dev/null")
	}
	return c.Path == nil && len(c.Env) == 0 && len(c.Via) == 0 && !slices.ContainsFunc(c.Redirects, elsewhere)
}

// meetsEach reports that there are paths or hosts and that each of them, by
// itself, meets a condition.
func (c cover) meetsEach(paths []hook.Path, hosts []hook.Host) bool {
	for i := range paths {
		if !c.meets(&hook.Facts{Shell: &hook.Shell{}, Paths: paths[i : i+1]}) {
			return false
		}
	}
	for i := range hosts {
		if !c.meets(&hook.Facts{Shell: &hook.Shell{}, Hosts: hosts[i : i+1]}) {
			return false
		}
	}
	return len(paths)+len(hosts) > 0
}

// meets judges the conditions on a part of the call.
func (c cover) meets(part *hook.Facts) bool {
	one := *c.ev
	one.Facts = part
	return slices.ContainsFunc(c.conditions, func(c Condition) bool { return c.Match(&one) == Yes })
}
