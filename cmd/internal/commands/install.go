package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	confineoffer "gate/internal/confine/offer"
	"gate/internal/hostfs"
	"gate/internal/install"
	"gate/internal/places"
)

// installFlags are the flags of gate install, uninstall, status and doctor.
type installFlags struct {
	dirs   dirFlags
	scope  string
	dir    string
	dryRun bool
	trust  bool // store a person's trust in the hooks, too
	bypass bool // leave the modes of the agent that ask for nothing
	copies bool // entries name copies of the programs
	away   bool // take gate out
	json   bool

	path    install.Written // the program that entries name
	pathErr error           // why none can be written
}

func (f *installFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "dir", "", "the project's `DIR` (default: the one that this directory belongs to)")
	addDirFlags(cmd, &f.dirs)
}

// addScope adds the flags of what changes an agent's configuration.
func (f *installFlags) addScope(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.scope, "scope", string(install.User), "whose sessions: "+strings.Join(texts(install.Scopes()), ", "))
	oneOf(cmd, "scope", texts(install.Scopes())...)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change, and change nothing")
}

func newInstall(p process) *cobra.Command {
	var f installFlags
	var yes bool
	agents := strings.Join(install.Agents(), ", ")
	cmd := &cobra.Command{
		Use:   "install [AGENT]",
		Short: "put gate in front of an agent, or of all that are here",
		Long: "Adds gate's hooks to an agent's configuration, keeps the rest of it, and tries once whether\n" +
			"a call is denied. A second run changes nothing. gate uninstall undoes it. Without an agent,\n" +
			"it finds the agents on this machine, shows what would change and asks. Known agents:\n" + agents + ".\n" +
			"Before the MCP servers of an agent without hooks stands gate mcp: gate help mcp.",
		Example: "  gate install\n  gate install claude\n  gate install claude --scope project --dry-run",
		Args:    upToOneArg,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return f.installAll(cmd.Context(), p, yes)
			}
			return f.change(cmd.Context(), p, args[0], install.Machine.Install, "gate is installed there already; nothing to do",
				"hint: start a new session of the agent, then ask it to run: mkfs.ext4 /dev/gate-test (there is no such device)")
		},
	}
	cmd.ValidArgsFunction = first(install.Agents)
	f.add(cmd)
	f.addScope(cmd)
	cmd.Flags().BoolVar(&yes, "yes", false, "without an agent: do not ask")
	cmd.Flags().BoolVar(&f.copies, "copy", false, "entries name copies of gate's programs in your own directory, which no upgrade of gate removes")
	cmd.Flags().BoolVar(&f.trust, "trust-hooks", false, "at a terminal: where the agent runs no hook that a person has not trusted (codex), store that you trust gate's")
	cmd.Flags().BoolVar(&f.bypass, "keep-bypass", false, "with --scope managed: people may still have the agent ask for nothing (claude --dangerously-skip-permissions); gate judges all the same")
	return cmd
}

func newUninstall(p process) *cobra.Command {
	f := installFlags{away: true}
	var all bool
	cmd := &cobra.Command{
		Use:   "uninstall AGENT | --all",
		Short: "remove gate from an agent's configuration",
		Long: "Removes gate's hooks from an agent's configuration, and nothing more; with --all, from every\n" +
			"agent in every scope of yours, in this project, and as root on the machine. A person must\n" +
			"type the code that the command shows at a terminal.",
		Example: "  gate uninstall claude\n  gate uninstall claude --scope project\n  gate uninstall --all",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case all && len(args) > 0:
				return usageError("give an agent or --all, not both")
			case all:
				return nil
			}
			return oneArg("an agent: "+strings.Join(install.Agents(), ", ")+"; or --all")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if all {
				return f.uninstallAll(p, cmd.Flags().Changed("scope"))
			}
			return f.change(cmd.Context(), p, args[0], install.Machine.Uninstall, "gate is not installed there; nothing to do",
				"hint: sessions that run already keep asking gate until they end")
		},
	}
	f.add(cmd)
	f.addScope(cmd)
	cmd.Flags().BoolVar(&all, "all", false, "every agent, in every scope that you may change")
	cmd.ValidArgsFunction = first(func() []string {
		switch {
		case all:
			return nil
		case cmd.Flags().Changed("scope"):
			return f.installedAgents(p, f.scope)
		}
		return f.installedAgents(p, "")
	})
	return cmd
}

// change plans a change of an agent's configuration and makes it.
func (f *installFlags) change(
	ctx context.Context, p process, agent string, plan func(install.Machine, install.Request) (install.Plan, error), nothing, hint string,
) error {
	m, err := f.machine(p)
	if err != nil {
		return err
	}
	todo, err := plan(m, f.request(agent))
	if err == nil && !f.away {
		err = f.pathErr
	}
	if err != nil {
		return err
	}
	if f.trust && !f.dryRun && !todo.Empty() {
		if err := f.confirmHooks(p, m, agent, &todo); err != nil {
			return err
		}
	}
	if f.away && !f.dryRun && !todo.Empty() {
		if err := f.leaves(p, agent, &todo); err != nil {
			return err
		}
	}
	var b strings.Builder
	switch {
	case todo.Empty():
		if err := f.copy(&b, p, m); err != nil {
			return err
		}
		b.WriteString(nothing + "\n")
		if f.away {
			f.printStanding(&b, m, agent)
		}
	case f.dryRun:
		f.printPath(&b, p)
		b.WriteString(todo.Diff())
	default:
		err := f.copy(&b, p, m)
		if err == nil {
			err = todo.Apply()
		}
		if errors.Is(err, fs.ErrPermission) && f.scope == string(install.Managed) {
			return hintedError{err, "only the administrator may change files for the whole machine"}
		}
		if err != nil {
			return err
		}
		printChanges(&b, p, &todo)
		b.WriteString(hint + "\n")
		f.afterwards(&b, p, m, agent)
	}
	printFindings(&b, p, todo.Findings)
	if f.scope == string(install.Managed) && !f.away {
		f.printWeaknesses(&b, p, m, agent)
	}
	if err := printAll(p, b.String()); err != nil || f.away || f.dryRun {
		return err
	}
	return f.prove(ctx, p, m, []string{agent}, false)
}

// request is what is asked for about an agent.
func (f *installFlags) request(agent string) install.Request {
	return install.Request{Agent: agent, Scope: install.Scope(f.scope), TrustHooks: f.trust, KeepBypass: f.bypass}
}

// afterwards says what an installation means for others, and has what it uses compiled.
func (f *installFlags) afterwards(b *strings.Builder, p process, m install.Machine, agent string) {
	if f.scope == string(install.Project) && !f.away {
		fmt.Fprintf(b, "hint: the file names %s: who shares the project without gate there can run no call with this agent; --scope user%s is for you alone\n",
			visible(p.tilde(m.Command[0])), map[string]string{"claude": " or local"}[agent])
		fmt.Fprintf(b, "hint: git stash, git switch and git reset can take gate out of the project, and nothing guards it then; no git command reaches --scope user\n")
	}
	if !f.away && m.OS == "linux" && confineoffer.Takes(agent) {
		fmt.Fprintf(b, "hint: what gate cannot read can run confined in the place of a question: gate set policies.gate.opaque.unknown confine\n")
	}
	if f.away && m.Copies != "" && hostfs.Exists(m.Copies) {
		fmt.Fprintf(b, "hint: copies of gate's programs stay in %s until you remove them\n", visible(p.tilde(m.Copies)))
	}
	f.compiles(m)
}

func printChanges(b *strings.Builder, p process, todo *install.Plan) {
	for _, c := range todo.Changes {
		fmt.Fprintf(b, "%s %s\n", c.Action, visible(p.tilde(c.Path)))
	}
}

// copy makes the copies that entries name, if they are to name any, and says which path
// they name where that is worth a word.
func (f *installFlags) copy(b *strings.Builder, p process, m install.Machine) error {
	if f.away || f.dryRun {
		return nil
	}
	written, err := m.MakeCopies()
	if err != nil {
		return err
	}
	for _, path := range written {
		fmt.Fprintf(b, "copy %s\n", visible(p.tilde(path)))
	}
	f.printPath(b, p)
	return nil
}

// printPath says which path of gate entries name, where that is worth a word.
func (f *installFlags) printPath(b *strings.Builder, p process) {
	switch {
	case f.away || f.path.Note == "":
	case f.path.Remedy != "":
		printFindings(b, p, []install.Finding{{Severity: install.Warning, Message: f.path.Note, Remedy: f.path.Remedy}})
	default:
		fmt.Fprintf(b, "%s\n", visible(f.path.Note))
	}
}

// printStanding names the scopes that gate still guards an agent in, and what takes it
// out of them.
func (f *installFlags) printStanding(b *strings.Builder, m install.Machine, agent string) {
	scopes, err := m.Standing(agent)
	if err != nil {
		return // said already
	}
	for _, s := range scopes {
		if string(s) != f.scope {
			fmt.Fprintf(b, "hint: it is installed in the %s scope: gate uninstall %s --scope %s\n", s, agent, s)
		}
	}
}

// leaves has a person agree that nothing guards an agent's sessions any more.
func (f *installFlags) leaves(p process, agent string, todo *install.Plan) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Take gate out of %s, scope %s?\nIts calls then run without gate. This changes:\n", agent, f.scope)
	for _, c := range todo.Changes {
		fmt.Fprintf(&b, "  %s\n", shown(c.Path))
	}
	return f.person(p, strings.TrimSuffix(b.String(), "\n"))
}

// confirmHooks asks a person whether an agent shall run what is about to be
// installed.
func (f *installFlags) confirmHooks(p process, m install.Machine, agent string, todo *install.Plan) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Trust gate's hooks in %s?\nIt then runs, before and after its calls, without asking you:\n  %s --agent %s ...\nThis changes:\n", agent, shown(strings.Join(m.Command, " ")), agent)
	for _, c := range todo.Changes {
		fmt.Fprintf(&b, "  %s\n", shown(c.Path))
	}
	return f.person(p, b.String())
}

// person has a person agree to what is shown.
func (f *installFlags) person(p process, grant string) error {
	d, err := f.dirs.Absolute().ForHook()
	if err == nil {
		_, err = p.person(d, grant)
	}
	return err
}

// printWeaknesses reports everything on this machine that weakens gate for an
// agent, but that gate is not there yet.
func (f *installFlags) printWeaknesses(b *strings.Builder, p process, m install.Machine, agent string) {
	list := slices.Concat(f.ownFindings(p), weaknesses(m, agent), programFindings(present(m)), otherPrograms(p, present(m)))
	if len(list) == 0 {
		b.WriteString("nothing on this machine weakens it\n")
		return
	}
	fmt.Fprintf(b, "weak points on this machine:\n")
	printFindings(b, p, list)
}

// machine says where things are on this machine.
func (f *installFlags) machine(p process) (install.Machine, error) {
	exe, err := os.Executable()
	if err != nil {
		return install.Machine{}, err
	}
	given := f.dirs.Absolute()
	d, err := given.ForHook()
	if err != nil {
		return install.Machine{}, err
	}
	project := f.dir
	if project == "" {
		here, err := os.Getwd()
		if err != nil {
			return install.Machine{}, err
		}
		project = places.ProjectRoot("", here)
	} else if project, err = filepath.Abs(project); err != nil {
		return install.Machine{}, err
	}
	home := p.home()
	if home == "" {
		return install.Machine{}, errors.New("no home directory; set HOME")
	}
	m := p.agents(project)
	m.Home = home
	f.path, f.pathErr = p.written(&m, exe, f.copies)
	if errors.Is(f.pathErr, install.ErrRun) {
		return install.Machine{}, f.pathErr
	}
	m.UserDir, m.StateDir, m.DirsNamed = d.User, d.State, given.User != "" || given.State != ""
	m.ManagedDir = d.Managed
	return m, nil
}

// agents says where agents keep their settings, of the person and of a project.
func (p process) agents(project string) install.Machine {
	m := install.Machine{OS: runtime.GOOS, Home: p.home(), Project: project, UID: os.Getuid(), Root: p.root}
	m.AgentHome = map[string]string{}
	for _, x := range [][3]string{{"claude", "CLAUDE_CONFIG_DIR", ""}, {"codex", "CODEX_HOME", ""}, {"copilot", "COPILOT_HOME", ""}, {"opencode", "XDG_CONFIG_HOME", "opencode"}} {
		if dir := p.getenv(x[1]); filepath.IsAbs(dir) {
			m.AgentHome[x[0]] = filepath.Join(dir, x[2])
		}
	}
	return m
}
