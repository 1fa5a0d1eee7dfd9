package commands

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/internal/artifact"
)

// compileFlags are the flags of gate build.
type compileFlags struct {
	dirs  dirFlags
	check bool
	json  bool
	later bool
}

func newBuild(p process) *cobra.Command {
	var f compileFlags
	cmd := &cobra.Command{
		Use:   "build [DIR]...",
		Short: "compile policies, so that gate-hook answers without reading them",
		Long: "Compiles the policies in your directory and in the projects DIR (default: the project\n" +
			"of this directory). For the administrator it also compiles the managed directory.\n" +
			"gate-hook answers from the compiled form until a file changes. After a change it asks\n" +
			"gate hook, which has the policies compiled again. So you need not run this command; it\n" +
			"lists the policies that gate cannot compile, with the reason.",
		Example: "  gate build\n  gate build --check .",
		RunE: func(_ *cobra.Command, projects []string) error {
			if f.later {
				return f.afterwards(p, projects)
			}
			return f.run(p, projects)
		},
	}
	addDirFlags(cmd, &f.dirs)
	cmd.Flags().BoolVar(&f.check, "check", false, "write nothing, and fail if anything is broken or cannot be compiled")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON for programs")
	cmd.Flags().BoolVar(&f.later, "later", false, "")
	cmd.Flags().MarkHidden("later")
	return cmd
}

func (f *compileFlags) run(p process, projects []string) error {
	todo, err := f.places(projects)
	if err != nil {
		return err
	}
	var list []compiled
	for _, at := range todo {
		if at.kind == artifact.Managed && at.missing() {
			continue
		}
		list = append(list, at.build(f.check))
	}
	if !f.check {
		tidy(todo)
	}
	if err := f.print(p, list); err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(c compiled) bool { return c.bad() || f.check && len(c.left()) > 0 }) {
		return exitWith(exitFailed)
	}
	return nil
}

// places lists what is to be compiled.
func (f *compileFlags) places(projects []string) ([]compilable, error) {
	d, err := f.dirs.Absolute().ForHook()
	if err != nil {
		return nil, err
	}
	if len(projects) == 0 {
		_, project, err := (&placeFlags{dirs: f.dirs}).places()
		if err != nil {
			return nil, err
		}
		projects = []string{project}
	}
	for i := range projects {
		if err := isDir(projects[i]); err != nil {
			return nil, err
		}
		if projects[i], err = filepath.Abs(projects[i]); err != nil {
			return nil, err
		}
	}
	return compilables(d, projects...), nil
}

func (f *compileFlags) print(p process, list []compiled) error {
	if f.json {
		docs := make([]any, len(list))
		for i := range list {
			docs[i] = list[i].document()
		}
		return printValue(p, map[string]any{"places": docs})
	}
	var b strings.Builder
	for i := range list {
		list[i].describe(&b, p)
	}
	return printAll(p, b.String())
}

// describe says in a line or a few what became of a place.
func (c *compiled) describe(b *strings.Builder, p process) {
	head := fmt.Sprintf("%s %s: ", c.Kind, visible(p.tilde(c.Place)))
	switch {
	case errors.Is(c.err, errNothing), c.Empty:
		b.WriteString(head + "nothing is there\n")
	case c.err != nil:
		fmt.Fprintf(b, "%snot compiled: %s\n", head, visible(p.page().Tildes(c.err.Error())))
	case c.Refused != "":
		fmt.Fprintf(b, "%sbroken: %s\n", head, visible(p.page().Tildes(c.Refused)))
	default:
		planned, handlers := c.counts()
		fmt.Fprintf(b, "%s%s compiled", head, screen.Counted(planned, "policy"))
		if handlers > 0 {
			fmt.Fprintf(b, ", %s run by gate hook", screen.Counted(handlers, "handler"))
		}
		if c.size > 0 {
			fmt.Fprintf(b, ", %d KiB", (c.size+1023)>>10)
		}
		b.WriteString("\n")
		for _, h := range c.left() {
			fmt.Fprintf(b, "  %s stays with OPA: %s\n", visible(h.ID), visible(h.Why))
		}
		for _, id := range c.backtracks() {
			fmt.Fprintf(b, "  %s has a matcher that takes an engine that backtracks: gate hook answers the calls that it is asked about\n", visible(id))
		}
	}
}

// document is what became of a place, for programs.
func (c *compiled) document() map[string]any {
	planned, handlers := c.counts()
	left := []any{}
	for _, h := range c.left() {
		left = append(left, map[string]any{"id": h.ID, "why": h.Why})
	}
	why := c.Refused
	if c.err != nil {
		why = c.err.Error()
	}
	return map[string]any{
		"place": c.Kind.String(), "dir": c.Place, "policies": planned, "handlers": handlers, "left": left, "backtracks": document.Strings(c.backtracks()),
		"bytes": c.size, "written": c.written, "error": document.OrNull(why),
	}
}
