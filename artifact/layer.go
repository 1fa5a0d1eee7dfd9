package artifact

import (
	"time"

	"gate/hook"
	"gate/scopes"
)

// layer writes what a settings file says.
func (e *encoder) layer(l *scopes.Layer) {
	e.text(l.File)
	writeMap(e, l.Lines, e.int)
	writePointer(e, l.DisableAllHooks, e.bool)
	writePointer(e, l.AllowManagedHooksOnly, e.bool)
	writeMap(e, l.Policies, func(v scopes.Level) { e.text(string(v)) })
	writeMap(e, l.Params, func(m map[string]any) { writeMap(e, m, e.value) })
	listOf(e, l.Exceptions, e.exception)
	e.texts(l.Delegate)
	e.duration(l.Deadline)
	e.text(string(l.Faults))
	writePointer(e, l.Approvals, e.approvals)
	writePointer(e, l.Stale, e.stale)
	listOf(e, l.Sync, e.feed)
	writeMap(e, l.Labels, e.text)
	writePointer(e, l.Log, e.bool)
	writePointer(e, l.Record, e.bool)
	writeMap(e, l.Plugins, e.bool)
	writeMap(e, l.PluginDir, e.text)
	e.tree(l.Programs)
	writeMap(e, l.Providers, e.provider)
	writePointer(e, l.Judges, e.judges)
	writeMap(e, l.MCPServers, e.server)
	writePointer(e, l.StatusLine, e.script)
	writePointer(e, l.FileSuggestion, e.script)
	writePointer(e, l.DecisionLogs, e.decisionLogs)
}

// layer reads what [encoder.layer] wrote. What is read of it stands in place: the
// hot program links a method and a wrapper for each that has a name.
func (d *decoder) layer() scopes.Layer {
	l := scopes.Layer{File: d.text()}
	l.Lines = mapOf(d, d.int)
	l.DisableAllHooks = pointer(d, d.bool)
	l.AllowManagedHooksOnly = pointer(d, d.bool)
	l.Policies = mapOf(d, func() scopes.Level { return scopes.Level(d.text()) })
	l.Params = mapOf(d, func() map[string]any { return mapOf(d, func() any { return d.value(0) }) })
	l.Exceptions = readList(d, d.exception)
	l.Delegate = d.texts()
	l.Deadline = d.duration()
	l.Faults = hook.OnFault(d.text())
	l.Approvals = pointer(d, func() scopes.Approvals {
		return scopes.Approvals{Enabled: d.bool(), Minutes: d.int(), KeyRequired: d.bool(), Keys: d.texts()}
	})
	l.Stale = pointer(d, func() scopes.Stale {
		return scopes.Stale{After: d.duration(), Then: scopes.Consequence(d.text()), Expired: scopes.Consequence(d.text())}
	})
	l.Sync = readList(d, d.feed)
	l.Labels = mapOf(d, d.text)
	l.Log = pointer(d, d.bool)
	l.Record = pointer(d, d.bool)
	l.Plugins = mapOf(d, d.bool)
	l.PluginDir = mapOf(d, d.text)
	l.Programs = d.tree()
	l.Providers = mapOf(d, func() scopes.Provider {
		return scopes.Provider{Type: d.text(), URL: d.text(), Model: d.text(), KeyEnv: d.text(), MaxTokens: d.int()}
	})
	l.Judges = pointer(d, func() scopes.Judges {
		return scopes.Judges{Provider: d.text(), Keep: d.duration(), KeepSet: d.bool()}
	})
	l.MCPServers = mapOf(d, func() scopes.MCPServer {
		return scopes.MCPServer{Command: d.text(), Args: d.texts(), URL: d.text(), Headers: mapOf(d, d.text), Env: d.texts()}
	})
	l.StatusLine = pointer(d, d.script)
	l.FileSuggestion = pointer(d, d.script)
	l.DecisionLogs = pointer(d, func() scopes.DecisionLogs {
		return scopes.DecisionLogs{
			URL: d.text(), TokenFile: d.text(), CA: d.text(), ClientCert: d.text(), ClientKey: d.text(),
			Labels: mapOf(d, d.text), Optional: d.bool(),
		}
	})
	return l
}

func (e *encoder) duration(v time.Duration) { e.signed(int64(v)) }
func (d *decoder) duration() time.Duration  { return time.Duration(d.signed()) }

func (e *encoder) exception(x scopes.Exception) {
	e.text(x.Policy)
	e.texts(x.If)
	e.text(x.Project)
	e.time(x.Until)
	e.text(x.Owner)
	e.text(x.Reason)
}

func (d *decoder) exception() scopes.Exception {
	return scopes.Exception{
		Policy: d.text(), If: d.texts(), Project: d.text(), Until: d.time(), Owner: d.text(), Reason: d.text(),
	}
}

func (e *encoder) feed(f scopes.Feed) {
	e.texts([]string{f.Name, f.URL, f.Keys, f.Pin, f.Channel, f.TokenFile, f.CertFile, f.KeyFile, f.CAFile})
}

func (d *decoder) feed() (f scopes.Feed) {
	list := d.texts()
	if len(list) != 9 {
		d.damaged()
		return f
	}
	return scopes.Feed{
		Name: list[0], URL: list[1], Keys: list[2], Pin: list[3], Channel: list[4],
		TokenFile: list[5], CertFile: list[6], KeyFile: list[7], CAFile: list[8],
	}
}

// script leaves out whose it is: Combine says that.
func (e *encoder) script(s scopes.Script) {
	e.text(s.Command)
	e.texts(s.Env)
}

func (d *decoder) script() scopes.Script { return scopes.Script{Command: d.text(), Env: d.texts()} }

// readList reads a list, nil if it is empty.
func readList[V any](d *decoder, read func() V) []V {
	n := d.count()
	if n == 0 {
		return nil
	}
	list := make([]V, n)
	for i := range list {
		list[i] = read()
	}
	return list
}

func (e *encoder) approvals(a scopes.Approvals) {
	e.bool(a.Enabled)
	e.int(a.Minutes)
	e.bool(a.KeyRequired)
	e.texts(a.Keys)
}

func (e *encoder) stale(s scopes.Stale) {
	e.duration(s.After)
	e.text(string(s.Then))
	e.text(string(s.Expired))
}

func (e *encoder) provider(p scopes.Provider) {
	e.text(p.Type)
	e.text(p.URL)
	e.text(p.Model)
	e.text(p.KeyEnv)
	e.int(p.MaxTokens)
}

func (e *encoder) judges(j scopes.Judges) {
	e.text(j.Provider)
	e.duration(j.Keep)
	e.bool(j.KeepSet)
}

func (e *encoder) server(s scopes.MCPServer) {
	e.text(s.Command)
	e.texts(s.Args)
	e.text(s.URL)
	writeMap(e, s.Headers, e.text)
	e.texts(s.Env)
}

func (e *encoder) decisionLogs(d scopes.DecisionLogs) {
	e.text(d.URL)
	e.text(d.TokenFile)
	e.text(d.CA)
	e.text(d.ClientCert)
	e.text(d.ClientKey)
	writeMap(e, d.Labels, e.text)
	e.bool(d.Optional)
}
