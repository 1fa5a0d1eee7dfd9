package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/screen"
	"gate/internal/artifact"
	"gate/internal/install"
	"gate/internal/lastgood"
	"gate/internal/places"
)

func newStatus(p process) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "status",
		Short: "show what guards this machine now",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			m, err := f.machine(p)
			if err != nil {
				return err
			}
			status := statusOfMachine{m.Status(), grave(slices.Concat(f.ownFindings(p), copyFindings(m))), f.leavesHere(p)}
			if f.json {
				err = printValue(p, status)
			} else {
				err = printStatus(p, status)
			}
			if err != nil {
				return err
			}
			guarded := slices.ContainsFunc(status.Agents, func(a install.AgentStatus) bool { return a.Guarded })
			if !guarded || slices.ContainsFunc(status.Findings, isError) {
				return exitWith(exitFailed)
			}
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON for programs")
	return cmd
}

func newDoctor(p process) *cobra.Command {
	var f installFlags
	var fix, paths bool
	var live string
	cmd := &cobra.Command{
		Use:   "doctor [AGENT]...",
		Short: "find problems of gate on this machine, and their repair",
		Args:  knownAgents,
		RunE: func(cmd *cobra.Command, agents []string) error {
			m, err := f.machine(p)
			if err != nil {
				return err
			}
			if live != "" {
				return f.printLive(cmd.Context(), p, m, live)
			}
			if paths {
				return f.printPaths(p, m)
			}
			found := m.Doctor(agents...)
			if fix {
				if found, err = f.repair(p, m, found, agents); err != nil {
					return err
				}
				if err := f.accept(p); err != nil {
					return err
				}
				f.compiles(m)
			}
			f.all(p, m, &found)
			clients, err := f.hosts(m, agents)
			if err != nil {
				return err
			}
			if f.json {
				err = printValue(p, diagnosed{found, f.inventory(p, m), clients})
			} else {
				var b strings.Builder
				printFindings(&b, p, found.Findings)
				if len(found.Findings) == 0 {
					b.WriteString("nothing is wrong\n")
				}
				for _, c := range clients {
					b.WriteString(hostLine(c) + "\n")
				}
				err = printAll(p, b.String())
			}
			if err == nil && slices.ContainsFunc(found.Findings, isError) {
				err = exitWith(exitFailed)
			}
			return err
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON for programs")
	cmd.Flags().BoolVar(&fix, "fix", false, "repair everything that needs no person")
	cmd.Flags().StringVar(&live, "live", "", "start the installed hook of this agent with a call that it must deny and one that it must pass, and show the agent's last question")
	offer(cmd, "live", func() []string { return f.installedAgents(p, "") })
	cmd.ValidArgsFunction = each(install.Agents)
	cmd.Flags().BoolVar(&paths, "paths", false, "list the files that guard this machine; no agent may write them")
	return cmd
}

// all adds to what is wrong with agents what is wrong with gate's own files and programs.
func (f *installFlags) all(p process, m install.Machine, found *install.Diagnosis) {
	f.missed(found.Findings)
	found.Findings = slices.Concat(f.ownFindings(p), found.Findings, programFindings(present(m)), otherPrograms(p, present(m)), copyFindings(m), f.slowFindings(m))
}

// knownAgents refuses arguments that are no agents: about them nothing is ever wrong.
func knownAgents(_ *cobra.Command, agents []string) error {
	for _, agent := range agents {
		if known := install.Agents(); !slices.Contains(known, agent) {
			return usageError("unknown agent " + quoted(agent) + didYouMean(agent, known, strings.Clone))
		}
	}
	return nil
}

func isError(x install.Finding) bool { return x.Severity == install.Error }

// A diagnosed machine is what is wrong with it, and what there is.
type diagnosed struct {
	install.Diagnosis
	Inventory map[string]any `json:"inventory"`
	Clients   []hostStanding `json:"clients"`
}

// repair does what can be done and looks again.
func (f *installFlags) repair(p process, m install.Machine, found install.Diagnosis, agents []string) (install.Diagnosis, error) {
	plans, err := found.Fix()
	if err == nil && f.pathErr != nil && len(plans) > 0 {
		err = f.pathErr
	}
	if err != nil {
		return found, err
	}
	if len(plans) > 0 || m.Outdated() {
		copied, err := m.MakeCopies()
		if err != nil {
			return found, err
		}
		for _, path := range copied {
			fmt.Fprintf(p.stderr, "gate: copy %s\n", visible(p.tilde(path)))
		}
	}
	for i := range plans {
		if err := plans[i].Apply(); err != nil {
			return found, err
		}
		for _, c := range plans[i].Changes {
			fmt.Fprintf(p.stderr, "gate: %s %s\n", c.Action, visible(p.tilde(c.Path)))
		}
	}
	return m.Doctor(agents...), nil
}

// accept takes gate's own files for whole.
func (f *installFlags) accept(p process) error {
	d, err := f.dirs.Absolute().ForHook()
	if err != nil {
		return err
	}
	if err := acceptWhole(p, d); err != nil {
		return err
	}
	// What was refused because it seemed half-written is to be tried again.
	compilable{dirs: d, kind: artifact.User, dir: d.User}.forget()
	return nil
}

func (f *installFlags) printPaths(p process, m install.Machine) error {
	if f.json {
		return printValue(p, m.Paths())
	}
	var b strings.Builder
	for _, path := range m.Paths() {
		name := path.Path
		if path.Tree {
			name += "/**"
		}
		fmt.Fprintf(&b, "%s  (%s)\n", visible(p.tilde(name)), path.What)
	}
	return printAll(p, b.String())
}

// A statusOfMachine is what guards a machine, and what gate's own files do to
// that.
type statusOfMachine struct {
	install.Status
	Findings []install.Finding `json:"findings"`
	Sent     *leaving          `json:"sent"` // nil: nothing leaves the machine
}

// grave leaves notices out, but for trials: they are part of what decides.
func grave(list []install.Finding) []install.Finding {
	out := []install.Finding{}
	for _, f := range list {
		if f.Severity != install.Notice || f.ID == onTrial {
			out = append(out, f)
		}
	}
	return out
}

func printStatus(p process, s statusOfMachine) error {
	var b strings.Builder
	for _, a := range s.Agents {
		word := "not guarded"
		if a.Guarded {
			word = "guarded"
		}
		fmt.Fprintf(&b, "%s: %s\n", a.Agent, word)
		for _, g := range a.Guards {
			if g.Installed {
				fmt.Fprintf(&b, "  %s: %s, %s\n", g.Scope, visible(p.tilde(g.File)), guardWords(g))
			}
		}
		printFindings(&b, p, a.Findings)
	}
	printFindings(&b, p, s.Findings)
	b.WriteString(s.Sent.text())
	return printAll(p, b.String())
}

// leavesHere is what leaves this machine; nil: nothing, or settings cannot be read, which is
// a finding.
func (f *installFlags) leavesHere(p process) *leaving {
	d, err := f.dirs.Absolute().ForHook()
	if err != nil {
		return nil
	}
	g, err := (&placeFlags{dirs: f.dirs, dir: f.dir}).gate(p)
	if err != nil {
		return nil
	}
	return leavingOf(d, g.Set.Settings().DecisionLogs)
}

func guardWords(g install.Guard) string {
	words := screen.Counted(len(g.Events), "event")
	if len(g.Missing) > 0 {
		words += fmt.Sprintf(", %d missing", len(g.Missing))
	}
	if !g.InForce {
		words += ", not in force"
	}
	return words
}

func printFindings(b *strings.Builder, p process, list []install.Finding) {
	for i, f := range list {
		where := ""
		if f.File != "" {
			where = visible(p.tilde(f.File)) + ": "
			if f.Line > 0 {
				where = fmt.Sprintf("%s:%d: ", visible(p.tilde(f.File)), f.Line)
			}
		}
		fmt.Fprintf(b, "%s: %s%s\n", f.Severity, where, visible(f.Message))
		if f.Remedy != "" && (i+1 == len(list) || list[i+1].Remedy != f.Remedy) {
			fmt.Fprintf(b, "hint: %s\n", visible(f.Remedy))
		}
	}
}

// printValue writes a value of a package of ours for programs.
func printValue(p process, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return errors.Join(errors.New("this cannot be shown as JSON"), err)
	}
	return emit(p, append(data, '\n'))
}

// acceptWhole takes the user's files for whole, as a person says.
func acceptWhole(p process, d dirs) error {
	user := places.Open(d.User, ".", places.UserFiles())
	defer user.Close()
	if user == nil || user.Err != nil {
		return nil
	}
	memory := lastgood.In(d.State)
	cut, err := memory.Cut(user)
	if err != nil || len(cut) == 0 {
		return err
	}
	names := slices.Sorted(maps.Keys(cut))
	var b strings.Builder
	b.WriteString("Are these files complete? Each is only the beginning of its former content.")
	for _, name := range names {
		fmt.Fprintf(&b, "\n  %s", shown(name))
	}
	if _, err := p.person(d, b.String()); err != nil {
		return err
	}
	for _, name := range names {
		err = errors.Join(err, memory.Keep(name, cut[name]))
	}
	return err
}
