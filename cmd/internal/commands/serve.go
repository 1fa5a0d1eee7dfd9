package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/adapters"
	"gate/cmd/internal/document"
	"gate/hook"
	"gate/internal/acs"
	"gate/internal/core"
	"gate/internal/handlers"
	"gate/internal/hookpath"
	"gate/internal/page"
	"gate/internal/places"
	"gate/internal/serve"
	"gate/internal/setup"
	"gate/internal/sources"
)

// Where gate serve keeps what is its own, below the state directory.
const (
	serveDir    = "serve"
	serveSocket = "gate.sock"
	serveToken  = "token"
	serveACS    = "acs"
)

// servePort spells gate on a telephone.
const servePort = 4283

// tokenVariable is where agents look for the token.
const tokenVariable = "CLAUDE_GATE_TOKEN"

// serveFlags are the flags of gate serve.
type serveFlags struct {
	dirs     dirFlags
	port     int
	noHTTP   bool
	noSocket bool
	sameEnv  bool
	print    bool
	acs      string
	trace    string

	invited func(address string) error // is told an address of the page once the server listens; nil: nobody wants it
}

func newServe(p process) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "answer agents and programs from a process that keeps running",
		Long: "Answers events on a unix socket that only this account can use, and on the loopback\n" +
			"addresses behind a token, until it is told to stop: the http hooks of Claude Code,\n" +
			"whole decisions, and the same in the form of OPA's server. Nothing needs it, and\n" +
			"while it is not there, agents that ask it are not guarded unless their settings say\n" +
			"so: gate install is the way that holds.",
		Example: "  gate serve\n  gate serve --print-settings > settings.json",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return usageError("unexpected argument " + quoted(args[0]))
			case f.port < 0 || f.port > 65535:
				return usageError("--port must be between 0 and 65535")
			case f.noHTTP && f.noSocket:
				return usageError("--no-http and --no-socket leave nothing to listen on")
			case f.trace != "" && f.acs == "":
				return usageError("--acs-trace is about --acs, which is missing")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.print {
				return f.settings(p)
			}
			return f.run(cmd.Context(), p)
		},
	}
	cmd.Flags().IntVar(&f.port, "port", servePort, "the port on 127.0.0.1 and ::1; 0 takes any free port")
	cmd.Flags().BoolVar(&f.noHTTP, "no-http", false, "listen on the socket only")
	cmd.Flags().BoolVar(&f.noSocket, "no-socket", false, "listen on the loopback addresses only")
	cmd.Flags().BoolVar(&f.sameEnv, "same-environment", false, "agents run in the environment of this process: its variables count for their calls")
	cmd.Flags().BoolVar(&f.print, "print-settings", false, "print the settings that have Claude Code ask this server, and end")
	cmd.Flags().StringVar(&f.acs, "acs", "", "answer the Agent Control Standard at /acs, by the keys that this `FILE` names")
	cmd.Flags().StringVar(&f.trace, "acs-trace", "", "append an OCSF event to this `FILE` for each step and decision of the Agent Control Standard")
	addDirFlags(cmd, &f.dirs)
	return cmd
}

// settings prints what goes into Claude Code's settings.
func (f serveFlags) settings(p process) error {
	if f.port == 0 || f.noHTTP {
		return usageError("--print-settings needs the port that agents ask")
	}
	machine, err := (&installFlags{dirs: f.dirs}).machine(p)
	if err != nil {
		return err
	}
	return emit(p, []byte(machine.ClaudeOverHTTP(fmt.Sprintf("http://127.0.0.1:%d", f.port), tokenVariable)+"\n"))
}

func (f serveFlags) run(ctx context.Context, p process) error {
	d, err := f.dirs.Absolute().ForHook() // those that the hook would find
	if err != nil {
		return err
	}
	listeners, token, err := f.listen(d)
	if err != nil {
		return err
	}
	k := setup.NewKeeper(f.sameEnv)
	if _, err := k.Gate(setup.Options{For: sources.For{Machine: p.machine(d, ""), Live: true}, Handlers: p.handlers(handlers.Options{})}, false); err != nil {
		fmt.Fprintf(p.stderr, "gate: every call is rejected until this is put right: %s\n", visible(err.Error()))
	}
	answers := answerer{process: p, dirs: dirArgs(f.dirs.Absolute()), keeper: k}
	o := serve.Options{Decide: answers.decide, State: k.State, Token: token}
	var server *serve.Server
	if f.acs != "" {
		guardian, stop, err := f.guardian(ctx, d, func(ctx context.Context, q serve.Question) serve.Reply { return server.Ask(ctx, q) })
		if err != nil {
			return errors.Join(fmt.Errorf("--acs: %w", err), closeAll(listeners))
		}
		defer guardian.Close()
		defer stop()
		o.Guardian = guardian
	}
	view, err := f.page(ctx, p, d, listeners)
	if err != nil {
		return errors.Join(err, closeAll(listeners))
	}
	if view != nil {
		o.Page = view
	}
	server = serve.New(o)
	var where []string
	for _, l := range listeners {
		if l.Addr().Network() == "unix" {
			where = append(where, filepath.Join(d.State, serveDir, serveSocket))
			continue
		}
		where = append(where, "http://"+l.Addr().String())
	}
	fmt.Fprintf(p.stdout, "gate serve: listening on %s\n", strings.Join(where, ", "))
	if f.invited != nil && view != nil {
		if err := f.invited(view.Invite()); err != nil {
			return errors.Join(err, closeAll(listeners))
		}
	}
	return server.Serve(ctx, listeners...)
}

// page is what browsers are shown, nil where none can ask: they need a port.
func (f serveFlags) page(ctx context.Context, p process, d dirs, listeners []net.Listener) (*page.Page, error) {
	at := slices.IndexFunc(listeners, func(l net.Listener) bool { return l.Addr().Network() == "tcp" })
	if at < 0 {
		return nil, nil
	}
	quiet := p
	quiet.stdout, quiet.stderr = io.Discard, io.Discard // of commands whose documents are shown
	return page.New(page.Options{
		Sources: viewer{quiet, dirFlags{Managed: d.Managed, User: d.User, State: d.State}}.sources(),
		Address: "http://" + listeners[at].Addr().String(), Done: ctx.Done(), Tools: slices.Sorted(slices.Values(shortTools())), Outcomes: outcomes(),
	})
}

// listen opens what there is to listen on. The token is needed by HTTP only.
func (f serveFlags) listen(d dirs) (list []net.Listener, token string, err error) {
	defer func() {
		if err != nil {
			closeAll(list)
		}
	}()
	own := filepath.Join(d.State, serveDir)
	if !f.noSocket {
		l, err := serve.Socket(filepath.Join(own, serveSocket))
		if err != nil {
			return nil, "", fmt.Errorf("socket: %w; --no-socket goes without one", err)
		}
		list = append(list, l)
	}
	if f.noHTTP {
		return list, "", nil
	}
	if token, err = serve.Token(filepath.Join(own, serveToken)); err != nil {
		return list, "", fmt.Errorf("token: %w", err)
	}
	more, err := serve.Loopback(f.port)
	if err != nil {
		return list, "", fmt.Errorf("%w; --port takes another one, --no-http none", err)
	}
	return append(list, more...), token, nil
}

func closeAll(list []net.Listener) error {
	var errs []error
	for _, l := range list {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// guardian answers the Agent Control Standard, by the keys of the file that was named.
func (f serveFlags) guardian(ctx context.Context, d dirs, ask func(context.Context, serve.Question) serve.Reply) (g *acs.Guardian, stop func(), err error) {
	keys, err := acs.ReadKeys(f.acs)
	if err != nil {
		return nil, nil, err
	}
	o := acs.Options{Keys: keys, Dir: filepath.Join(d.State, serveDir, serveACS), Decide: acsDecide(ask)}
	stop = func() {}
	if f.trace != "" {
		file, err := os.OpenFile(f.trace, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, err
		}
		o.Trace = acs.NewTracer(file)
		stop = func() {
			o.Trace.Close()
			file.Close()
		}
	}
	g, err = acs.Open(ctx, o)
	if err != nil {
		stop()
	}
	return g, stop, err
}

// acsDecide has a step of the Agent Control Standard decided about as any other question.
func acsDecide(ask func(context.Context, serve.Question) serve.Reply) func(context.Context, []byte, bool) []byte {
	return func(ctx context.Context, step []byte, attended bool) []byte {
		return ask(ctx, serve.Question{Agent: adapters.ACS().Name(), Body: step, Attended: attended, Timeout: adapters.ACS().Deadline("")}).Answer.Stdout
	}
}

// An answerer answers questions as gate hook answers an agent that starts it:
// each has a desk, a deadline and an answer of its own.
type answerer struct {
	process
	dirs   []string // the flags that name directories
	keeper *setup.Keeper
}

func (a answerer) decide(ctx context.Context, q serve.Question) serve.Reply {
	var stdout, stderr bytes.Buffer
	var reply serve.Reply
	status := hookpath.Run(ctx, hookpath.Process{
		Args:  append([]string{"--agent=" + q.Agent, "--event=" + string(q.Event), "--timeout=" + q.Timeout.String()}, a.dirs...),
		Stdin: bytes.NewReader(q.Body), Stdout: &stdout, Stderr: &stderr, LookupEnv: a.lookupEnv, Exit: a.exit, Account: places.Self,
		Environment: func(agent adapters.Adapter) adapters.Environment {
			e := agent.Environment(func(string) string { return "" })
			e.Attended, e.ProjectDir, e.Trace = q.Attended, q.Project, q.Trace
			return e
		},
		Adapter: func(agent string) (adapters.Adapter, error) {
			for _, served := range []adapters.Adapter{adapters.ACS(), adapters.Interceptor()} {
				if agent == served.Name() {
					return served, nil
				}
			}
			return hookpath.Adapter(agent)
		},
		Told: func(d *hook.Decision, canAsk bool) {
			reply.Decision = d
			reply.Document = func() map[string]any { return document.Decision(d, canAsk) }
		},
	}, func(c *hookpath.Call) (*core.Gate, error) {
		g, err := a.keeper.Gate(a.options(c), q.Project != "" && filepath.Clean(q.Project) == c.Project)
		if err != nil {
			return nil, err
		}
		return g.Gate, nil
	})
	reply.Answer = adapters.Answer{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Status: status}
	return reply
}

// dirArgs are the flags that name directories, as they were given.
func dirArgs(f dirFlags) (args []string) {
	for _, given := range []struct{ flag, dir string }{{"--managed-dir=", f.Managed}, {"--user-dir=", f.User}, {"--state-dir=", f.State}} {
		if given.dir != "" {
			args = append(args, given.flag+given.dir)
		}
	}
	return args
}
