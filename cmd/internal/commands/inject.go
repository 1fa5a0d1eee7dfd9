package commands

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/adapters"
	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/session"
	"gate/matcher"
)

// injectFlags say what a text is for.
type injectFlags struct {
	sessionFlags
	matcher  string
	expires  string
	strategy string
	list     bool
}

// sessionFlags say which session is meant.
type sessionFlags struct {
	dirs    dirFlags
	agent   string
	session string
	json    bool
}

func (f *sessionFlags) add(p process, cmd *cobra.Command) {
	addDirFlags(cmd, &f.dirs)
	cmd.Flags().StringVar(&f.session, "session", "", "the session, as the agent calls it (gate log show ID names it)")
	cmd.Flags().StringVar(&f.agent, "agent", "claude", "the agent")
	offer(cmd, "session", sessions(p, &f.dirs, &f.agent))
	offer(cmd, "agent", adapters.Names)
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON for programs")
}

func newInject(p process) *cobra.Command {
	var f injectFlags
	cmd := &cobra.Command{
		Use:   "inject --session ID TEXT",
		Short: "tell a running agent something",
		Long: "Gives a running agent a text with its next matching tool call, once and in order. What\n" +
			"no call has brought comes with the next prompt. At a terminal only, and never within an\n" +
			"agent's session; programs use Inject of the Go package gate.",
		Example: "  gate inject --session 0f3a-77 'The other team is done; merge first.'\n" +
			"  gate inject --session 0f3a-77 --matcher Bash --expires 10m 'Port 8080 is taken.'\n" +
			"  gate inject --session 0f3a-77 --list",
		Args: func(cmd *cobra.Command, args []string) error {
			if f.list {
				return noArgs(cmd, args)
			}
			return oneArg("the text")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			key, store, err := f.target()
			if err != nil {
				return err
			}
			if f.list {
				return f.printWaiting(p, store, key)
			}
			return f.inject(cmd.Context(), p, store, key, args[0])
		},
	}
	f.add(p, cmd)
	cmd.Flags().StringVar(&f.matcher, "matcher", "", "only with a call of these tools (default: any)")
	cmd.Flags().StringVar(&f.expires, "expires", "", "not after this time: 10m, or 2026-01-02T15:04:05Z (default: never)")
	cmd.Flags().StringVar(&f.strategy, "strategy", string(hook.ToolResult), "tool_result or user_message, where the agent knows both")
	oneOf(cmd, "strategy", string(hook.ToolResult), string(hook.UserMessage))
	cmd.Flags().BoolVar(&f.list, "list", false, "list the texts that wait for the session")
	return cmd
}

// target is the session that the flags name, and where its memory is.
func (f *sessionFlags) target() (session.Key, session.Store, error) {
	adapter, err := adapterFor(f.agent)
	if err != nil {
		return session.Key{}, session.Store{}, err
	}
	if f.session == "" {
		return session.Key{}, session.Store{}, usageError("no session: give --session; gate log show ID names the session of a call")
	}
	d, err := f.dirs.Absolute().ForHook() // the agent's directories, not those of this terminal
	return session.Key{Agent: adapter.Name(), Session: f.session}, d.Sessions(), err
}

func (f *injectFlags) inject(ctx context.Context, p process, store session.Store, key session.Key, text string) error {
	if err := p.attended(); err != nil {
		return err
	}
	if _, err := matcher.Compile(f.matcher, backtracking.Compile); err != nil {
		return usageError("--matcher: " + err.Error())
	}
	now := time.Now()
	until, err := f.until(now)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, memoryLimit)
	defer cancel()
	number := 0
	err = store.Update(ctx, key, func(m *session.Memory) (err error) {
		number, err = m.Inject(session.Injection{Text: text, Matcher: f.matcher, Strategy: hook.Strategy(f.strategy), Expires: until}, now)
		return err
	})
	switch {
	case err != nil:
		return err
	case f.json:
		return printJSON(p, map[string]any{"session": f.session, "sequence": number})
	}
	return printAll(p, fmt.Sprintf("number %d waits for session %s\n", number, visible(f.session)))
}

// until reads a time or how long it is until then.
func (f *injectFlags) until(now time.Time) (time.Time, error) {
	if f.expires == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(f.expires); err == nil {
		return now.Add(d), nil
	}
	t, err := time.Parse(time.RFC3339, f.expires)
	if err != nil {
		return t, usageError("--expires " + quoted(f.expires) + ": give a time such as 10m or 2026-01-02T15:04:05Z")
	}
	return t, nil
}

func (f *injectFlags) printWaiting(p process, store session.Store, key session.Key) error {
	m, err := store.Read(key)
	if err != nil {
		return err
	}
	var b strings.Builder
	rows := []any{}
	for _, in := range m.Injections {
		row := map[string]any{
			"sequence": in.Sequence, "text": in.Text, "matcher": in.Matcher, "strategy": string(in.Strategy),
			"created": in.Created.Format(time.RFC3339), "expires": nil,
		}
		fmt.Fprintf(&b, "%d  %s", in.Sequence, oneLine(in.Text))
		if in.Matcher != "" {
			fmt.Fprintf(&b, " (with %s)", visible(in.Matcher))
		}
		if !in.Expires.IsZero() {
			row["expires"] = in.Expires.Format(time.RFC3339)
			fmt.Fprintf(&b, " (until %s)", in.Expires.Local().Format(time.DateTime))
		}
		b.WriteByte('\n')
		rows = append(rows, row)
	}
	if f.json {
		return printJSON(p, map[string]any{"session": f.session, "waiting": rows})
	}
	if len(rows) == 0 {
		b.WriteString("nothing waits for this session\n")
	}
	return printAll(p, b.String())
}
