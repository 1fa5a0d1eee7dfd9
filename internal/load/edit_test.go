package load_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/load"
)

// Each case: file, before, key (by "/"), JSON value or "-" to remove, after.
func TestEdit(t *testing.T) {
	for name, row := range map[string]struct {
		file, before, key, value, after string
	}{
		"new json":    {"settings.json", "", "policies/gate.git", `"warn"`, "{\n  \"policies\": {\n    \"gate.git\": \"warn\"\n  }\n}\n"},
		"new toml":    {"settings.toml", "", "policies/gate.git", `"warn"`, "[policies]\n\"gate.git\" = 'warn'\n"},
		"new yaml":    {"settings.yaml", "", "policies/gate.git", `"warn"`, "policies:\n  gate.git: warn\n"},
		"json keeps":  {"settings.json", "{\"log\":   true,\n\t\"policies\": {\"a\": \"off\"}}\n", "policies/a", `"deny"`, "{\"log\":   true,\n\t\"policies\": {\"a\": \"deny\"}}\n"},
		"json list":   {"settings.json", `{"params": {"a.b": {"c": ["x", {"y": 1}]}}, "log": true}`, "params/a.b/c", `["z"]`, "{\"params\": {\"a.b\": {\"c\": [\"z\"]}}, \"log\": true}"},
		"json adds":   {"settings.json", `{"log": true}`, "policies/a", `"off"`, "{\n  \"log\": true,\n  \"policies\": {\n    \"a\": \"off\"\n  }\n}\n"},
		"json drops":  {"settings.json", `{"log": true, "policies": {"a": "off"}}`, "policies/a", "-", "{\n  \"log\": true,\n  \"policies\": {}\n}\n"},
		"same":        {"settings.json", `{"log":    true}`, "log", `true`, `{"log":    true}`},
		"nothing":     {"settings.json", `{"log":    true}`, "faults", "-", `{"log":    true}`},
		"toml keeps":  {"settings.toml", "# mine\nlog = true # why\n\n[policies] # levels\na = \"off\" # for now\nb = 'ask'\n", "policies/a", `"deny"`, "# mine\nlog = true # why\n\n[policies] # levels\na = 'deny' # for now\nb = 'ask'\n"},
		"toml adds":   {"settings.toml", "log = true\n[policies]\na = \"off\"\n[labels]\nx = \"y\"", "policies/b.c", `"deny"`, "log = true\n[policies]\n\"b.c\" = 'deny'\na = \"off\"\n[labels]\nx = \"y\"\n"},
		"toml root":   {"settings.toml", "# mine\n[policies]\na = \"off\"\n", "log", `false`, "log = false\n# mine\n[policies]\na = \"off\"\n"},
		"toml table":  {"settings.toml", "log = true\n", "params/a.b/n", `7`, "log = true\n\n[params.\"a.b\"]\nn = 7\n"},
		"toml drops":  {"settings.toml", "log = true\n[policies]\n# why\na = \"off\"\nb = \"off\"\n", "policies/a", "-", "log = true\n[policies]\n# why\nb = \"off\"\n"},
		"toml dotted": {"settings.toml", "policies.a = \"off\"\n", "policies/a", `"deny"`, ""},
		"toml inline": {"settings.toml", "policies = {a = \"off\"}\n", "policies/a", `"deny"`, ""},
		"yaml keeps":  {"settings.yaml", "# mine\nlog: true # why\npolicies:\n  # first\n  a: off # for now\n  b: ask\n", "policies/a", `"deny"`, "# mine\nlog: true # why\npolicies:\n  # first\n  a: deny # for now\n  b: ask\n"},
		"yaml adds":   {"settings.yml", "log: true\n", "params/a.b/c", `[1, "x"]`, "log: true\nparams:\n  a.b:\n    c:\n      - 1\n      - x\n"},
		"yaml drops":  {"settings.yaml", "log: true\nfaults: deny\n", "log", "-", "faults: deny\n"},
		"toml list":   {"settings.toml", "log = true\n[policies]\na = \"off\"\n", "exceptions", "[" + exceptionOne + "]", "log = true\n[policies]\na = \"off\"\n\n" + tomlOne},
		"toml more":   {"settings.toml", "# mine\n" + tomlOne + "# last\n", "exceptions", "[" + exceptionOne + ", " + exceptionOne + "]", "# mine\n" + tomlOne + "# last\n\n" + tomlOne},
		"toml fewer":  {"settings.toml", tomlOne + "\n" + tomlOne, "exceptions", "[" + exceptionOne + "]", ""},
		"yaml more":   {"settings.yaml", "exceptions:\n  # why\n  - " + exceptionOne + " # b\n", "exceptions", "[" + exceptionOne + ", " + exceptionOne + "]", "exceptions:\n  # why\n  - " + exceptionOne + " # b\n" + yamlOne},
	} {
		value := parseValue(t, row.value)
		out, err := load.Edit(row.file, []byte(row.before), hook.User, value, strings.Split(row.key, "/")...)
		switch {
		case row.after == "" && err == nil:
			// A form that cannot be edited line by line may be refused, or done right.
		case row.after == "":
			if !strings.Contains(err.Error(), "edit it by hand") {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || string(out) != row.after:
			t.Errorf("%s: %v\ngot  %q\nwant %q", name, err, out, row.after)
		}
	}
}

// One exception, and how an edit writes it.
const (
	exceptionOne = `{"if": "Bash(x)", "owner": "o", "policy": "a.b", "project": "/w", "reason": "r", "until": "2027-01-31"}`
	tomlOne      = "[[exceptions]]\nif = 'Bash(x)'\nowner = 'o'\npolicy = 'a.b'\nproject = '/w'\nreason = 'r'\nuntil = '2027-01-31'\n"
	yamlOne      = "  - if: Bash(x)\n    owner: o\n    policy: a.b\n    project: /w\n    reason: r\n    until: \"2027-01-31\"\n"
)

func parseValue(t *testing.T, text string) any {
	t.Helper()
	if text == "-" {
		return nil
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// An edit that may not be made, or would leave a mistake, changes nothing.
func TestEditRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		a                   hook.Authority
		file, before, value string
		key                 []string
		says                string
	}{
		"labels of a user":     {hook.User, "settings.json", "", `"x"`, []string{"labels", "a"}, "only managed settings"},
		"plugins of a project": {hook.Project, "settings.json", "", `true`, []string{"plugins", "a"}, "only managed and user settings"},
		"unknown key":          {hook.User, "settings.json", "", `true`, []string{"disableAllHook"}, `did you mean "disableAllHooks"?`},
		"unknown level":        {hook.User, "settings.toml", "", `"of"`, []string{"policies", "a"}, "value must be one of"},
		"a wrong type":         {hook.User, "settings.yaml", "", `"yes"`, []string{"disableAllHooks"}, "expected boolean"},
		"below a value":        {hook.User, "settings.json", `{"log": true}`, `true`, []string{"log", "x"}, "no keys below"},
		"a broken file":        {hook.User, "settings.json", `{"log": true`, `true`, []string{"log"}, "settings.json:1"},
		"no key":               {hook.User, "settings.json", "", `true`, nil, "no key"},
		"the last key":         {hook.User, "settings.toml", "log = true\n", "-", []string{"log"}, "remove the file"},
		"another format":       {hook.User, "settings.ini", "", `true`, []string{"log"}, "neither JSON nor TOML nor YAML"},
		"other mistakes":       {hook.User, "settings.json", `{"log": true, "x": 1}`, `false`, []string{"log"}, "unknown key x"},
	} {
		out, err := load.Edit(row.file, []byte(row.before), row.a, parseValue(t, row.value), row.key...)
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v (%q)", name, err, out)
		}
	}
}
