package hook_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/moment"
)

// A contractEvent is what was observed of one event of Claude Code.
type contractEvent struct {
	Input   map[string]string
	Matcher *string `json:"matcher_field"`
	Blocks  bool    `json:"exit2_blocks"`
}

// TestContract holds the table against what the client was seen to send: each
// event has a row, with its fields, their types and values, and what its
// matchers look at.
func TestContract(t *testing.T) {
	text, err := os.ReadFile("testdata/claude-code-hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	var contract struct {
		Common map[string]string `json:"common_input"`
		Events map[string]contractEvent
	}
	if err := json.Unmarshal(text, &contract); err != nil || len(contract.Events) < 33 {
		t.Fatalf("%d events (%v)", len(contract.Events), err)
	}
	holdFields(t, "all events", contract.Common, moment.CommonFields())
	for name, seen := range contract.Events {
		m := hook.Name(name).Moment()
		if m.Name == "" {
			t.Errorf("%s has no row", name)
			continue
		}
		holdFields(t, name, seen.Input, append(m.Fields, moment.CommonFields()...))
		if seen.Matcher == nil && m.Matches != "" || seen.Matcher != nil && (m.Matches == "" || !strings.Contains(*seen.Matcher, m.Matches)) {
			t.Errorf("%s is matched on %q, seen was %v", name, m.Matches, seen.Matcher)
		}
		// The JSON of an answer denies a permission, whatever the status does.
		if can := seen.Blocks || m.Name == hook.PermissionRequest; m.Closes != moment.ClosesNever && !can {
			t.Errorf("%s closes, and the client cannot be stopped there", name)
		}
		// What these stop is the end of a turn or task, or the model after the fact.
		goesOn := []hook.Name{hook.Stop, hook.SubagentStop, moment.TaskCompleted, moment.TeammateIdle, moment.PostToolBatch}
		if seen.Blocks && m.Closes == moment.ClosesNever && !slices.Contains(goesOn, m.Name) {
			t.Errorf("%s does not close, and the client can be stopped there", name)
		}
	}
	for _, m := range moment.Moments() {
		if _, ok := contract.Events[string(m.Name)]; !ok {
			t.Errorf("nothing of %s was seen", m.Name)
		}
	}
}

func holdFields(t *testing.T, event string, seen map[string]string, fields []moment.Field) {
	t.Helper()
	for name, says := range seen {
		i := slices.IndexFunc(fields, func(f moment.Field) bool { return f.Name == name })
		if i < 0 {
			t.Errorf("%s has no field %s: %s", event, name, says)
			continue
		}
		f := fields[i]
		says, _, _ = strings.Cut(says, ",")
		words := strings.Split(strings.TrimRight(strings.Fields(says)[0], "?"), "|")
		want, nullable := moment.Text, slices.Contains(words, "null")
		switch words[0] {
		case "number":
			want = moment.Number
		case "boolean":
			want = moment.Boolean
		case "object":
			want = moment.Object
		case "string[]":
			want = moment.Texts
		case "PermissionUpdate[]":
			want = moment.List
		case "tool-specific":
			want = moment.Anything
		case "string", "error":
		default:
			switch {
			case strings.HasPrefix(says, "{"):
				want = moment.Object
			case strings.HasPrefix(says, "["):
				want = moment.List
			default:
				for _, word := range words {
					if !slices.Contains(strings.Fields(f.Known), word) {
						t.Errorf("%s of %s is not known to be %q", name, event, word)
					}
				}
			}
		}
		if f.Type != want || nullable != (f.Need == moment.OrNull) {
			t.Errorf("%s of %s: %+v, seen was %s", name, event, f, says)
		}
	}
}

// TestRows holds what a row says of itself: names that are found, each once, and
// fields that the event has.
func TestRows(t *testing.T) {
	seen := map[hook.Name]bool{"": true}
	for _, m := range moment.Every() {
		for _, name := range []hook.Name{m.Name, m.Alias} {
			if seen[name] && name != "" || name.Canonical() != m.Name && name != "" {
				t.Errorf("%s of %s is not its alone: %s", name, m.Name, name.Canonical())
			}
			seen[name] = true
		}
		has := map[string]moment.Field{"": {}}
		for _, f := range m.Fields {
			if f.Name == "" || has[f.Name].Name != "" || f.Known != "" && f.Type != moment.Text || f.Of != nil && f.Type != moment.Object && f.Type != moment.List {
				t.Errorf("%s: %+v", m.Name, f)
			}
			has[f.Name] = f
		}
		for _, name := range []string{m.Matches, m.Rewrites, m.File, m.Example} {
			if _, ok := has[name]; !ok {
				t.Errorf("%s has no field %s", m.Name, name)
			}
		}
		if m.Rewrites != m.Name.Rewrites() || m.Rewrites != "" && has[m.Rewrites].Need != moment.Must {
			t.Errorf("%s rewrites %q, which it may lack", m.Name, m.Rewrites)
		}
		if f := has[m.Matches]; f.Type != moment.Text {
			t.Errorf("%s is matched on %+v", m.Name, f)
		}
		if got := m.Name.Moment(); got.Name != m.Name {
			t.Errorf("%s is found as %q", m.Name, got.Name)
		}
	}
}

func TestMeant(t *testing.T) {
	for name, want := range map[hook.Name]hook.Name{
		"pre_tool_use": hook.PreToolUse, "pre-tool-use": hook.PreToolUse, "PRETOOLUSE": hook.PreToolUse, "stop": hook.Stop,
		"PreToolUse": "", "turn_end": "", "shell_env": "", "": "", "PreToolUsed": hook.PreToolUse,
		"PreToolUs": hook.PreToolUse, "PerToolUse": hook.PreToolUse, "PreToolUse ": hook.PreToolUse, "PreToolUse\u200b": hook.PreToolUse, "\tPreToolUse": hook.PreToolUse,
		"PreToolX": "", "PostToolUs": "", "PermissionRequests": hook.PermissionRequest, "P": "", "BeforeTool": "", "SessionStar": "",
	} {
		if got := name.Meant(); got != want {
			t.Errorf("%q is meant to be %q, want %q", name, got, want)
		}
	}
	if m := hook.Name("unheard").Moment(); m.Name != "" || m.Closes != moment.ClosesAlways || m.Rewrites != "" || len(m.Fields) == 0 {
		t.Errorf("an event that nobody has heard of: %+v", m)
	}
}
