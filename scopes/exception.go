package scopes

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"gate/hook"
	"gate/matcher"
)

// An Exception takes a call out of one policy's reach for a time. Every field
// must be given: what a half-written file leaves out would make it wider.
type Exception struct {
	Policy  string    // exactly one hook; groups have levels
	If      []string  // conditions; each command of the call must meet one of them
	Project string    // the absolute directory of the project it is for
	Until   time.Time // when it ends
	Owner   string    // who answers for it
	Reason  string
}

// forbidden are the classes for which an exception may name no pattern, only
// whole commands (threat model 59).
var forbidden = []string{
	"gate.self_protection", "gate.secrets", "gate.exfiltration", "gate.remote_code", "gate.disk", "gate.persistence",
}

// Check reports everything that makes an exception no exception.
func (e Exception) Check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if e.Policy == "" || strings.ContainsAny(e.Policy, "*? ") {
		bad("policy must be the name of one policy")
	}
	if len(e.If) == 0 {
		bad("if is missing: an exception is for certain calls")
	}
	for _, text := range e.If {
		if err := e.checkCondition(text); err != nil {
			bad("%w", err)
		}
	}
	if !path.IsAbs(e.Project) && !strings.Contains(e.Project, `:\`) {
		bad("project must be an absolute path")
	}
	if e.Until.IsZero() {
		bad("until is missing: an exception ends")
	}
	if strings.TrimSpace(e.Owner) == "" {
		bad("owner is missing")
	}
	if strings.TrimSpace(e.Reason) == "" {
		bad("reason is missing")
	}
	return errors.Join(errs...)
}

func (e Exception) checkCondition(text string) error {
	if _, err := matcher.ParseCondition(text); err != nil {
		return err
	}
	tool, inner, _ := strings.Cut(text, "(")
	inner = strings.TrimSpace(strings.TrimSuffix(inner, ")"))
	if inner == "" || strings.Trim(inner, "*: ") == "" {
		return fmt.Errorf("if %q: an exception needs a pattern in parentheses, not a whole tool", text)
	}
	if tool = strings.TrimSpace(tool); tool == "effect" || tool == "unknown" {
		return fmt.Errorf("if %q: an exception names calls by their words, paths or hosts, not by what they do", text)
	}
	for _, class := range forbidden {
		if covers(class, e.Policy) && !exact(tool, inner) {
			return fmt.Errorf("if %q: exceptions to %s take no wildcards, and paths only from the root on", text, class)
		}
	}
	return nil
}

// exact reports a pattern that means one thing. Of files, a name alone means
// many.
func exact(tool, inner string) bool {
	if strings.ContainsAny(inner, `*?[]{}\`) {
		return false
	}
	switch tool {
	case "Bash", "PowerShell", "Agent", "Task", "Skill", "WebSearch":
		return true
	}
	return strings.HasPrefix(inner, "/") || strings.HasPrefix(inner, "https://") || strings.HasPrefix(inner, "domain:")
}

// maxAhead is how far ahead an exception that counts may end: a year and a day
// (threat model 59).
const maxAhead = 367 * 24 * time.Hour

// An exception is compiled, and says where it stands.
type exception struct {
	Exception
	conditions []*matcher.Condition
	pos        string
}

func compileException(e Exception, pos string) (*exception, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	c := &exception{Exception: e, pos: pos}
	for _, text := range e.If {
		cond, err := matcher.ParseCondition(text)
		if err != nil {
			return nil, err
		}
		c.conditions = append(c.conditions, cond)
	}
	return c, nil
}

// applies reports whether the exception is for this very call. It is, if the
// call is fully understood, happens inside the project before the end, and
// every part of it meets a condition: a line that only begins with what was
// excepted, or a command that reads one more file, is not excepted. Going to a
// directory needs no condition, but what runs outside the project is not
// covered.
func (e *exception) applies(ev *hook.Event) bool {
	now := ev.Gate.Now
	if now.IsZero() || !now.Before(e.Until) || e.Until.Sub(now) > maxAhead || !inside(e.Project, ev.Dir()) {
		return false
	}
	f := ev.Facts
	if f == nil || f.Opaque || len(f.Unknown) > 0 {
		return false
	}
	if f.Shell == nil {
		if len(f.Paths)+len(f.Hosts) == 0 {
			return e.meets(ev, &hook.Facts{})
		}
		return e.meetsEach(ev, f.Paths, f.Hosts)
	}
	met := false
	for _, c := range f.Shell.Commands {
		if c.Program != nil && *c.Program == "cd" && len(c.Redirects) == 0 {
			continue
		}
		if c.Dir == nil || !inside(e.Project, *c.Dir) || !plain(&c) || !e.meetsCommand(ev, c) {
			return false
		}
		met = true
	}
	return met
}

// meetsCommand reports that a command by itself, or each path and host that it
// names, meets a condition.
func (e *exception) meetsCommand(ev *hook.Event, c hook.ShellCommand) bool {
	f := ev.Facts
	c.Subcommand = nil // an option between the words could lead elsewhere: git -C
	shell := &hook.Shell{Dialect: f.Shell.Dialect, Text: f.Shell.Text, Commands: []hook.ShellCommand{c}}
	if e.meets(ev, &hook.Facts{Shell: shell}) {
		return true
	}
	paths := slices.DeleteFunc(slices.Clone(f.Paths), func(p hook.Path) bool { return p.Command != c.ID })
	hosts := slices.DeleteFunc(slices.Clone(f.Hosts), func(h hook.Host) bool { return h.Command != c.ID })
	return e.meetsEach(ev, paths, hosts)
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
func (e *exception) meetsEach(ev *hook.Event, paths []hook.Path, hosts []hook.Host) bool {
	for i := range paths {
		if !e.meets(ev, &hook.Facts{Shell: &hook.Shell{}, Paths: paths[i : i+1]}) {
			return false
		}
	}
	for i := range hosts {
		if !e.meets(ev, &hook.Facts{Shell: &hook.Shell{}, Hosts: hosts[i : i+1]}) {
			return false
		}
	}
	return len(paths)+len(hosts) > 0
}

// meets judges the conditions on a part of the call.
func (e *exception) meets(ev *hook.Event, part *hook.Facts) bool {
	one := *ev
	one.Facts = part
	return slices.ContainsFunc(e.conditions, func(c *matcher.Condition) bool { return c.Match(&one) == matcher.Yes })
}

// inside reports that dir is project or lies in it.
func inside(project, dir string) bool {
	if project == "" || dir == "" || path.Clean(dir) != dir {
		return false
	}
	root := strings.TrimSuffix(path.Clean(project), "/")
	return dir == root || strings.HasPrefix(dir, root+"/")
}
