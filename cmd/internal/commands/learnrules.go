package commands

import (
	"fmt"
	"slices"
	"strings"

	"gate/internal/learn"
)

// rules prints what an agent's own rules can say exactly of the proposals.
func (l *lesson) rules(agent string) error {
	if agent == "codex" {
		return printAll(l.process, "A rule of Codex CLI compares the first words of a command, so that any longer one passes, too.\n"+
			"No proposal can be said exactly in such rules; gate prints none.\n")
	}
	var lines []string
	for i := range l.proposals {
		for j := range l.proposals[i].Calls {
			if line, exact := exactLine(&l.proposals[i].Calls[j]); exact {
				lines = append(lines, "Bash("+line+")")
			}
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if len(lines) == 0 {
		return printAll(l.process, "nothing of the proposals can be said exactly in permissions.allow\n")
	}
	fmt.Fprintf(l.stderr, "gate: note: each rule lets through this one line, in any directory; the proposals themselves look at where it runs\n")
	return printJSON(l.process, map[string]any{"permissions": map[string]any{"allow": lines}})
}

// exactLine is a line that a rule without a pattern means as it stands. It is one
// command of plain words: a shell or a rule takes nothing in it for more. Paths lie
// below the directory that it runs in.
func exactLine(q *learn.Question) (line string, exact bool) {
	s := q.Event.Facts.Shell
	if s == nil || len(s.Commands) != 1 {
		return "", false
	}
	line, _ = q.Event.ToolInput()["command"].(string)
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(" /_.+-=,", r)
	}
	for _, word := range strings.Fields(line) {
		if strings.HasPrefix(word, "/") || strings.Contains(word, "..") {
			return "", false
		}
	}
	return line, line != "" && !strings.ContainsFunc(line, func(r rune) bool { return !plain(r) })
}
