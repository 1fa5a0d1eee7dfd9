package commands

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"gate/cmd/internal/screen"
	"gate/internal/install"
)

// uninstallAll takes gate out of every agent, in every scope, or in the one of the flags.
func (f *installFlags) uninstallAll(p process, oneScope bool) error {
	m, err := f.machine(p)
	if err != nil {
		return err
	}
	var steps, broken []agentStep
	for _, agent := range install.Agents() {
		for _, scope := range slices.Backward(install.Scopes()) {
			if oneScope && string(scope) != f.scope {
				continue
			}
			plan, err := m.Uninstall(install.Request{Agent: agent, Scope: scope})
			s := agentStep{agent, scope, plan, err}
			switch {
			case errors.Is(err, install.ErrScope):
			case err != nil:
				broken = append(broken, s)
			case plan.Empty():
			case scope == install.Managed && !p.administers():
				s.err = errors.New("the administrator has gate there: as root, gate uninstall --all")
				broken = append(broken, s)
			default:
				steps = append(steps, s)
			}
		}
	}
	var b strings.Builder
	for _, s := range broken {
		fmt.Fprintf(&b, "error: %s, scope %s: %s\n", s.agent, s.scope, visible(s.err.Error()))
	}
	plugins := ""
	if !oneScope {
		plugins = pluginsLeft(m)
	}
	switch {
	case len(steps) == 0 && len(broken) == 0 && plugins != "":
		b.WriteString("gate has no entries here; nothing to do\n")
	case len(steps) == 0 && len(broken) == 0:
		b.WriteString("gate is installed nowhere here; nothing to do\n")
	case len(steps) == 0:
	case f.dryRun:
		for _, s := range steps {
			b.WriteString(s.plan.Diff())
		}
	default:
		if err := f.allLeave(p, steps); err != nil {
			return err
		}
		broken = append(broken, f.takeOut(&b, p, m, steps)...)
		f.afterwards(&b, p, m, "")
		fmt.Fprintf(&b, "hint: sessions that run already keep asking gate until they end; another project that has gate of its own keeps it until you run this there\n")
	}
	if err := printAll(p, b.String()+plugins); err != nil {
		return err
	}
	if len(broken) > 0 {
		return exitWith(exitFailed)
	}
	return nil
}

// pluginsLeft names the guards that are plugins: agents keep these themselves, and a
// person takes them out there.
func pluginsLeft(m install.Machine) string {
	var b strings.Builder
	for _, s := range m.Status().Agents {
		for _, g := range s.Guards {
			if id := g.Plugin(); id != "" && g.InForce {
				fmt.Fprintf(&b, "left: gate's plugin stays in front of %s: %s plugin uninstall %s\n", s.Agent, s.Agent, visible(id))
			}
		}
	}
	return b.String()
}

// administers reports whether the process may change files for the whole machine, as far
// as that can be known beforehand.
func (p process) administers() bool {
	return os.Geteuid() <= 0 || p.root != "" // Windows has no numbers, and tests have a machine of their own
}

// takeOut does the steps, and returns those that failed. Each is planned anew, since two
// scopes may share a file: no other file is changed than those that a person has seen.
func (f *installFlags) takeOut(b *strings.Builder, p process, m install.Machine, steps []agentStep) (left []agentStep) {
	var seen []string
	for _, s := range steps {
		for _, c := range s.plan.Changes {
			seen = append(seen, c.Path)
		}
	}
	for i := range steps {
		s := &steps[i]
		s.plan, s.err = m.Uninstall(install.Request{Agent: s.agent, Scope: s.scope})
		for _, c := range s.plan.Changes {
			if s.err == nil && !slices.Contains(seen, c.Path) {
				s.err = fmt.Errorf("%s: it was not shown, and would change now", c.Path)
			}
		}
		if s.err == nil {
			s.err = s.plan.Apply()
		}
		if s.err == nil {
			printChanges(b, p, &s.plan)
			continue
		}
		left = append(left, *s)
		fmt.Fprintf(b, "error: %s, scope %s: %s\n", s.agent, s.scope, visible(s.err.Error()))
	}
	for _, s := range left {
		fmt.Fprintf(b, "left: gate may still be in front of %s: gate uninstall %s --scope %s\n", s.agent, s.agent, s.scope)
	}
	return left
}

// allLeave has a person agree, once, that nothing guards any of these agents any more.
func (f *installFlags) allLeave(p process, steps []agentStep) error {
	var b strings.Builder
	files := 0
	for _, s := range steps {
		files += len(s.plan.Changes)
	}
	fmt.Fprintf(&b, "Take gate out of everything here?\nThe calls of these agents then run without gate. This changes %s:", screen.Counted(files, "file"))
	for _, s := range steps {
		for _, c := range s.plan.Changes {
			fmt.Fprintf(&b, "\n  %s, scope %s: %s", s.agent, s.scope, shown(c.Path))
		}
	}
	return f.person(p, b.String())
}
