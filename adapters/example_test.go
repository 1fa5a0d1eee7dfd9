package adapters_test

import (
	"fmt"

	"gate/adapters"
	"gate/hook"
)

func Example() {
	claude, _ := adapters.Lookup("claude")
	ev, err := claude.Parse([]byte(`{"session_id": "s", "transcript_path": "/t", "cwd": "/p",
		"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "git push -f"}}`), "")
	if err != nil {
		fmt.Println(err)
		return
	}
	answer := claude.Render(&ev, &hook.Decision{ID: "7k3q9z", Effect: hook.Deny, Reasons: []hook.Reason{
		{Effect: hook.Deny, Reason: "a forced push drops other people's commits", Suggestion: "git push --force-with-lease"},
	}})
	fmt.Printf("%s\n%sexit %d\n", answer.Stdout, answer.Stderr, answer.Status)
	// Output:
	// {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"a forced push drops other people's commits\nInstead: git push --force-with-lease (gate 7k3q9z)"}}
	// a forced push drops other people's commits
	// Instead: git push --force-with-lease (gate 7k3q9z)
	// exit 2
}

// An event that cannot be read is answered by what the command line says.
func Example_unreadable() {
	claude, _ := adapters.Lookup("claude")
	_, err := claude.Parse([]byte(`{"hook_event_name": "PreToolUse", "Hook_Event_Name": "Stop"}`), "")
	answer := claude.Render(&hook.Event{Name: hook.PreToolUse}, &hook.Decision{
		ID: "7k3q9z", Effect: hook.Deny, Fault: &hook.Fault{Kind: hook.FaultEvent, Err: err},
	})
	fmt.Printf("%sexit %d\n", answer.Stderr, answer.Status)
	// Output:
	// gate could not decide: event: keys "hook_event_name" and "Hook_Event_Name" look alike
	// The event is at fault and not gate: ask for the same in a shorter or simpler form. If that happens again, a person can look with: gate doctor (gate 7k3q9z)
	// exit 2
}
