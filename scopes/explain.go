package scopes

import (
	"maps"
	"slices"
	"strings"

	"gate/hook"
)

// A Row is one value that a settings file gives, for gate settings: where it
// stands and what became of it.
type Row struct {
	Key       string // disableAllHooks, policies.acme.push, params.acme.push.branches, exceptions.0 …
	Value     any    // a JSON tree
	Authority hook.Authority
	Pos       string // file:line
	Counts    bool
	Why       string // why it does not count, or what it overrides; "" if there is nothing to say
	Bundle    string // the signed bundle that it stands in; "" for a file of the machine's own
	Breaks    string // the policy that cannot answer while it stands; "" if it does no such harm

	layer *Layer
}

// A PolicyRow is one hook for gate policies.
type PolicyRow struct {
	*hook.Hook
	Level    Level          // LevelNone: as written
	LevelPos string         // where the level was set
	Params   map[string]any // of its parameters, as settings leave them
	Inactive string         // why it does not run; "" if it does
}

// Policies lists the hooks of all sources, those that do not run too, in the
// order of scope, authority, source and file.
func (s *Set) Policies() []PolicyRow {
	given := slices.Clone(s.given)
	slices.SortStableFunc(given, func(a, b Source) int { return compareSources(&a, &b) })
	var rows []PolicyRow
	for i := range given {
		src := &given[i]
		live := s.live(src.Name)
		for _, h := range src.Hooks {
			said := s.settings.level(h, s.settings.precedence(h))
			row := PolicyRow{Hook: h, Level: said.level, LevelPos: said.pos(), Params: map[string]any{}}
			for name, p := range h.Params {
				row.Params[name] = p.Default
			}
			maps.Copy(row.Params, s.settings.params(h, s.settings.precedence(h), src.Params[h.ID]))
			switch {
			case live == nil && s.off != "":
				row.Inactive = s.off
			case live == nil:
				row.Inactive = "only managed hooks are allowed"
			case live.Inactive():
				row.Inactive = "its source could not be loaded"
			case said.level == LevelOff:
				row.Inactive = "off"
			default:
				if names := live.unset(h); len(names) > 0 {
					row.Inactive = "off until it has a value for " + strings.Join(names, " or ")
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func (s *Set) live(name string) *Source {
	for _, src := range s.sources {
		if src.Name == name {
			return src
		}
	}
	return nil
}

// Explain lists every value that a settings file gives, by key and then from
// the highest authority down, and says which of them count.
func (s *Set) Explain() []Row {
	var rows []Row
	for i := range s.settings.layers {
		rows = append(rows, s.settings.layers[i].rows()...)
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return strings.Compare(a.Key, b.Key) })
	for i := range rows {
		s.judge(&rows[i], rows)
	}
	return rows
}

// rows lists what one layer says, not yet in order.
func (l *Layer) rows() []Row {
	var rows []Row
	add := func(key string, value any) {
		rows = append(rows, Row{Key: key, Value: value, Authority: l.Authority, Pos: l.Pos(key), Bundle: l.Bundle, layer: l})
	}
	l.switchRows(add)
	l.policyRows(add)
	l.machineRows(add)
	l.judgeRows(add)
	scriptsOf(l, add)
	return rows
}

// switchRows lists what a layer says that is about all hooks and decisions.
func (l *Layer) switchRows(add func(key string, value any)) {
	if l.DisableAllHooks != nil {
		add(keyDisable, *l.DisableAllHooks)
	}
	if l.AllowManagedHooksOnly != nil {
		add(keyOnly, *l.AllowManagedHooksOnly)
	}
	if l.Deadline > 0 {
		add(keyDeadline, l.Deadline.String())
	}
	if l.Faults != "" {
		add(keyFaults, string(l.Faults))
	}
	if a := l.Approvals; a != nil {
		add(keyApprovals, a.tree())
	}
	if l.Log != nil {
		add(keyLog, *l.Log)
	}
	if l.Record != nil {
		add(keyRecord, *l.Record)
	}
	if l.DecisionLogs != nil {
		add(keyDecisionLogs, l.DecisionLogs.tree())
	}
}

// policyRows lists what a layer says of single policies.
func (l *Layer) policyRows(add func(key string, value any)) {
	for _, k := range slices.Sorted(maps.Keys(l.Policies)) {
		add(keyPolicies+"."+k, string(l.Policies[k]))
	}
	for _, p := range slices.Sorted(maps.Keys(l.Params)) {
		for _, name := range slices.Sorted(maps.Keys(l.Params[p])) {
			add(keyParams+"."+p+"."+name, l.Params[p][name])
		}
	}
	for _, k := range l.Delegate {
		add(keyDelegate+"."+k, true)
	}
	for i, e := range l.Exceptions {
		add(indexed(keyExceptions, i), e.tree())
	}
}

// machineRows lists what a layer says of the machine, and of what it fetches and
// loads.
func (l *Layer) machineRows(add func(key string, value any)) {
	if l.Stale != nil {
		l.Stale.rows(add)
	}
	for _, f := range l.Sync {
		add(keySync+"."+f.Name, f.tree())
	}
	for _, k := range slices.Sorted(maps.Keys(l.Labels)) {
		add(keyLabels+"."+k, l.Labels[k])
	}
	for _, k := range slices.Sorted(maps.Keys(l.Plugins)) {
		if dir := l.PluginDir[k]; dir != "" {
			add(keyPlugins+"."+k, dir)
		} else {
			add(keyPlugins+"."+k, l.Plugins[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(l.Programs)) {
		add(keyPrograms+"."+k, l.Programs[k])
	}
	for _, k := range slices.Sorted(maps.Keys(l.MCPServers)) {
		add(keyMCPServers+"."+k, l.MCPServers[k].tree())
	}
}

func (e Exception) tree() map[string]any {
	return map[string]any{
		"policy": e.Policy, "if": anys(e.If), "project": e.Project, "until": e.Until.UTC().Format("2006-01-02T15:04:05Z07:00"),
		"owner": e.Owner, "reason": e.Reason,
	}
}

// inForce is the value of a key that hooks have no part in, as rows show it.
func (s *Settings) inForce(top, name string) any {
	switch top {
	case keyOnly:
		return s.ManagedHooksOnly
	case keyDeadline:
		return s.Deadline.String()
	case keyFaults:
		if s.FaultsClose {
			return string(hook.FaultDeny)
		}
		return string(hook.FaultContinue)
	case keyApprovals:
		return s.Approvals.tree()
	case keyStale:
		return s.Stale.tree()[name]
	case keyLog:
		return !s.NoLog
	case keyRecord:
		return !s.NoRecord
	case keyDecisionLogs:
		return s.DecisionLogs.tree()
	case keySync:
		if f := s.Feed(name); f != nil {
			return f.tree()
		}
	case keyLabels:
		return s.Labels[name]
	case keyPlugins:
		if dir := s.PluginDirs[name].Dir; dir != "" && s.Plugins[name] {
			return dir
		}
		return s.Plugins[name]
	case keyPrograms:
		return s.Programs[name]
	case keyProviders:
		return s.Providers[name].tree()
	case keyJudges:
		_, j := s.JudgesOf(hook.User)
		if name == "keep" {
			return j.Keep.String()
		}
		return j.Provider
	case keyStatusLine:
		return s.StatusLine.tree()
	case keyFileSuggestion:
		return s.FileSuggestion.tree()
	case keyMCPServers:
		if server, ok := s.MCPServers[name]; ok {
			return server.tree()
		}
	}
	return nil
}

func (a Approvals) tree() map[string]any {
	return map[string]any{"enabled": a.Enabled, "minutes": a.Minutes, "keyRequired": a.KeyRequired, "keys": anys(a.Keys)}
}

func (m MCPServer) tree() map[string]any {
	out := map[string]any{}
	if m.Command != "" {
		out["command"], out["args"] = m.Command, anys(m.Args)
	}
	if m.URL != "" {
		headers := map[string]any{}
		for name, value := range m.Headers {
			headers[name] = value
		}
		out["url"], out["headers"] = m.URL, headers
	}
	if len(m.Env) > 0 {
		out["env"] = anys(m.Env)
	}
	return out
}

func anys(in []string) []any {
	out := make([]any, len(in))
	for i, s := range in {
		out[i] = s
	}
	return out
}
