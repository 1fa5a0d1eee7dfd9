package load_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gate/hook"
	"gate/internal/load"
	"gate/scopes"
)

// Who may read input.session is known, so that everybody else need not pay for
// it: the names of these packages say what must be found.
func TestSession(t *testing.T) {
	bodies := map[string]string{
		"acme.no_field":    `deny contains "x" if input.tool_input.session`,
		"acme.no_text":     `deny contains "x" if input.tool_name == "session"`,
		"acme.no_lib":      `deny contains "x" if data.acme.plain.f(input.tool_name)`,
		"acme.no_params":   `deny contains "x" if data.gate.params.acme.x.y == input.tool_name`,
		"acme.yes_field":   `deny contains "x" if input.session.calls > 3`,
		"acme.yes_index":   `deny contains "x" if input["session"]["calls"] > 3`,
		"acme.yes_import":  "import input.session as s\n" + `deny contains "x" if s.calls > 3`,
		"acme.yes_whole":   `deny contains "x" if object.get(input, "session", {}).calls > 3`,
		"acme.yes_unknown": `deny contains "x" if { some k; input[k].calls > 3 }`,
		"acme.yes_local":   `deny contains "x" if { e := input; e.session.calls > 3 }`,
		"acme.yes_nested":  `deny contains "x" if input.tool_input[input.session.round.number]`,
		"acme.yes_helper":  `deny contains "x" if data.acme.helper.many`,
		"acme.yes_second":  "import data.acme.between\n" + `deny contains "x" if between.many`,
		"acme.yes_data":    `deny contains "x" if { some p; data.acme[p].many }`,
		"acme.yes_not":     `deny contains "x" if not input.session.round`,
		"acme.yes_every":   `deny contains "x" if every n in [1] { input.session.calls > n }`,
	}
	files := fstest.MapFS{
		"plain.rego":   {Data: []byte("package acme.plain\nf(x) if x == 1\n")},
		"helper.rego":  {Data: []byte("package acme.helper\nmany if input.session.calls > 3\n")},
		"between.rego": {Data: []byte("package acme.between\nmany if data.acme.helper.many\n")},
	}
	for pkg, body := range bodies {
		meta := "# METADATA\n# title: x\n# custom:\n#   gate:\n#     events: [PreToolUse]\npackage "
		if strings.HasPrefix(body, "deny contains \"x\" if data.gate.params") {
			meta = strings.Replace(meta, "package ", "#     params: {y: {type: string, default: a}}\npackage ", 1)
			body = strings.Replace(body, "acme.x.y", pkg+".y", 1)
		}
		files[pkg+".rego"] = &fstest.MapFile{Data: []byte(meta + pkg + "\n" + body + "\n")}
	}
	src := load.Rego(files, scopes.Source{Name: "test", Scope: hook.Session, Authority: hook.User})
	for _, f := range src.Faults {
		t.Error(f.Error())
	}
	var found []string
	for _, h := range src.Hooks {
		found = append(found, h.ID)
		if want := strings.HasPrefix(h.ID, "acme.yes_"); h.Session != want {
			t.Errorf("%s: it reads the session: %v", h.ID, h.Session)
		}
	}
	if want := slices.Sorted(maps.Keys(bodies)); !slices.Equal(slices.Sorted(slices.Values(found)), want) {
		t.Errorf("loaded %q, not %q", found, want)
	}
}

func TestWhenSet(t *testing.T) {
	policy := func(keys string) fstest.MapFS {
		return fstest.MapFS{"a.rego": {Data: []byte("# METADATA\n# title: x\n# custom:\n#   gate:\n#     events: [PreToolUse]\n" +
			"#     params: {most: {type: number, default: 0}}\n" + keys + "package acme.a\ndeny contains \"x\" if data.gate.params.acme.a.most > 1\n")}}
	}
	into := scopes.Source{Name: "test", Scope: hook.Session, Authority: hook.User}
	src := load.Rego(policy("#     when_set: [most]\n"), into)
	if len(src.Faults) > 0 || !slices.Equal(src.Hooks[0].WhenSet, []string{"most"}) {
		t.Errorf("%v, %+v", src.Faults, src.Hooks)
	}
	for _, keys := range []string{"#     when_set: most\n", "#     when_set: []\n", "#     when_set: [moost]\n", "#     when_set: [1]\n"} {
		src := load.Rego(policy(keys), into)
		if len(src.Faults) != 1 || !strings.HasPrefix(src.Faults[0].Error(), "a.rego:7: when_set") {
			t.Errorf("%s%v", keys, src.Faults)
		}
	}
}

// gate knows which policies may read what decides beside the words of a command of git,
// so that no other call pays for it.
func TestBeside(t *testing.T) {
	files := fstest.MapFS{"helper.rego": {Data: []byte("package acme.helper\nstarts(c) if c.repository.starts != []\n")}}
	for pkg, body := range map[string]string{
		"acme.no_field":   `deny contains "x" if input.facts.shell.commands[_].program == "git"`,
		"acme.no_text":    `deny contains "the repository" if input.facts.opaque`,
		"acme.yes_field":  `deny contains "x" if input.facts.shell.commands[_].repository == null`,
		"acme.yes_index":  `deny contains "x" if { some c in input.facts.shell.commands; c["repository"] == null }`,
		"acme.yes_get":    `deny contains "x" if { some c in input.facts.shell.commands; object.get(c, "repository", 1) == 1 }`,
		"acme.yes_helper": `deny contains "x" if { some c in input.facts.shell.commands; data.acme.helper.starts(c) }`,
		"acme.yes_proof":  "import data.gate.proof\n" + `allow contains "x" if proof.clear`,
		"acme.yes_whole":  `deny contains "x" if contains(json.marshal(input), "fsmonitor")`,
	} {
		files[pkg+".rego"] = &fstest.MapFile{Data: []byte("# METADATA\n# title: x\n# custom:\n#   gate:\n#     events: [PreToolUse]\npackage " + pkg + "\n" + body + "\n")}
	}
	src := load.Rego(files, scopes.Source{Name: "test", Scope: hook.Session, Authority: hook.User})
	for _, f := range src.Faults {
		t.Error(f.Error())
	}
	for _, h := range src.Hooks {
		if want := strings.HasPrefix(h.ID, "acme.yes_"); h.Beside != want {
			t.Errorf("%s: it reads what decides beside the words: %v", h.ID, h.Beside)
		}
	}
	if len(src.Hooks) != 8 {
		t.Errorf("%d policies", len(src.Hooks))
	}
}
