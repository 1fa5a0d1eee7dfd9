package commands

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"gate/cmd/internal/targets"
	"gate/internal/hostfs"
	"gate/internal/policycheck"
)

// fmtFlags are the flags of gate fmt.
type fmtFlags struct {
	dirs              dirFlags
	diff, list, check bool
}

func newFmt(p process) *cobra.Command {
	var f fmtFlags
	cmd := &cobra.Command{
		Use:   "fmt [PATH]...",
		Short: "format Rego files as opa fmt does",
		Long: "Formats Rego files, tests among them, and prints the names of those that it\n" +
			"changed. PATH is as for gate check; - formats standard input to standard output. A\n" +
			"file that cannot be parsed is reported and left alone.",
		Example: "  gate fmt\n  gate fmt --diff policies\n  gate fmt - < push.rego",
		RunE: func(_ *cobra.Command, paths []string) error {
			if slices.Contains(paths, "-") {
				if len(paths) > 1 {
					return usageError("- stands alone")
				}
				return f.stdin(p)
			}
			targets, err := policyTargets(p, f.dirs, paths)
			if err != nil {
				return err
			}
			return f.files(p, targets)
		},
	}
	cmd.Flags().BoolVar(&f.diff, "diff", false, "show what would change, and change nothing")
	cmd.Flags().BoolVar(&f.list, "list", false, "list what would change, and change nothing")
	cmd.Flags().BoolVar(&f.check, "check", false, "change nothing, and fail if anything would")
	addDirFlags(cmd, &f.dirs)
	return cmd
}

func (f *fmtFlags) stdin(p process) error {
	text, err := hostfs.ReadAll(p.stdin, policycheck.MaxFile)
	if err != nil {
		return fmt.Errorf("stdin: %w", err)
	}
	now, err := policycheck.Format("stdin", text)
	if err != nil {
		return err
	}
	if f.diff || f.list || f.check {
		return f.show(p, []change{{file: "stdin", old: text, new: now}})
	}
	return emit(p, now)
}

// A change is a file that is not formatted.
type change struct {
	file     string // as the person would write it
	path     string
	old, new []byte
	perm     os.FileMode
}

// files formats the files of targets. Those that cannot be read or parsed are
// reported on standard error and change nothing for the others.
func (f *fmtFlags) files(p process, targets []targets.Policies) error {
	var changes []change
	failed := false
	for _, t := range targets {
		names, err := policycheck.Files(t.View(os.DirFS(t.Dir)))
		if err != nil {
			return hostfs.At(t.Shown, err)
		}
		for _, name := range names {
			if !t.Holds(name) {
				continue
			}
			c, err := formatted(t, name)
			if err != nil {
				failed = true
				fmt.Fprintf(p.stderr, "gate: %s\n", visible(err.Error()))
			} else if string(c.old) != string(c.new) {
				changes = append(changes, c)
			}
		}
	}
	var err error
	if f.diff || f.list || f.check {
		err = f.show(p, changes)
	} else {
		err = rewrite(p, changes)
	}
	if err == nil && failed {
		err = exitWith(exitFailed)
	}
	return err
}

// formatted is a file of a target and what it is to be.
func formatted(t targets.Policies, name string) (change, error) {
	c := change{
		file: filepath.Join(t.Shown, filepath.FromSlash(name)),
		path: filepath.Join(t.Dir, filepath.FromSlash(name)),
	}
	info, err := os.Lstat(c.path)
	if err == nil {
		c.perm = info.Mode().Perm()
		c.old, err = hostfs.Files{}.ReadFile(c.path, policycheck.MaxFile)
	}
	if err != nil {
		return c, hostfs.At(c.file, err)
	}
	c.new, err = policycheck.Format(c.file, c.old)
	return c, err
}

// rewrite puts the formatted texts in the place of the old ones.
func rewrite(p process, changes []change) error {
	var errs []error
	var b strings.Builder
	for _, c := range changes {
		if err := hostfs.Replace(c.path, c.new, c.perm); err != nil {
			errs = append(errs, hostfs.At(c.file, err))
			continue
		}
		fmt.Fprintf(&b, "%s\n", visible(c.file))
	}
	return errors.Join(printAll(p, b.String()), errors.Join(errs...))
}

// show prints what would change.
func (f *fmtFlags) show(p process, changes []change) error {
	var b strings.Builder
	for _, c := range changes {
		switch {
		case f.diff:
			b.WriteString(visible(string(diff.Diff(c.file, c.old, c.file+" (formatted)", c.new))))
		default:
			fmt.Fprintf(&b, "%s\n", visible(c.file))
		}
	}
	err := printAll(p, b.String())
	if err == nil && f.check && len(changes) > 0 {
		err = exitWith(exitFailed)
	}
	return err
}
