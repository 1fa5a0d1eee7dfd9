package commands

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"gate/adapters"
	"gate/cmd/internal/document"
	"gate/engine"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/handlers"
	"gate/internal/places"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/internal/strictjson"
)

// evalFlags are the flags of gate eval.
type evalFlags struct {
	dirs        dirFlags
	agent       string
	jsonl       bool
	batch       bool
	interactive bool
	run         bool
}

func newEval(p process) *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "print the whole decision about an event on standard input",
		Long: "Reads one event from standard input, or with --jsonl one a line, and prints the\n" +
			"whole decision as JSON, in the same order. An event that cannot be read is\n" +
			"answered, too: with the decision that closes. Nothing is logged. With --batch the\n" +
			"decisions are one JSON array, and hooks that ask a model are faults.",
		Example: "  gate eval < event.json\n  gate eval --jsonl --agent claude < events.jsonl",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			e, err := f.evaluation(p)
			if err != nil {
				return err
			}
			if f.jsonl {
				return e.lines(cmd.Context(), p, f.batch)
			}
			data, err := io.ReadAll(io.LimitReader(p.stdin, adapters.MaxEvent+1))
			if err != nil {
				return err
			}
			d, canAsk := e.decide(cmd.Context(), data)
			var doc any = document.Decision(&d, canAsk)
			if f.batch {
				doc = []any{doc}
			}
			if err := printJSON(p, doc); err != nil {
				return err
			}
			return exitWith(statusOf(&d))
		},
	}
	cmd.Flags().StringVar(&f.agent, "agent", "claude", "the agent whose form the events have")
	offer(cmd, "agent", adapters.Names)
	cmd.Flags().BoolVar(&f.jsonl, "jsonl", false, "an event a line in, a decision a line out")
	cmd.Flags().BoolVar(&f.batch, "batch", false, "nobody waits: the decisions as one array; hooks that ask a model are faults")
	cmd.Flags().BoolVar(&f.interactive, "interactive", false, "somebody can be asked")
	cmd.Flags().BoolVar(&f.run, "run-handlers", false, "run commands and other handlers, too; they really act")
	addDirFlags(cmd, &f.dirs)
	return cmd
}

// An evaluation answers events one after the other. It keeps one gate for each
// project that it has met.
type evaluation struct {
	adapter     adapters.Adapter
	interactive bool
	environment adapters.Environment
	options     setup.Options
	gates       map[string]*setup.Gate
}

func (f evalFlags) evaluation(p process) (*evaluation, error) {
	a, err := adapterFor(f.agent)
	if err != nil {
		return nil, err
	}
	d, err := f.dirs.ForPeople(p.lookupEnv)
	if err != nil {
		return nil, err
	}
	return &evaluation{
		adapter: a, interactive: f.interactive, environment: a.Environment(p.getenv),
		options: setup.Options{For: sources.For{Machine: p.machine(d, "")}, Run: f.run, Handlers: p.handlers(handlers.Options{Batch: f.batch, Progress: p.waits(f.batch)})},
		gates:   map[string]*setup.Gate{},
	}, nil
}

// decide answers one event, always.
func (e *evaluation) decide(ctx context.Context, data []byte) (d hook.Decision, canAsk bool) {
	defer func() {
		if r := recover(); r != nil {
			d = core.Closing("", hook.Faultf(hook.FaultInternal, "gate failed: %v", r))
		}
	}()
	ev, err := parseWritten(e.adapter, data)
	if err != nil {
		return core.Closing(ev.Name, &hook.Fault{Kind: hook.FaultEvent, Err: err}), false
	}
	ev.Gate = core.Now(places.AccountName(), e.interactive)
	g, err := e.gate(places.ProjectRoot(e.environment.ProjectDir, ev.Dir()))
	if err != nil {
		return core.Closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: err}), false
	}
	ctx, cancel := context.WithTimeout(ctx, engine.Limit)
	defer cancel()
	return g.Decide(ctx, ev), e.adapter.CanAsk(&ev)
}

// maxGates is how many projects' policies are held at once.
const maxGates = 16

func (e *evaluation) gate(project string) (*setup.Gate, error) {
	if g := e.gates[project]; g != nil {
		return g, nil
	}
	if len(e.gates) >= maxGates {
		clear(e.gates)
	}
	s := e.options
	s.Project, s.Foreign = project, !e.adapter.RunsHooks()
	g, err := setup.New(s)
	if err == nil {
		e.gates[project] = g
	}
	return g, err
}

// lines answers an event a line, each before the next is read; as an array, the
// decisions are the elements of one.
func (e *evaluation) lines(ctx context.Context, p process, array bool) error {
	in := bufio.NewReaderSize(p.stdin, 64<<10)
	before, after := "", "\n"
	if array {
		before, after = "[", ""
	}
	for {
		line, err := readLine(in, adapters.MaxEvent)
		if err == io.EOF && array {
			return emit(p, []byte(strings.TrimPrefix(before, ",\n")+"]\n"))
		}
		if err == io.EOF {
			return nil
		}
		var d hook.Decision
		canAsk := false
		switch {
		case errors.Is(err, errLongLine):
			d = core.Closing("", &hook.Fault{Kind: hook.FaultEvent, Err: err})
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			d, canAsk = e.decide(ctx, line)
		}
		if err := emit(p, append(strictjson.Append([]byte(before), document.Decision(&d, canAsk)), after...)); err != nil {
			return err
		}
		if array {
			before = ",\n"
		}
	}
}

var errLongLine = fmt.Errorf("event: the line is longer than %d bytes", adapters.MaxEvent)

// readLine returns the next line without its end. Of a line that is too long
// nothing is kept, and the next call goes on behind it. Empty lines are
// skipped.
func readLine(in *bufio.Reader, most int) ([]byte, error) {
	for {
		var line []byte
		long := false
		for {
			part, err := in.ReadSlice('\n')
			if long = long || len(line)+len(part) > most+1; long {
				line = nil
			} else {
				line = append(line, part...)
			}
			if err == bufio.ErrBufferFull {
				continue
			}
			if err != nil && (err != io.EOF || len(line) == 0 && !long) {
				return nil, err
			}
			break
		}
		if long {
			return nil, errLongLine
		}
		if line = trimLine(line); len(line) > 0 {
			return line, nil
		}
	}
}

func trimLine(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}
