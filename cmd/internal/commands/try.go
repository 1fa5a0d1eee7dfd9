package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/cmd/internal/tell"
	"gate/hook"
	"gate/internal/setup"
)

func newTry(p process) *cobra.Command {
	var f callFlags
	cmd := &cobra.Command{
		Use:   "try 'LINE'",
		Short: "predict the decision about a call",
		Long: "Decides about a call as if an agent made it. It never runs the call, and it runs hooks\n" +
			"that are programs only with --run-handlers. The exit status tells the decision; see\n" +
			"gate help exit-codes.",
		Example: "  gate try 'git push --force origin main'\n  gate try --tool Write /etc/hosts\n" +
			"  gate try --event UserPromptSubmit 'deploy it to production'\n  gate try --event event.yaml",
		Args: f.args("one shell line, or the input of --tool"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ev, err := f.asked(p, args)
			if err != nil {
				return err
			}
			g, d, err := f.decide(cmd.Context(), p, ev)
			if err != nil {
				return err
			}
			if f.json {
				err = printJSON(p, withProfile(document.Decision(&d, true), g, &ev, &d))
			} else {
				err = printAll(p, tell.Decision(p.page(), &ev, &d, f.again("explain", args))+touches(g, &ev, &d)+unloadedLines(g))
			}
			if err != nil {
				return err
			}
			return exitWith(statusOf(&d))
		},
	}
	f.add(cmd)
	return cmd
}

// touches says what a call may touch that runs confined.
func touches(g *setup.Gate, ev *hook.Event, d *hook.Decision) string {
	if d.Confined == nil {
		return ""
	}
	may, err := g.Profile(d.Confined.Profile, ev.Dir())
	if err != nil {
		return fmt.Sprintf("note: what it may touch is not known: %s\n", visible(err.Error()))
	}
	return "confined by " + visible(d.Confined.Profile) + ":\n" + tell.Profile(may, g.Home)
}

// withProfile adds to a decision's document what the call may touch.
func withProfile(doc map[string]any, g *setup.Gate, ev *hook.Event, d *hook.Decision) map[string]any {
	if d.Confined == nil {
		return doc
	}
	if may, err := g.Profile(d.Confined.Profile, ev.Dir()); err == nil {
		confined, _ := doc["confined"].(map[string]any)
		confined["may"] = map[string]any{
			"read": document.Strings(append(slices.Clone(may.Write), may.Read...)), "write": document.Strings(may.Write), "cache": document.Strings(may.Cache),
			"guard": document.Strings(may.Guard), "deny": document.Strings(may.Deny), "hosts": document.Strings(may.Hosts), "programs": document.Strings(may.Programs),
		}
	}
	return doc
}

// again is the command line of another command about the same call.
func (f *callFlags) again(command string, args []string) string {
	const most = 60
	if len(args) != 1 || f.about != "" {
		return "gate " + command + " with the same arguments"
	}
	arg := args[0]
	switch {
	case f.tool != "Bash", f.cwd != "", len(arg) > most, visible(arg) != arg, strings.Contains(arg, "\n"):
		return "gate " + command + " with the same arguments"
	}
	return "gate " + command + " '" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
