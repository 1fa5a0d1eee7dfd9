package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/draft"
	"gate/cmd/internal/targets"
	"gate/hook"
	"gate/internal/load"
)

func newNew(p process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new",
		Short: "begin a policy of your own",
		Args:  subcommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newNewPolicy(p))
	return cmd
}

// newPolicyFlags are the flags of gate new policy.
type newPolicyFlags struct {
	dir, event, effect, from string
}

func newNewPolicy(p process) *cobra.Command {
	var f newPolicyFlags
	cmd := &cobra.Command{
		Use:   "policy NAME",
		Short: "write a policy with tests, event cases and a page for you to change",
		Long: "Writes a working policy: the rule, its Rego tests, its event cases and its page. NAME\n" +
			"is the package, such as acme.push_protected; its parts become directories. gate\n" +
			"overwrites no file. --from begins with one of the examples of docs/rego.md.",
		Example: "  gate new policy acme.push_protected\n" +
			"  gate new policy acme.no_keys --event PostToolUse --effect modify\n" +
			"  gate new policy acme.releases --from push_protected\n" +
			"  gate new policy acme.house_rules --event SessionStart --effect context --dir .gate/policies",
		Args: oneArg("the policy's name, such as acme.push_protected"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.from != "" && (cmd.Flags().Changed("event") || cmd.Flags().Changed("effect")) {
				return usageError("--from begins with an example, which has its event and effect; give one or the other")
			}
			return f.run(p, args[0])
		},
	}
	cmd.Flags().StringVar(&f.dir, "dir", ".", "the `DIR` that the package begins in")
	cmd.Flags().StringVar(&f.event, "event", string(hook.PreToolUse), "the event that the policy listens to")
	cmd.Flags().StringVar(&f.effect, "effect", "deny", "what it does: "+strings.Join(draft.Effects(), ", "))
	oneOf(cmd, "effect", draft.Effects()...)
	cmd.Flags().StringVar(&f.from, "from", "", "the `EXAMPLE` to begin with, such as push_protected")
	offer(cmd, "event", draft.Events)
	offer(cmd, "from", draft.Examples)
	return cmd
}

// files are those of the template or the example.
func (f *newPolicyFlags) files(id string) ([]draft.File, error) {
	if f.from != "" {
		files, err := draft.From(f.from, id)
		if err != nil {
			err = hintedError{err, "there are " + strings.Join(draft.Examples(), ", ")}
		}
		return files, err
	}
	files, err := draft.Policy{ID: id, Event: hook.Name(f.event).Canonical(), Effect: f.effect}.Files()
	if err != nil {
		err = usageError(err.Error())
	}
	return files, err
}

func (f *newPolicyFlags) run(p process, id string) error {
	if err := draft.CheckName(id); err != nil {
		return usageError(err.Error())
	}
	files, err := f.files(id)
	if err != nil {
		return err
	}
	parts := strings.Split(id, ".")
	dir := filepath.Join(f.dir, filepath.Join(parts...))
	written, err := writeNew(dir, parts[len(parts)-1], files)
	if err != nil {
		return err
	}
	var b strings.Builder
	for i, file := range written {
		fmt.Fprintf(&b, "wrote %s: %s\n", visible(p.tilde(file)), files[i].What)
	}
	b.WriteString("next:\n  change the rule and the calls in its tests\n")
	if f.effect == "consult" {
		b.WriteString("  write the handler judge into hooks.yaml, such as {id: judge, consult: true, prompt: \"…\"} (docs/handlers.md)\n")
	}
	fmt.Fprintf(&b,
		"  gate test %[1]s\n"+
			"  gate check %[1]s\n"+
			"  gate check --editor-files . (once; tells Regal and editors about gate)\n"+
			"%[2]s"+
			"hint: docs/rego.md lists the input of a policy, and has forty policies that --from begins with\n", visible(p.tilde(dir)), whereAsked(p, f.dir))
	return printAll(p, b.String())
}

// whereAsked says whether a draft in dir is asked as it lies, or where it has to
// lie.
func whereAsked(p process, dir string) string {
	if dir, err := filepath.Abs(dir); err == nil && filepath.Base(dir) == load.PoliciesDir {
		d, err := dirFlags{}.ForPeople(p.lookupEnv)
		if place := filepath.Dir(dir); targets.IsPlace(place) || err == nil && place == d.User {
			return "  it is in force already, as it stands\n"
		}
	}
	return "  move it to ~/.config/gate/policies (for you) or to .gate/policies (for everybody on the project) to put it in force\n"
}

// writeNew writes the files of a draft and returns their names. If one of them
// is there already, or cannot be written, none is left.
func writeNew(dir, name string, files []draft.File) (written []string, err error) {
	var there []error
	for _, f := range files {
		file := filepath.Join(dir, f.In(name))
		if _, err := os.Lstat(file); err == nil {
			there = append(there, fmt.Errorf("%s is there already; nothing was written", file))
		} else if !errors.Is(err, fs.ErrNotExist) {
			there = append(there, err)
		}
	}
	if err := errors.Join(there...); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			for _, file := range written {
				os.Remove(file)
			}
		}
	}()
	for _, f := range files {
		file := filepath.Join(dir, f.In(name))
		out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return written, err
		}
		written = append(written, file)
		_, err = out.WriteString(f.Text)
		if err := errors.Join(err, out.Close()); err != nil {
			return written, err
		}
	}
	return written, nil
}
