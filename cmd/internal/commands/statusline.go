package commands

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/hook"
	"gate/internal/handlers"
	"gate/internal/hostfs"
	"gate/internal/places"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/internal/strictjson"
	"gate/scopes"
)

// statusFlags are the flags of gate statusline and gate suggest.
type statusFlags struct {
	dirs  dirFlags
	lines int
}

func newStatusLine(p process) *cobra.Command {
	var f statusFlags
	cmd := &cobra.Command{
		Use:   "statusline",
		Short: "print the agent's status line, from the setting statusLine",
		Long: "Runs the command that the setting statusLine names, gives it the agent's session\n" +
			"on standard input as it came, and prints its first lines. Where there is none, it\n" +
			"is switched off, fails or takes longer than " + handlers.ScriptLimit.String() + ", nothing is printed.",
		Example: "  gate statusline < session.json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := script{process: p, flags: f, setting: "statusLine", of: func(s scopes.Settings) setting.Script { return s.StatusLine }}
			return s.print(cmd.Context(), readSession, func(line string) (string, bool) { return styled(line), true })
		},
	}
	addDirFlags(cmd, &f.dirs)
	cmd.Flags().IntVar(&f.lines, "lines", 5, "how many lines at most")
	return cmd
}

// A script is a command of the settings that is no hook. Agents start gate for
// it all the time and show what it prints: an error must cost them nothing, so
// it goes to standard error and the status is 0.
type script struct {
	process
	flags   statusFlags
	setting string
	of      func(scopes.Settings) setting.Script
}

// print runs the script and prints those of its lines that show keeps.
func (s *script) print(ctx context.Context, read func([]byte) (scriptInput, error), show func(string) (string, bool)) error {
	if s.flags.lines < 1 {
		return usageError("--lines must be at least 1")
	}
	ctx, cancel := context.WithTimeout(ctx, handlers.ScriptLimit)
	defer cancel()
	out, err := s.run(ctx, read)
	if err != nil {
		fmt.Fprintf(s.stderr, "gate: %s: %s\n", s.setting, visible(err.Error()))
		return nil
	}
	var b strings.Builder
	left := s.flags.lines
	for line := range strings.Lines(strings.TrimRight(string(out), "\r\n")) {
		if shown, ok := show(strings.TrimRight(line, "\r\n")); ok && left > 0 {
			b.WriteString(shown + "\n")
			left--
		}
	}
	return printAll(s.process, b.String())
}

// A scriptInput is what an agent says about itself to a script.
type scriptInput struct {
	input        []byte // for the script
	dir, project string
}

// mostSession is more than any agent says about its session.
const mostSession = 1 << 20

// readSession reads the agent's session, a JSON object of the agent's own form.
func readSession(data []byte) (scriptInput, error) {
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: mostSession})
	if err != nil {
		return scriptInput{}, fmt.Errorf("the session: %w", err)
	}
	s := scriptInput{input: append(strictjson.Append(nil, doc), '\n')}
	s.dir, _ = doc["cwd"].(string)
	if w, ok := doc["workspace"].(map[string]any); ok {
		s.project, _ = w["project_dir"].(string)
	}
	return s, nil
}

// run runs the script that settings name; none prints nothing.
func (s *script) run(ctx context.Context, read func([]byte) (scriptInput, error)) ([]byte, error) {
	if s.getenv("GATE_RUN") != "" {
		return nil, errors.New("a command of gate started it; that would go on for ever")
	}
	in, err := s.input(ctx, read)
	if err != nil {
		return nil, err
	}
	d, err := s.flags.dirs.ForHook()
	if err != nil {
		return nil, err
	}
	g, err := setup.New(setup.Options{For: sources.For{Machine: s.machine(d, places.ProjectRoot(in.project, in.dir))}})
	if err != nil {
		return nil, err
	}
	for _, src := range g.Sources {
		if src.Closes() && len(src.Faults) > 0 { // what cannot be read may switch it off
			return nil, &src.Faults[0]
		}
	}
	given := s.of(g.Set.Settings())
	if given.Command == "" {
		return nil, nil
	}
	by := &hook.Hook{
		ID: s.setting, Kind: hook.Command, Source: given.Authority.String(), Authority: given.Authority,
		Config: map[string]any{"command": given.Command, "env": document.Strings(given.Env)},
	}
	dirs := map[string]string{hook.Managed.String(): d.Managed, hook.User.String(): d.User}
	run := handlers.New(handlers.Options{Getenv: s.lookupEnv, Dirs: dirs, Project: g.Project, Supervisor: s.supervisor()})
	return run.Output(ctx, by, filepath.FromSlash(in.dir), in.input)
}

// input reads standard input, no longer than the script itself may take.
func (s *script) input(ctx context.Context, read func([]byte) (scriptInput, error)) (scriptInput, error) {
	type result struct {
		data []byte
		err  error
	}
	got := make(chan result, 1)
	go func() {
		data, err := hostfs.ReadAll(s.stdin, mostSession)
		got <- result{data, err}
	}()
	select {
	case <-ctx.Done():
		return scriptInput{}, errors.New("standard input did not end in time")
	case r := <-got:
		if r.err != nil {
			return scriptInput{}, fmt.Errorf("standard input: %w", r.err)
		}
		return read(r.data)
	}
}

// colours are the sequences that a status line may have: colours and weights.
var colours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;:]*m") })

// styled returns a line with its colours, and every other character that
// nobody would see or that steers a terminal made visible: a branch may have any
// name.
func styled(line string) string {
	var b strings.Builder
	at := 0
	for _, m := range colours().FindAllStringIndex(line, -1) {
		b.WriteString(visible(line[at:m[0]]) + line[m[0]:m[1]])
		at = m[1]
	}
	return b.String() + visible(line[at:])
}
