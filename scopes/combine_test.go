package scopes_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/setting"
	"gate/scopes"
)

func ptr[T any](v T) *T { return &v }

// What the settings of several files come to, in each order of files.
func TestCombine(t *testing.T) {
	yes, no := ptr(true), ptr(false)
	grant := func(minutes int, key bool, keys ...string) *setting.Approvals {
		return &setting.Approvals{Enabled: true, Minutes: minutes, KeyRequired: key, Keys: keys}
	}
	const m, u, p = hook.Managed, hook.User, hook.Project
	for name, row := range map[string]struct {
		layers []scopes.Layer
		show   func(scopes.Settings) any
		want   string
	}{
		"log, nobody says":          {nil, func(s scopes.Settings) any { return !s.On(setting.Log) }, "false"},
		"log, the user not":         {[]scopes.Layer{{Authority: u, Switches: map[setting.Switch]bool{setting.Log: false}}}, func(s scopes.Settings) any { return !s.On(setting.Log) }, "true"},
		"log, managed yes":          {[]scopes.Layer{{Authority: u, Switches: map[setting.Switch]bool{setting.Log: false}}, {Authority: m, Switches: map[setting.Switch]bool{setting.Log: true}}}, func(s scopes.Settings) any { return !s.On(setting.Log) }, "false"},
		"log, managed not":          {[]scopes.Layer{{Authority: u, Switches: map[setting.Switch]bool{setting.Log: true}}, {Authority: m, Switches: map[setting.Switch]bool{setting.Log: false}}}, func(s scopes.Settings) any { return !s.On(setting.Log) }, "true"},
		"log, one managed yes":      {[]scopes.Layer{{Authority: m, File: "a", Switches: map[setting.Switch]bool{setting.Log: false}}, {Authority: m, File: "b", Switches: map[setting.Switch]bool{setting.Log: true}}, {Authority: m, File: "c", Switches: map[setting.Switch]bool{setting.Log: false}}}, func(s scopes.Settings) any { return !s.On(setting.Log) }, "false"},
		"log, managed silent":       {[]scopes.Layer{{Authority: u, Switches: map[setting.Switch]bool{setting.Log: false}}, {Authority: m}}, func(s scopes.Settings) any { return !s.On(setting.Log) }, "false"},
		"log, a project not":        {[]scopes.Layer{{Authority: p, Switches: map[setting.Switch]bool{setting.Log: false}}}, func(s scopes.Settings) any { return !s.On(setting.Log) }, "false"},
		"record, the user not":      {[]scopes.Layer{{Authority: u, Switches: map[setting.Switch]bool{setting.Record: false}}}, func(s scopes.Settings) any { return !s.On(setting.Record) }, "true"},
		"record, managed yes":       {[]scopes.Layer{{Authority: u, Switches: map[setting.Switch]bool{setting.Record: false}}, {Authority: m, Switches: map[setting.Switch]bool{setting.Record: true}}}, func(s scopes.Settings) any { return !s.On(setting.Record) }, "false"},
		"record, managed not":       {[]scopes.Layer{{Authority: u, Switches: map[setting.Switch]bool{setting.Record: true}}, {Authority: m, Switches: map[setting.Switch]bool{setting.Record: false}}}, func(s scopes.Settings) any { return !s.On(setting.Record) }, "true"},
		"record, log off":           {[]scopes.Layer{{Authority: m, Switches: map[setting.Switch]bool{setting.Log: false}}}, func(s scopes.Settings) any { return !s.On(setting.Record) }, "false"},
		"deadline":                  {[]scopes.Layer{{Authority: m, Deadline: 3}, {Authority: u, Deadline: 2}, {Authority: p, Deadline: 1}}, func(s scopes.Settings) any { return s.Deadline }, "2ns"},
		"faults":                    {[]scopes.Layer{{Authority: m, Faults: hook.FaultContinue}, {Authority: u, Faults: hook.FaultDeny}}, func(s scopes.Settings) any { return s.FaultsClose }, "true"},
		"faults of a project":       {[]scopes.Layer{{Authority: p, Faults: hook.FaultDeny}}, func(s scopes.Settings) any { return s.FaultsClose }, "false"},
		"labels":                    {[]scopes.Layer{{Authority: m, Labels: map[string]string{"a": "b"}}, {Authority: u, Labels: map[string]string{"a": "c", "d": "e"}}}, func(s scopes.Settings) any { return s.Labels }, "map[a:b]"},
		"managed only":              {[]scopes.Layer{{Authority: m, AllowManagedHooksOnly: yes}, {Authority: m, File: "b", AllowManagedHooksOnly: no}}, func(s scopes.Settings) any { return s.ManagedHooksOnly }, "true"},
		"rewrites":                  {[]scopes.Layer{{Authority: m, PolicyRewritesOnly: no}, {Authority: u, PolicyRewritesOnly: yes}}, func(s scopes.Settings) any { return s.PolicyRewritesOnly }, "true"},
		"rewrites, project":         {[]scopes.Layer{{Authority: p, PolicyRewritesOnly: yes}}, func(s scopes.Settings) any { return s.PolicyRewritesOnly }, "false"},
		"managed only, user":        {[]scopes.Layer{{Authority: u, AllowManagedHooksOnly: yes}}, func(s scopes.Settings) any { return s.ManagedHooksOnly }, "false"},
		"plugins, user":             {[]scopes.Layer{{Authority: u, Plugins: map[string]bool{"a": true}}, {Authority: p, Plugins: map[string]bool{"b": true}}}, func(s scopes.Settings) any { return fmt.Sprint(s.PluginEnabled("a"), s.PluginEnabled("b")) }, "true false"},
		"plugins, managed not":      {[]scopes.Layer{{Authority: u, Plugins: map[string]bool{"a": true}}, {Authority: m, Plugins: map[string]bool{"a": false}}}, func(s scopes.Settings) any { return s.PluginEnabled("a") }, "false"},
		"plugins, managed":          {[]scopes.Layer{{Authority: u, Plugins: map[string]bool{"a": false}}, {Authority: m, Plugins: map[string]bool{"a": true}}}, func(s scopes.Settings) any { return s.PluginEnabled("a") }, "true"},
		"plugins, managed disagree": {[]scopes.Layer{{Authority: m, File: "a", Plugins: map[string]bool{"a": true}}, {Authority: m, File: "b", Plugins: map[string]bool{"a": false}}}, func(s scopes.Settings) any { return s.PluginEnabled("a") }, "false"},
		"approvals, nobody":         {nil, func(s scopes.Settings) any { return s.Approvals }, "{false 0 false [] [] []    0s}"},
		"approvals, user":           {[]scopes.Layer{{Authority: u, Approvals: grant(5, false)}}, func(s scopes.Settings) any { return s.Approvals }, "{true 5 false [] [] []    0s}"},
		"approvals, too long":       {[]scopes.Layer{{Authority: u, Approvals: grant(500, false)}}, func(s scopes.Settings) any { return s.Approvals.Minutes }, "60"},
		"approvals, managed silent": {[]scopes.Layer{{Authority: u, Approvals: grant(5, false)}, {Authority: m, Switches: map[setting.Switch]bool{setting.Log: true}}}, func(s scopes.Settings) any { return s.Approvals.Enabled }, "false"},
		"approvals, project":        {[]scopes.Layer{{Authority: p, Approvals: grant(5, false)}}, func(s scopes.Settings) any { return s.Approvals.Enabled }, "false"},
		"approvals, two files":      {[]scopes.Layer{{Authority: m, File: "a", Approvals: grant(5, false)}, {Authority: m, File: "b", Approvals: grant(9, true, "k")}}, func(s scopes.Settings) any { return s.Approvals }, "{true 5 true [k] [] []    0s}"},
		"approvals, both keys":      {[]scopes.Layer{{Authority: m, File: "a", Approvals: grant(5, true, "j", "k")}, {Authority: m, File: "b", Approvals: grant(9, true, "k", "l")}}, func(s scopes.Settings) any { return s.Approvals }, "{true 5 true [k] [] []    0s}"},
		"approvals, elsewhere": {[]scopes.Layer{{Authority: m, File: "a", Approvals: &setting.Approvals{Enabled: true, Minutes: 5, Approvers: []string{"ana", "bo"}, Poll: "https://a"}}, {Authority: m, File: "b", Approvals: &setting.Approvals{Enabled: true, Minutes: 5, Approvers: []string{"bo", "cy"}, Wait: -1}}, {Authority: u, Approvals: &setting.Approvals{Approvers: []string{"eve"}, When: setting.WhenAlways}}},
			func(s scopes.Settings) any { return s.Approvals }, "{true 5 false [] [bo] []  https://a  -1ns}"},
		"approvals, one names nobody": {[]scopes.Layer{{Authority: m, File: "a", Approvals: &setting.Approvals{Enabled: true, Minutes: 5, Approvers: []string{"ana"}}}, {Authority: m, File: "b", Approvals: grant(5, false)}}, func(s scopes.Settings) any { return s.Approvals.Approvers }, "[]"},
		"approvals, one is off":       {[]scopes.Layer{{Authority: m, File: "a", Approvals: grant(5, false)}, {Authority: m, File: "b", Approvals: &setting.Approvals{Minutes: 5}}}, func(s scopes.Settings) any { return s.Approvals.Enabled }, "false"},
	} {
		for range 2 {
			s, err := setting.Combine(row.layers...)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got := fmt.Sprint(row.show(s)); got != row.want {
				t.Errorf("%s: %s, want %s", name, got, row.want)
			}
			if len(row.layers) > 1 {
				row.layers[0], row.layers[1] = row.layers[1], row.layers[0]
			}
		}
	}
}

func TestCombineRefuses(t *testing.T) {
	bad := setting.Exception{Policy: "a.*", Until: time.Unix(1, 0)}
	_, err := setting.Combine(
		scopes.Layer{Authority: hook.PluginAuthor, File: "plugin.json"},
		scopes.Layer{Authority: hook.SkillAuthor, File: "SKILL.md"},
		scopes.Layer{File: "nobody"},
		scopes.Layer{Authority: hook.User, File: "u.json", Exceptions: []setting.Exception{bad}, Lines: map[string]int{"exceptions.0": 3}},
		scopes.Layer{Authority: hook.Managed, File: "a", Params: map[string]map[string]any{"x": {"n": []any{"1"}}}},
		scopes.Layer{Authority: hook.Managed, File: "b", Params: map[string]map[string]any{"x": {"n": []any{"2"}}}},
		scopes.Layer{Authority: hook.Managed, File: "c", Labels: map[string]string{"l": "1"}},
		scopes.Layer{Authority: hook.Managed, File: "d", Labels: map[string]string{"l": "2"}},
	)
	for _, want := range []string{
		"plugin.json: plugin authority has no settings", "SKILL.md: skill authority", "nobody: invalid(0)",
		"u.json:3: policy must be the name of one policy", "if is missing", "project must be", "owner is missing", "reason is missing",
		"b: params.x.n has another value at a", "d: labels.l has another value at c",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %q", err, want)
		}
	}
}

func tuned(t *testing.T) *scopes.Set {
	t.Helper()
	managed := with("m", hook.Policy, hook.Managed, hook.Rego, "acme.push", "acme.publish")
	managed.Hooks[0].Params = map[string]hook.Param{"branches": {Type: "array", Default: []any{"main"}}, "most": {Type: "number", Default: 1}}
	user := with("user", hook.Session, hook.User, hook.Rego, "mine.curl")
	user.Hooks[0].Params = map[string]hook.Param{"hosts": {Type: "array", Default: []any{}}}
	broken := with("plugin:x", hook.Plugin, hook.PluginAuthor, hook.Rego, "x.y")
	broken.Faults = []hook.Fault{*hook.Faultf(hook.FaultLoad, "x.rego:1: broken")}
	project := with("project", hook.Session, hook.Project, hook.Rego, "site.deploy")
	s, err := setting.Combine(
		scopes.Layer{Authority: hook.Managed, File: "/etc/gate/settings.json", Lines: map[string]int{"policies.acme": 2, "params.acme.push.branches": 4},
			Policies: map[string]scopes.Level{"acme": setting.LevelAsk}, Params: map[string]map[string]any{"acme.push": {"branches": []any{"main", "dev"}}}},
		scopes.Layer{Authority: hook.User, File: "u.toml", Lines: map[string]int{"policies.acme.push": 1, "policies.mine.curl": 2, "params.acme.push.most": 3, "disableAllHooks": 4},
			Policies: map[string]scopes.Level{"acme.push": setting.LevelOff, "mine.curl": setting.LevelOff, "nobody": setting.LevelOff},
			Params:   map[string]map[string]any{"acme.push": {"most": 9, "branches": []any{}}, "mine.curl": {"hosts": "x", "host": "x"}}},
		scopes.Layer{Authority: hook.Project, File: ".gate/settings.yaml", DisableAllHooks: ptr(true), Switches: map[setting.Switch]bool{setting.Log: false},
			Policies: map[string]scopes.Level{"mine": setting.LevelDeny, "site": setting.LevelWarn}},
	)
	if err != nil {
		t.Fatal(err)
	}
	set, err := scopes.New([]scopes.Source{user, project, broken, managed}, s)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// The table of gate settings.
func TestExplain(t *testing.T) {
	want := `disableAllHooks = true (project, .gate/settings.yaml) counts
log = false (project, .gate/settings.yaml) only managed and user settings set it
params.acme.push.branches = [main dev] (managed, /etc/gate/settings.json:4) counts
params.acme.push.branches = [] (user, u.toml) user settings cannot tune acme.push, which is managed
params.acme.push.most = 9 (user, u.toml:3) user settings cannot tune acme.push, which is managed
params.mine.curl.host = x (user, u.toml) mine.curl has no parameter host, and cannot answer while this stands; breaks mine.curl
params.mine.curl.hosts = x (user, u.toml) mine.curl cannot take it (string where array is wanted), and cannot answer while this stands; breaks mine.curl
policies.acme = ask (managed, /etc/gate/settings.json:2) counts
policies.acme.push = off (user, u.toml:1) user settings cannot tune acme.push, which is managed
policies.mine = deny (project, .gate/settings.yaml) project settings cannot tune mine.curl, which is user
policies.mine.curl = off (user, u.toml:2) counts
policies.nobody = off (user, u.toml) there is no such policy here
policies.site = warn (project, .gate/settings.yaml) counts
`
	got := ""
	for _, r := range tuned(t).Explain() {
		why := r.Why
		if r.Counts {
			why = strings.TrimSpace("counts " + why)
		}
		if r.Breaks != "" {
			why += "; breaks " + r.Breaks
		}
		got += fmt.Sprintf("%s = %v (%s, %s) %s\n", r.Key, r.Value, r.Authority, r.Pos, why)
	}
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The table of gate policies.
func TestPolicies(t *testing.T) {
	want := `acme.push of m: level "ask" at /etc/gate/settings.json:2, params map[branches:[main dev] most:1]
acme.publish of m: level "ask" at /etc/gate/settings.json:2, params map[]
x.y of plugin:x: level "" at , params map[], its source could not be loaded
mine.curl of user: level "off" at u.toml:2, params map[host:x hosts:x], off
site.deploy of project: level "warn" at .gate/settings.yaml, params map[], project settings disable hooks of project authority and below
`
	got := ""
	set := tuned(t)
	for _, r := range set.Policies() {
		got += fmt.Sprintf("%s of %s: level %q at %s, params %v", r.ID, r.Source, r.Level, r.LevelPos, r.Params)
		if r.Inactive != "" {
			got += ", " + r.Inactive
		}
		got += "\n"
	}
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, src := range set.Sources() {
		if src.Name == "m" && fmt.Sprint(src.Params) != "map[acme.push:map[branches:[main dev]]]" {
			t.Errorf("params %v", src.Params)
		}
	}
}

func ExampleCombine() {
	off := true
	settings, err := setting.Combine(
		scopes.Layer{Authority: hook.Managed, File: "/etc/gate/settings.json", Policies: map[string]scopes.Level{"acme": setting.LevelWarn}},
		scopes.Layer{Authority: hook.User, File: "settings.toml", DisableAllHooks: &off},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := scopes.New([]scopes.Source{{
		Name: "managed", Scope: hook.Policy, Authority: hook.Managed,
		Hooks: []*hook.Hook{{
			ID: "acme.push", Kind: hook.Rego, Scope: hook.Policy, Authority: hook.Managed, Source: "managed", Events: []hook.Name{hook.PreToolUse},
		}},
	}}, settings)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Off())
	fmt.Println(set.For(hook.PreToolUse)[0][0].Level())
	// Output:
	// user settings disable hooks of user authority and below
	// warn
}
