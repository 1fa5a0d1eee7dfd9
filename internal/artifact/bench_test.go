package artifact_test

import (
	"fmt"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/artifact"
	"gate/scopes"
)

// many is a place with n policies like those of a company: three in five are
// about Bash.
func many(n int) artifact.Content {
	tools := []string{"Bash", "Bash", "Bash", "Write|Edit", "mcp__jira__.*"}
	p := artifact.Part{Role: artifact.Policies, Program: strings.Repeat("x", 600*n)}
	for i := range n {
		h := &hook.Hook{
			ID: fmt.Sprintf("acme.team%d.p%d", i%20, i), Kind: hook.Rego, Title: "Push to a protected branch", Description: strings.Repeat("why ", 20),
			File: fmt.Sprintf("policies/team%d/p%d.rego", i%20, i), Line: 1, Events: []hook.Name{hook.PreToolUse}, Matcher: tools[i%len(tools)],
		}
		if i%2 == 0 {
			h.If = []string{"effect(git.push)", "unknown(*)"}
		}
		p.Hooks = append(p.Hooks, artifact.Hook{Hook: h})
	}
	return artifact.Content{Kind: artifact.Managed, Maker: maker, Sources: []artifact.Part{p}}
}

// BenchmarkRoute opens a file and makes the set of hooks that may concern a
// call, which is what each call pays for, by the number of policies.
func BenchmarkRoute(b *testing.B) {
	for _, n := range []int{25, 100, 1000, 5000} {
		data := encode(b, many(n))
		for _, tool := range []string{"Bash", "TodoWrite"} {
			ev := hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"tool_name": tool}}
			b.Run(fmt.Sprintf("%d/%s", n, tool), func(b *testing.B) {
				b.ReportMetric(float64(len(data)), "file-bytes")
				b.ReportAllocs()
				for b.Loop() {
					a, err := artifact.Open(data, maker, artifact.Managed)
					if err != nil {
						b.Fatal(err)
					}
					list, err := a.Sources(&ev, artifact.As{})
					if err != nil {
						b.Fatal(err)
					}
					if _, err := scopes.New([]scopes.Source{list[0].Source}, scopes.Settings{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
