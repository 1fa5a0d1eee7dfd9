// Package pipeline runs the tools of an agent that is written in Go behind
// gate: each call goes through enabled → validation → PreToolUse hooks →
// permission rules → execution → PostToolUse or PostToolUseFailure hooks, and
// whatever stops it is a typed error.
//
// It is one session of one agent, in the process of that agent. It decides
// nothing that the Gate or the rules it is given do not say, reads no files,
// and talks to no model. Start with Gate.Pipeline of package gate, then
// [Pipeline.Call] for each tool call of the model, and [Pipeline.Fire] for what
// else happens.
package pipeline

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/adapters"
	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/session"
	"gate/internal/strictjson"
	"gate/matcher"
)

// A Tool is one function that the model may call. Tools are called by several
// goroutines at once if calls are.
type Tool struct {
	// Name is what the model calls it. gate knows what calls of Bash, Read,
	// Write, Edit, WebFetch and others do, under Claude Code's and other agents'
	// names: name tools like those, fields too, where they do the same.
	Name string

	// Schema is the JSON Schema of the input, of draft 2020-12 unless it says
	// otherwise. References leave it nowhere. Empty: any object.
	Schema []byte

	// Check validates what a schema cannot say, also what hooks made of an
	// input; nil: nothing.
	Check func(input map[string]any) error

	// Enabled is asked before each call; nil: it is.
	Enabled func() bool

	// Run does the work. The input is its own, with numbers as json.Number.
	// It must keep to the context: the call waits for it. The output must be
	// something that encoding/json can write, at most 16 MiB. A panic is an
	// error.
	Run func(ctx context.Context, input map[string]any) (output any, err error)
}

// A Call is a model's wish to have a tool run.
type Call struct {
	ID                 string // the model's name for it, if it has one
	Tool               string
	Input              []byte // one JSON object as the model wrote it; empty: {}
	AgentID, AgentType string // of the sub-agent that calls; "": the agent itself
}

// A Result is what came of a call or an event. It is there with an error, too:
// then it holds what was known by then.
type Result struct {
	// Output is what the model may see of the tool's output: as the tool
	// returned it, or the JSON tree that hooks made of it; nil with an error.
	Output any

	Input     map[string]any    // what the tool got; nil: it was not run
	Prompt    string            // of UserPromptSubmit: the prompt as hooks left it
	Context   []hook.Context    // for the model, in order, visible characters
	Env       map[string]string // for the agent's shell
	Person    []string          // for the person: warnings, notices, help
	Decisions []hook.Decision   // what gate decided on the way
}

// Options say what a pipeline has to work with.
type Options struct {
	Tools []Tool

	// Allow, Ask and Deny are permission rules such as Bash(git push:*), as
	// [matcher.ParseCondition] reads them. They judge what hooks left of the
	// input: a denial counts before a question, that before an allow. What
	// may match, but was not understood, is denied or asked about and never
	// allowed. With an Allow list, calls that no rule matches and no hook
	// allowed are asked about. None of the lists outweighs a hook's no.
	Allow, Ask, Deny []string

	// Approve puts a question to a person; nil: nobody can be asked, and what
	// would be asked is rejected. It may be called by several goroutines at
	// once. An error or a panic is a no.
	Approve func(context.Context, Question) (bool, error)

	Session string // the session's name; "": a random one
	Dir     string // the agent's working directory, absolute

	// Memory is where the memory of the session is kept, as the Gate's Memory of the
	// agent "generic" returns it; nil: in this process.
	Memory Kept

	// Trace is told when a call enters a stage, Decided of each decision, for a
	// log. They may be called by several goroutines at once; nil: nobody is.
	Trace   func(Call, Stage)
	Decided func(*hook.Event, *hook.Decision)

	Now func() time.Time // nil: time.Now
}

// A Pipeline is one session of an agent. It is safe for concurrent use: calls
// may run side by side, and are counted one after another.
type Pipeline struct {
	o     Options
	gate  Answer
	tools map[string]*tool
	rules rules
}

type (
	// Kept is where the memory of one session is kept.
	Kept = session.Kept
	// An Injection is a text for a running agent: Text, and Matcher for the tools whose
	// next call it waits for.
	Injection = session.Injection
)

// An Answer decides about an event with the memory of its session, and keeps there what
// follows. rejected is asked once whether the call does not run after a decision.
type Answer func(ctx context.Context, memory Kept, ev *hook.Event, rejected func(*hook.Decision) bool) hook.Decision

// New is for package gate: programs call Gate.Pipeline. gate returns what answers
// events, and holds rewritten inputs against check. New reports all mistakes in the
// options at once.
func New(gate func(check func(tool string, input map[string]any) error) (Answer, error), o Options) (*Pipeline, error) {
	p := &Pipeline{o: o, tools: map[string]*tool{}}
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !filepath.IsAbs(o.Dir) {
		bad("pipeline: Dir %q is not an absolute path", o.Dir)
	}
	if o.Now == nil {
		p.o.Now = time.Now
	}
	if o.Session == "" {
		p.o.Session = "pipeline-" + rand.Text()
	}
	if o.Memory == nil {
		p.o.Memory = &session.Held{}
	}
	folded := map[string]string{}
	for _, t := range o.Tools {
		compiled, err := compile(t)
		if other, ok := folded[strictjson.Fold(t.Name)]; ok {
			bad("pipeline: tools %q and %q have names that look alike", other, t.Name)
		}
		if err != nil {
			bad("pipeline: tool %q: %w", t.Name, err)
		}
		folded[strictjson.Fold(t.Name)], p.tools[t.Name] = t.Name, compiled
	}
	var err error
	if p.rules, err = compileRules(o.Allow, o.Ask, o.Deny); err != nil {
		bad("pipeline: %w", err)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	p.gate, err = gate(p.validate)
	return p, err
}

// validate holds what hooks made of an input against the tool's schema.
func (p *Pipeline) validate(name string, input map[string]any) error {
	if t := p.tools[name]; t != nil {
		return t.validate(input)
	}
	return adapters.CheckInput(name, input)
}

// Inject has a text wait for the next call of a tool that it matches, or for
// the next prompt: it is in the Context of that Result, once.
func (p *Pipeline) Inject(in Injection) error {
	return Inject(context.Background(), p.o.Memory, in, p.o.Now())
}

// Inject does so in the memory of any session.
func Inject(ctx context.Context, memory Kept, in Injection, now time.Time) error {
	if _, err := matcher.Compile(in.Matcher, backtracking.Compile); err != nil {
		return fmt.Errorf("injection: matcher: %w", err)
	}
	return memory.Update(ctx, func(m *session.Memory) error {
		_, err := m.Inject(in, now)
		return err
	})
}

// Call runs a tool, if everything that has a say agrees. The result is never
// nil. The error is nil or one of *[UnknownToolError], *[DisabledError],
// *[InvalidInputError], *[RejectedError], *[HaltError], *[ToolError] and
// *[CancelledError].
func (p *Pipeline) Call(ctx context.Context, c Call) (*Result, error) {
	r := &run{Pipeline: p, call: c, result: &Result{}}
	err := r.through(ctx)
	if err != nil {
		r.result.Output = nil
	}
	return r.result, err
}

// names lists the tools there are, for messages.
func (p *Pipeline) names() string {
	list := make([]string, 0, len(p.tools))
	for name := range p.tools {
		list = append(list, name)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
