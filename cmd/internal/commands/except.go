package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/adapters"
	"gate/engine"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/handlers"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/internal/sources"
)

// exceptFlags are the flags of gate except.
type exceptFlags struct {
	callFlags
	until  string
	reason string
	owner  string
}

func newExcept(p process) *cobra.Command {
	var f exceptFlags
	cmd := &cobra.Command{
		Use:   "except ID|last|'LINE'",
		Short: "take a call out of what a policy holds back, until a day",
		Long: "Writes the narrowest exception for a call that was held back into your settings: the\n" +
			"very words of its commands, or its paths and hosts, in this project, for each policy\n" +
			"that objects. The argument is a decision of the log, by its id or last, or a shell\n" +
			"line. gate decides about the call again with the exception: if it would still be held\n" +
			"back, gate says by whom and writes nothing. A person must type the code that it shows\n" +
			"at a terminal. It refuses to run within an agent's session.",
		Example: "  gate except last --until 30d --reason 'pages are published by branch'\n" +
			"  gate except 'git push origin gh-pages' --until 2027-01-31 --reason OPS-17",
		Args: oneArg("a decision's id, last, or one shell line"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.except(cmd.Context(), p, args[0]) },
	}
	cmd.ValidArgsFunction = first(decisions(p, &f.dirs))
	cmd.Flags().StringVar(&f.until, "until", "", "the last `DAY` that it holds, such as 2027-01-31, or 30d from now; a year at most")
	cmd.Flags().StringVar(&f.reason, "reason", "", "why the call may pass")
	cmd.Flags().StringVar(&f.owner, "owner", "", "the person responsible (default: this account)")
	cmd.Flags().StringVar(&f.tool, "tool", "Bash", "the tool; for others than a shell the argument is its path, address or JSON input")
	offer(cmd, "tool", shortTools)
	cmd.Flags().StringVar(&f.cwd, "cwd", "", "the agent's working directory `DIR` (default: this one)")
	cmd.Flags().BoolVar(&f.run, "run-handlers", false, "run commands and other handlers, too; they really act")
	addDirFlags(cmd, &f.dirs)
	return cmd
}

func (f *exceptFlags) except(ctx context.Context, p process, arg string) error {
	until, err := lastDay(f.until, time.Now())
	if err != nil {
		return err
	}
	if strings.TrimSpace(f.reason) == "" {
		return usageError("--reason is missing: say why the call may pass")
	}
	if err := p.attended(); err != nil {
		return err
	}
	ev, project, err := f.heldBack(p, arg)
	if err != nil {
		return err
	}
	d, err := f.dirs.Absolute().ForHook()
	if err != nil {
		return err
	}
	file, before, err := readSettings(d.User, load.SettingsStem)
	if err != nil {
		return err
	}
	t := trial{setup.Options{
		For: sources.For{Machine: p.machine(d, project)}, Engine: []engine.Option{engine.WithAllSteps()},
		Run: f.run, Handlers: p.handlers(handlers.Options{Progress: p.waits(false)}),
	}, file}
	owner := cmp.Or(f.owner, places.AccountName())
	list, unasked, err := t.exceptions(ctx, ev, setting.Exception{Project: filepath.ToSlash(project), Until: until, Owner: owner, Reason: f.reason})
	if err != nil {
		return err
	}
	for _, h := range unasked {
		fmt.Fprintf(p.stderr, "gate: note: the %s hook %s was not run, and may still hold the call back; --run-handlers runs it\n", h.Kind, visible(h.ID))
	}
	after, err := load.Edit(filepath.ToSlash(file), before, hook.User, withExceptions(filepath.ToSlash(file), before, list), setting.KeyExceptions)
	if err != nil {
		return err
	}
	change := loosening{file, hook.User, load.Said(filepath.ToSlash(file), before, hook.User), load.Said(filepath.ToSlash(file), after, hook.User)}
	if err := change.write(p, d, after, fmt.Sprintf("Let this call pass?\n  %s\n%s", shown(file), exceptionLines(list))); err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "excepted from %s until %s: %s, in %s (%s)\n", visible(e.Policy), dayOf(e.Until),
			visible(strings.Join(e.If, ", ")), visible(p.tilde(e.Project)), visible(p.tilde(file)))
	}
	return printAll(p, b.String())
}

// heldBack finds the call that an argument names, as it would be made now, and its project.
func (f *exceptFlags) heldBack(p process, arg string) (hook.Event, string, error) {
	r, err := f.recordNamed(p, arg)
	if err != nil {
		return hook.Event{}, "", err
	}
	var ev hook.Event
	project := ""
	if r != nil {
		if ev, err = r.Restore(); err != nil {
			return ev, "", fmt.Errorf("%s: %w", r.ID, err)
		}
		if cut, redacted := r.Kept.Lost("/tool_input"); len(cut)+len(redacted) > 0 {
			return ev, "", fmt.Errorf("%s: the log has not all of the call, which has secrets in it or is long; give the line itself", r.ID)
		}
		ev.Parts, project = adapters.Parts(&ev), r.Project
	} else if ev, err = f.event(arg); err != nil {
		return ev, "", err
	}
	if ev.Tool() == "" {
		return ev, "", errors.New("only a tool's call can be excepted")
	}
	ev.Gate = core.Now(places.AccountName(), true)
	return ev, cmp.Or(project, places.ProjectRoot("", ev.Dir())), nil
}

// A trial decides about calls as if the user's settings file had more exceptions.
type trial struct {
	setup.Options
	file string
}

// exceptions returns what the call needs to pass: the exception for each policy that
// objects. It is an error where the call would be held back all the same. unasked are
// hooks that were not run.
func (t trial) exceptions(ctx context.Context, ev hook.Event, each setting.Exception) (list []setting.Exception, unasked []*hook.Hook, err error) {
	g, d, err := t.decide(ctx, ev, nil)
	if err != nil {
		return nil, nil, err
	}
	if d.Effect < hook.Ask {
		return nil, nil, fmt.Errorf("nothing holds this call back: %s", d.Effect)
	}
	objecting, err := objectors(g, &d)
	if err != nil {
		return nil, nil, err
	}
	ev.Facts = d.Facts
	if each.If, err = setting.Narrowest(&ev); err != nil {
		return nil, nil, err
	}
	for _, h := range objecting {
		e := each
		e.Policy = h.ID
		if err := e.Check(); err != nil {
			return nil, nil, fmt.Errorf("no exception to %s can be that narrow: %w", h.ID, err)
		}
		list = append(list, e)
	}
	ev.Facts = nil
	if g, d, err = t.decide(ctx, ev, list); err != nil {
		return nil, nil, err
	}
	if d.Effect >= hook.Ask {
		return nil, nil, fmt.Errorf("the call would still be held back, by %s", heldBy(&d))
	}
	for _, s := range d.Steps {
		if g.Mutes(s.Hook.Kind) {
			unasked = append(unasked, s.Hook)
		}
	}
	return list, unasked, nil
}

// decide answers a call with further exceptions in the user's settings.
func (t trial) decide(ctx context.Context, ev hook.Event, more []setting.Exception) (*setup.Gate, hook.Decision, error) {
	l := sources.Load(t.For)
	at := slices.IndexFunc(l.Layers, func(y setting.Layer) bool { return y.Authority == hook.User })
	if at < 0 {
		at = len(l.Layers)
		l.Layers = append(l.Layers, setting.Layer{Authority: hook.User, File: filepath.ToSlash(t.file)})
	}
	l.Layers[at].Exceptions = slices.Concat(l.Layers[at].Exceptions, more)
	g, err := setup.Of(t.Options, l)
	if err != nil {
		return nil, hook.Decision{}, err
	}
	return g, g.Decide(ctx, ev), nil
}

// objectors are the policies that hold a call back. Those that the user may not except
// a call from, and whoever could not answer, are an error.
func objectors(g *setup.Gate, d *hook.Decision) ([]*hook.Hook, error) {
	settings := g.Set.Settings()
	var list []*hook.Hook
	for _, s := range d.Steps {
		switch {
		case s.Effect < hook.Ask || s.Hook == nil:
			continue
		case s.Fault != nil:
			return nil, fmt.Errorf("%s could not answer, and a fault is never excepted: %w", s.Hook.ID, s.Fault)
		case !settings.MayTune(&setting.Layer{Authority: hook.User}, s.Hook):
			return nil, fmt.Errorf("%s is the administrator's here: only they can except a call from it, in the managed settings (%s)", s.Hook.ID, g.Managed)
		}
		if !slices.ContainsFunc(list, func(h *hook.Hook) bool { return h.ID == s.Hook.ID }) {
			list = append(list, s.Hook)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no policy holds this call back that an exception could be from: %s", heldBy(d))
	}
	return list, nil
}

// heldBy says who holds a call back, and why.
func heldBy(d *hook.Decision) string {
	var list []string
	for _, r := range d.Reasons {
		if r.Effect >= hook.Ask {
			list = append(list, cmp.Or(r.Hook, r.ID, r.Source)+": "+r.Reason)
		}
	}
	if d.Fault != nil {
		list = append(list, "gate itself: "+d.Fault.Error())
	}
	return strings.Join(list, "; ")
}

// lastDay reads the day on which an exception ends, and returns the moment.
func lastDay(text string, now time.Time) (time.Time, error) {
	const form = "such as 2027-01-31, or 30d"
	if text == "" {
		return time.Time{}, usageError("--until is missing: an exception ends; give its last day, " + form)
	}
	day, err := time.Parse(time.DateOnly, text)
	if days, ok := strings.CutSuffix(text, "d"); ok && err != nil {
		var n int
		if n, err = strconv.Atoi(days); err == nil && n >= 0 && n < 10_000 {
			day = now.UTC().Truncate(24*time.Hour).AddDate(0, 0, n)
		}
	}
	end := day.AddDate(0, 0, 1)
	switch {
	case err != nil || day.IsZero():
		return time.Time{}, usageError("--until " + quoted(text) + ": want the last day, " + form)
	case !now.Before(end):
		return time.Time{}, usageError("--until " + quoted(text) + " is over")
	case end.Sub(now) > setting.MaxAhead:
		return time.Time{}, usageError("--until " + quoted(text) + " is more than a year ahead, and would not count")
	}
	return end, nil
}

// dayOf is the last day of an exception, as settings have it.
func dayOf(end time.Time) string { return end.Add(-time.Nanosecond).UTC().Format(time.DateOnly) }

// withExceptions returns the exceptions of a settings file with more at the end.
func withExceptions(file string, data []byte, more []setting.Exception) []any {
	var list []any
	if doc, err := load.Decode(file, data); err == nil {
		list, _ = doc.Value()[setting.KeyExceptions].([]any)
	}
	list = slices.Clone(list)
	for _, e := range more {
		var conditions []any
		for _, text := range e.If {
			conditions = append(conditions, text)
		}
		list = append(list, map[string]any{
			"policy": e.Policy, "if": conditions, "project": e.Project, "until": dayOf(e.Until), "owner": e.Owner, "reason": e.Reason,
		})
	}
	return list
}

// exceptionLines shows exceptions to a person.
func exceptionLines(list []setting.Exception) string {
	var b strings.Builder
	for _, e := range list {
		fmt.Fprintf(&b, "  not held back by %s\n", shown(e.Policy))
		for _, text := range e.If {
			fmt.Fprintf(&b, "    call     %s\n", shown(text))
		}
		fmt.Fprintf(&b, "    project  %s\n    until    %s (UTC)\n    owner    %s\n    reason   %s\n",
			shown(e.Project), dayOf(e.Until), shown(e.Owner), shown(e.Reason))
	}
	return b.String()
}
