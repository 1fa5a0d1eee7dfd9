package install_test

import (
	"fmt"
	"strings"

	"gate/hook"
	"gate/internal/install"
)

// A dry run is a plan that is not applied.
func Example() {
	m := newMemory().machine()
	plan, err := m.Install(install.Request{Agent: "claude", Scope: install.User})
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(plan.Diff()) {
		if strings.Contains(line, string(hook.PreToolUse)) {
			fmt.Print(line)
		}
	}

	if err := plan.Apply(); err != nil {
		fmt.Println(err)
	}
	s := m.Status().Agents[0]
	fmt.Println("guarded:", s.Guarded, s.Guards[0].File)
	// Output:
	// +    "PreToolUse": [
	// +      {"matcher": "*", "hooks": [{"type": "command", "command": "/bin/gate", "args": ["hook", "--agent", "claude", "--event", "PreToolUse", "--user-dir", "/home/.config/gate", "--state-dir", "/home/.local/state/gate"], "timeout": 70, "onFailure": "block"}]}
	// guarded: true /home/.claude/settings.json
}
