package commands

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/fleet"
	"gate/internal/install"
	"gate/internal/sealed"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/internal/strictjson"
	"gate/scopes"
)

// A statusFiller puts into a status what gate status and gate doctor would say here.
type statusFiller struct {
	process
	shippedBy
	form  *fleet.Form
	calls map[string]map[string]time.Time
	*fleet.Status
}

func (f *statusFiller) fill() {
	f.Labels = f.shipper.Labels
	f.Gate.Version, f.Gate.OS, f.Gate.Arch = setup.Version(), runtime.GOOS, runtime.GOARCH
	if f.shipped != nil {
		f.Logs = fleet.LogStatus{Code: fleet.ShipFailed, Message: f.atText(oneLine(f.shipped.Error()))}
	}
	flags := installFlags{dirs: f.flags}
	m, err := flags.machine(f.process)
	if err != nil {
		f.finding(install.Finding{ID: "gate.status", Severity: install.Error, Message: oneLine(err.Error())})
		f.agents(m, nil)
		return
	}
	if sum, err := digestOf(m.Command[0]); err == nil {
		f.Gate.HookDigest = sum
	}
	found := m.Doctor()
	flags.all(f.process, m, &found)
	for _, x := range found.Findings {
		f.finding(x)
	}
	f.agents(m, m.Status().Agents)
	g, err := (&placeFlags{dirs: f.flags}).gate(f.process)
	if err != nil {
		return // it is a finding
	}
	f.bundles(g)
	f.settings(g)
}

// atText is a text of this machine, which leaves it at level text only.
func (f *statusFiller) atText(text string) string {
	if f.form.Level != fleet.Text {
		return ""
	}
	return f.form.Tilde(text)
}

// mostFindings bounds those of one status.
const mostFindings = 200

func (f *statusFiller) finding(x install.Finding) {
	if len(f.Gate.Findings) == mostFindings {
		return
	}
	text := x.Message
	if x.File != "" {
		text = x.File + ": " + text
	}
	f.Gate.Findings = append(f.Gate.Findings, fleet.Finding{ID: x.ID, Severity: string(x.Severity), Text: f.atText(text)})
}

// agents are those that doctor finds here, and those that have asked gate.
func (f *statusFiller) agents(m install.Machine, list []install.AgentStatus) {
	called := func(account, agent string) *time.Time {
		if at, ok := f.calls[account][agent]; ok {
			return &at
		}
		return nil
	}
	known := map[string]bool{}
	for _, a := range list {
		one := fleet.Agent{Name: a.Agent, Hook: hookWord(a), LastCall: called("", a.Agent)}
		if len(a.Clients) > 0 {
			one.Version = a.Clients[0].Version
		}
		if one.Hook == fleet.HookMissing && !a.Here && one.LastCall == nil {
			continue
		}
		if used := m.Used(a.Agent); !used.IsZero() {
			used = used.UTC().Truncate(time.Second)
			one.Used = &used
		}
		known[a.Agent] = true
		f.Gate.Agents = append(f.Gate.Agents, one)
	}
	fleet.Calls(f.calls, func(account, agent string, last time.Time) {
		if account == "" && known[agent] {
			return
		}
		f.Gate.Agents = append(f.Gate.Agents, fleet.Agent{
			Name: agent, Account: f.form.Pseudonyms.Account(account), Hook: fleet.HookUnknown, LastCall: &last,
		})
	})
}

// hookWord says in one word how an agent is guarded.
func hookWord(a install.AgentStatus) string {
	installed := slices.ContainsFunc(a.Guards, func(g install.Guard) bool { return g.Installed })
	other := slices.ContainsFunc(a.Findings, func(x install.Finding) bool { return x.ID == "gate.program" || x.ID == "gate.command" })
	switch {
	case a.Guarded:
		return fleet.HookLive
	case installed && other:
		return fleet.HookOther
	}
	return fleet.HookMissing
}

// bundles are those in force and on trial, and those that settings want.
func (f *statusFiller) bundles(g *setup.Gate) {
	store := managedStore(f.dirs)
	for _, feed := range g.Set.Settings().Sync {
		f.Bundles[feed.Name] = fleet.BundleStatus{Name: feed.Name}
	}
	for _, b := range g.Loaded.Signed {
		name := b.Name
		if b.Trial {
			name = "trial:" + name
		}
		s := fleet.BundleStatus{Name: name, Revision: strconv.FormatInt(b.Version, 10), Digest: b.Digest}
		if !b.Synced.IsZero() {
			at := b.Synced.UTC()
			s.Downloaded = &at
		}
		f.Bundles[name] = s
	}
	for _, fail := range store.Failures() {
		s := f.Bundles[fail.Name]
		at := fail.At.UTC()
		s.Name, s.Requested, s.Message = fail.Name, &at, f.atText(fail.Err)
		s.Code = fleet.SyncFailed
		if fail.Refused {
			s.Code = fleet.SyncRefused
		}
		f.Bundles[cmp.Or(fail.Name, "gate")] = s
	}
}

// settings are those that bind, each with the digest of its value.
func (f *statusFiller) settings(g *setup.Gate) {
	rows := g.Set.Explain()
	for i, r := range rows {
		key := f.form.Pseudonyms.Name(r.Key)
		if _, known := f.Gate.Settings[key]; known || !r.Counts {
			continue
		}
		from := r.Authority.String()
		if r.Bundle != "" {
			from = "bundle " + r.Bundle
		}
		one := fleet.Setting{From: from, Weaker: len(g.Loaded.Signed) > 0 && weaker(rows, i)}
		if r.Authority == hook.Managed { // what a person chose is theirs, and a digest of few words tells it
			one.Digest = sealed.Digest(strictjson.Append(nil, r.Value))
		}
		f.Gate.Settings[key] = one
	}
}

// weaker reports a value of the machine's own files that holds back less than the bundles
// want: than what one says of the same key, or, of a policy and all hooks, than nothing.
func weaker(rows []setting.Row, i int) bool {
	r := rows[i]
	if r.Bundle != "" {
		return false
	}
	top, _, _ := strings.Cut(r.Key, ".")
	var wanted any
	j := slices.IndexFunc(rows, func(other setting.Row) bool { return other.Key == r.Key && other.Bundle != "" })
	switch {
	case j >= 0:
		wanted = rows[j].Value
	case top == setting.KeyExceptions:
		return true
	case top != setting.KeyPolicies && top != setting.KeyDisable:
		return false
	}
	was, is := map[string]any{}, map[string]any{r.Key: r.Value}
	if wanted != nil {
		was[r.Key] = wanted
	}
	return slices.ContainsFunc(scopes.Changes(was, is), func(c scopes.Change) bool { return c.Direction == setting.Loosens })
}

// errNoCollector reports settings that send the log to no collector of a fleet.
var errNoCollector = errors.New(`managed settings name no collector of a fleet: decisionLogs with "form": "collector"`)
