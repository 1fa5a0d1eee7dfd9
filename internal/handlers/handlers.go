// Package handlers runs the hooks that are not policies: command, prompt, agent,
// webhook, mcp_tool and inline. It starts them, reads their answers strictly, and turns
// those into verdicts and faults. It speaks to a hook of another system
// ([hook.Dialect]) as that system does.
//
// The engine, not this package, decides which part of an answer counts, the order of
// hooks, and the result of a fault. The package keeps no state of its own; everything
// from outside comes in [Options]. Start with [New], then give the engine
// [Handlers.EngineOptions].
package handlers

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"time"

	"gate/engine"
	"gate/hook"
	"gate/internal/handlers/judge"
	"gate/internal/handlers/mcptool"
	"gate/internal/setting"
	"gate/internal/verdict"
)

// Options are what handlers may use of the world. The zero value is complete:
// handlers then see nothing of the environment.
type Options struct {
	// Inline are the functions of inline hooks, by the hook's ID.
	Inline map[string]Inline

	// Progress is told when a handler starts and when it ended; nil: nobody
	// is. It may be called by several goroutines at once and must not block.
	// [Watch] tells of a single decision.
	Progress func(Progress)

	// Getenv looks a variable of the environment up. Handlers get few of them,
	// and those that they name. nil: they get none.
	Getenv func(name string) (value string, ok bool)

	// Dirs are the absolute directories of the sources, by their name. Programs
	// that a hook names relatively are looked for there.
	Dirs map[string]string

	// Project is the root of the project, "" if it is not known.
	Project string

	// Supervisor starts a process that calls [Supervise]: program and
	// arguments. With one, nothing that a command starts outlives it, even if
	// this process is killed, and commands that the call does not wait for go
	// on when this process ends. Without one, commands run directly below this
	// process. It ends what stays in a command's session or keeps its
	// environment, nothing else, and nothing if it is killed itself.
	Supervisor []string

	// LateDir is a directory of gate's own for answers that come after the
	// call went on; see [Handlers.Late]. "": they are lost.
	LateDir string

	// EnvFile is the file whose lines the agent's shell runs, "" if there is
	// none or the hook shall not write there; nil: none shall. Whoever writes
	// there decides what later commands mean.
	EnvFile func(*hook.Hook) string

	// Limits bound what a command may use of the machine.
	Limits Limits

	// Batch says that nobody waits at a terminal: hooks that ask a model are
	// faults of the kind hook.FaultBatch then, and are not run.
	Batch bool

	// MCPServers are the servers whose tools hooks may call, by name.
	MCPServers map[string]setting.MCPServer

	// Version is how gate calls itself to servers; "" is "devel".
	Version string

	// Roots are the certificates that servers are trusted by; nil: the
	// system's.
	Roots *x509.CertPool

	// MCP talks to these servers; nil: hooks cannot call tools.
	MCP mcptool.Client

	// Models talks to the providers of language models that settings name; nil: nobody
	// does. It counts where a Judge is made for these handlers.
	Models judge.Models

	// Judge is asked by prompt and agent hooks; nil: they cannot answer.
	Judge *judge.Judge

	Now func() time.Time // nil: time.Now
}

// An Inline is a Go function that answers in the place of a program. It must
// not change the event, must keep to the context and may be called by several
// goroutines at once. An error is a fault.
type Inline func(context.Context, *hook.Event) (hook.Verdict, error)

// A Progress tells where a handler is.
type Progress struct {
	Hook  *hook.Hook
	Event hook.Name
	Text  string        // what the hook's file has people told meanwhile (status_message); "" if nothing
	Done  bool          // it ended; else it starts now
	Took  time.Duration // zero at the start
	Fault *hook.Fault   // why it could not answer; nil if it did

	// Outcome is how it ended, "" at the start. Whether a fault closes the call,
	// the engine decides: one that is no time-out is NonBlockingError here.
	Outcome hook.Outcome

	began time.Time
}

// Handlers runs handlers. It is safe for concurrent use.
type Handlers struct {
	Options
	resolver *net.Resolver // nil: the system's
}

// New returns Handlers that use nothing but o.
func New(o Options) *Handlers {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Limits = o.Limits.orDefault()
	return &Handlers{Options: o}
}

// Evaluator returns what runs the hooks of a kind, nil for kinds that this
// package does not run: the engine then calls each of their hooks a fault.
func (h *Handlers) Evaluator(kind hook.Kind) engine.Evaluator {
	if run := h.runner(kind); run != nil {
		return evaluator{h, run}
	}
	return nil
}

// EngineOptions give an engine what runs the hooks of all kinds that this
// package runs; Inline only where there are functions.
func (h *Handlers) EngineOptions() (options []engine.Option) {
	for _, kind := range []hook.Kind{hook.Command, hook.Prompt, hook.Agent, hook.Webhook, hook.MCPTool, hook.Inline} {
		if kind != hook.Inline || len(h.Inline) > 0 {
			options = append(options, engine.WithEvaluator(kind, h.Evaluator(kind)))
		}
	}
	return options
}

// A runner runs one hook. It ends soon after its context does.
type runner func(context.Context, *hook.Hook, *hook.Event) engine.Answer

func (h *Handlers) runner(kind hook.Kind) runner {
	if h.Batch && (kind == hook.Prompt || kind == hook.Agent) {
		return unsupported
	}
	switch kind {
	case hook.Command:
		return h.command
	case hook.Webhook:
		return h.webhook
	case hook.MCPTool:
		return h.mcpTool
	case hook.Inline:
		return h.inline
	case hook.Prompt:
		return h.prompt
	case hook.Agent:
		return h.investigate
	}
	return nil
}

// unsupported answers for a hook that batch runs leave out.
func unsupported(_ context.Context, by *hook.Hook, _ *hook.Event) engine.Answer {
	return failed(hook.FaultBatch, "%s is a hook of kind %s, which batch runs do not support", by.ID, by.Kind)
}

// timeouts hold how long handlers run that say nothing themselves.
var timeouts = map[hook.Kind]time.Duration{
	hook.Command: 60 * time.Second,
	hook.Prompt:  30 * time.Second,
	hook.Agent:   60 * time.Second,
	hook.Webhook: 30 * time.Second,
	hook.MCPTool: 30 * time.Second,
}

type evaluator struct {
	*Handlers
	run runner
}

// Evaluate runs hooks one after another.
func (e evaluator) Evaluate(ctx context.Context, hooks []*hook.Hook, ev *hook.Event) []engine.Answer {
	answers := make([]engine.Answer, len(hooks))
	for i, h := range hooks {
		answers[i] = e.one(ctx, h, ev)
	}
	return answers
}

func (e evaluator) one(ctx context.Context, h *hook.Hook, ev *hook.Event) engine.Answer {
	if limit := timeouts[h.Kind]; h.Timeout == 0 && limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	start := e.Now()
	text, _ := h.Config["status_message"].(string)
	e.tell(ctx, Progress{Hook: h, Event: ev.Name, Text: text, began: time.Now()})
	a := e.run(ctx, h, ev)
	a.Took = e.Now().Sub(start)
	e.tell(ctx, Progress{Hook: h, Event: ev.Name, Text: text, Done: true, Took: a.Took, Fault: a.Fault, Outcome: verdict.Outcome(&a.Verdict, a.Fault, hook.Pass)})
	return a
}

func (e evaluator) tell(ctx context.Context, p Progress) {
	if w, ok := ctx.Value(watching{}).(*watcher); ok {
		w.tell(p)
	}
	if e.Progress != nil {
		e.Progress(p)
	}
}

func (h *Handlers) inline(ctx context.Context, by *hook.Hook, ev *hook.Event) engine.Answer {
	f := h.Inline[by.ID]
	if f == nil {
		return failed(hook.FaultLoad, "nobody gave a function for the inline hook %s", by.ID)
	}
	v, err := f(ctx, ev)
	if err != nil {
		return engine.Answer{Verdict: v, Fault: &hook.Fault{Kind: hook.FaultEval, Err: fmt.Errorf("%s: %w", by.ID, err)}}
	}
	for _, list := range [][]hook.Reason{v.Reasons, v.Warnings, v.Halt} {
		for i := range list {
			if list[i].ID == "" {
				list[i].ID = by.ID
			}
		}
	}
	return engine.Answer{Verdict: v}
}

// failed is the answer of a handler that could not give one.
func failed(kind hook.FaultKind, format string, args ...any) engine.Answer {
	return engine.Answer{Fault: hook.Faultf(kind, format, args...)}
}
