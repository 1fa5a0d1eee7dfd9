package matcher_test

import (
	"strings"
	"testing"

	"gate/hook"
	"gate/matcher"
)

func TestCovers(t *testing.T) {
	for _, row := range []struct {
		conditions string // separated by "|"
		line       string
		want       bool
	}{
		{"Bash(git status:*)", "git status", true},
		{"Bash(git status:*)", "git status ; git push", false},
		{"Bash(git status:*)|Bash(git push:*)", "git status ; git push", true},
		{"Bash(git status:*)", "cd x ; git status", true},
		{"Bash(git status:*)", "cd x", false},
		{"Bash(git status:*)", "/tmp/git status", false},
		{"Bash(git status:*)", "git ?", false},
		{"Bash", "ls ; rm", true},
		{"Read", "ls", false},
	} {
		var list []matcher.Condition
		for _, text := range strings.Split(row.conditions, "|") {
			list = append(list, condition(t, text))
		}
		ev := event("Bash", line(row.line))
		if got := matcher.Covers(list, ev); got != row.want {
			t.Errorf("%s on %q: %t, want %t", row.conditions, row.line, got, row.want)
		}
		for name, spoil := range map[string]func(*hook.Facts){
			"opaque":  func(f *hook.Facts) { f.Opaque = true },
			"unknown": func(f *hook.Facts) { f.Unknown = []hook.Unknown{{Kind: "word"}} },
			"variable": func(f *hook.Facts) {
				for i := range f.Shell.Commands {
					f.Shell.Commands[i].Env = map[string]*string{"PATH": nil}
				}
			},
		} {
			ev := event("Bash", line(row.line))
			spoil(ev.Facts)
			if matcher.Covers(list, ev) {
				t.Errorf("%s on %q, %s: covered", row.conditions, row.line, name)
			}
		}
	}
}
