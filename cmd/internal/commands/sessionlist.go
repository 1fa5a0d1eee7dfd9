package commands

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/internal/session"
)

func newSessionList(p process) *cobra.Command {
	var f sessionFlags
	cmd := &cobra.Command{
		Use:   "list [--session ID]",
		Short: "show the memory of one session, or of all",
		Long: "Shows the hooks that hold for a session, the texts that wait for it, how many hooks\n" +
			"ran once and for all, and its counters. Without --session it lists all sessions, by\n" +
			"the names of their files: what the agent calls them is not kept.",
		Example: "  gate session list --session 0f3a-77",
		Args:    noArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			if f.session == "" {
				return f.listAll(p)
			}
			key, store, err := f.target()
			if err != nil {
				return err
			}
			m, err := store.Read(key)
			if err != nil {
				return err
			}
			if f.json {
				return printJSON(p, sessionDocument(f.session, m))
			}
			return printAll(p, sessionText(m))
		},
	}
	f.add(p, cmd)
	return cmd
}

// sessionText shows a memory to a person.
func sessionText(m *session.Memory) string {
	if m.Latest.IsZero() && len(m.Registered) == 0 && len(m.Injections) == 0 {
		return "nothing is remembered of this session\n"
	}
	var b strings.Builder
	if len(m.Registered) > 0 {
		b.WriteString("hooks that hold:\n")
	}
	for i := range m.Registered {
		r := &m.Registered[i]
		fmt.Fprintf(&b, "  %d  %s %s (%s), since %s", r.Number, r.Kind, visible(r.Name), visible(r.File), r.Since.Local().Format(time.DateTime))
		if r.Kind == session.Agent {
			fmt.Fprintf(&b, ", %s", runningAgents(r))
		}
		b.WriteByte('\n')
	}
	if n := len(m.Injections); n > 0 {
		fmt.Fprintf(&b, "%d %s\n", n, screen.Plural(n, "text waits", "texts wait"))
	}
	if n := m.Finished(); n > 0 {
		fmt.Fprintf(&b, "%d %s once and for all\n", n, screen.Plural(n, "hook ran", "hooks ran"))
	}
	if !m.Started.IsZero() {
		fmt.Fprintf(&b, "%s since %s, %d rejected\n", screen.Counted(m.Calls, "call"), m.Started.Local().Format(time.DateTime), m.Denials)
		fmt.Fprintf(&b, "round %d: %s, %d rejected\n", m.Round.Number, screen.Counted(m.Round.Calls, "call"), m.Round.Denials)
	}
	for _, k := range m.Marks.All {
		fmt.Fprintf(&b, "mark %s = %s (%s)", visible(k.Name), visible(k.Value), visible(k.Source))
		if k.Round {
			b.WriteString(", until the next prompt")
		}
		b.WriteByte('\n')
	}
	for _, name := range m.Marks.Full {
		fmt.Fprintf(&b, "no more marks of %s are kept\n", visible(name))
	}
	effects := m.Effects()
	for _, kind := range slices.Sorted(maps.Keys(effects)) {
		n := effects[kind].(map[string]any)
		fmt.Fprintf(&b, "%s: %d, %d of this round, %d of the last minute\n", visible(kind), n["session"], n["round"], n["minute"])
	}
	return b.String()
}

func runningAgents(r *session.Registration) string {
	if n := len(r.Agents); n > 0 {
		return fmt.Sprintf("%d %s", n, screen.Plural(n, "is running", "are running"))
	}
	return "all of this type"
}

func sessionDocument(name string, m *session.Memory) map[string]any {
	hooks := []any{}
	for i := range m.Registered {
		r := &m.Registered[i]
		agents := []any{}
		for _, id := range r.Agents {
			agents = append(agents, id)
		}
		hooks = append(hooks, map[string]any{
			"number": r.Number, "kind": string(r.Kind), "name": r.Name, "file": r.File, "agents": agents, "since": r.Since.Format(time.RFC3339),
		})
	}
	return map[string]any{
		"session": name, "hooks": hooks, "waiting": len(m.Injections), "once": m.Finished(),
		"calls": m.Calls, "denials": m.Denials, "started": timeOrNil(m.Started), "latest": timeOrNil(m.Latest),
		"round": map[string]any{"number": m.Round.Number, "calls": m.Round.Calls, "denials": m.Round.Denials},
		"marks": document.Marks(m.Marks.All), "marks_full": document.Strings(m.Marks.Full), "effects": m.Effects(),
	}
}

func timeOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// listAll lists the sessions that are remembered.
func (f *sessionFlags) listAll(p process) error {
	d, err := f.dirs.Absolute().ForHook()
	if err != nil {
		return err
	}
	memories, broken := d.Sessions().All()
	var b strings.Builder
	rows := []any{}
	for _, file := range slices.Sorted(maps.Keys(memories)) {
		m := memories[file]
		row := sessionDocument("", m)
		delete(row, "session")
		row["file"] = filepath.Base(file)
		rows = append(rows, row)
		fmt.Fprintf(&b, "%s  %s, %d rejected, %s", filepath.Base(file), screen.Counted(m.Calls, "call"), m.Denials,
			screen.Counted(len(m.Registered), "registration"))
		if !m.Latest.IsZero() {
			fmt.Fprintf(&b, ", last heard of %s", m.Latest.Local().Format(time.DateTime))
		}
		b.WriteByte('\n')
	}
	var errs []error
	for _, file := range slices.Sorted(maps.Keys(broken)) {
		errs = append(errs, fmt.Errorf("%s: %w", file, broken[file]))
	}
	if f.json {
		return errors.Join(printJSON(p, map[string]any{"sessions": rows}), errors.Join(errs...))
	}
	if len(rows) == 0 {
		b.WriteString("nothing is remembered of any session\n")
	}
	return errors.Join(printAll(p, b.String()), errors.Join(errs...))
}
