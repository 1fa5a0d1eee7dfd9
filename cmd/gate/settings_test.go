package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"gate/hook"
)

func ours() []claudeHook {
	return []claudeHook{
		{event: hook.PreToolUse, command: `"/opt/gate" hook --agent claude --event PreToolUse`, timeout: 70 * time.Second},
		{event: hook.SessionEnd, command: `"/opt/gate" hook --agent claude --event SessionEnd`, timeout: 1500 * time.Millisecond},
	}
}

func TestMergeSettings(t *testing.T) {
	const mine = `{"hooks":[{"command":"\"/opt/gate\" hook --agent claude --event PreToolUse","onFailure":"block","timeout":70,"type":"command"}],"matcher":"*"}`
	const old = `{"hooks":[{"command":"\"/old/gate\" hook --agent claude --event PreToolUse","type":"command"}],"matcher":"*"}`
	const other = `{"hooks":[{"command":"lint","type":"command"}],"matcher":"Bash"}`
	for _, test := range []struct {
		name, settings, want string // want: the groups of PreToolUse
	}{
		{"none", "", "[" + mine + "]"},
		{"no hooks", `{"model":"opus"}`, "[" + mine + "]"},
		{"other hooks stay and keep their place", `{"hooks":{"PreToolUse":[` + other + `]}}`, "[" + other + "," + mine + "]"},
		{"an older one is replaced in its place", `{"hooks":{"PreToolUse":[` + old + "," + other + `]}}`, "[" + mine + "," + other + "]"},
		{"several are one", `{"hooks":{"PreToolUse":[` + old + "," + other + "," + old + `]}}`, "[" + mine + "," + other + "]"},
		{
			"a group that is shared keeps the others",
			`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"lint"},{"type":"command","command":"/a b/gate hook --agent claude --event PreToolUse"}]}]}}`,
			`[{"matcher":"Bash","hooks":[{"type":"command","command":"lint"}]},` + mine + "]",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := mergeSettings([]byte(test.settings), ours())
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ Hooks map[string]any }
			var want any
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(test.want), &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Hooks["PreToolUse"], want) {
				t.Errorf("got %v\nwant %v", got.Hooks["PreToolUse"], want)
			}
			if again, err := mergeSettings(out, ours()); err != nil || !bytes.Equal(again, out) {
				t.Errorf("again: %v\n%s", err, again)
			}
		})
	}
}

func TestMergeSettingsRefuses(t *testing.T) {
	for _, settings := range []string{
		`[]`, `null`, `"x"`, `{`, `{} {}`, `{}x`, `{"a":1,"a":2}`, "{\"\xff\":1}", `{"hooks":[]}`, `{"hooks":null}`,
		`{"hooks":{"PreToolUse":{}}}`, `{"hooks":{"PreToolUse":[1]}}`, `{"hooks":{"PreToolUse":[{"hooks":{}}]}}`,
		`{"hooks":{"PreToolUse":[{"hooks":["x"]}]}}`, "{ // comment\n}", `{"a":1,}`,
	} {
		if out, err := mergeSettings([]byte(settings), ours()); err == nil {
			t.Errorf("%s: became %s", settings, out)
		}
	}
}

func TestIsOurs(t *testing.T) {
	for command, want := range map[string]bool{
		`"/opt/gate" hook --agent claude --event Stop`: true,
		`"/my tools/gate" hook --agent claude`:         true,
		`/opt/gate-hook hook --agent claude`:           true,
		`"C:/gate.exe" hook --agent claude`:            true,
		`/opt/navigate hook --agent claude`:            false,
		`/opt/gate hook --agent codex`:                 false,
		`hook --agent claude`:                          false,
		`echo gate hook --agent claude | tee log`:      false,
		`webhook --agent claude`:                       false,
		`/opt/gate`:                                    false,
		``:                                             false,
		`"/opt/gate" hook --agent claude --event Stop --user-dir "/a b/c" -x`: true,
	} {
		if got := isOurs(command); got != want {
			t.Errorf("isOurs(%q) = %t", command, got)
		}
	}
}

// FuzzMergeSettings looks for settings that lose something, that are not JSON
// afterwards, or that change again when gate is installed again.
func FuzzMergeSettings(f *testing.F) {
	for _, s := range []string{"", "{}", `{"a":[1,2],"hooks":{"PreToolUse":[{"hooks":[]}],"X":[]}}`, `{"a":"\ud83d\ude00"}`, `[`, `{"a":1}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, err := mergeSettings([]byte(s), ours())
		if err != nil {
			return
		}
		var before, after map[string]any
		if err := json.Unmarshal(out, &after); err != nil {
			t.Fatalf("%q became %q: %v", s, out, err)
		}
		if strings.TrimSpace(s) != "" {
			if err := json.Unmarshal([]byte(s), &before); err != nil {
				t.Fatalf("%q was accepted: %v", s, err)
			}
		}
		for k, v := range before {
			if k != "hooks" && !reflect.DeepEqual(v, after[k]) {
				t.Errorf("%q: %s became %v", s, k, after[k])
			}
		}
		if again, err := mergeSettings(out, ours()); err != nil || !bytes.Equal(again, out) {
			t.Errorf("%q: %q, and again %q (%v)", s, out, again, err)
		}
	})
}
