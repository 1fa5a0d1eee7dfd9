package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/pins"
	"gate/internal/setup"
)

// identity is who the server is, as far as its command line or address says.
func (s mcpServer) identity(g *setup.Gate, here string) (pins.Identity, error) {
	if s.url != "" {
		return pins.NewIdentity(map[string]string{pins.URL: s.writtenURL, pins.Headers: strings.Join(s.writtenHeaders, "\n")}), nil
	}
	program, err := exec.LookPath(s.program())
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return nil, fmt.Errorf("the server cannot be started: %w", err)
	}
	digest, err := programDigest(program)
	if err != nil {
		return nil, fmt.Errorf("the server cannot be started: %s: %w", program, err)
	}
	line := shellLine(s.writtenArgs)
	return pins.NewIdentity(map[string]string{
		pins.Command: line, pins.Program: program, pins.ProgramDigest: digest, pins.Package: packagesRun(g, here, line),
	}), nil
}

// programDigest is the digest of a program's file.
func programDigest(file string) (string, error) {
	f, err := hostfs.Regular(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// shellLine writes words as a shell reads them.
func shellLine(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = arg
		if arg == "" || strings.Trim(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+@%./:,") != "" {
			quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// packagesRun are the packages of a registry that a line has fetched and run, with their
// versions as they are written.
func packagesRun(g *setup.Gate, here, line string) string {
	ev := hook.Event{Agent: "generic", Name: hook.PreToolUse, Fields: map[string]any{
		"hook_event_name": string(hook.PreToolUse), "cwd": filepath.ToSlash(here), "tool_name": "Bash", "tool_input": map[string]any{"command": line},
	}}
	var names []string
	for _, e := range g.Reader.Of(&ev).Effects {
		if p, is := e.Is.(*hook.PackageInstall); is && p.From == "run" {
			for _, name := range p.Packages {
				if name != nil {
					names = append(names, *name)
				}
			}
		}
	}
	return strings.Join(names, " ")
}

func newMCPList(p process) *cobra.Command {
	var f placeFlags
	cmd := &cobra.Command{
		Use:   "list [NAME]",
		Short: "list the MCP servers that were used, and what is withheld of them",
		Long: "Lists the MCP servers that gate mcp has stood before, who they were at their first use,\n" +
			"and how many definitions are pinned. What changed later is withheld from agents, and\n" +
			"shown line by line.",
		Example: "  gate mcp list\n  gate mcp list github",
		Args:    upToOneArg,
		RunE: func(_ *cobra.Command, args []string) error {
			d, _, err := f.places()
			if err != nil {
				return err
			}
			all, err := pins.Store{Dir: d.User}.Servers()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				one, err := pinnedServer(all, args[0])
				if err != nil {
					return err
				}
				all = []pins.Pinned{one}
			}
			if f.json {
				return printJSON(p, map[string]any{"servers": pinnedRows(all)})
			}
			var b strings.Builder
			for _, s := range all {
				b.WriteString(pinnedText(s))
			}
			if len(all) == 0 {
				b.WriteString("no MCP server was used\n")
			}
			return printAll(p, b.String())
		},
	}
	addDirFlags(cmd, &f.dirs)
	f.addJSON(cmd)
	cmd.ValidArgsFunction = first(f.pinnedServers)
	return cmd
}

func newMCPAccept(p process) *cobra.Command {
	var f placeFlags
	var kind string
	cmd := &cobra.Command{
		Use:   "accept NAME",
		Short: "let what changed of an MCP server count from now on",
		Long: "Shows what changed of an MCP server since its first use, with a code. When you type the\n" +
			"code, agents get it from then on. Any further change is withheld again. The command\n" +
			"works at a terminal only, and never within an agent's session.",
		Example: "  gate mcp accept github\n  gate mcp accept github --kind tools",
		Args:    oneArg("the server's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, _, err := f.places()
			if err != nil {
				return err
			}
			return acceptPins(cmd.Context(), p, d, args[0], pins.Kind(kind))
		},
	}
	addDirFlags(cmd, &f.dirs)
	cmd.Flags().StringVar(&kind, "kind", "", "what to accept, "+either(texts(pins.Kinds()))+" (default: all that changed)")
	oneOf(cmd, "kind", texts(pins.Kinds())...)
	cmd.ValidArgsFunction = first(f.pinnedServers)
	return cmd
}

func newMCPForget(p process) *cobra.Command {
	var f placeFlags
	cmd := &cobra.Command{
		Use:   "forget NAME",
		Short: "have the next use of an MCP server be its first",
		Long: "Forgets what an MCP server was at its first use. Its next use pins whatever it is and\n" +
			"says then, so the command works at a terminal only, and never within an agent's\n" +
			"session.",
		Example: "  gate mcp forget github",
		Args:    oneArg("the server's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, _, err := f.places()
			if err != nil {
				return err
			}
			return forgetPins(cmd.Context(), p, d, args[0])
		},
	}
	addDirFlags(cmd, &f.dirs)
	cmd.ValidArgsFunction = first(f.pinnedServers)
	return cmd
}

// pinnedBefore is a server by its name, for a person who is about to change what is pinned of it.
func pinnedBefore(p process, d dirs, server string) (store pins.Store, s pins.Pinned, err error) {
	store = pins.Store{Dir: d.User}
	if err := p.attended(); err != nil {
		return store, s, err
	}
	all, err := store.Servers()
	if err != nil {
		return store, s, err
	}
	s, err = pinnedServer(all, server)
	return store, s, err
}

func acceptPins(ctx context.Context, p process, d dirs, server string, kind pins.Kind) error {
	store, s, err := pinnedBefore(p, d, server)
	if err != nil {
		return err
	}
	held := slices.DeleteFunc(s.Held, func(c pins.Change) bool { return kind != "" && c.Kind != kind })
	if len(held) == 0 {
		return printAll(p, "nothing of it is withheld\n")
	}
	w, err := p.person(d, fmt.Sprintf("Accept what changed of this MCP server?\n  %s\n%s", shown(server), withheldText(held)))
	if err != nil {
		return err
	}
	if err := store.Accept(ctx, w, server, held); err != nil {
		return err
	}
	return printAll(p, fmt.Sprintf("accepted: %s of the MCP server %s\n", screen.Counted(len(held), "change"), visible(server)))
}

func forgetPins(ctx context.Context, p process, d dirs, server string) error {
	store, s, err := pinnedBefore(p, d, server)
	if err != nil {
		return err
	}
	w, err := p.person(d, "Forget this MCP server? Its next use pins whatever it is then.\n"+pinnedText(s))
	if err != nil {
		return err
	}
	if err := store.Forget(ctx, w, server); err != nil {
		return err
	}
	return printAll(p, fmt.Sprintf("forgotten: the MCP server %s\n", visible(server)))
}

// pinnedServer is the one of a name.
func pinnedServer(all []pins.Pinned, name string) (pins.Pinned, error) {
	var known []string
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		known = append(known, s.Name)
	}
	return pins.Pinned{}, fmt.Errorf("no MCP server %s was used%s", quoted(name), didYouMean(name, known, strings.Clone))
}

// pinnedText shows one server. All that is the server's is made visible.
func pinnedText(s pins.Pinned) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, first used on %s", shown(s.Name), s.At.Local().Format(time.DateOnly))
	if s.Told {
		b.WriteString(", as it calls itself")
	}
	b.WriteString("\n")
	for _, name := range []string{pins.Command, pins.Program, pins.ProgramDigest, pins.Package, pins.URL, pins.Headers, pins.PublicKey} {
		if value := s.Identity[name]; value != "" {
			fmt.Fprintf(&b, "  %-15s %s\n", name, shown(value))
		}
	}
	for _, kind := range pins.Kinds() {
		if n, used := s.Counts[kind]; used {
			fmt.Fprintf(&b, "  %-15s %d pinned\n", kind, n)
		}
	}
	if len(s.Held) > 0 {
		fmt.Fprintf(&b, "  withheld until a person accepts it (gate mcp accept %s):\n%s", shown(s.Name), withheldText(s.Held))
	}
	return b.String()
}

// withheldText shows what changed, line by line.
func withheldText(changes []pins.Change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "  %s\n", visible(c.String()))
		for line := range strings.Lines(c.Diff()) {
			fmt.Fprintf(&b, "    %s\n", visible(strings.TrimSuffix(line, "\n")))
		}
	}
	return b.String()
}

func pinnedRows(all []pins.Pinned) []any {
	rows := []any{}
	for _, s := range all {
		held := []any{}
		for _, c := range s.Held {
			held = append(held, map[string]any{"kind": string(c.Kind), "name": c.Name, "was": c.Was, "is": c.Is})
		}
		counts, identity := map[string]any{}, map[string]any{}
		for kind, n := range s.Counts {
			counts[string(kind)] = n
		}
		for name, value := range s.Identity {
			identity[name] = value
		}
		rows = append(rows, map[string]any{
			"name": s.Name, "told": s.Told, "at": s.At.UTC().Format(time.RFC3339), "identity": identity, "pinned": counts, "held": held,
		})
	}
	return rows
}

// pinnedServers are the names of the servers that were used.
func (f *placeFlags) pinnedServers() []string {
	d, _, err := f.places()
	if err != nil {
		return nil
	}
	all, _ := pins.Store{Dir: d.User}.Servers()
	var words []string
	for _, s := range all {
		line := s.Identity[pins.Command] + s.Identity[pins.URL]
		if len(s.Held) > 0 {
			line = "changed: " + line
		}
		words = append(words, about(s.Name, line))
	}
	return words
}
