package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"gate/cmd/internal/early"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/handlers"
	"gate/internal/handlers/judge"
	"gate/internal/handlers/mcptool"
	"gate/internal/hookpath"
	"gate/internal/install"
	"gate/internal/moment"
	"gate/internal/places"
	"gate/internal/rego"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/internal/sources"
)

// runHook answers one event of an agent.
func runHook(ctx context.Context, p process) int {
	if p.brief != nil {
		p.brief()
	}
	var about atomic.Pointer[core.Machine] // the deadline may come first
	status := hookpath.Run(ctx, hookpath.Process{
		Args: p.args[1:], Stdin: p.stdin, Stdout: p.stdout, Stderr: p.stderr, LookupEnv: p.lookupEnv, Exit: p.exit, Account: places.Self, OneShot: p.brief != nil,
		HandOver: func(event []byte, done hookpath.Handed) error {
			return p.handOver(append(slices.Clip(p.args), done.Flags()...), event)
		},
		HandsOver: func(err error) bool { return p.handOver != nil && errors.Is(err, errServer) },
	}, func(c *hookpath.Call) (*core.Gate, error) {
		about.Store(&c.Machine)
		g, err := p.load(c)
		if err == nil && p.clients == nil && g.AsksOutside(c.Event) {
			err = errServer
		}
		if err != nil {
			return nil, err
		}
		if g.Compiled() {
			about.Store(nil) // there is nothing to compile
		}
		return g.Gate, nil
	})
	if m := about.Load(); m != nil && handedOver(p.args[1:]) {
		p.compileLater(*m)
	}
	return status
}

// errServer says why a call is handed over.
var errServer = errors.New("a hook asks a language model or an MCP server, for which " + server + " has the clients")

// load sets gate up for one call, from the compiled forms of what hooks and
// settings come from if these are good for it, else from the files.
func (p process) load(c *hookpath.Call) (*setup.Gate, error) {
	s := p.options(c)
	if !p.filesOnly {
		if g, err := setup.FromForms(s); err == nil {
			return g, nil
		}
	}
	early.Processors() // OPA has much to read and to compile
	return setup.New(s)
}

// options are what gate is set up by for a call.
func (p process) options(c *hookpath.Call) setup.Options {
	h := p.handlers(handlers.Options{Batch: c.Batch})
	if p.clients == nil && p.handOver != nil {
		// A rewrite may have made the call one that such a hook is to judge.
		h.Models = func(setting.Provider, string) (judge.Model, error) { c.HandOver(); return nil, errServer }
		h.MCP = func(context.Context, mcptool.Way) (mcptool.Session, error) { c.HandOver(); return nil, errServer }
	}
	return setup.Options{
		For:      sources.For{Machine: c.Machine, Live: true, Foreign: !c.RunsHooks, Session: c.Session, Event: c.Event},
		Handlers: h, EnvFile: c.EnvFile,
		Rego:   []rego.Option{rego.WithOutOfMemory(c.OutOfMemory)},
		Begins: p.brought, Objection: p.takenOut(c),
	}
}

// takenOut says that a change of the agent's settings takes gate out of them, "" if
// gate stands there as before. The session can keep its settings; the file is changed.
func (p process) takenOut(c *hookpath.Call) string {
	if c.Scope == "" || c.Event.Name.Canonical() != moment.ConfigChange {
		return ""
	}
	m := p.agents(c.Project)
	m.UserDir, m.StateDir = c.User, c.State
	m.PluginRoot = p.getenv("CLAUDE_PLUGIN_ROOT")
	if exe, err := os.Executable(); err == nil {
		m.Program = exe
	}
	why := m.Gone(c.Event.Agent, install.Scope(c.Scope))
	if why == "" {
		return ""
	}
	file := c.Event.Text("file_path")
	if rel, err := filepath.Rel(m.Project, file); err == nil && filepath.IsLocal(rel) {
		file = rel
	}
	if file == "" {
		file = "the agent's settings"
	}
	return fmt.Sprintf("%s changed, and gate stands in no settings any more: %s. This session keeps gate. The file stays changed, and the next session starts without gate: "+
		"put the file back, or run: gate install %s --scope user", p.tilde(file), why, c.Event.Agent)
}

// brought says what files of the project weaken: a clone may have brought them.
func (p process) brought(ev *hook.Event) []string {
	dir, _ := ev.Fields["cwd"].(string)
	m := p.agents(places.ProjectRoot("", dir))
	var notices []string
	for _, f := range m.Brought(ev.Agent) {
		name := f.File
		if rel, err := filepath.Rel(m.Project, f.File); err == nil {
			name = rel
		}
		notices = append(notices, fmt.Sprintf("the project's %s:%d weakens what guards you: %s; %s", name, f.Line, f.Message, f.Remedy))
	}
	return notices
}
