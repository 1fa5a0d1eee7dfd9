package matcher_test

import (
	"fmt"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/backtracking"
	"gate/internal/moment"
	"gate/matcher"
)

// TestMatcher reads its rows as: pattern, values that match, values that do
// not.
func TestMatcher(t *testing.T) {
	for _, row := range []struct{ pattern, yes, no string }{
		{"", "Bash Edit ", ""},
		{"*", "Bash mcp__x__y", ""},
		{" * ", "Bash", ""},
		{"Bash", "Bash", "bash Ba BashX XBash Вash"},
		{" Bash ", "Bash", "bash"},
		{"Edit|Write", "Edit Write", "MultiEdit Writer Edit|Write"},
		{"Edit, Write", "Edit Write", "Read"},
		{"Edit,Write|Read", "Edit Write Read", "Bash"},
		{"|Edit|", "Edit", "Write"},
		{"Bash*", "Bash BashOutput", "Bas XBash"},
		{"Bash*|Read", "BashOutput Read", "ReadFile"},
		{"Read|*", "Bash", ""},
		{"mcp__github__*", "mcp__github__create", "mcp__githubx mcp__gitlab__create"},
		{"mcp__rig", "mcp__rig", "mcp__rig__echo"},
		{"mcp__rig__.*", "mcp__rig__echo xmcp__rig__", "mcp__rig mcp_rig__echo"},
		{"mcp__.*__write.*", "mcp__fs__write_file", "mcp__fs__read"},
		{"^Ba", "Bash Bar", "XBa ba"},
		{"as.*", "Bash as", "bsh"},
		{"^(Edit|Write)$", "Edit Write", "MultiEdit"},
		{"^Ba|Edit", "Bash Edit", "MultiEdit"},
		{"[BR]ash|Edit", "Bash Rash Edit", "ash"},
		{`a\|b|c`, "a|b c", "a b"},
		{"^(?!Bash$).*", "Read Bashx", "Bash"},
		{`^(.)\1`, "oops", "Bash"},
		{"^Bash{1,2}$", "Bash Bashh", "Bas"},
		{"Task", "Task Agent", "TaskCreate"},
		{"Agent", "Task Agent", "AgentX"},
		{"^Task$", "Agent", "Agents"},
		{"glob:*_status", "task_status _status", "status task_statuses"},
		{"glob:mcp__*__create_?", "mcp__x__create_1", "mcp__x__create_12"},
		{"glob:[ab]x|glob:[!ab]y", "ax bx cy", "cx ay"},
		{`glob:a\*b`, "a*b", "aXb"},
		{"contains:task", "update_task_status task", "Task tas"},
		{"contains:Edit|contains:Shell", "MultiEdit RunShell", "Bash"},
		{"glob:*, Write", "anything Write", ""},
		{"a-b", "a-b", "ab"},
	} {
		m, err := matcher.Compile(row.pattern, backtracking.Compile)
		if err != nil {
			t.Errorf("%q: %v", row.pattern, err)
			continue
		}
		check := func(values string, want matcher.Truth) {
			for _, v := range strings.Fields(values) {
				if got := m.Match(v); got != want {
					t.Errorf("%q on %q: %v, want %v", row.pattern, v, got, want)
				}
			}
		}
		check(row.yes, matcher.Yes)
		check(row.no, matcher.No)
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, row := range []struct{ pattern, message string }{
		{"|", "names nothing"},
		{" , ,", "names nothing"},
		{"[", "not a regular expression"},
		{"(", "not a regular expression"},
		{"*_status", "write glob:*_status"},
		{"Bash(git push:*)", "write matcher: Bash and if: Bash(git push:*)"},
		{"Bash(echo *)", "if: Bash(echo *)"},
		{"Bash(*)", "if: Bash(*)"},
		{"Read(~/.ssh/**)", "if: Read(~/.ssh/**)"},
		{"a$b", "never matches"},
		{"a^b", "never matches"},
		{"^$a", "never matches"},
		{"Edit|x$y", "never matches"},
		{"glob:", "without a pattern"},
		{"glob:[a", `"[" without "]"`},
		{"glob:[z-a]", "backwards"},
		{`glob:a\`, "ends with a backslash"},
		{"contains:", "without a text"},
		{strings.Repeat("a", 2001), "2000 are allowed"},
		{strings.Repeat("a|", 201), "200 are allowed"},
	} {
		_, err := matcher.Compile(row.pattern, backtracking.Compile)
		if err == nil || !strings.Contains(err.Error(), row.message) {
			t.Errorf("%q: %v, want %q", row.pattern, err, row.message)
		}
	}
}

// A match that runs out of time, or of size, is unsure and never "no".
func TestMatchUnsure(t *testing.T) {
	m, err := matcher.Compile(`^(?=a)(a+)+$`, backtracking.Compile)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Match(strings.Repeat("a", 40) + "!"); got != matcher.Unsure {
		t.Errorf("catastrophic pattern: %v", got)
	}
	if m, err = matcher.Compile("Bash", backtracking.Compile); err != nil {
		t.Fatal(err)
	}
	if got := m.Match(strings.Repeat("a", 5000)); got != matcher.Unsure {
		t.Errorf("huge value: %v", got)
	}
}

func TestSubject(t *testing.T) {
	for _, row := range []struct {
		name    hook.Name
		fields  map[string]any
		value   string
		matched bool
		missing bool
	}{
		{hook.PreToolUse, map[string]any{"tool_name": "Bash"}, "Bash", true, false},
		{hook.PreToolUse, map[string]any{}, "", true, true},
		{hook.PostToolUse, map[string]any{"tool_name": 3}, "", true, true},
		{hook.SessionStart, map[string]any{"source": "resume"}, "resume", true, false},
		{moment.FileChanged, map[string]any{"file_path": "/a/b/.env"}, ".env", true, false},
		{moment.FileChanged, map[string]any{"file_path": `C:\a\.env`}, ".env", true, false},
		{hook.SubagentStop, map[string]any{"agent_type": ""}, "", true, false},
		{hook.Stop, map[string]any{"tool_name": "Bash"}, "", false, false},
		{hook.UserPromptSubmit, map[string]any{"prompt": "x"}, "", false, false},
		{"NewEvent", map[string]any{"tool_name": "Bash"}, "Bash", true, false},
		{"NewEvent", map[string]any{}, "", false, false},
	} {
		value, matched, missing := matcher.Subject(&hook.Event{Name: row.name, Fields: row.fields})
		if value != row.value || matched != row.matched || missing != row.missing {
			t.Errorf("%s %v: %q %v %v", row.name, row.fields, value, matched, missing)
		}
	}
}

// A matcher looks at what the table says, and at nothing on an event that has
// nothing to match: an unknown one would be matched on the tool.
func TestSubjectKnowsEveryEvent(t *testing.T) {
	for _, m := range moment.Every() {
		ev := hook.Event{Name: m.Name, Fields: map[string]any{"tool_name": "Bash"}}
		if m.Matches != "" {
			ev.Fields[m.Matches] = "/is/this"
		}
		value, matched, missing := matcher.Subject(&ev)
		want := map[string]string{"": "", "file_path": "this"}
		if _, special := want[m.Matches]; !special {
			want[m.Matches] = "/is/this"
		}
		if matched != (m.Matches != "") || missing || value != want[m.Matches] {
			t.Errorf("%s: %q %v %v, on %q", m.Name, value, matched, missing, m.Matches)
		}
		if delete(ev.Fields, m.Matches); m.Matches != "" {
			if _, matched, missing := matcher.Subject(&ev); !matched || !missing {
				t.Errorf("%s without %s: %v %v", m.Name, m.Matches, matched, missing)
			}
		}
	}
}

func ExampleCompile() {
	m, err := matcher.Compile("Edit|Write|mcp__fs__*", backtracking.Compile)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Match("Write"), m.Match("mcp__fs__move"), m.Match("Bash"))
	// Output: yes yes no
}
