package adapters

import (
	"fmt"
	"strings"
	"testing"
)

// TestAgentTables holds the tables of docs/agents.md to those of this package.
// With -update it writes them.
func TestAgentTables(t *testing.T) {
	var b strings.Builder
	for _, a := range all() {
		if a, ok := a.(*agent); ok {
			describe(&b, a)
		}
	}
	checkPage(t, "../docs/agents.md", map[string]string{"agents": b.String()})
}

// describe writes the tables of one agent.
func describe(b *strings.Builder, a *agent) {
	fmt.Fprintf(b, "### `%s`\n\n| event | is | an answer can |\n|---|---|---|\n", a.name)
	for _, w := range a.events {
		var can []string
		for _, m := range [...]struct {
			m    means
			text string
		}{
			{rejects, "refuse"}, {asks, "ask"}, {dialog, "leave it to the agent's question"}, {approves, "grant"}, {rewrites, "change the input"},
			{replaces, "replace the output by a text"}, {reshapes, "change an MCP tool's output"}, {halts, "end the turn"}, {hears, "give context"}, {tells, "tell the person"},
		} {
			if w.can&m.m != 0 {
				can = append(can, m.text)
			}
		}
		about := ""
		if w.tool != "" && w.tool != "mcp" {
			tool, _ := a.tool(w.tool)
			about = " of `" + tool.own + "`"
		}
		fmt.Fprintf(b, "| `%s` | `%s`%s | %s |\n", w.native, w.own(), about, strings.Join(can, ", "))
	}
	var tools []string
	for _, t := range a.tools {
		if t.native != t.own {
			tools = append(tools, fmt.Sprintf("`%s` is `%s`", t.native, t.own))
		}
	}
	if len(tools) > 0 {
		fmt.Fprintf(b, "\nTools: %s.\n", strings.Join(tools, ", "))
	}
	b.WriteString("\n")
}
