package commands

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gate/adapters"
	"gate/cmd/internal/document"
	"gate/internal/audit"
	sandboxes "gate/internal/confine/emit"
	"gate/internal/confine/profile"
	"gate/internal/core"
	"gate/internal/hostfs"
	"gate/internal/install"
	"gate/internal/moment"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/internal/sync"
	"gate/scopes"
)

// ownFindings says what is wrong with gate's own settings, policies and
// plugins, as an agent in the project would meet them; the most severe first.
func (f *installFlags) ownFindings(p process) []install.Finding {
	place := placeFlags{dirs: f.dirs, dir: f.dir}
	g, err := place.gate(p)
	if err != nil {
		return []install.Finding{{
			ID: "gate.settings", Severity: install.Error, Message: "no call passes: " + err.Error(),
			Remedy: "correct the settings files that contradict each other",
		}}
	}
	var list []install.Finding
	for _, src := range g.Set.Sources() {
		list = append(list, faultFindings(p, g, src)...)
	}
	if off := g.Set.Off(); off != "" {
		list = append(list, install.Finding{
			ID: "gate.off", Severity: install.Error, Message: off,
			Remedy: "remove disableAllHooks from the settings that gate settings names",
		})
	}
	for _, r := range g.Set.Explain() {
		if f, wrong := rowFinding(r, time.Now()); wrong {
			list = append(list, f)
		}
	}
	if g.Relaxed != "" {
		list = append(list, install.Finding{
			ID: "gate.recovery", Severity: install.Warning, Message: g.Relaxed, Remedy: "remove " + sources.RecoveryFile + " once the bundle is mended",
		})
	}
	if g.Unrelaxed != "" {
		list = append(list, install.Finding{
			ID: "gate.recovery.refused", Severity: install.Warning, Message: g.Unrelaxed, Remedy: "remove " + sources.RecoveryFile + ", or have it signed anew: see gate bundle recovery",
		})
	}
	for _, n := range g.Ageing() {
		list = append(list, install.Finding{ID: "gate.bundle.age", Severity: install.Warning, Message: strings.TrimSuffix(n, "; "+core.Remedy), Remedy: core.Remedy})
	}
	for _, n := range g.Untrusted() {
		list = append(list, install.Finding{
			ID: "gate.untrusted", Severity: install.Notice, Message: n, Remedy: "look at it, then run gate trust, or leave it untrusted",
		})
	}
	for _, n := range g.Held() {
		list = append(list, install.Finding{
			ID: "gate.held", Severity: install.Notice, Message: n, Remedy: "have an administrator publish what must be rewritten, or take the setting back; gate settings says where it stands",
		})
	}
	for _, n := range g.Loosened() {
		list = append(list, install.Finding{
			ID: "gate.loosened", Severity: install.Warning, Message: n, Remedy: "if you meant it, run gate settings confirm; otherwise find the writer of the file, and undo the change",
		})
	}
	list = append(list, endingFindings(g, time.Now())...)
	list = append(list, trialFindings(g.Loaded.Signed)...)
	list = append(list, f.syncFindings()...)
	list = append(list, f.logFindings(g)...)
	list = append(list, unrunnableFindings(g)...)
	list = append(list, f.unansweredFindings(g)...)
	list = append(list, f.memoryFindings()...)
	list = append(list, f.shellFindings(p, g)...)
	list = append(list, injectorFindings(g)...)
	list = append(list, approverFindings(p.home(), g.Set.Settings().Approvals)...)
	confined := confineFindings(g)
	list = append(list, confined...)
	list = append(list, f.sandboxFindings(p, g, len(confined) > 0)...)
	list = append(list, f.elsewhereFindings(p)...)
	slices.SortStableFunc(list, func(a, b install.Finding) int { return cmp.Compare(rank(a.Severity), rank(b.Severity)) })
	return list
}

// onTrial is the finding of a bundle on trial, which status has, too.
const onTrial = "gate.bundle.trial"

// trialFindings say which releases stand beside those in force.
func trialFindings(list []sources.Bundle) (found []install.Finding) {
	for _, b := range list {
		if !b.Trial {
			continue
		}
		f := install.Finding{ID: onTrial, Severity: install.Notice, Remedy: "gate log --stats says what a trial would have held back"}
		at := slices.IndexFunc(list, func(o sources.Bundle) bool { return o.Name == b.Name && !o.Trial })
		if at >= 0 {
			f.Message = b.Name + ": " + besideText(list[at].Active, b.Active)
		} else {
			f.Severity, f.Message = install.Warning, b.Name+": "+besideText(sync.Active{}, b.Active)
			f.Remedy = "have its publisher give this machine a release in the channel"
		}
		found = append(found, f)
	}
	return found
}

// soon is how long before its end a bundle is spoken of: once over, it closes.
const soon = 7 * 24 * time.Hour

// endingFindings are the signed bundles whose time is over soon.
func endingFindings(g *setup.Gate, now time.Time) []install.Finding {
	var list []install.Finding
	for _, b := range g.Bundles {
		if left := b.Expires.Sub(now); b.Trial || b.Expires.IsZero() || left <= 0 || left > soon {
			continue
		}
		list = append(list, install.Finding{
			ID: "gate.bundle.ends", Severity: install.Warning,
			Message: fmt.Sprintf("the bundle %s version %d expires on %s; what follows then is the setting stale.expired, by default that people are told and its policies stay",
				b.Name, b.Version, b.Expires.UTC().Format("2006-01-02 15:04 MST")),
			Remedy: "have its publisher release it anew under the next version",
		})
	}
	return list
}

// logFindings say that decisions cannot be written down, which closes where an
// administrator wants them to be.
func (f *installFlags) logFindings(g *setup.Gate) []install.Finding {
	d, err := f.dirs.Absolute().ForHook()
	if err != nil || !g.Set.Settings().On(setting.Log) {
		return nil // said already, or nothing is to be written
	}
	if err = audit.Try(d.State); err == nil {
		return nil
	}
	wrong := install.Finding{
		ID: "gate.log", Severity: install.Warning, Message: "decisions are not written down: " + err.Error(),
		Remedy: "make the directory writable for this account again: check free space, the directory's owner, and a read-only file system",
	}
	if g.Administered() && !g.Set.Settings().DecisionLogs.Optional {
		wrong.Severity, wrong.Message = install.Error, "no call passes: "+err.Error()+", and this machine's calls must be in the decision log"
	}
	return []install.Finding{wrong}
}

// unrunnableFindings are the hooks that name a file as their program which cannot
// run.
func unrunnableFindings(g *setup.Gate) []install.Finding {
	var list []install.Finding
	for _, src := range g.Set.Sources() {
		dir := g.Where[src.Name]
		if dir == "" || !src.Runs() || src.Inactive() {
			continue
		}
		stat := func(name string) (fs.FileInfo, error) {
			if !filepath.IsAbs(name) {
				name = filepath.Join(dir, name)
			}
			return os.Stat(name)
		}
		for _, h := range src.Hooks {
			why, remedy := setting.Unrunnable(h, stat)
			if why == "" {
				continue
			}
			list = append(list, install.Finding{
				ID: "gate.handler", Severity: install.Warning, File: filepath.Join(dir, filepath.FromSlash(h.File)), Line: h.Line,
				Message: fmt.Sprintf("%s cannot answer: %s", h.ID, why), Remedy: remedy,
			})
		}
	}
	return list
}

// unansweredFindings are the hooks that could not answer when they were last
// asked: what stands in the files is right then, and the program, the server or
// the model behind it is not.
func (f *installFlags) unansweredFindings(g *setup.Gate) []install.Finding {
	d, err := f.dirs.Absolute().ForHook()
	if err != nil {
		return nil // said already
	}
	h, err := audit.OpenHistory(d.State)
	if err != nil {
		return nil // nobody was asked, or gate log says what is wrong
	}
	there := map[string]bool{} // not met yet
	for _, src := range g.Set.Sources() {
		for _, h := range src.Hooks {
			there[src.Name+" "+h.ID] = true
		}
	}
	var list []install.Finding
	read := 0
	for r, err := range h.Newest() {
		if read++; read > mostAsked || err == nil && time.Since(r.Time) > asked {
			break
		}
		if err != nil {
			continue
		}
		for _, p := range r.Policies {
			if key := p.Source + " " + p.ID; there[key] {
				delete(there, key)
				if why := faultOf(&r, p.ID); why != "" {
					list = append(list, unansweredFinding(&r, p.ID, why))
				}
			}
		}
	}
	return list
}

// How far back the log says how hooks do: a day, and so many records.
const (
	asked     = 24 * time.Hour
	mostAsked = 1000
)

// faultOf is why a hook could not answer, "" if it could.
func faultOf(r *audit.Record, id string) string {
	for _, fault := range r.Faults {
		if why, its := strings.CutPrefix(fault, id+": "); its {
			return strings.TrimPrefix(why, id+" ")
		}
	}
	return ""
}

func unansweredFinding(r *audit.Record, id, why string) install.Finding {
	return install.Finding{
		ID: "gate.unanswered", Severity: install.Warning,
		Message: fmt.Sprintf("%s could not answer when it was last asked, on %s: %s", id, r.Time.Local().Format(time.DateTime), oneLine(why)),
		Remedy:  "repair its program or server; gate log show " + r.ID + " has the call",
	}
}

// memoryFindings are the memories of sessions that close those sessions, and ledgers of
// projects and notes of what sessions were shown that nobody can read.
func (f *installFlags) memoryFindings() []install.Finding {
	d, err := f.dirs.Absolute().ForHook()
	if err != nil {
		return nil // said already
	}
	var list []install.Finding
	broken := d.Sessions().Broken()
	for _, file := range slices.Sorted(maps.Keys(broken)) {
		list = append(list, install.Finding{
			ID: "gate.session", Severity: install.Error, File: file,
			Message: "no call of this session passes: its memory cannot be read: " + broken[file].Error(),
			Remedy:  "remove the file; the session and its counters begin anew",
		})
	}
	broken = d.Ledger("").Broken()
	for _, file := range slices.Sorted(maps.Keys(broken)) {
		list = append(list, install.Finding{
			ID: "gate.ledger", Severity: install.Error, File: file,
			Message: "calls that send or show files of a project are asked about: " + broken[file].Error(),
			Remedy:  "remove the file; gate then forgets which files of the project hold copies of secrets",
		})
	}
	broken = d.Seen().Broken()
	for _, file := range slices.Sorted(maps.Keys(broken)) {
		list = append(list, install.Finding{
			ID: "gate.seen", Severity: install.Error, File: file,
			Message: "any call of this session may hold something that it was shown: " + broken[file].Error(),
			Remedy:  "remove the file; gate then forgets what the session was shown",
		})
	}
	return list
}

// shellFindings are the hooks that are asked for variables of the agent's shell, of
// agents that take none.
func (f *installFlags) shellFindings(p process, g *setup.Gate) []install.Finding {
	var asked []string
	for _, src := range g.Set.Sources() {
		for _, h := range src.Hooks {
			if slices.Contains(h.Events, moment.ShellEnv) {
				asked = append(asked, h.ID)
			}
		}
	}
	m, err := f.machine(p)
	if err != nil || len(asked) == 0 {
		return nil
	}
	var list []install.Finding
	for _, s := range m.Status().Agents {
		a, known := adapters.Lookup(s.Agent)
		if !known || !s.Guarded {
			continue
		}
		if e := a.Environment(func(name string) string { return name }); e.EnvFile == "" && !e.EnvAnswer {
			list = append(list, install.Finding{
				ID: "gate.shell", Severity: install.Warning, Agent: s.Agent,
				Message: fmt.Sprintf("%s never runs under %s, which takes no variables for its shell", strings.Join(asked, ", "), s.Agent),
				Remedy:  "set the variables in the agent's own settings, or where it is started",
			})
		}
	}
	return list
}

// confineFindings say what this machine can hold, where settings have calls run confined.
func confineFindings(g *setup.Gate) []install.Finding {
	var at []string
	for _, row := range g.Set.Policies() {
		if row.Level == setting.LevelConfine && row.Inactive == "" {
			at = append(at, row.Hook.ID)
		}
	}
	if len(at) == 0 {
		return nil
	}
	holds, err := g.Holding()
	switch {
	case err != nil:
		return []install.Finding{{
			ID: "gate.confine", Severity: install.Warning, Message: "calls that are to run confined are asked about: " + err.Error(),
			Remedy: "install gate again, with gate-run beside it",
		}}
	case holds.Level == profile.None:
		return []install.Finding{{
			ID: "gate.confine", Severity: install.Warning, Message: "this machine can confine nothing, so calls that are to run confined are asked about: " + holds.Missing,
			Remedy: "have the kernel offer Landlock, seccomp and namespaces, or set the policies to ask: " + strings.Join(at, ", "),
		}}
	case holds.Level < profile.Full:
		return []install.Finding{{
			ID: "gate.confine", Severity: install.Warning,
			Message: fmt.Sprintf("this machine holds the level %s of confinement, so calls by other profiles than look are asked about: %s", holds.Level, holds.Missing),
			Remedy:  "let ordinary accounts make namespaces, or set the policies to ask: " + strings.Join(at, ", "),
		}}
	}
	return []install.Finding{{
		ID: "gate.confine", Severity: install.Notice, Message: fmt.Sprintf("this machine can hold every profile (Landlock %d); calls run confined in the place of a question of %s", holds.Landlock, strings.Join(at, ", ")),
	}}
}

// sandboxFindings compare the sandboxes of agents with what gate sandbox emit writes for
// them. Where calls are to run confined, they say that an agent has none.
func (f *installFlags) sandboxFindings(p process, g *setup.Gate, confines bool) (list []install.Finding) {
	m, err := f.machine(p)
	if err != nil {
		return nil
	}
	for _, s := range m.Status().Agents {
		layers, known, err := g.Sandbox(s.Agent)
		if !known || !slices.ContainsFunc(s.Guards, func(g install.Guard) bool { return g.Installed }) {
			continue
		}
		found := install.Finding{ID: "gate.sandbox", Severity: install.Notice, Agent: s.Agent, Remedy: "gate sandbox emit --for " + s.Agent + " prints what it could hold"}
		may, wrong := g.Profile("project", g.Project)
		c, _ := sandboxes.Compare(s.Agent, may, profile.Place{Home: g.Home, Project: g.Project}, layers)
		switch err = errors.Join(err, wrong); {
		case err != nil:
			found.Message = "nobody can tell what the sandbox of " + s.Agent + " holds: " + err.Error()
		case c.Missing && !confines:
			continue
		case c.Missing:
			found.Message = s.Agent + " has no sandbox of its own: its settings switch none on, so what does not run confined is held by nothing"
		case len(c.Weaker) > 0:
			found.Severity = install.Warning
			found.Message = "the sandbox of " + s.Agent + " is weaker than the profile project: " + strings.Join(c.Weaker, "; ")
		default:
			found.Message = "the sandbox of " + s.Agent + " equals the profile project, as far as it can hold that"
			found.Remedy = "nothing needs to be done"
		}
		list = append(list, found)
	}
	return list
}

// elsewhereFindings is a directory that the environment leads people's commands to,
// and the hook never.
func (f *installFlags) elsewhereFindings(p process) []install.Finding {
	asked, err := f.dirs.Absolute().ForHook()
	typed, other := f.dirs.ForPeople(p.lookupEnv)
	if err != nil || other != nil || asked.User == typed.User || !hostfs.Exists(typed.User) {
		return nil
	}
	return []install.Finding{{
		ID: "gate.elsewhere", Severity: install.Warning, File: typed.User,
		Message: "no call is judged by these files: the environment leads commands such as gate try here, but the hook reads " + asked.User,
		Remedy:  "move them there, or unset the variable that leads here (XDG_CONFIG_HOME, HOME)",
	}}
}

// missed makes more of agents that gate is not installed for, but that have asked
// it: somebody took it out.
func (f *installFlags) missed(list []install.Finding) {
	gone := func(x install.Finding) bool { return x.ID == "gate.missing" && x.Severity == install.Notice }
	d, err := f.dirs.Absolute().ForHook()
	if err != nil || !slices.ContainsFunc(list, gone) {
		return
	}
	h, err := audit.OpenHistory(d.State)
	if err != nil {
		return // nobody has asked, or gate log says what is wrong
	}
	asked, read := map[string]time.Time{}, 0
	for r, err := range h.Newest() {
		if read++; read > mostRecords {
			break
		}
		if _, newer := asked[r.Agent]; err == nil && !newer && r.Session != liveSession {
			asked[r.Agent] = r.Time
		}
	}
	for i := range list {
		if at, has := asked[list[i].Agent]; has && gone(list[i]) {
			list[i].Severity = install.Warning
			list[i].Message = fmt.Sprintf("%s asked gate until %s, and gate is not installed for it here", list[i].Agent, at.Local().Format(time.DateTime))
			list[i].Remedy = "gate install " + list[i].Agent + ", unless a person took it out"
		}
	}
}

func rank(s install.Severity) int {
	return slices.Index([]install.Severity{install.Error, install.Warning, install.Notice}, s)
}

// faultFindings are what keeps a source of a directory from being loaded.
func faultFindings(p process, g *setup.Gate, src *scopes.Source) []install.Finding {
	var list []install.Finding
	remedy := "correct the file"
	if dir := g.Where[src.Name]; dir != "" {
		remedy += "; gate check " + p.tilde(dir) + " lists every problem"
	}
	for i := range src.Faults {
		f := install.Finding{
			ID: "gate.source", Severity: install.Warning,
			Message: src.Name + " is inactive: " + src.Faults[i].Error(), Remedy: remedy,
		}
		if src.Bundle != nil || strings.HasPrefix(src.Name, "managed ") && strings.Contains(f.Message, core.Remedy) {
			f.Remedy = core.Remedy
		}
		if src.Closes() {
			f.Severity, f.Message = install.Error, "no call passes: "+src.Faults[i].Error()
		}
		list = append(list, f)
	}
	for _, u := range unloadedOf(g, src) {
		f := install.Finding{ID: "gate.policy", Severity: install.Warning, File: u.file, Line: u.line, Message: u.String(), Remedy: remedy}
		if u.denies {
			f.Severity = install.Error
		}
		list = append(list, f)
	}
	for _, note := range src.Notes {
		text, remedy, _ := strings.Cut(note, "; ")
		list = append(list, install.Finding{ID: "gate.source", Severity: install.Warning, Message: src.Name + ": " + p.tilde(text), Remedy: remedy})
	}
	return list
}

// rowFinding is what is to be said of one setting.
func rowFinding(r setting.Row, now time.Time) (install.Finding, bool) {
	f := install.Finding{ID: "gate.setting", Severity: install.Notice, Remedy: "remove it, or have it set where it counts", File: r.Pos}
	if i := strings.LastIndexByte(r.Pos, ':'); i > 0 {
		if line, err := strconv.Atoi(r.Pos[i+1:]); err == nil {
			f.File, f.Line = r.Pos[:i], line
		}
	}
	if !r.Counts && !strings.HasPrefix(r.Why, "overridden") {
		f.Message = fmt.Sprintf("%s does not count: %s", r.Key, cmp.Or(r.Why, "other settings come first"))
		if r.Breaks != "" {
			f.Severity, f.Remedy = install.Error, "correct it, or remove it with gate set --unset "+r.Key
		}
		return f, true
	}
	exception, _ := r.Value.(map[string]any)
	until, _ := exception["until"].(string)
	if end, err := time.Parse(time.RFC3339, until); err == nil && strings.HasPrefix(r.Key, "exceptions.") && !now.Before(end) {
		f.ID, f.Remedy = "gate.exception", "remove it, or ask its owner for another end"
		f.Message = fmt.Sprintf("the exception to %s is over since %s", document.Line(exception["policy"]), until)
		return f, true
	}
	return f, false
}
