package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/load"
	"gate/internal/places"
	"gate/scopes"
)

// importFlags are the flags of gate import.
type importFlags struct {
	dialect string
	format  string
	to      string
}

func newImport(p process) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "translate another system's hooks into gate's form",
		Long: "Reads a hook file of Claude Code, cocode, CodeWhale, MassGen or zeph and prints the\n" +
			"same hooks as a hook file of gate's own. What gate reads otherwise than the system,\n" +
			"or cannot take over, is said on standard error. FILE is JSON, TOML or YAML by its\n" +
			"name, or Markdown with frontmatter. Without --dialect: the one that it names, or the\n" +
			"only one that accepts it. docs/dialects.md has the differences.",
		Example: "  gate import ~/.config/cocode/hooks.toml\n" +
			"  gate import --dialect claude --format yaml .claude/settings.json\n" +
			"  gate import --to ~/.config/gate/hooks.d massgen.yaml",
		Args: oneArg("a hook file"),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(p, args[0]) },
	}
	cmd.Flags().StringVar(&f.dialect, "dialect", "", "the dialect of the file: claude, cocode, codewhale, massgen, zeph, or gate's own")
	oneOf(cmd, "dialect", load.Dialects()...)
	cmd.Flags().StringVar(&f.format, "format", "", "json, toml or yaml (default: the file's own)")
	oneOf(cmd, "format", "json", "toml", "yaml")
	cmd.Flags().StringVar(&f.to, "to", "", "write into `DIR` instead, under the file's name; where gate reads hooks from it, a person at a terminal has to agree")
	return cmd
}

func (f *importFlags) run(p process, file string) error {
	ext := strings.ToLower(filepath.Ext(file))
	if f.format != "" {
		ext = "." + f.format
	}
	if f.format == "" && (ext == ".md" || ext == ".yml") {
		ext = ".yaml"
	}
	foreign, err := f.read(file)
	if err != nil {
		return err
	}
	text, err := foreign.Encode(ext)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, note := range foreign.Notes {
		fmt.Fprintf(p.stderr, "gate: note: %s\n", visible(note))
	}
	if f.to == "" {
		return printAll(p, string(text))
	}
	return f.write(p, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))+ext, text)
}

// read reads the file as a person's own, or a skill's where it is one.
func (f *importFlags) read(file string) (load.Foreign, error) {
	data, err := hostfs.Files{}.ReadFile(file, maxSettings)
	if err != nil {
		return load.Foreign{}, hostfs.At(file, err)
	}
	as := scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User}
	if filepath.Ext(file) == ".md" {
		as.Scope, as.Authority = hook.Skill, hook.SkillAuthor
	}
	foreign, err := load.ReadHooks(filepath.ToSlash(file), data, f.dialect, as)
	if errors.Is(err, load.ErrDialect) {
		err = hintedError{err, "--dialect says so here"}
	}
	return foreign, err
}

// mayWrite asks a person where gate would run what is written; elsewhere a script may
// set things up, but no agent.
func (f *importFlags) mayWrite(p process, file string, text []byte) error {
	d, err := (&dirFlags{}).Absolute().ForHook()
	if err != nil {
		return err
	}
	if !readsHooks(f.to, d) {
		return noAgent(p)
	}
	_, err = p.person(d, fmt.Sprintf("Have these hooks run?\n  %s\n%s", shown(file), shownText(text)))
	return err
}

// readsHooks reports a directory that gate reads hooks from.
func readsHooks(dir string, d dirs) bool {
	full, err := filepath.Abs(dir)
	if err != nil {
		return true
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	if filepath.Base(full) == load.HooksDir || slices.Contains(strings.Split(full, string(filepath.Separator)), places.ProjectDir) {
		return true
	}
	for _, own := range []string{d.User, d.Managed} {
		if real, err := filepath.EvalSymlinks(own); err == nil {
			own = real
		}
		if rel, err := filepath.Rel(own, full); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// shownText shows the lines of a text of somebody else's.
func shownText(text []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		fmt.Fprintf(&b, "  %s\n", visible(strings.TrimRight(line, "\n")))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// write makes a new file; it never replaces one.
func (f *importFlags) write(p process, name string, text []byte) error {
	path := filepath.Join(f.to, name)
	if err := f.mayWrite(p, path, text); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s is there already; remove it first, or choose another directory", path)
	case err != nil:
		return hostfs.At(path, err)
	}
	_, err = out.Write(text)
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(hostfs.At(path, err), os.Remove(path))
	}
	return printAll(p, visible(p.tilde(path))+"\n")
}
