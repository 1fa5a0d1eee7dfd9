package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"gate/cmd/internal/screen"
	"gate/internal/install"
)

// An agentStep is what is to be done about one agent in one scope.
type agentStep struct {
	agent string
	scope install.Scope
	plan  install.Plan
	err   error // why nothing can be done
}

// installAll puts gate in front of every agent that there are signs of.
func (f *installFlags) installAll(ctx context.Context, p process, yes bool) error {
	if f.trust {
		return usageError("--trust-hooks needs an agent: gate install codex --trust-hooks")
	}
	m, err := f.machine(p)
	if err == nil {
		err = f.pathErr
	}
	if err != nil {
		return err
	}
	found := m.Found()
	if len(found) == 0 {
		return errors.New("there is no sign of an agent on this machine; name the one that you use: gate install AGENT, with one of " + strings.Join(install.Agents(), ", "))
	}
	var steps []agentStep
	for _, x := range found {
		plan, err := m.Install(f.request(x.Agent))
		steps = append(steps, agentStep{x.Agent, install.Scope(f.scope), plan, err})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s on this machine, scope %s:\n", screen.Counted(len(found), "agent"), f.scope)
	changes := 0
	for i, s := range steps {
		fmt.Fprintf(&b, "  %s: %s\n", s.agent, s.words(p))
		if s.err == nil {
			changes += len(s.plan.Changes)
			continue
		}
		fmt.Fprintf(&b, "    (found by %s)\n", visible(p.tilde(found[i].Sign)))
	}
	switch {
	case f.dryRun:
		f.printPath(&b, p)
		for _, s := range steps {
			b.WriteString(s.plan.Diff())
		}
		return printAll(p, b.String())
	case changes > 0 && !yes:
		if err := f.agreed(&b, p, steps); err != nil {
			return err
		}
	default:
		if err := printAll(p, b.String()); err != nil {
			return err
		}
	}
	return f.makeAll(ctx, p, m, steps)
}

// words say what is to be done about an agent.
func (s agentStep) words(p process) string {
	switch n := len(s.plan.Changes); {
	case errors.Is(s.err, install.ErrScope):
		return "left out: " + visible(s.err.Error()) + " (gate install " + s.agent + " --scope SCOPE)"
	case s.err != nil:
		return "not possible: " + visible(s.err.Error())
	case n == 0:
		return "gate is there already"
	case n > 2:
		return fmt.Sprintf("%s %s, %s first", s.plan.Changes[0].Action, screen.Counted(n, "file"), visible(p.tilde(s.plan.Changes[0].Path)))
	}
	var words []string
	for _, c := range s.plan.Changes {
		words = append(words, string(c.Action)+" "+visible(p.tilde(c.Path)))
	}
	return strings.Join(words, ", ")
}

// agreed shows the steps and asks whether they shall be done. To install only tightens,
// so it takes no code, and whoever cannot be asked can say so beforehand.
func (f *installFlags) agreed(b *strings.Builder, p process, steps []agentStep) error {
	if p.isTerminal == nil || !p.isTerminal() {
		b.WriteString("nothing was changed: there is no terminal to ask at. To go on:\n  gate install --yes" + f.scopeFlag() + "\n")
		for _, s := range steps {
			if !s.plan.Empty() {
				fmt.Fprintf(b, "  gate install %s%s\n", s.agent, f.scopeFlag())
			}
		}
		if err := printAll(p, b.String()); err != nil {
			return err
		}
		return exitWith(exitFailed)
	}
	if err := printAll(p, b.String()); err != nil {
		return err
	}
	fmt.Fprint(p.stderr, "Put gate in front of them? [y/N] ")
	line, _ := bufio.NewReader(p.stdin).ReadString('\n') // an end is no yes
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}

// scopeFlag is the flag of the scope as it has to be typed again, "" for the default.
func (f *installFlags) scopeFlag() string {
	if f.scope == string(install.User) {
		return ""
	}
	return " --scope " + f.scope
}

// makeAll does the steps that can be done, says what failed, and tries the rest.
func (f *installFlags) makeAll(ctx context.Context, p process, m install.Machine, steps []agentStep) error {
	var b strings.Builder
	if err := f.copy(&b, p, m); err != nil {
		return err
	}
	failed, changed := false, false
	var done []string
	for i := range steps {
		s := &steps[i]
		if s.err == nil {
			s.err = s.plan.Apply()
			if s.err != nil {
				fmt.Fprintf(&b, "error: %s: %s\n", s.agent, visible(s.err.Error()))
			}
		}
		switch {
		case s.err == nil:
			done, changed = append(done, s.agent), changed || !s.plan.Empty()
		case !errors.Is(s.err, install.ErrScope): // an agent without such a scope is left alone, as was said
			failed = true
		}
	}
	if changed {
		f.afterwards(&b, p, m, "")
		fmt.Fprintf(&b, "hint: a session that runs already may ask gate only after its next start; gate doctor lists what each agent leaves open\n")
	}
	if err := printAll(p, b.String()); err != nil {
		return err
	}
	err := f.prove(ctx, p, m, done, true)
	if err == nil && (failed || len(done) == 0) {
		err = exitWith(exitFailed)
	}
	return err
}
