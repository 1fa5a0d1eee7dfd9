package commands

import (
	"fmt"
	"iter"
	"path/filepath"

	"github.com/spf13/cobra"

	"gate/adapters"
	"gate/cmd/internal/story"
	"gate/cmd/internal/tell"
	"gate/internal/audit"
	"gate/internal/places"
	"gate/internal/session"
)

func newSessionShow(p process) *cobra.Command {
	var f sessionShowFlags
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "tell what happened in a session",
		Long: "Tells the story of a session from the decision log, step by step: what was read,\n" +
			"fetched, written, sent and refused, what led to it and what followed. Below it stand\n" +
			"the files that hold a secret by now. Without an id it is the last session of the log.",
		Example: "  gate session show 0f3a-77\n  gate session show --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.session = args[0]
			}
			return f.run(p)
		},
	}
	addDirFlags(cmd, &f.dirs)
	cmd.ValidArgsFunction = first(sessions(p, &f.dirs, nil))
	cmd.Flags().StringVar(&f.agent, "agent", "", "the agent (default: whichever has a session of that id)")
	offer(cmd, "agent", adapters.Names)
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON for programs")
	return cmd
}

// sessionShowFlags are the flags of gate session show.
type sessionShowFlags struct {
	dirs    dirFlags
	agent   string
	session string
	json    bool
}

func (f *sessionShowFlags) run(p process) error {
	h, err := openHistory(p, f.dirs)
	if err != nil {
		return err
	}
	s, err := story.Tell(f.agent, f.session, func() iter.Seq2[audit.Record, error] { return h.Newest() })
	switch {
	case err != nil:
		return err
	case len(s.Steps) == 0 && f.session == "":
		return fmt.Errorf("the log has no session: %s", p.tilde(h.Path()))
	case len(s.Steps) == 0:
		return fmt.Errorf("the log has nothing of session %s; gate log names the sessions of its calls with --format json", quoted(f.session))
	}
	d, err := f.dirs.ForPeople(p.lookupEnv)
	if err != nil {
		return err
	}
	holds, unknown := secretsLeft(d, s)
	if f.json {
		doc := s.Document()
		r := s.Steps[0].Record
		doc["session"], doc["agent"], doc["project"], doc["holds"] = r.Session, r.Agent, r.Project, holds
		return printJSON(p, doc)
	}
	if unknown != nil {
		fmt.Fprintf(p.stderr, "gate: note: which files hold a secret is not known: %s\n", visible(unknown.Error()))
	}
	return printAll(p, tell.Session(p.page(), s, holds))
}

// secretsLeft finds which of the files that a session wrote hold a secret by what gate keeps
// of their project, and of what kind it is.
func secretsLeft(d places.Dirs, s *story.Session) (holds map[string]string, unknown error) {
	holds = map[string]string{}
	for i := range s.Steps {
		step := &s.Steps[i]
		if len(step.Deeds.Writes) == 0 {
			continue
		}
		entries := d.Ledger(filepath.FromSlash(step.Record.Project)).Open(session.Key{})
		for _, path := range step.Deeds.Writes {
			left, err := entries.Of(path)
			if err != nil {
				unknown = err
			}
			if left.Secret != "" {
				holds[path] = left.Secret
			}
		}
	}
	return holds, unknown
}
