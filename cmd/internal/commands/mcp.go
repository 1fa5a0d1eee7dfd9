package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"gate/adapters"
	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/handlers"
	"gate/internal/mcpproxy"
	"gate/internal/pins"
	"gate/internal/places"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/internal/strictjson"
)

// maxSessionName bounds what people call a session, in bytes.
const maxSessionName = 256

// mcpFlags are the flags of gate mcp.
type mcpFlags struct {
	dirs    dirFlags
	name    string
	url     string
	headers []string
	config  string
	session string
}

func newMCP(p process) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp -- SERVER [ARG...] | mcp --url URL | mcp --config FILE [NAME...]",
		Short: "run in front of MCP servers and decide about every tool call",
		Long: "Starts an MCP server and passes messages between it and the client on standard input\n" +
			"and output. gate decides about a tool call before the server gets it, and about the\n" +
			"result before the client gets it. What the server lists is pinned at its first use, and\n" +
			"what changes later is withheld until a person accepts it with gate mcp accept. All\n" +
			"other messages pass unchanged.\n" +
			"For agents without hooks: put \"gate mcp --\" before the server's command line.\n" +
			"With --config it stands before several servers, which the client has as one: all of a\n" +
			"file as clients have theirs, {\"mcpServers\": {NAME: …}}, or those that are named. Tools\n" +
			"are called SERVER__TOOL then.",
		Example: "  gate mcp -- npx -y @modelcontextprotocol/server-filesystem /home/dev\n  gate mcp --name github -- github-mcp-server stdio\n  gate mcp --config ~/.config/gate/mcp.json",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case f.config != "" && (f.url != "" || f.name != ""):
				return usageError("--config has the servers' names and addresses: give neither --name nor --url")
			case len(f.headers) > 0 && f.url == "":
				return usageError("--header goes with --url")
			case f.session != strictjson.Visible(f.session) || len(f.session) > maxSessionName:
				return usageError(fmt.Sprintf("--session must be visible characters, %d bytes at most", maxSessionName))
			case f.config != "":
			case len(args) == 0 && f.url == "":
				return usageError("give the server's command line, behind --, its address with --url, or a file of servers with --config")
			case len(args) > 0 && f.url != "":
				return usageError("give a command line or an address, not both")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), p, args) },
	}
	cmd.Flags().SetInterspersed(false) // what follows the server's name is the server's
	cmd.Flags().StringVar(&f.name, "name", "", "the server's name in the names of tools, mcp__NAME__TOOL (default: what it calls itself)")
	cmd.Flags().StringVar(&f.url, "url", "", "the address of a server behind streamable HTTP, instead of a command line")
	cmd.Flags().StringArrayVar(&f.headers, "header", nil, "with --url: a header 'NAME: VALUE' for every request; $VARIABLE is the environment's")
	cmd.Flags().StringVar(&f.config, "config", "", "a `FILE` of servers as clients have it, {\"mcpServers\": {NAME: …}}")
	cmd.ValidArgsFunction = filesFor("FILE") // a program
	cmd.Flags().StringVar(&f.session, "session", "", "the session's name, for gate inject and gate session (default: a new one)")
	addDirFlags(cmd, &f.dirs)
	cmd.AddCommand(newMCPList(p), newMCPAccept(p), newMCPForget(p))
	return cmd
}

func (f mcpFlags) run(ctx context.Context, p process, args []string) error {
	d, err := f.dirs.ForHook() // the client chose the working directory
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	told := &teller{p: p}
	var servers []mcpServer
	if f.config != "" {
		servers, err = p.configured(f.config, args, told.tell)
	} else {
		servers = make([]mcpServer, 1)
		servers[0], err = f.flagged(p, args)
	}
	if err != nil {
		return err
	}
	w := &watch{
		Options: setup.Options{For: sources.For{Machine: p.machine(d, places.ProjectRoot("", here)), Live: true}, Handlers: p.handlers(handlers.Options{})},
		keeper:  setup.NewKeeper(true), // the client starts gate and the servers alike
	}
	g, err := w.keeper.Gate(w.Options, true)
	if err != nil {
		return err // before a server is there
	}
	s := mcpSession{p: p, user: d.User, here: here, id: cmp.Or(f.session, "mcp-"+core.NewID()), gate: g, decide: w.decide}
	client := mcpproxy.Stream{In: p.stdin, Out: p.stdout}
	if len(servers) == 1 {
		one, err := s.member(ctx, servers[0], told.tell)
		if err != nil {
			return err
		}
		return mcpproxy.Run(ctx, client, one.Server, one.Options)
	}
	var members []mcpproxy.Member
	var failed error
	for _, server := range servers {
		tell := func(text string) { told.tell("the MCP server " + quoted(server.name) + ": " + text) }
		one, err := s.member(ctx, server, tell)
		if err != nil {
			tell(err.Error())
			failed = fmt.Errorf("none of the servers can be started: %s: %w", quoted(server.name), err)
			continue
		}
		members = append(members, one)
	}
	if len(members) == 0 {
		return failed
	}
	return mcpproxy.RunAll(ctx, client, members, setup.Version(), told.tell)
}

// An mcpSession is what all servers of one gate mcp share.
type mcpSession struct {
	p              process
	user, here, id string
	gate           *setup.Gate
	decide         func(context.Context, hook.Event) hook.Decision
}

// member starts a server. One whose program is another than at its first use is not even
// started, where its name is known.
func (s mcpSession) member(ctx context.Context, server mcpServer, tell func(string)) (one mcpproxy.Member, err error) {
	identity, err := server.identity(s.gate, s.here)
	if err != nil {
		return one, err
	}
	book := mcpproxy.NewBook(pins.Store{Dir: s.user}, identity, tell)
	one.Server = mcpproxy.Nobody()
	if server.name == "" || book.Begin(ctx, server.name, false) == "" {
		meet := func(key string) error { return book.Meet(ctx, key) }
		if one.Server, err = server.start(s.p, meet); err != nil {
			return one, err
		}
	}
	one.Options = mcpproxy.Options{
		Server: server.name, Session: s.id, Dir: filepath.ToSlash(s.here), Decide: s.decide, Tell: tell,
		Book: book, Fits: s.p.fits, Servers: func(own string) []string { return earlierServers(s.user, own) },
	}
	return one, nil
}

// earlierServers are the names of the servers that were pinned before one: who comes later
// may imitate it, and must not keep it from passing. A file that cannot be read has none:
// then nothing of any server passes.
func earlierServers(dir, own string) (names []string) {
	known, _ := pins.Store{Dir: dir}.Servers()
	at := slices.IndexFunc(known, func(s pins.Pinned) bool { return s.Name == own })
	for _, s := range known {
		if s.Name != own && (at < 0 || s.At.Before(known[at].At)) {
			names = append(names, s.Name)
		}
	}
	return names
}

// fits holds the arguments of a call against the tool's inputSchema. A schema that cannot
// be used, because it refers to a document elsewhere, say, lets no arguments pass.
func (p process) fits(schema any, input map[string]any) error {
	if p.clients == nil || p.clients.Schema == nil {
		return errors.New("this program cannot read it")
	}
	fits, err := p.clients.Schema(strictjson.Append(nil, schema))
	if err != nil {
		return err
	}
	if err := fits(input); err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}

// A watch decides for a process that lives long, always by the policies that
// are there.
type watch struct {
	setup.Options
	keeper *setup.Keeper
}

// decide decides about an event with the memory of its session and records that.
func (w *watch) decide(ctx context.Context, ev hook.Event) hook.Decision {
	trace := ev.Gate.Trace
	ev.Gate = core.Now(w.Account, false)
	ev.Gate.Trace = trace
	s := w.Options
	s.Session, s.Event = core.Recall(w.Dirs, &ev), &ev
	g, err := w.keeper.Gate(s, true)
	adapter, _ := adapters.Lookup(ev.Agent)
	var d hook.Decision
	if err == nil {
		d, err = g.Answer(ctx, s.Session, &ev, func(d *hook.Decision) bool { return adapters.Rule(&ev, d).Result == hook.Reject })
	}
	if err != nil {
		return core.Closing(ev.Name, &hook.Fault{Kind: hook.FaultLoad, Err: err})
	}
	return g.Record(ctx, adapter, &ev, d)
}

// A teller tells the person what they should know, the same thing once.
type teller struct {
	p    process
	mu   sync.Mutex
	last []string
}

// mostTold is how many texts are compared with a new one.
const mostTold = 64

func (t *teller) tell(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.last {
		if l == text {
			return
		}
	}
	if len(t.last) == mostTold {
		t.last = t.last[1:]
	}
	t.last = append(t.last, text)
	fmt.Fprintf(t.p.stderr, "gate: %s\n", screen.Hang(visible(text)))
}
