package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gate/engine"
	"gate/hook"
	"gate/internal/setting"
	"gate/scopes"
)

// says answers for each hook with one verdict.
func says(v hook.Verdict, fault *hook.Fault) engine.Option {
	return engine.WithEvaluator(hook.Rego, evalFunc(func(context.Context, *hook.Hook, *hook.Event) engine.Answer {
		return engine.Answer{Verdict: v, Fault: fault}
	}))
}

func combine(t *testing.T, layers ...scopes.Layer) scopes.Settings {
	t.Helper()
	s, err := setting.Combine(layers...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func reason(e hook.Effect) []hook.Reason { return []hook.Reason{{Effect: e, Reason: "r"}} }

// The most that a hook brings about at each level.
func TestLevels(t *testing.T) {
	verdicts := []struct {
		name    string
		verdict hook.Verdict
		fault   *hook.Fault
	}{
		{"deny", hook.Verdict{Reasons: reason(hook.Deny)}, nil},
		{"ask", hook.Verdict{Reasons: reason(hook.Ask)}, nil},
		{"allow", hook.Verdict{Reasons: reason(hook.Allow)}, nil},
		{"halt", hook.Verdict{Halt: reason(hook.Deny)}, nil},
		{"warn", hook.Verdict{Warnings: reason(hook.Pass)}, nil},
		{"modify", hook.Verdict{Rewrites: []hook.Rewrite{{Input: map[string]any{"command": "x"}}}}, nil},
		{"confine", hook.Verdict{Confine: []hook.Confinement{{Profile: "look", Reason: "r"}}}, nil},
		{"context", hook.Verdict{Context: []hook.Context{{Text: "t"}}}, nil},
		{"fault", hook.Verdict{}, hook.Faultf(hook.FaultEval, "failed")},
		{"nothing", hook.Verdict{}, nil},
	}
	want := map[scopes.Level]string{
		setting.LevelOff:     "deny: - · ask: - · allow: - · halt: - · warn: - · modify: - · confine: - · context: - · fault: - · nothing: -",
		setting.LevelRecord:  "deny: pass would · ask: pass would · allow: pass would · halt: pass would · warn: pass would · modify: pass would · confine: pass would · context: pass would · fault: pass · nothing: pass",
		setting.LevelWarn:    "deny: pass warned would · ask: pass warned would · allow: pass would · halt: pass warned would · warn: pass warned · modify: pass would · confine: pass warned would · context: pass context · fault: pass warned · nothing: pass",
		setting.LevelConfine: "deny: ask would · ask: ask would · allow: allow · halt: ask would · warn: pass warned · modify: pass modified · confine: ask · context: pass context · fault: ask · nothing: pass",
		setting.LevelAsk:     "deny: ask would · ask: ask · allow: allow · halt: ask would · warn: pass warned · modify: pass modified · confine: ask · context: pass context · fault: ask · nothing: pass",
		setting.LevelDeny:    "deny: deny · ask: ask · allow: allow · halt: deny halted · warn: pass warned · modify: pass modified · confine: ask · context: pass context · fault: deny · nothing: pass",
	}
	want[setting.LevelNone] = want[setting.LevelDeny]
	for level, line := range want {
		var got []string
		for _, v := range verdicts {
			layer := scopes.Layer{Authority: hook.Managed, File: "m"}
			if level != setting.LevelNone {
				layer.Policies = map[string]scopes.Level{"managed.policy": level}
			}
			d := newEngine(t, []scopes.Source{source("managed", hook.Policy, hook.Managed)}, combine(t, layer), says(v.verdict, v.fault)).
				Decide(t.Context(), call("ls"))
			got = append(got, v.name+": "+effects(&d))
		}
		if g := strings.Join(got, " · "); g != line {
			t.Errorf("%q\ngot  %s\nwant %s", level, g, line)
		}
	}
}

// effects says in short what a decision with one step brings about.
func effects(d *hook.Decision) string {
	if len(d.Steps) == 0 {
		return "-"
	}
	text := d.Effect.String()
	add := func(word string, is bool) {
		if is {
			text += " " + word
		}
	}
	add("warned", len(d.Warnings) > 0)
	add("modified", d.Rewrite != nil)
	add("context", len(d.Context) > 0)
	add("halted", d.Halt != nil)
	add("would", d.Steps[0].Would != nil)
	return text
}

// Levels reach a policy by its name or its group, and only from above.
func TestWhoSetsLevels(t *testing.T) {
	deny := says(hook.Verdict{Reasons: reason(hook.Deny)}, nil)
	levels := func(pairs ...any) map[string]scopes.Level {
		m := map[string]scopes.Level{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1].(scopes.Level)
		}
		return m
	}
	layer := func(a hook.Authority, file string, m map[string]scopes.Level, delegate ...string) scopes.Layer {
		return scopes.Layer{Authority: a, File: file, Policies: m, Delegate: delegate}
	}
	const off, warn, ask, full = setting.LevelOff, setting.LevelWarn, setting.LevelAsk, setting.LevelDeny
	for name, row := range map[string]struct {
		of     hook.Authority
		layers []scopes.Layer
		want   hook.Effect
	}{
		"managed of managed":           {hook.Managed, []scopes.Layer{layer(hook.Managed, "a", levels("x.policy", ask))}, hook.Ask},
		"user of managed":              {hook.Managed, []scopes.Layer{layer(hook.User, "a", levels("x.policy", off))}, hook.Deny},
		"user of managed, delegated":   {hook.Managed, []scopes.Layer{layer(hook.User, "a", levels("x.policy", ask)), layer(hook.Managed, "m", nil, "x")}, hook.Ask},
		"delegated, managed says more": {hook.Managed, []scopes.Layer{layer(hook.User, "a", levels("x", full)), layer(hook.Managed, "m", levels("x", warn), "x.policy")}, hook.Deny},
		"other delegated":              {hook.Managed, []scopes.Layer{layer(hook.User, "a", levels("x", off)), layer(hook.Managed, "m", nil, "x.pol", "x.policy.more")}, hook.Deny},
		"project of managed, delegated": {hook.Managed, []scopes.Layer{
			layer(hook.Project, "a", levels("x", off)), layer(hook.Managed, "m", nil, "x"),
		}, hook.Deny},
		"group":                {hook.User, []scopes.Layer{layer(hook.User, "a", levels("x", ask))}, hook.Ask},
		"no group":             {hook.User, []scopes.Layer{layer(hook.User, "a", levels("x.pol", off, "x.policy.y", off, "y", off))}, hook.Deny},
		"exact before group":   {hook.User, []scopes.Layer{layer(hook.User, "a", levels("x", off, "x.policy", ask))}, hook.Ask},
		"exact in another":     {hook.Managed, []scopes.Layer{layer(hook.Managed, "a", levels("x", full)), layer(hook.Managed, "b", levels("x.policy", warn))}, hook.Pass},
		"strictest of two":     {hook.Managed, []scopes.Layer{layer(hook.Managed, "a", levels("x", warn)), layer(hook.Managed, "b", levels("x", ask))}, hook.Ask},
		"managed over user":    {hook.User, []scopes.Layer{layer(hook.Managed, "a", levels("x", ask)), layer(hook.User, "b", levels("x.policy", off))}, hook.Ask},
		"project of its own":   {hook.Project, []scopes.Layer{layer(hook.Project, "a", levels("x", ask))}, hook.Ask},
		"user of project":      {hook.Project, []scopes.Layer{layer(hook.User, "a", levels("x", ask)), layer(hook.Project, "b", levels("x.policy", off))}, hook.Ask},
		"local beside project": {hook.Project, []scopes.Layer{layer(hook.Local, "a", levels("x", warn)), layer(hook.Project, "b", levels("x", ask))}, hook.Ask},
	} {
		scope := hook.Session
		if row.of == hook.Managed {
			scope = hook.Policy
		}
		d := newEngine(t, []scopes.Source{nobody, source("x", scope, row.of)}, combine(t, row.layers...), deny).Decide(t.Context(), call("ls"))
		if d.Effect != row.want {
			t.Errorf("%s: %v, want %v", name, d.Effect, row.want)
		}
	}
}

// An exception covers exactly the calls that it names, by the authority that
// owns the policy, in the project, until it ends.
func TestExceptions(t *testing.T) {
	deny := says(hook.Verdict{Reasons: reason(hook.Deny), Rewrites: []hook.Rewrite{{Input: map[string]any{"command": "x"}}}}, nil)
	whole := setting.Exception{
		Policy: "x.policy", If: []string{"Bash(git push origin dev:*)", "Read(//srv/site/a)"}, Project: home,
		Until: noon.AddDate(0, 1, 0), Owner: "ana", Reason: "OPS-17",
	}
	change := func(f func(*setting.Exception)) setting.Exception { e := whole; f(&e); return e }
	for name, row := range map[string]struct {
		e    setting.Exception
		by   hook.Authority
		tool string
		text string
		cwd  string
		want hook.Effect
	}{
		"covered":             {e: whole},
		"with more words":     {e: whole, text: "git push origin dev --tags"},
		"after cd":            {e: whole, text: "cd sub && git push origin dev"},
		"in a directory":      {e: whole, cwd: home + "/sub"},
		"other tool":          {e: whole, tool: "Read", text: home + "/a"},
		"chained":             {e: whole, text: "git push origin dev && git push origin main", want: hook.Deny},
		"chained with pipe":   {e: whole, text: "git push origin dev | tee log", want: hook.Deny},
		"substitution":        {e: whole, text: "git push origin dev $(git push origin main)", want: hook.Deny},
		"not understood":      {e: whole, text: "git push origin dev $X", want: hook.Deny},
		"other branch":        {e: whole, text: "git push origin main", want: hook.Deny},
		"cd out":              {e: whole, text: "cd /srv/other && git push origin dev", want: hook.Deny},
		"other repository":    {e: whole, text: "git -C /srv/other push origin dev", want: hook.Deny},
		"other program":       {e: whole, text: "./git push origin dev", want: hook.Deny},
		"variables":           {e: whole, text: "GIT_DIR=/srv/other/.git git push origin dev", want: hook.Deny},
		"wrapper":             {e: whole, text: "sudo git push origin dev", want: hook.Deny},
		"output to a file":    {e: whole, text: "git push origin dev > .git/config", want: hook.Deny},
		"errors with output":  {e: whole, text: "git push origin dev 2>&1"},
		"no output":           {e: whole, text: "git push origin dev > /dev/null"},
		"other project":       {e: whole, cwd: "/srv/other", want: hook.Deny},
		"look-alike project":  {e: whole, cwd: home + "2", want: hook.Deny},
		"path with dots":      {e: whole, cwd: home + "/../other", want: hook.Deny},
		"one more file":       {e: whole, text: "cat /srv/site/a /srv/site/b", want: hook.Deny},
		"just the file":       {e: whole, text: "cat /srv/site/a"},
		"other policy":        {e: change(func(e *setting.Exception) { e.Policy = "x.other" }), want: hook.Deny},
		"over":                {e: change(func(e *setting.Exception) { e.Until = noon }), want: hook.Deny},
		"long over":           {e: change(func(e *setting.Exception) { e.Until = noon.AddDate(-1, 0, 0) }), want: hook.Deny},
		"for ever":            {e: change(func(e *setting.Exception) { e.Until = noon.AddDate(50, 0, 0) }), want: hook.Deny},
		"of the user":         {e: whole, by: hook.User, want: hook.Deny},
		"of the project":      {e: whole, by: hook.Project, want: hook.Deny},
		"by the file's rules": {e: change(func(e *setting.Exception) { e.If = []string{"Bash(git push origin main)"} }), want: hook.Deny},
	} {
		by := row.by
		if by == 0 {
			by = hook.Managed
		}
		p := probe{0, "Bash", "git push origin dev"}
		if row.tool != "" {
			p.tool = row.tool
		}
		if row.text != "" {
			p.text = row.text
		}
		ev := p.event()
		if row.cwd != "" {
			ev.Fields["cwd"] = row.cwd
		}
		layer := scopes.Layer{Authority: by, File: "settings.json", Exceptions: []setting.Exception{row.e}, Lines: map[string]int{"exceptions.0": 7}}
		d := newEngine(t, []scopes.Source{source("x", hook.Policy, hook.Managed)}, combine(t, layer), deny, engine.WithFacts(siteFacts)).
			Decide(t.Context(), ev)
		if d.Effect != row.want {
			t.Errorf("%s: %v, want %v", name, d.Effect, row.want)
			continue
		}
		s := d.Steps[0]
		if excepted := len(s.Ignored) > 0; excepted != (row.want == hook.Pass) {
			t.Errorf("%s: ignored %q", name, s.Ignored)
		} else if excepted && (s.Would == nil || s.Spared != "exception" || s.Would.Effect() != hook.Deny || d.Rewrite != nil ||
			s.Ignored[0] != "deny: excepted by ana until 2026-12-21 (OPS-17), settings.json:7") {
			t.Errorf("%s: %q, would %v, rewrite %v", name, s.Ignored, s.Would, d.Rewrite)
		}
	}
}

// A fault is not excepted.
func TestExceptedFault(t *testing.T) {
	e := setting.Exception{
		Policy: "x.policy", If: []string{"Bash(git push origin dev)"}, Project: home,
		Until: noon.AddDate(0, 1, 0), Owner: "ana", Reason: "OPS-17",
	}
	for _, v := range []hook.Verdict{{}, {Reasons: reason(hook.Deny)}} {
		d := newEngine(t, []scopes.Source{source("x", hook.Policy, hook.Managed)},
			combine(t, scopes.Layer{Authority: hook.Managed, Exceptions: []setting.Exception{e}}),
			says(v, hook.Faultf(hook.FaultEval, "failed")), engine.WithFacts(siteFacts)).
			Decide(t.Context(), probe{0, "Bash", "git push origin dev"}.event())
		if d.Effect != hook.Deny {
			t.Errorf("%v", d.Effect)
		}
	}
}

// An approval satisfies an ask and nothing else, and is asked for once.
func TestApprovals(t *testing.T) {
	for name, row := range map[string]struct {
		verdict hook.Verdict
		fault   *hook.Fault
		grant   func() bool
		want    hook.Effect
		asked   int
	}{
		"granted":           {verdict: hook.Verdict{Reasons: reason(hook.Ask)}, asked: 1},
		"granted and allow": {verdict: hook.Verdict{Reasons: append(reason(hook.Ask), reason(hook.Allow)...)}, want: hook.Allow, asked: 1},
		"refused":           {verdict: hook.Verdict{Reasons: reason(hook.Ask)}, grant: func() bool { return false }, want: hook.Ask, asked: 1},
		"panics":            {verdict: hook.Verdict{Reasons: reason(hook.Ask)}, grant: func() bool { panic("x") }, want: hook.Ask, asked: 1},
		"deny":              {verdict: hook.Verdict{Reasons: reason(hook.Deny)}, want: hook.Deny},
		"ask and deny":      {verdict: hook.Verdict{Reasons: append(reason(hook.Ask), reason(hook.Deny)...)}, want: hook.Deny},
		"halt":              {verdict: hook.Verdict{Halt: reason(hook.Deny)}, want: hook.Deny},
		"allow":             {verdict: hook.Verdict{Reasons: reason(hook.Allow)}, want: hook.Allow},
		"nothing":           {},
		"fault":             {fault: hook.Faultf(hook.FaultEval, "failed"), want: hook.Deny},
	} {
		asked := 0
		approve := engine.WithApprovals(func(_ context.Context, ev *hook.Event, d *hook.Decision) (string, bool) {
			asked++
			if d.Effect != hook.Ask || d.Facts == nil || ev.ToolInput()["command"] != "ls" {
				t.Errorf("%s: asked about %v with %v", name, ev.ToolInput(), d.Effect)
			}
			if row.grant != nil {
				return "", row.grant()
			}
			d.Steps[0].Effect, d.Reasons[0].Effect = hook.Deny, hook.Deny // its own copies
			return "7k2m9x by ana", true
		})
		d := newEngine(t, []scopes.Source{source("x", hook.Policy, hook.Managed)}, scopes.Settings{}, says(row.verdict, row.fault), approve).
			Decide(t.Context(), call("ls"))
		if d.Effect != row.want || asked != row.asked {
			t.Errorf("%s: %v after %d questions, want %v after %d", name, d.Effect, asked, row.want, row.asked)
		}
		granted := row.asked == 1 && row.grant == nil
		if granted != (fmt.Sprint(d.Notices) == "[approved: 7k2m9x by ana]") || granted != (d.Steps[0].Would != nil) || granted != (d.Steps[0].Spared == "approval") {
			t.Errorf("%s: notices %q, would %v", name, d.Notices, d.Steps[0].Would)
		}
	}
}

// What is approved is the call that the person saw: a rewrite that comes later
// is shown to whoever looks the approval up.
func TestApprovalOfARewrite(t *testing.T) {
	saw := ""
	approve := engine.WithApprovals(func(_ context.Context, ev *hook.Event, d *hook.Decision) (string, bool) {
		saw = fmt.Sprint(ev.ToolInput()["command"], d.Rewrite)
		return "", false
	})
	v := hook.Verdict{Reasons: reason(hook.Ask), Rewrites: []hook.Rewrite{{Input: map[string]any{"command": "rm"}}}}
	newEngine(t, []scopes.Source{source("x", hook.Policy, hook.Managed)}, scopes.Settings{}, says(v, nil), approve).
		Decide(t.Context(), call("ls"))
	if saw != "lsmap[command:rm]" {
		t.Errorf("saw %s", saw)
	}
}

// An exception is for the input that was judged: a handler that is not asked
// again after a rewrite is asked again after all, if it was excepted.
func TestExceptionLapses(t *testing.T) {
	user := scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User, Hooks: []*hook.Hook{
		{ID: "judge", Kind: hook.Command, Priority: 1}, {ID: "rewriter", Kind: hook.Rego},
	}}
	for _, h := range user.Hooks {
		h.Scope, h.Authority, h.Source, h.Events = user.Scope, user.Authority, user.Name, []hook.Name{hook.PreToolUse}
	}
	e := setting.Exception{
		Policy: "judge", If: []string{"Bash(git push origin dev)"}, Project: home, Until: noon.AddDate(0, 1, 0), Owner: "ana", Reason: "OPS-17",
	}
	rewrites := says(hook.Verdict{Rewrites: []hook.Rewrite{{Input: map[string]any{"command": "git push origin main"}}}}, nil)
	for _, excepted := range []bool{true, false} {
		layer := scopes.Layer{Authority: hook.User}
		if excepted {
			layer.Exceptions = []setting.Exception{e}
		}
		d := newEngine(t, []scopes.Source{user}, combine(t, layer), rewrites, engine.WithEvaluator(hook.Command, denies("no")),
			engine.WithFacts(siteFacts)).Decide(t.Context(), probe{0, "Bash", "git push origin dev"}.event())
		if d.Effect != hook.Deny || excepted != (len(d.Changes) == 1) {
			t.Errorf("excepted %v: %v after %d changes", excepted, d.Effect, len(d.Changes))
		}
	}
}
