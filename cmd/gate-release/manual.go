package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"gate/cmd/internal/commands"
)

// serverPage describes gate-server, which has gate's commands and no tree of its own.
const serverPage = `gate-server has the commands of gate(1), and the clients of language models, MCP servers and registries.

gate becomes gate-server where a command needs one of these. Nobody has to start it. It lies beside gate.`

// beside are the pages of programs that have no tree of commands. gate-run has that of gate run,
// whose flags it takes.
func (r *Release) beside() (list []File, err error) {
	for _, c := range []*cobra.Command{
		{Use: "gate-server", Short: "gate with clients of what is not on this machine", Long: serverPage},
	} {
		c.Run = func(*cobra.Command, []string) {}
		page, err := r.manual(c)
		if err != nil {
			return nil, err
		}
		list = append(list, page)
	}
	return list, nil
}

// manuals are the pages for man of a command and of those below it. The words of the
// commands are no Markdown, and the generator reads them as such.
func (r *Release) manuals(cmd *cobra.Command) ([]File, error) {
	var list []File
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			continue
		}
		below, err := r.manuals(c)
		if err != nil {
			return nil, err
		}
		list = append(list, below...)
	}
	page, err := r.manual(cmd)
	return append(list, page), err
}

// manual is the page of one command.
func (r *Release) manual(cmd *cobra.Command) (File, error) {
	was := *cmd
	cmd.Short, cmd.Long, cmd.Use = literal(cmd.Short), literal(cmd.Long), literal(cmd.Use)
	cmd.DisableAutoGenTag = true
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = literal(f.Usage) })
	name := strings.ReplaceAll(was.CommandPath(), " ", "-")
	header := doc.GenManHeader{Title: strings.ToUpper(name), Section: "1", Date: &r.Time, Source: "gate " + r.Version, Manual: "gate"}
	var page bytes.Buffer
	err := doc.GenMan(cmd, &header, &page)
	cmd.Short, cmd.Long, cmd.Use = was.Short, was.Long, was.Use
	if err != nil {
		return File{}, fmt.Errorf("the manual of %s: %w", was.CommandPath(), err)
	}
	return File{Manual, "man/man1/" + name + ".1", 0o644, ascii(page.String())}, nil
}

// ascii writes other characters as troff names them: what a byte above 127 means depends
// on the reader's locale.
func ascii(page string) []byte {
	var out bytes.Buffer
	for _, c := range page {
		if c < utf8.RuneSelf {
			out.WriteRune(c)
		} else {
			fmt.Fprintf(&out, `\[u%04X]`, c)
		}
	}
	return out.Bytes()
}

// literal has Markdown show a text as it stands: a paragraph with indented lines, which is
// a table, line by line.
func literal(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, "  ") {
			paragraphs[i] = "    " + strings.ReplaceAll(p, "\n", "\n    ")
		} else {
			paragraphs[i] = marks.Replace(p)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// marks are what Markdown has a meaning for.
var marks = strings.NewReplacer(`\`, `\\`, "`", "\\`", `*`, `\*`, `_`, `\_`, `<`, `\<`, `>`, `\>`, `[`, `\[`, `]`, `\]`, `#`, `\#`, `~`, `\~`, `|`, `\|`)

// completions are what shells load.
func completions(root *cobra.Command) ([]File, error) {
	var list []File
	for _, shell := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{"completions/bash/gate", func(w io.Writer) error { return root.GenBashCompletionV2(w, true) }},
		{"completions/zsh/_gate", root.GenZshCompletion},
		{"completions/fish/gate.fish", func(w io.Writer) error { return root.GenFishCompletion(w, true) }},
		{"completions/powershell/gate.ps1", root.GenPowerShellCompletionWithDesc},
	} {
		var script bytes.Buffer
		if err := shell.write(&script); err != nil {
			return nil, fmt.Errorf("%s: %w", shell.path, err)
		}
		list = append(list, File{Completion, shell.path, 0o644, script.Bytes()})
	}
	return list, nil
}

// described are the manual pages and completions, which are the same everywhere.
func (r *Release) described() ([]File, error) {
	list, err := r.manuals(commands.Tree())
	if err != nil {
		return nil, err
	}
	pages, err := r.beside()
	if err != nil {
		return nil, err
	}
	scripts, err := completions(commands.Tree())
	return slices.Concat(list, pages, scripts), err
}
