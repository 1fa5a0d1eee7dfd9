package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/audit"
)

// TestCalls gathers decisions into calls. A line of the log is an event, the id of the
// call, the tool, the call, and the effect; the newest stands last. A line of calls is
// the outcome and the events, the oldest call first.
func TestCalls(t *testing.T) {
	for _, c := range []struct{ name, log, calls, last string }{
		{
			"a call and what came of it are one",
			"PreToolUse a Bash ls pass, PostToolUse a Bash ls pass",
			"passed PreToolUse PostToolUse", "PreToolUse ls",
		},
		{
			"calls side by side",
			"PreToolUse a Bash ls pass, PreToolUse b Bash pwd allow, PostToolUse b Bash pwd pass, PostToolUse a Bash ls pass",
			"passed PreToolUse PostToolUse, allowed PreToolUse PostToolUse", "PreToolUse pwd",
		},
		{
			"asked, and it ran",
			"PreToolUse a Bash make ask, PermissionRequest - Bash make pass, PostToolUse a Bash make pass",
			"approved PreToolUse PermissionRequest PostToolUse", "PreToolUse make",
		},
		{
			"what is held back is what the last one means",
			"PreToolUse a Bash make ask, PreToolUse b Bash ls pass, UserPromptSubmit - - - deny, PostToolUse b Bash ls pass",
			"asked PreToolUse, passed PreToolUse PostToolUse", "PreToolUse make",
		},
		{
			"an agent that does not name its calls",
			"PreToolUse - Bash ls pass, PostToolUse - Bash ls pass, PreToolUse - Bash ls pass, PostToolUse - Bash ls pass",
			"passed PreToolUse PostToolUse, passed PreToolUse PostToolUse", "PreToolUse ls",
		},
		{
			"what came of a call is rejected",
			"PreToolUse a Read f pass, PostToolUse a Read f deny",
			"denied PreToolUse PostToolUse", "PostToolUse f",
		},
		{
			"the dialog is answered with no",
			"PreToolUse a Bash make pass, PermissionRequest a Bash make deny",
			"denied PreToolUse PermissionRequest", "PermissionRequest make",
		},
		{
			"no call at all",
			"SessionStart - - - pass, Stop - - - pass",
			"", "Stop ",
		},
		{
			"the beginning is not in the log",
			"PostToolUse a Bash ls pass, SessionStart - - - pass",
			"passed PostToolUse", "PostToolUse ls",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			writeLog(t, dir, c.log)
			h, err := audit.OpenHistory(dir)
			if err != nil {
				t.Fatal(err)
			}
			var calls audit.Calls
			var all []*audit.Call
			for r, err := range h.Newest() {
				if err != nil {
					t.Fatal(err)
				}
				if call := calls.Add(r); call != nil {
					all = append(all, call)
				}
			}
			all = append(all, calls.Rest()...)
			slices.SortFunc(all, func(a, b *audit.Call) int { return a.Records[0].Time.Compare(b.Records[0].Time) })
			var got []string
			for _, call := range all {
				line := string(call.Outcome())
				for _, r := range call.Records {
					line += " " + string(r.Event)
				}
				got = append(got, line)
			}
			if s := strings.Join(got, ", "); s != c.calls {
				t.Errorf("calls: %q, want %q", s, c.calls)
			}
			last, err := h.LastCall()
			if s := string(last.Event) + " " + last.Call; err != nil || s != c.last {
				t.Errorf("last: %q, %v; want %q", s, err, c.last)
			}
		})
	}
}

// writeLog writes a log of what TestCalls describes.
func writeLog(t *testing.T, dir, text string) {
	start := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	var out strings.Builder
	for i, line := range strings.Split(text, ", ") {
		w := strings.Fields(strings.ReplaceAll(line, "-", `""`))
		for j := range w {
			w[j] = strings.Trim(w[j], `"`)
		}
		r := audit.Record{Version: 3, Time: start.Add(time.Duration(i) * time.Second), ID: fmt.Sprintf("id%04d", i), Agent: "claude", Session: "s",
			Event: hook.Name(w[0]), Tool: w[2], Call: w[3], Result: hook.Continue, Kept: &audit.Kept{Input: map[string]any{"tool_use_id": w[1]}}}
		for _, e := range []hook.Effect{hook.Allow, hook.Ask, hook.Deny} {
			if e.String() == w[4] {
				r.Effect = e
			}
		}
		out.Write(append(r.JSON(), '\n'))
	}
	if err := os.WriteFile(filepath.Join(dir, audit.FileName), []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
