package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gate/internal/install"
)

// prove tries what is installed for agents in the scope of the flags, as doctor --live
// does, and says in a line or two what came of it. all also says of each agent whether
// it is guarded. An entry that denies the canary is what was asked for: one that denies
// all is said, and no failure of the installation.
func (f *installFlags) prove(ctx context.Context, p process, m install.Machine, agents []string, all bool) error {
	var b strings.Builder
	var list []install.Finding
	var denied []string
	reason, failed := "", false
	for _, s := range m.Status().Agents {
		if !slices.Contains(agents, s.Agent) {
			continue
		}
		if all {
			b.WriteString(guardLine(s))
		}
		for _, g := range s.Guards {
			if !g.Installed || string(g.Scope) != f.scope {
				continue
			}
			t := tryGuard(ctx, m, g, probes[s.Agent])
			switch {
			case t.open != "":
				failed = true
				list = append(list, liveFinding(s.Agent, g, t.open))
				continue
			case t.closed != "":
				x := liveFinding(s.Agent, g, "gate stops harmless calls, too: "+t.closed)
				x.Severity, x.Remedy = install.Warning, "gate doctor says why"
				list = append(list, x)
			}
			denied, reason = append(denied, s.Agent), t.reason
		}
	}
	if len(denied) > 0 {
		fmt.Fprintf(&b, "tried: gate denied %q to %s: %s\n", canaryLine, strings.Join(denied, ", "), visible(reason))
	}
	printFindings(&b, p, list)
	if err := printAll(p, b.String()); err != nil {
		return err
	}
	if failed {
		return exitWith(exitFailed)
	}
	return nil
}

// guardLine says whether an agent is guarded, and if not, why.
func guardLine(s install.AgentStatus) string {
	if s.Guarded {
		return s.Agent + ": guarded\n"
	}
	for _, x := range s.Findings { // the most severe first
		if x.Severity != install.Notice {
			return fmt.Sprintf("%s: not guarded yet: %s\nhint: %s\n", s.Agent, visible(x.Message), visible(x.Remedy))
		}
	}
	return s.Agent + ": not guarded; gate doctor says why\n"
}
