package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/hook"
)

// installFlags are the flags of gate install.
type installFlags struct {
	dirs  dirFlags
	scope string
	dir   string
}

func newInstall(p process) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install AGENT --scope project|user",
		Short: "put gate in front of an agent",
		Long: "Adds gate's hooks to an agent's settings and keeps everything else that is there.\n" +
			"Known agents: claude (Claude Code). Running it again changes nothing.",
		Example: "  gate install claude --scope project",
		Args:    oneArg("an agent, such as claude"),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[0] != "claude" {
				return usageError("gate cannot install itself for " + quoted(args[0]) + "; known is: claude")
			}
			return f.claude(p)
		},
	}
	cmd.Flags().StringVar(&f.scope, "scope", "project", "whose sessions: project, or user for all of yours")
	cmd.Flags().StringVar(&f.dir, "dir", "", "the project (default: the one that this directory belongs to)")
	addDirFlags(cmd, &f.dirs)
	return cmd
}

// claudeEvents are the events that gate registers for with Claude Code: those
// on which a policy can stop or tell something. Never WorktreeCreate, where a
// hook has to make the worktree itself, nor FileChanged, whose matcher is a
// list of files to watch (DESIGN 10); and none that only reports what is shown
// on the screen, since every hook costs the start of a process.
func claudeEvents() []hook.Name {
	return []hook.Name{
		hook.SessionStart, hook.SessionEnd, hook.UserPromptSubmit, hook.UserPromptExpansion,
		hook.PreToolUse, hook.PermissionRequest, hook.PostToolUse, hook.PostToolUseFailure,
		hook.SubagentStart, hook.SubagentStop, hook.TaskCreated, hook.Stop,
		hook.PreCompact, hook.ConfigChange, hook.Elicitation,
	}
}

// maxWait is how long Claude Code shall wait for gate: long enough for gate's
// own deadline with its reserve (DESIGN 9).
const maxWait = 70 * time.Second

func (f *installFlags) claude(p process) error {
	exe, err := installedProgram()
	if err != nil {
		return err
	}
	d, err := f.dirs.absolute().forHook()
	if err != nil {
		return err
	}
	path, err := f.settingsFile(p)
	if err != nil {
		return err
	}
	a, err := adapterFor("claude")
	if err != nil {
		return err
	}
	before, err := readSettings(path)
	if err != nil {
		return err
	}
	var ours []claudeHook
	for _, name := range claudeEvents() {
		ours = append(ours, claudeHook{
			event:   name,
			command: hookCommandLine(exe, name, d),
			timeout: min(maxWait, a.Deadline(name)),
		})
	}
	after, err := mergeSettings(before, ours)
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", path, err)
	}
	if string(after) == string(before) {
		return printAll(p, fmt.Sprintf("%s: gate is installed already; nothing to do\n", path))
	}
	if err := replaceFile(path, after); err != nil {
		return err
	}
	return printAll(p, fmt.Sprintf("%s: %s now asks %s about %d events\n"+
		"hint: start a new session, then ask the agent to run: rm -rf ~\n", path, "Claude Code", exe, len(ours)))
}

// installedProgram is the absolute path of this program, which stays there.
func installedProgram() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil && strings.Contains(filepath.ToSlash(real), "/go-build") {
		return "", fmt.Errorf("%s is a temporary program of go run; build gate to a place of its own first", exe)
	}
	return exe, nil
}

// absolute returns the flags with absolute paths.
func (f dirFlags) absolute() dirFlags {
	for _, dir := range []*string{&f.managed, &f.user, &f.state} {
		if *dir == "" {
			continue
		}
		if abs, err := filepath.Abs(*dir); err == nil {
			*dir = abs
		}
	}
	return f
}

// settingsFile is the file of the agent that the scope means.
func (f *installFlags) settingsFile(p process) (string, error) {
	switch f.scope {
	case "user":
		if dir := p.getenv("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "settings.json"), nil
		}
		home := p.home()
		if home == "" {
			return "", errors.New("no home directory; set HOME")
		}
		return filepath.Join(home, ".claude", "settings.json"), nil
	case "project":
		dir := f.dir
		if dir == "" {
			dir = "."
		}
		dir, err := filepath.Abs(dir)
		if err != nil {
			return "", err
		}
		if f.dir == "" {
			dir = projectRoot("", dir)
		}
		return filepath.Join(dir, ".claude", "settings.json"), nil
	}
	return "", usageError("unknown scope " + quoted(f.scope) + "; known are: project, user")
}

// hookCommandLine is the line that the agent's shell runs. Everything on it is
// fixed, so that no variable and no directory of a session decides about gate.
func hookCommandLine(exe string, name hook.Name, d dirs) string {
	words := []string{shellQuote(exe), "hook", "--agent", "claude", "--event", string(name)}
	if d.managedNamed {
		words = append(words, "--managed-dir", shellQuote(d.managed))
	}
	words = append(words, "--user-dir", shellQuote(d.user), "--state-dir", shellQuote(d.state))
	return strings.Join(words, " ")
}

// shellQuote makes one word of a path, for sh.
func shellQuote(s string) string {
	s = filepath.ToSlash(s)
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(s) + `"`
}

// maxSettings is the largest settings file that gate reads.
const maxSettings = 4 << 20

// readSettings reads an agent's settings, nil if there are none. A link is
// refused: a repository could point it at any file of the user.
func readSettings(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s: a symbolic link; name the project that it leads to with --dir", path)
	}
	data, err := hostFiles{}.ReadFile(filepath.ToSlash(path), maxSettings)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, plain(err))
	}
	return data, nil
}

// replaceFile puts new content in the place of a file: all of it or nothing.
func replaceFile(path string, data []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".settings-*.json")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// isOurs reports whether a command line of an agent's settings starts gate for
// it.
func isOurs(command string) bool {
	words := strings.Fields(command)
	at := slices.Index(words, "hook")
	if at < 1 || !strings.Contains(command, " hook --agent claude") {
		return false
	}
	program := strings.Trim(strings.Join(words[:at], " "), `"'`)
	base := strings.TrimSuffix(program[strings.LastIndexAny(program, `/\`)+1:], ".exe")
	return base == "gate" || base == "gate-hook"
}
