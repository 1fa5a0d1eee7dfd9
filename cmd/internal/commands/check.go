package commands

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/markdown"
	"gate/cmd/internal/screen"
	"gate/cmd/internal/targets"
	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/policycheck"
	"gate/internal/policytest"
	"gate/internal/sources"
	"gate/scopes"
)

// checkFlags are the flags of gate check.
type checkFlags struct {
	dirs   dirFlags
	format string
	writes []string
	as     string
	strict bool
	fix    bool
	editor string
}

// checkForms are the forms of what gate check says.
func checkForms() []string { return []string{"pretty", "json", "sarif", "markdown"} }

func newCheck(p process) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [PATH]...",
		Short: "find mistakes in policies before they run",
		Long: "Loads and compiles policies as gate does before a call, and reports every mistake:\n" +
			"- policies that gate refuses, and wrong formatting\n" +
			"- fields and values that no event has\n" +
			"- facts whose null would silently mean no\n" +
			"- conditions that never hold, useless rules, unused definitions\n" +
			"- hooks that ask a model or server without an entry in the settings\n" +
			"PATH is a directory or a Rego file. Without PATH, gate checks all that is in force\n" +
			"here: the policies in this directory, the project's .gate, your own policies, and the\n" +
			"administrator's files. To keep a finding quiet, write the comment\n" +
			"\"# gate ignore: RULE\" on its line or above it.",
		Example: "  gate check\n  gate check --strict --format json policies\n  gate check --fix push.rego\n" +
			"  gate check --write sarif=gate.sarif policies",
		RunE: func(_ *cobra.Command, paths []string) error {
			if err := checkWrites(f.writes, checkForms()); err != nil {
				return err
			}
			if f.editor != "" {
				return writeEditorFiles(p, f.editor)
			}
			return f.run(p, paths)
		},
	}
	cmd.Flags().StringVar(&f.format, "format", "pretty", "pretty; json for programs; sarif for code-scanning pages; markdown for the summary of a job")
	oneOf(cmd, "format", checkForms()...)
	addWrite(cmd, &f.writes, checkForms())
	cmd.Flags().BoolVar(&f.strict, "strict", false, "warnings count as errors")
	cmd.Flags().BoolVar(&f.fix, "fix", false, "format the files first")
	cmd.Flags().StringVar(&f.as, "as", "", "the owner of these policies: managed, user or project (default: the project's in .gate, else a user's)")
	oneOf(cmd, "as", standings()...)
	cmd.Flags().StringVar(&f.editor, "editor-files", "", "check nothing; write the files for Regal and editors into `DIR`")
	addDirFlags(cmd, &f.dirs)
	return cmd
}

// checked is what gate check says about everything that it looked at.
type checked struct {
	Policies  int                   `json:"policies"`
	HookFiles []hookFile            `json:"hook_files"`
	Findings  []policycheck.Finding `json:"findings"`
	Failed    string                `json:"failed,omitempty"` // why not everything was looked at
}

// A hookFile is one that was read, so that a person sees which were not.
type hookFile struct {
	File    string `json:"file"`
	Dialect string `json:"dialect"`
	Hooks   int    `json:"hooks"`

	Parallel bool `json:"parallel"`
}

func (f hookFile) String() string {
	text := f.File + ": " + screen.Counted(f.Hooks, "hook")
	if f.Dialect != load.OwnDialect {
		text += ", read as " + f.Dialect + "'s"
	}
	if f.Parallel {
		text += ", side by side"
	}
	return text
}

func (f *checkFlags) run(p process, paths []string) error {
	all := checked{HookFiles: []hookFile{}, Findings: []policycheck.Finding{}}
	failed := f.look(p, paths, &all)
	text := func(form string) (string, error) { return f.text(all, failed, form) }
	if err := writeForms(f.writes, text); err != nil {
		return errors.Join(failed, err)
	}
	if failed != nil && f.format != "sarif" {
		return failed
	}
	report, err := text(f.format)
	if err == nil {
		err = printAll(p, report)
	}
	if err = errors.Join(failed, err); err == nil {
		err = exitWith(f.status(all, nil))
	}
	return err
}

// look checks all that is to be checked. After an error all has what was found so far.
func (f *checkFlags) look(p process, paths []string, all *checked) error {
	if len(paths) == 0 && !f.fix { // which changes files, and the nearest alone
		var err error
		if paths, err = f.inForce(p); err != nil {
			return err
		}
	}
	targets, err := policyTargets(p, f.dirs, paths)
	if err != nil {
		return err
	}
	if f.fix {
		format := fmtFlags{dirs: f.dirs}
		if err := format.files(p, targets); err != nil && !errors.As(err, new(statusError)) {
			return err // what cannot be parsed is reported below
		}
	}
	for _, t := range targets {
		if err := f.check(p, t, all); err != nil {
			return err
		}
	}
	return nil
}

// status is what gate check exits with.
func (f *checkFlags) status(all checked, failed error) int {
	if failed != nil || slices.ContainsFunc(all.Findings, func(x policycheck.Finding) bool {
		return f.strict || x.Severity == policycheck.Error
	}) {
		return exitFailed
	}
	return exitOK
}

// text is what gate check says in one of its forms.
func (f *checkFlags) text(all checked, failed error, form string) (string, error) {
	if failed != nil {
		all.Failed = failed.Error()
	}
	switch form {
	case "json":
		data, err := json.MarshalIndent(all, "", "  ")
		return string(data) + "\n", err
	case "sarif":
		return f.sarif(all, failed)
	case "markdown":
		return checkedMarkdown(all), nil
	}
	return checkedText(all), nil
}

// inForce lists where policies come from here, for whoever names none, and tells the
// person. The administrator's files are among them where there are policies in them.
func (f *checkFlags) inForce(p process) ([]string, error) {
	found, err := targets.Default(func() (dirs, error) { return f.dirs.ForPeople(p.lookupEnv) })
	d, derr := f.dirs.ForPeople(p.lookupEnv)
	if derr == nil && !slices.Contains(found, d.Managed) && targets.Holds(d.Managed) {
		found, err = append(found, d.Managed), nil
	}
	if err != nil {
		return nil, err
	}
	if len(found) > 1 || found[0] != "." {
		shown := make([]string, len(found))
		for i, dir := range found {
			shown[i] = visible(p.tilde(dir))
		}
		fmt.Fprintf(p.stderr, "gate: policies in %s\n", strings.Join(shown, ", "))
	}
	return found, nil
}

// check checks one target and adds what it finds, with positions as the person
// would write them.
func (f *checkFlags) check(p process, t targets.Policies, all *checked) error {
	place := places.Open(t.Dir, ".", nil)
	if place == nil {
		return fmt.Errorf("%s: there is nothing in it", t.Shown)
	}
	defer place.Close()
	if place.Err != nil {
		return fmt.Errorf("%s: %w", t.Shown, place.Err)
	}
	o, err := f.options(p, t, place.Files)
	if err != nil {
		return err
	}
	report, err := policycheck.Check(o)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Shown, err)
	}
	for _, file := range report.Policies {
		if t.Holds(file) {
			all.Policies++
		}
	}
	for _, h := range report.HookFiles {
		file := hookFile{filepath.Join(t.Shown, filepath.FromSlash(h.File)), cmp.Or(string(h.Dialect), load.OwnDialect), h.Hooks, h.Parallel}
		all.HookFiles = append(all.HookFiles, file)
	}
	for _, x := range report.Findings {
		if t.Holds(x.File) {
			x.File = filepath.Join(t.Shown, filepath.FromSlash(x.File))
			all.Findings = append(all.Findings, x)
		}
	}
	return nil
}

// options are those of a check of one target, whose directory has these files.
func (f *checkFlags) options(p process, t targets.Policies, files fs.FS) (policycheck.Options, error) {
	own, lib := sources.Library(hook.User)
	o := policycheck.Options{Files: t.View(files), Place: t.Place, Lib: lib, Others: []scopes.Source{own}, Elsewhere: os.Stat}
	as := f.as
	if d, err := f.dirs.ForPeople(p.lookupEnv); as == "" && err == nil && t.Dir == d.Managed {
		as = "managed"
	}
	o.Source = sourceOfTarget(t, as)
	var err error
	o.Above, err = f.above(p, t)
	return o, err
}

// above are the managed and user settings of this machine, but for those that
// are checked themselves. What is wrong with them is not the target's mistake.
func (f *checkFlags) above(p process, t targets.Policies) ([]scopes.Layer, error) {
	d, err := f.dirs.ForPeople(p.lookupEnv)
	if err != nil {
		return nil, err
	}
	var layers []scopes.Layer
	for _, at := range []struct {
		dir   string
		owner *places.Owner
		whose hook.Authority
	}{{d.Managed, places.ManagedFiles(d), hook.Managed}, {d.User, places.UserFiles(), hook.User}} {
		if at.dir == t.Dir {
			continue
		}
		if pl := places.Open(at.dir, ".", at.owner); pl != nil && pl.Err == nil {
			layers = append(layers, load.Settings(pl.Files, filepath.ToSlash(pl.Dir), at.whose).Layers...)
			pl.Close()
		}
	}
	return layers, nil
}

// sourceOfTarget says whose the policies of a target are.
func sourceOfTarget(t targets.Policies, as string) scopes.Source {
	s := scopes.Source{Name: as, Scope: hook.Session, Authority: hook.User}
	switch {
	case t.Library:
		return scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true}
	case as == "managed":
		s.Scope, s.Authority = hook.Policy, hook.Managed
	case as == "project", as == "" && slices.Contains([]string{filepath.Base(t.Dir), filepath.Base(filepath.Dir(t.Dir))}, places.ProjectDir):
		s.Name, s.Authority = "project", hook.Project
	default:
		s.Name = "user"
	}
	return s
}

// checkedText is what gate check says to people.
func checkedText(all checked) string {
	var b strings.Builder
	for _, f := range all.Findings {
		if f.Severity == policycheck.Warning {
			f.Message = "warning: " + f.Message
		}
		fmt.Fprintf(&b, "%s\n", visible(strings.ReplaceAll(f.String(), "\n", " ")))
	}
	for _, h := range all.HookFiles {
		fmt.Fprintf(&b, "%s\n", visible(h.String()))
	}
	sum := all.sum()
	if all.Failed != "" {
		sum += ": " + oneLine(all.Failed)
	}
	fmt.Fprintf(&b, "%s\n", sum)
	return b.String()
}

// sum says how many policies were checked, and how many findings there are.
func (all checked) sum() string {
	var parts []string
	errs := len(all.of(policycheck.Error))
	if errs > 0 {
		parts = append(parts, screen.Counted(errs, "error"))
	}
	if warnings := len(all.Findings) - errs; warnings > 0 {
		parts = append(parts, screen.Counted(warnings, "warning"))
	}
	switch {
	case all.Failed != "":
		parts = append(parts, "gate did not look at everything")
	case len(parts) == 0:
		parts = append(parts, "nothing is wrong")
	}
	return screen.Counted(all.Policies, "policy") + ": " + strings.Join(parts, ", ")
}

// of are the findings of a severity.
func (all checked) of(s policycheck.Severity) (list []policycheck.Finding) {
	for _, f := range all.Findings {
		if f.Severity == s {
			list = append(list, f)
		}
	}
	return list
}

// checkedMarkdown is what gate check says in the summary of a job.
func checkedMarkdown(all checked) string {
	entries := func(list []policycheck.Finding) (out []string) {
		for _, f := range list {
			out = append(out, markdown.Code(f.String()))
		}
		return out
	}
	var stopped, read []string
	if all.Failed != "" {
		stopped = []string{markdown.Code(all.Failed)}
	}
	for _, h := range all.HookFiles {
		read = append(read, markdown.Code(h.String()))
	}
	return markdown.Page("gate check: "+all.sum(), "",
		markdown.Section{Title: "Not finished", Entries: stopped},
		markdown.Section{Title: "Errors", Entries: entries(all.of(policycheck.Error))},
		markdown.Section{Title: "Warnings", Entries: entries(all.of(policycheck.Warning))},
		markdown.Section{Title: "Hook files that were read", Folded: true, Entries: read})
}

// writeEditorFiles puts what Regal and editors need into a directory. Files
// that are there and differ are left alone.
func writeEditorFiles(p process, dir string) error {
	own, lib := sources.Library(hook.User)
	if len(own.Faults) > 0 {
		return own.Faults[0].Err
	}
	files, err := policycheck.EditorFiles(lib, policytest.Builtin())
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range files {
		file := filepath.Join(dir, filepath.FromSlash(f.Name))
		old, err := os.ReadFile(file)
		switch {
		case err == nil && string(old) == string(f.Text):
			continue
		case err == nil && f.Name == policycheck.RegalConfig:
			return fmt.Errorf("%s: it exists with other content; move it away, or add the missing part by hand", file)
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := hostfs.Replace(file, f.Text, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s\n", visible(file))
	}
	return printAll(p, b.String())
}
