package commands

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/adapters"
	"gate/cmd/internal/document"
	"gate/cmd/internal/story"
	"gate/cmd/internal/tell"
	"gate/engine"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/core"
	"gate/internal/explain"
	"gate/internal/handlers"
	"gate/internal/hostfs"
	"gate/internal/places"
	"gate/internal/rego"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/internal/strictjson"
)

const (
	explainLimit   = 8 * time.Second // of everything that an explanation asks
	explainChanges = 600             // how many changed calls are decided about
)

// explainFlags are the flags of gate explain.
type explainFlags struct {
	callFlags
	agent string
	all   bool
	trace string
}

func newExplain(p process) *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain EVENT.json|'LINE'|-|ID|last",
		Short: "show the reasons for a decision",
		Long: "Decides about a call and gives the reasons: the words that mattered, the true\n" +
			"conditions of each rule with their facts, the conditions that other policies lacked,\n" +
			"and the smallest change to another answer. The argument is a file with an event, a\n" +
			"shell line, - for an event on standard input, or a logged decision: its id or last.\n" +
			"last is the last call that was not let through; where there is none, the last call of\n" +
			"a tool. For a logged decision it also shows the changes since then. docs/explain.md\n" +
			"shows an example and describes the JSON.",
		Example: "  gate explain 'curl -s https://example.com | sh'\n  gate explain last\n  gate explain --trace=fails 'rm -rf build'",
		Args:    f.args("an event's file, one shell line, -, a decision's id, or last"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), explainLimit)
			defer cancel()
			if f.about != "" {
				ev, err := f.asked(p, args)
				if err != nil {
					return err
				}
				return f.run(ctx, p, ev)
			}
			record, err := f.recordNamed(p, args[0])
			if err != nil {
				return err
			}
			if record != nil {
				return f.runRecord(ctx, p, record)
			}
			ev, err := f.eventOf(p, args[0])
			if err != nil {
				return err
			}
			return f.run(ctx, p, ev)
		},
	}
	cmd.ValidArgsFunction = orFiles(first(decisions(p, &f.dirs)))
	f.add(cmd)
	cmd.Flags().StringVar(&f.agent, "agent", "claude", "the agent whose form the event has")
	offer(cmd, "agent", adapters.Names)
	cmd.Flags().BoolVar(&f.all, "all", false, "list every policy that does not concern the call, too")
	cmd.Flags().StringVar(&f.trace, "trace", "", "print OPA's own trace of the policies that ran instead: full, notes or fails")
	cmd.Flags().Lookup("trace").NoOptDefVal = "full"
	oneOf(cmd, "trace", rego.Traces()...)
	return cmd
}

// run explains how an event is decided, in the form that the flags ask for.
func (f *explainFlags) run(ctx context.Context, p process, ev hook.Event) error {
	g, d, err := f.decide(ctx, p, ev, engine.WithAllSteps())
	if err != nil {
		return err
	}
	if f.trace != "" {
		return f.printTrace(ctx, p, g, ev, &d)
	}
	x, err := explainerOf(g)
	if err != nil {
		return err
	}
	e := explanationOf(ctx, g, x, ev, d)
	if f.json {
		err = printJSON(p, document.Explanation(&e, g))
	} else {
		err = printAll(p, tell.Explanation(p.page(), &e, g, f.all))
	}
	if err != nil {
		return err
	}
	return exitWith(statusOf(&d))
}

// explanationOf explains a decision of a gate, which may have passed over handlers.
func explanationOf(ctx context.Context, g *setup.Gate, x *explain.Explainer, ev hook.Event, d hook.Decision) explain.Explanation {
	e := x.Of(ctx, ev, d)
	for i := range e.Policies {
		if p := &e.Policies[i]; len(p.Steps) > 0 && g.Mutes(p.Kind) {
			p.WhyNot = "it was not run; --run-handlers runs it"
		}
	}
	return e
}

// explainerOf asks the policies of a gate.
func explainerOf(g *setup.Gate) (*explain.Explainer, error) {
	labels := g.Set.Settings().Labels
	judge, err := g.WithoutHandlers()
	if err != nil {
		return nil, err
	}
	return &explain.Explainer{
		Set: g.Set,
		Decide: func(ctx context.Context, ev hook.Event) hook.Decision {
			ev.Gate.Labels = labels
			return judge.Decide(ctx, ev)
		},
		Policy: func(ctx context.Context, h *hook.Hook, ev *hook.Event) ([]explain.Definition, error) {
			seen := *ev
			seen.Gate.Labels = labels
			return g.Rego.Explain(ctx, h, &seen)
		},
		Facts:   g.Reader.Of,
		Read:    readScript,
		Project: filepath.ToSlash(g.Project),
		Home:    filepath.ToSlash(g.Home),
		Changes: explainChanges,
	}, nil
}

// readScript reads a script that is small enough to be shown.
func readScript(file string) (string, error) {
	const most = 64 << 10
	data, err := hostfs.Files{}.ReadFile(filepath.FromSlash(file), most)
	return string(data), err
}

// eventOf reads an event from where the argument says.
func (f *explainFlags) eventOf(p process, arg string) (hook.Event, error) {
	a, err := adapterFor(f.agent)
	if err != nil {
		return hook.Event{}, err
	}
	var data []byte
	switch info, serr := os.Stat(arg); {
	case arg != "-" && f.tool != "Bash": // what that tool takes, a path for instance
		return f.event(arg)
	case arg == "-":
		arg = "standard input"
		data, err = hostfs.ReadAll(p.stdin, adapters.MaxEvent)
	case serr == nil && info.Mode().IsRegular():
		data, err = hostfs.Files{}.ReadFile(arg, adapters.MaxEvent)
	case strings.HasSuffix(arg, ".json") && !strings.ContainsAny(arg, " \n"):
		return hook.Event{}, hostfs.At(arg, cmp.Or(serr, hostfs.ErrIrregular))
	default:
		return f.event(arg)
	}
	if err == nil && len(bytes.TrimSpace(data)) == 0 {
		err = errors.New("no event in it")
	}
	if err != nil {
		return hook.Event{}, hostfs.At(arg, err)
	}
	ev, err := parseWritten(a, data)
	if err != nil {
		return hook.Event{}, fmt.Errorf("%s: %w", arg, err)
	}
	ev.Gate = core.Now(places.AccountName(), true)
	return ev, nil
}

// printTrace prints OPA's trace of the policies that ran, one after another.
func (f *explainFlags) printTrace(ctx context.Context, p process, g *setup.Gate, ev hook.Event, d *hook.Decision) error {
	ev.Facts, ev.Gate.Labels = d.Facts, g.Set.Settings().Labels
	var b strings.Builder
	for _, s := range d.Steps {
		if s.Hook.Kind != hook.Rego || s.Fault != nil || s.Round > 0 {
			continue
		}
		trace, err := g.Rego.Trace(ctx, s.Hook, &ev, f.trace)
		if err != nil {
			return err
		}
		b.WriteString("# " + oneLine(s.Hook.ID) + "\n" + visible(trace))
	}
	if err := printAll(p, b.String()); err != nil {
		return err
	}
	return exitWith(statusOf(d))
}

// recordNamed finds the decision of the log that an argument names: last, or one by
// its whole id. Every other argument is none.
func (f *callFlags) recordNamed(p process, arg string) (*audit.Record, error) {
	if f.tool != "Bash" || arg != "last" && !isDecisionID(arg) {
		return nil, nil
	}
	r, err := findRecord(p, f.dirs, arg)
	switch {
	case err == nil && (arg == "last" || r.ID == arg):
		return &r, nil
	case arg == "last":
		return nil, err
	}
	fmt.Fprintf(p.stderr, "gate: note: no decision in the log is called %s; taken for a shell line\n", arg)
	return nil, nil
}

// isDecisionID reports that a word could be the id of a decision.
func isDecisionID(s string) bool {
	return len(s) == 6 && strings.Trim(s, "0123456789abcdefghjkmnpqrstvwxyz") == ""
}

// A remade decision is one of the log: what led to it, and how the same event is decided
// now.
type remade struct {
	links []story.Link
	whole bool          // the links are, see story.Find
	said  *audit.Review // by a person, nil: nothing

	lost  error // why the event cannot be decided about again; the rest is missing then
	event hook.Event
	gate  *setup.Gate
	now   hook.Decision
}

// remake decides a recorded event again.
func (f *explainFlags) remake(ctx context.Context, p process, r *audit.Record) (m remade, err error) {
	if m.links, m.whole, err = f.chain(p, r); err != nil {
		return m, err
	}
	if m.said, err = reviewOf(p, f.dirs, r); err != nil {
		return m, err
	}
	if m.event, err = r.Restore(); err != nil {
		m.lost = fmt.Errorf("%s: %w", r.ID, err)
		return m, nil
	}
	m.event.Parts = adapters.Parts(&m.event)
	d, err := f.dirs.ForPeople(p.lookupEnv)
	if err != nil {
		return m, err
	}
	project := r.Project
	if project == "" {
		project = places.ProjectRoot("", m.event.Dir())
	}
	m.gate, err = setup.New(setup.Options{
		For: sources.For{Machine: p.machine(d, project)},
		Run: f.callFlags.run, Handlers: p.handlers(handlers.Options{Progress: p.waits(false)}),
		Engine: []engine.Option{engine.WithAllSteps()},
	})
	if err == nil {
		m.now = m.gate.Decide(ctx, m.event)
	}
	return m, err
}

// explain explains how it is decided now, and what is not as it was.
func (m *remade) explain(ctx context.Context, r *audit.Record) (explain.Explanation, tell.Difference, error) {
	x, err := explainerOf(m.gate)
	if err != nil {
		return explain.Explanation{}, tell.Difference{}, err
	}
	e := explanationOf(ctx, m.gate, x, m.event, m.now)
	return e, tell.Since(r, &e, m.gate.Digest), nil
}

// document is all of it for programs.
func (m *remade) document(r *audit.Record, e *explain.Explanation, since *tell.Difference) map[string]any {
	doc := document.Explanation(e, m.gate)
	doc["recorded"], doc["since"], doc["review"] = recordDocument(r), since.Document(), reviewDocument(m.said)
	doc["chain"] = map[string]any{"links": story.Documents(m.links), "whole": m.whole}
	return doc
}

// runRecord explains a recorded decision: what was decided then, how the same
// event is decided now, and what is not the same any more.
func (f *explainFlags) runRecord(ctx context.Context, p process, r *audit.Record) error {
	m, err := f.remake(ctx, p, r)
	if err != nil {
		return err
	}
	if m.lost != nil {
		if !f.json {
			if err := printAll(p, tell.Record(p.page(), r, m.said)+tell.Chain(p.page(), r, m.links, m.whole)); err != nil {
				return err
			}
		}
		return m.lost
	}
	if f.trace != "" {
		return f.printTrace(ctx, p, m.gate, m.event, &m.now)
	}
	e, since, err := m.explain(ctx, r)
	if err != nil {
		return err
	}
	if f.json {
		err = printJSON(p, m.document(r, &e, &since))
	} else {
		err = printAll(p, tell.Record(p.page(), r, m.said)+tell.Chain(p.page(), r, m.links, m.whole)+since.Text(p.page(), r, &m.now)+"\n"+tell.Explanation(p.page(), &e, m.gate, f.all))
	}
	if err != nil {
		return err
	}
	return exitWith(statusOf(&m.now))
}

// chain finds the calls of the log that led to a decision.
func (f *explainFlags) chain(p process, r *audit.Record) ([]story.Link, bool, error) {
	h, err := openHistory(p, f.dirs)
	if err != nil {
		return nil, false, err
	}
	return story.Find([]*audit.Record{r}, h.Newest())
}

// recordDocument is a record as the log has it.
func recordDocument(r *audit.Record) any {
	doc, err := strictjson.Object(r.JSON(), strictjson.Limits{Depth: 100})
	if err != nil {
		return nil
	}
	return doc
}
