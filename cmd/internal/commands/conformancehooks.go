package commands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/internal/conformance"
	"gate/internal/conformance/drive"
	"gate/internal/hostfs"
)

// hooksFlags are the flags of gate conformance hooks.
type hooksFlags struct {
	host     string
	modes    []string
	only     []string
	env      []string
	describe bool
	into     string
	format   string
}

// allModes is the word for every mode of a client.
const allModes = "all"

func newConformanceHooks(p process) *cobra.Command {
	var f hooksFlags
	cmd := &cobra.Command{
		Use:   "hooks --host FILE COMMAND [ARG]...",
		Short: "drive an agent's client, and see what it does with the answers of hooks",
		Long: "Starts COMMAND, an agent's client, in throwaway homes and projects, with hooks and a\n" +
			"scripted model of the kit's own, and looks which calls really ran: after a denial, a\n" +
			"broken, late or huge answer, a question, a changed input, several hooks at once. It\n" +
			"prints a claim. --host names a description of the client: where its hooks stand, and\n" +
			"its words for their answers. --describe prints one, to write your own from.\n" +
			"The client runs as it is: the kit is no sandbox.",
		Example: "  gate conformance hooks --host claude claude\n  gate conformance hooks --host my-agent.json ./my-agent --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !f.describe {
				return usageError("give the client's program")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), p, args) },
	}
	cmd.Flags().SetInterspersed(false) // what follows the program is the program's
	cmd.Flags().StringVar(&f.host, "host", "", "the description of the client: a `FILE`, or the name of one that gate brings along (required)")
	cmd.Flags().StringArrayVar(&f.modes, "mode", nil, "try this `MODE` of the client's permissions, or all of them; may be given again")
	cmd.Flags().StringSliceVar(&f.only, "only", nil, "try these `VECTORS` and no others")
	cmd.Flags().StringArrayVar(&f.env, "env", nil, "start the client with `NAME=VALUE`, too; may be given again")
	cmd.Flags().BoolVar(&f.describe, "describe", false, "print the description and its vectors, and try nothing")
	cmd.Flags().StringVar(&f.into, "into", "", "put the results into this `FILE` of results")
	addFormat(cmd, &f.format)
	cmd.RegisterFlagCompletionFunc("host", orFiles(each(drive.Clients)))
	offer(cmd, "mode", f.modeWords)
	offer(cmd, "only", vectorWords)
	cmd.RegisterFlagCompletionFunc("env", cobra.NoFileCompletions)
	return cmd
}

// modeWords are the modes of the client that is described.
func (f *hooksFlags) modeWords() []string {
	h, err := f.described()
	if err != nil {
		return nil
	}
	return append(h.ModeNames(), allModes)
}

func vectorWords() (words []string) {
	for _, v := range drive.Vectors() {
		words = append(words, v[0])
	}
	return words
}

// described reads the description that --host names.
func (f *hooksFlags) described() (drive.Host, error) {
	data, err := f.description()
	if err != nil {
		return drive.Host{}, err
	}
	return drive.Read(data)
}

// maxDescription bounds a description, and the results of all clients.
const maxDescription = 4 << 20

func (f *hooksFlags) description() ([]byte, error) {
	if slices.Contains(drive.Clients(), f.host) {
		return drive.Text(f.host)
	}
	return readBounded(f.host)
}

func readBounded(file string) ([]byte, error) {
	in, err := hostfs.Regular(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return hostfs.ReadAll(in, maxDescription)
}

func (f *hooksFlags) run(ctx context.Context, p process, command []string) error {
	if f.host == "" {
		return usageError("--host is missing: it says where the client's hooks stand; gate knows " + strings.Join(drive.Clients(), ", "))
	}
	data, err := f.description()
	if err != nil {
		return fmt.Errorf("--host: %w", err)
	}
	h, err := drive.Read(data)
	if err != nil {
		return fmt.Errorf("--host: %w", err)
	}
	if f.describe {
		return emit(p, data)
	}
	for _, id := range f.only {
		if known := vectorWords(); !slices.Contains(known, id) {
			return usageError("--only: there is no vector " + quoted(id) + didYouMean(id, known, strings.Clone))
		}
	}
	if len(f.only) > 0 && f.into != "" {
		return usageError("--into takes the results of all vectors, and --only leaves some out")
	}
	modes := f.modes
	switch {
	case len(modes) == 0:
		modes = []string{h.Mode}
	case slices.Contains(modes, allModes):
		modes = h.ModeNames()
	}
	kit, err := f.kit(p, h, command)
	if err != nil {
		return err
	}
	version, err := kit.Version(ctx)
	if err != nil {
		return err
	}
	failed := false
	for _, mode := range modes {
		if failed, err = f.try(ctx, p, kit, version, mode, failed); err != nil {
			return err
		}
	}
	if failed {
		return exitWith(exitFailed)
	}
	return nil
}

// kit is what drives a command.
func (f *hooksFlags) kit(p process, h drive.Host, command []string) (drive.Kit, error) {
	kit := drive.Kit{Host: h, Command: slices.Clone(command), Path: p.getenv("PATH"), Only: f.only, Env: map[string]string{}}
	for _, text := range f.env {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return kit, usageError("--env: " + quoted(text) + " is not NAME=VALUE")
		}
		kit.Env[name] = value
	}
	if strings.ContainsRune(command[0], os.PathSeparator) {
		path, err := filepath.Abs(command[0]) // the client starts in a project of the kit's
		if err != nil {
			return kit, err
		}
		kit.Command[0] = path
	}
	return kit, nil
}

// try tries one mode, and reports whether something differs in it, or in an earlier one.
func (f *hooksFlags) try(ctx context.Context, p process, kit drive.Kit, version, mode string, failed bool) (bool, error) {
	kit.Mode = mode
	kit.Report = func(r drive.Result) {
		fmt.Fprintf(p.stderr, "gate: %s %s\n", r.ID, r.Outcome)
	}
	list, err := kit.Try(ctx)
	if err != nil {
		return failed, err
	}
	c := conformanceClaim{standard: "Answers of hooks in " + kit.Host.Client + " " + version + ", mode " + mode + ",", at: strings.Join(kit.Command, " ")}
	for _, r := range list {
		shown := r.Finding
		if r.Outcome != conformance.Held && r.How != "" {
			shown.Why += "; " + r.How
		}
		c.vectors = append(c.vectors, shown)
		failed = failed || r.Outcome == conformance.Differs
	}
	if f.into != "" {
		if err := f.record(kit.Host, version, mode, list); err != nil {
			return failed, fmt.Errorf("--into: %w", err)
		}
	}
	if err := c.show(p, f.format == "json"); err != nil {
		return failed, err
	}
	return failed, nil
}

// record puts results into a file of them. A file that is not there is begun.
func (f *hooksFlags) record(h drive.Host, version, mode string, list []drive.Result) error {
	var all drive.Records
	if !hostfs.Missing(f.into) {
		data, err := readBounded(f.into)
		if err != nil {
			return err
		}
		if all, err = drive.ReadRecords(data); err != nil {
			return err
		}
	}
	if err := all.Put(h, version, mode, time.Now().UTC().Format(time.DateOnly), list); err != nil {
		return err
	}
	return hostfs.Replace(f.into, all.JSON(), 0o644)
}
