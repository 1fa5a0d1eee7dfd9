package commands

import (
	"errors"
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
	s, holds, unknown, err := f.told(p)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(p, toldDocument(s, holds))
	}
	if unknown != nil {
		fmt.Fprintf(p.stderr, "gate: note: which files hold a secret is not known: %s\n", visible(unknown.Error()))
	}
	return printAll(p, tell.Session(p.page(), s, holds))
}

// errNoSession is wrapped where the log has nothing of a session.
var errNoSession = errors.New("the log has nothing of it")

// told finds the story of the session, and which of its files hold a secret by now; unknown
// says why that is not known.
func (f *sessionShowFlags) told(p process) (s *story.Session, holds map[string]string, unknown, err error) {
	h, err := openHistory(p, f.dirs)
	if err != nil {
		return nil, nil, nil, err
	}
	s, err = story.Tell(f.agent, f.session, func() iter.Seq2[audit.Record, error] { return h.Newest() })
	switch {
	case err != nil:
		return nil, nil, nil, err
	case len(s.Steps) == 0 && f.session == "":
		return nil, nil, nil, saying{errNoSession, "the log has no session: " + p.tilde(h.Path())}
	case len(s.Steps) == 0:
		return nil, nil, nil, saying{errNoSession, "the log has nothing of session " + quoted(f.session) + "; gate log names the sessions of its calls with --format json"}
	}
	d, err := f.dirs.ForPeople(p.lookupEnv)
	if err != nil {
		return nil, nil, nil, err
	}
	holds, unknown = secretsLeft(d, s)
	return s, holds, unknown, nil
}

// toldDocument is the story of a session for programs.
func toldDocument(s *story.Session, holds map[string]string) map[string]any {
	doc := s.Document()
	files := map[string]any{}
	for path, what := range holds {
		files[path] = what
	}
	r := s.Steps[0].Record
	doc["session"], doc["agent"], doc["project"], doc["holds"] = r.Session, r.Agent, r.Project, files
	return doc
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
