package setting

import (
	"errors"
	"fmt"
	"path"
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
	Owner   string    // the person responsible
	Reason  string
}

// forbidden are the classes for which an exception may name no pattern, only
// whole commands.
var forbidden = []string{
	"gate.self_protection", "gate.secrets", "gate.exfiltration", "gate.flow.secret", "gate.remote_code", "gate.disk", "gate.persistence",
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
	if tool = strings.TrimSpace(tool); tool == "effect" || tool == "unknown" || tool == "flow" {
		return fmt.Errorf("if %q: an exception names calls by their words, paths or hosts, not by what they do", text)
	}
	for _, class := range forbidden {
		if Covers(class, e.Policy) && !exact(tool, inner) {
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

// MaxAhead is how far ahead an exception that counts may end: a year and a day.
const MaxAhead = 367 * 24 * time.Hour

// An exception is compiled, and says where it stands.
type exception struct {
	Exception
	conditions []matcher.Condition
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
// call happens inside the project before the end and its conditions cover all of
// it. What runs outside the project is not covered.
func (e *exception) applies(ev *hook.Event) bool {
	now := ev.Gate.Now
	if now.IsZero() || !now.Before(e.Until) || e.Until.Sub(now) > MaxAhead || !inside(e.Project, ev.Dir()) {
		return false
	}
	if f := ev.Facts; f != nil && f.Shell != nil {
		for i := range f.Shell.Commands {
			c := &f.Shell.Commands[i]
			if !matcher.GoesOnly(c) && (c.Dir == nil || !inside(e.Project, *c.Dir)) {
				return false
			}
		}
	}
	return matcher.Covers(e.conditions, ev)
}

// inside reports that dir is project or lies in it.
func inside(project, dir string) bool {
	if project == "" || dir == "" || path.Clean(dir) != dir {
		return false
	}
	root := strings.TrimSuffix(path.Clean(project), "/")
	return dir == root || strings.HasPrefix(dir, root+"/")
}
