package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/internal/sync"
)

func newSettings(p process) *cobra.Command {
	var f placeFlags
	var schema bool
	cmd := &cobra.Command{
		Use:   "settings",
		Short: "list every setting, its place and whether it counts",
		Long: "Lists every value that a settings file gives, with file and line, what it\n" +
			"overrides, and why it does not count where it does not. Settings never reach\n" +
			"upwards: managed, then yours, then a project's and its local ones. Where there are\n" +
			"managed policies, it also lists what stands beside them and would like a say: other\n" +
			"sources, agents' own settings, variables, and what was refused.",
		Example: "  gate settings\n  gate set policies.gate.git ask\n  gate settings --schema (once, for editors)",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			if schema {
				text, err := load.SettingsSchema()
				if err != nil {
					return err
				}
				return printJSON(p, text)
			}
			g, err := f.gate(p)
			if err != nil {
				return err
			}
			broken := settingsFaults(g)
			if f.json {
				err = printJSON(p, settingsDocument(g, broken, f.beside(p, g)))
			} else {
				err = printSettings(p, g, broken, f.beside(p, g))
			}
			if err == nil && len(broken) > 0 {
				err = exitWith(exitFailed)
			}
			return err
		},
	}
	f.add(cmd)
	f.addJSON(cmd)
	cmd.AddCommand(newConfirm(p))
	cmd.Flags().BoolVar(&schema, "schema", false, "print only the JSON Schema of settings files")
	return cmd
}

// settingsFaults are the mistakes in settings files, and what keeps the
// directories that hold them from being read.
func settingsFaults(g *setup.Gate) []hook.Fault {
	var list []hook.Fault
	for _, src := range g.Sources {
		if len(src.Hooks) == 0 && len(src.Modules) == 0 {
			list = append(list, src.Faults...)
		}
	}
	return list
}

func printSettings(p process, g *setup.Gate, broken []hook.Fault, beside []string) error {
	var b strings.Builder
	for _, f := range broken {
		fmt.Fprintf(&b, "error: %s\n", visible(f.Error()))
	}
	rows := g.Set.Explain()
	for _, r := range rows {
		fmt.Fprintf(&b, "%s = %s\n  %s, %s\n", visible(r.Key), document.Line(r.Value), r.Authority, visible(p.tilde(r.Pos)))
		switch why := visible(p.page().Tildes(r.Why)); {
		case !r.Counts && why == "":
			b.WriteString("  does not count\n")
		case !r.Counts:
			fmt.Fprintf(&b, "  does not count: %s\n", why)
		case why != "":
			fmt.Fprintf(&b, "  %s\n", why)
		}
	}
	if len(rows)+len(broken) == 0 {
		b.WriteString("there are no settings; every policy keeps its own level\n")
	}
	for _, n := range slices.Concat(g.Notices, g.Asides()) {
		fmt.Fprintf(&b, "note: %s\n", visible(n))
	}
	for _, bundle := range g.Loaded.Signed {
		if line := bundleLine(g.Loaded.Signed, bundle); line != "" {
			fmt.Fprintf(&b, "bundle: %s\n", line)
		}
	}
	if len(beside) > 0 {
		b.WriteString("beside managed policies, which these cannot change:\n")
	}
	for _, text := range beside {
		fmt.Fprintf(&b, "  %s\n", visible(text))
	}
	return printAll(p, b.String())
}

// bundleLine says which release of a bundle is in force, and which is on trial beside
// it: in one line, which is that of the release where there is one.
func bundleLine(all []sources.Bundle, b sources.Bundle) string {
	at := slices.IndexFunc(all, func(o sources.Bundle) bool { return o.Name == b.Name && o.Trial != b.Trial })
	switch {
	case b.Trial && at >= 0:
		return ""
	case b.Trial:
		return fmt.Sprintf("%s: %s, %s", b.Name, besideText(sync.Active{}, b.Active), b.Digest)
	case at >= 0:
		return fmt.Sprintf("%s: %s, %s, %s", b.Name, besideText(b.Active, all[at].Active), b.Digest, all[at].Digest)
	}
	return fmt.Sprintf("%s version %d, %s", b.Name, b.Version, b.Digest)
}

func settingsDocument(g *setup.Gate, broken []hook.Fault, beside []string) map[string]any {
	rows := []any{}
	for _, r := range g.Set.Explain() {
		rows = append(rows, map[string]any{
			"key": r.Key, "value": document.Value(r.Value), "authority": r.Authority.String(), "pos": r.Pos,
			"counts": r.Counts, "why": document.OrNull(r.Why), "bundle": document.OrNull(r.Bundle),
		})
	}
	return map[string]any{"settings": rows, "faults": document.Faults(broken), "off": document.OrNull(g.Set.Off()), "notices": document.Strings(slices.Concat(g.Notices, g.Asides())),
		"bundles": document.Bundles(g.Named()), "beside": document.Strings(beside)}
}
