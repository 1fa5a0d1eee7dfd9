package consent

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"gate/hook"
	"gate/strictjson"
)

// maxValidity is how far ahead an exception may end: a year and a day.
const maxValidity = 367 * 24 * time.Hour

// maxExceptions bounds one settings file.
const maxExceptions = 1000

// An Exception takes one policy back for one thing, until a day, with a name
// and a reason (DESIGN 8, threat model 59). The zero Exception never applies.
type Exception struct {
	Policy  string         // its exact id
	If      []string       // Tool(pattern) conditions, any of which must surely hold; none: every call
	Project string         // the project's root, absolute; "": every project
	Until   time.Time      // the first moment at which it no longer holds
	Owner   string         // who answers for it
	Reason  string         // why
	By      hook.Authority // whose settings it stands in
	Pos     string         // the settings file, for messages
}

// Settings say in whose file exceptions stand and what there is to except.
type Settings struct {
	By      hook.Authority // managed, user, project or local; others may except nothing
	File    string         // for messages
	Project string         // the project whose file it is, for project and local
	Now     time.Time      // from [Store.Clock]

	// Owner returns the authority of a policy, false if there is none of
	// this id. Nil knows no policy.
	Owner func(policy string) (hook.Authority, bool)

	// Forbidden lists policies, or the beginnings of their ids up to a dot,
	// whose exceptions must be exact: a project, and conditions without any
	// wildcard. Self-protection and keys belong here.
	Forbidden []string
}

// ReadExceptions reads the exceptions of one settings file: a list of
//
//	{"policy": "acme.push", "if": "Bash(git push origin main)", "project": "/home/ada/site",
//	 "until": "2027-01-31", "owner": "ada@example.org", "reason": "release week, OPS-17"}
//
// as decoded from JSON, YAML or TOML. A day counts to its end, UTC; if may be a
// list. All mistakes come joined. Those whose time is over are no mistake but
// are returned apart, to be announced: a file must not break overnight.
// Conditions are for the matcher to compile.
func ReadExceptions(v any, from Settings) (active, over []Exception, err error) {
	list, ok := v.([]any)
	if !ok && v != nil {
		return nil, nil, fmt.Errorf("%s: exceptions are %s, not a list", from.File, strictjson.TypeName(v))
	}
	if len(list) > maxExceptions {
		return nil, nil, fmt.Errorf("%s: %d exceptions; %d are allowed", from.File, len(list), maxExceptions)
	}
	var errs []error
	for i, e := range list {
		x, err := readException(e, from)
		if err == nil {
			err = from.check(x)
		}
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: exception %d: %w", from.File, i+1, err))
		case !from.Now.Before(x.Until):
			over = append(over, x)
		default:
			active = append(active, x)
		}
	}
	return active, over, errors.Join(errs...)
}

func readException(v any, from Settings) (Exception, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return Exception{}, fmt.Errorf("it is %s, not an object", strictjson.TypeName(v))
	}
	f := &fields{m: map[string]any{}}
	for k, v := range m {
		f.m[k] = v
	}
	x := Exception{
		Policy: f.text("policy"), If: f.conditions(), Project: f.optional("project"), Until: f.until(),
		Owner: f.text("owner"), Reason: f.text("reason"), By: from.By, Pos: from.File,
	}
	return x, f.done()
}

// conditions reads if: a string or a list of strings.
func (f *fields) conditions() []string {
	v, ok := f.take("if")
	list, isList := v.([]any)
	switch {
	case !ok:
		return nil
	case !isList:
		list = []any{v}
	case len(list) == 0:
		f.fail("if is empty; leave it out for every call")
	}
	var out []string
	for _, e := range list {
		s, ok := e.(string)
		if !ok || strings.TrimSpace(s) == "" {
			f.fail("if: %s is not a condition like Bash(git push:*)", strictjson.TypeName(e))
			continue
		}
		out = append(out, s)
	}
	return out
}

// until reads a day or a moment; YAML and TOML may have read it already.
func (f *fields) until() time.Time {
	v, ok := f.take("until")
	if t, is := v.(time.Time); is && !t.IsZero() {
		if t.Equal(t.Truncate(24 * time.Hour)) {
			return t.UTC().AddDate(0, 0, 1) // a day
		}
		return t.UTC()
	}
	s, _ := v.(string)
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t.AddDate(0, 0, 1)
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.UTC()
	}
	if !ok {
		f.fail("until is missing: every exception ends")
	} else {
		f.fail("until: it must be a day like 2027-01-31 or a time like 2027-01-31T18:00:00Z")
	}
	return time.Time{}
}

// check holds an exception against the rules.
func (s Settings) check(x Exception) error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	owner, known := hook.Authority(0), false
	if s.Owner != nil {
		owner, known = s.Owner(x.Policy)
	}
	switch {
	case strings.ContainsAny(x.Policy, "*?[]{}| \t"):
		fail("policy %q: name one policy exactly, without wildcards", clip(x.Policy))
	case !known:
		fail("there is no policy %q", clip(x.Policy))
	case !MayExcept(s.By, owner):
		fail("policy %q: %s settings cannot except a policy of %s authority", x.Policy, s.By, owner)
	}
	if s.Now.IsZero() {
		fail("the time is not known")
	}
	if x.Until.Sub(s.Now) > maxValidity {
		fail("until %s: more than a year ahead", x.Until.Format(time.DateOnly))
	}
	if strings.TrimSpace(x.Owner) == "" {
		fail("owner is empty: somebody has to answer for it")
	}
	if strings.TrimSpace(x.Reason) == "" {
		fail("reason is empty")
	}
	if len(x.Policy)+len(x.Project)+len(x.Owner)+len(x.Reason)+len(strings.Join(x.If, "")) > 8<<10 {
		fail("it is longer than 8 KiB")
	}
	return errors.Join(append(errs, s.checkReach(x))...)
}

// checkReach holds what an exception covers against the rules.
func (s Settings) checkReach(x Exception) error {
	var errs []error
	if x.Project != "" && (!filepath.IsAbs(x.Project) || filepath.Clean(x.Project) != x.Project || strings.ContainsAny(x.Project, "*?[\x00")) {
		errs = append(errs, fmt.Errorf("project %q: give the absolute path of its root, without wildcards, .. or a slash at the end", clip(x.Project)))
	}
	if (s.By == hook.Project || s.By == hook.Local) && (s.Project == "" || x.Project != s.Project) {
		errs = append(errs, fmt.Errorf("project %q: %s settings speak for their own project only", clip(x.Project), s.By))
	}
	if x.Project == "" && len(x.If) == 0 {
		errs = append(errs, errors.New("neither project nor if: that is no exception; set the policy's level instead"))
	}
	if class := s.forbidden(x.Policy); class != "" {
		if x.Project == "" || len(x.If) == 0 {
			errs = append(errs, fmt.Errorf("policies of %s are excepted for exact calls in one project only: give project and if", class))
		}
		for _, c := range x.If {
			if !exact(c) {
				errs = append(errs, fmt.Errorf("policies of %s are excepted for exact calls only: if %q is wider", class, clip(c)))
			}
		}
	}
	return errors.Join(errs...)
}

// forbidden returns the class that a policy belongs to, "" for none.
func (s Settings) forbidden(policy string) string {
	for _, class := range s.Forbidden {
		class = strings.TrimSuffix(class, ".")
		if policy == class || strings.HasPrefix(policy, class+".") {
			return class
		}
	}
	return ""
}

// exact reports a condition that means one thing: a tool with a pattern in which
// nothing stands for something else. Of files, a name alone or below a home
// means many.
func exact(condition string) bool {
	tool, inner, ok := strings.Cut(condition, "(")
	inner, closed := strings.CutSuffix(strings.TrimSpace(inner), ")")
	if inner = strings.TrimSpace(inner); !ok || !closed || inner == "" || strings.ContainsAny(condition, `*?[]{}\`) {
		return false
	}
	switch strings.TrimSpace(tool) {
	case "Bash", "PowerShell", "Agent", "Task", "Skill", "WebSearch":
		return true
	}
	return strings.HasPrefix(inner, "/") || strings.HasPrefix(inner, "https://") || strings.HasPrefix(inner, "domain:")
}

// MayExcept reports whether settings of one authority may except a policy of
// another: managed settings any, the user's all but managed ones, those of a
// project and of its local files their own.
func MayExcept(by, owner hook.Authority) bool {
	switch by {
	case hook.Managed:
		return owner.Valid()
	case hook.User:
		return owner.Valid() && owner != hook.Managed
	case hook.Project, hook.Local:
		return owner == by
	}
	return false
}

// Applies reports whether the exception covers a call: the policy that objects
// and its authority, the root of the project it happens in, the time from
// [Store.Clock], and whether the conditions surely match; see
// [Exception.Matches]. It is pure.
func (x Exception) Applies(policy string, owner hook.Authority, project string, now time.Time, matched bool) bool {
	switch {
	case x.Policy == "" || x.Policy != policy || !MayExcept(x.By, owner):
		return false
	case x.Project == "" && len(x.If) == 0, x.Project != "" && x.Project != project:
		return false
	case len(x.If) > 0 && !matched:
		return false
	}
	return !now.IsZero() && now.Before(x.Until)
}

// Matches reports whether the conditions cover all of a call, so that "git push
// origin main && git push origin prod" is not let through by what is said of
// the first half: a condition of a policy fires if any command matches, but an
// exception holds only if every one does, alone. Going to a directory needs no
// condition. A call that was not fully understood is not covered. holds says
// whether the i-th condition surely matches (matcher.Yes; not Unsure). Without
// conditions every call matches.
func (x Exception) Matches(ev *hook.Event, holds func(i int, part *hook.Event) bool) bool {
	if len(x.If) == 0 {
		return true
	}
	if ev.Facts == nil || ev.Facts.Opaque || len(ev.Facts.Unknown) > 0 {
		return false
	}
	some := false
	for _, part := range parts(ev) {
		covered := false
		for i := range x.If {
			covered = covered || holds(i, &part)
		}
		if !covered {
			return false
		}
		some = true
	}
	return some
}

// parts takes a shell line apart: one event for each of its commands, with what
// is known of it. Every other event is one part.
func parts(ev *hook.Event) []hook.Event {
	f := ev.Facts
	if f.Shell == nil {
		return []hook.Event{*ev}
	}
	var out []hook.Event
	for _, c := range f.Shell.Commands {
		if c.Program != nil && *c.Program == "cd" && len(c.Redirects) == 0 {
			continue
		}
		part := *ev
		part.Facts = &hook.Facts{
			Shell:   &hook.Shell{Dialect: f.Shell.Dialect, Text: f.Shell.Text, Commands: []hook.ShellCommand{c}},
			Code:    of(c.ID, f.Code, func(v hook.Code) int { return v.Command }),
			Hosts:   of(c.ID, f.Hosts, func(v hook.Host) int { return v.Command }),
			Paths:   of(c.ID, f.Paths, func(v hook.Path) int { return v.Command }),
			Effects: of(c.ID, f.Effects, func(v hook.FactEffect) int { return v.Command }),
		}
		out = append(out, part)
	}
	return out
}

// of returns what belongs to a command.
func of[T any](id int, list []T, command func(T) int) []T {
	var out []T
	for _, v := range list {
		if command(v) == id {
			out = append(out, v)
		}
	}
	return out
}
