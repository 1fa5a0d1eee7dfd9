package core

import (
	"testing"

	"gate/hook"
)

// TestCarry has a secret in a call leave where nothing but the name of a host, code or a
// tool's arguments carry it, and in no other call.
func TestCarry(t *testing.T) {
	line := func(program, host string, effects ...hook.FactEffect) *hook.Facts {
		return &hook.Facts{Effects: effects, Hosts: []hook.Host{{Command: 1, Host: &host}},
			Shell: &hook.Shell{Commands: []hook.ShellCommand{{Program: &program}}}}
	}
	code := hook.FactEffect{Command: 1, Is: &hook.ExecCode{}}
	broker := line("mosquitto_pub", "broker.example")
	broker.Shell.Commands[0].Options = map[string][]any{"P": {"x"}}
	for name, c := range map[string]struct {
		tool  string
		facts *hook.Facts
		want  string
	}{
		"a look-up of a name":       {"Bash", line("dig", "abc.evil.example"), "net.send"},
		"a message to a broker":     {"Bash", line("mosquitto_pub", "broker.example"), "net.send"},
		"a login to a broker":       {"Bash", broker, ""},
		"a look-up nearby":          {"Bash", line("ping", "10.0.0.7"), ""},
		"code that reaches a host":  {"Bash", line("python3", "203.0.113.7", code), "net.send"},
		"code that reaches itself":  {"Bash", line("python3", "127.0.0.1", code), ""},
		"a login to a database":     {"Bash", line("psql", "db.acme.example"), ""},
		"what sends already":        {"Bash", line("curl", "a.example", hook.FactEffect{Command: 1, Is: &hook.NetSend{}}), ""},
		"a tool of a server":        {"mcp__notes__save", &hook.Facts{}, "tool"},
		"a tool that writes a file": {"mcp__fs__store", &hook.Facts{Effects: []hook.FactEffect{{Is: &hook.FSWrite{}}}}, ""},
		"a form in a page":          {"mcp__playwright__browser_type", &hook.Facts{}, ""},
		"a search":                  {"WebSearch", &hook.Facts{}, "tool"},
		"a tool of the agent":       {"Task", &hook.Facts{}, ""},
	} {
		before := len(c.facts.Effects)
		carry(c.tool, c.facts)
		got := ""
		for _, e := range c.facts.Effects[before:] {
			got += e.Kind()
		}
		if got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
	carry("Bash", nil)
}
