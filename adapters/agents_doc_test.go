package adapters

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestAgentTables holds the tables of docs/agents.md to those of this package.
// With -update it writes them.
func TestAgentTables(t *testing.T) {
	const page, begin, end = "../docs/agents.md", "<!-- agents -->\n", "<!-- end of agents -->"
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place for the tables", page)
	}
	var b strings.Builder
	for _, a := range all() {
		if a, ok := a.(*agent); ok {
			describe(&b, a)
		}
	}
	got := head + begin + "\n" + b.String() + end + tail
	if got == string(data) {
		return
	}
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s does not list what adapters do; run: go test ./adapters -run TestAgentTables -update", page)
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
