package matcher_test

import (
	"fmt"
	"strings"
	"testing"

	"gate/hook"
	"gate/matcher"
)

// line makes the facts of a shell line: commands separated by ";", words by
// blanks, "?" for an unknown word, and options told from operands.
func line(text string) *hook.Facts {
	f := &hook.Facts{Shell: &hook.Shell{Dialect: "bash"}}
	for i, part := range strings.Split(text, ";") {
		c := hook.ShellCommand{ID: i + 1}
		for _, w := range strings.Fields(part) {
			value := &w
			if w == "?" {
				value = nil
			}
			c.Words = append(c.Words, hook.Word{Value: value})
			switch {
			case len(c.Words) == 1:
				c.Program = value
				if value != nil && strings.Contains(w, "/") {
					base := w[strings.LastIndexByte(w, '/')+1:]
					c.Path, c.Program = value, &base
				}
			case value == nil || !strings.HasPrefix(w, "-"):
				if c.Subcommand == nil && value != nil {
					c.Subcommand = value
				} else {
					c.Operands = append(c.Operands, value)
				}
			}
		}
		f.Shell.Commands = append(f.Shell.Commands, c)
	}
	return f
}

func TestConditionCommand(t *testing.T) {
	for _, row := range []struct {
		condition string
		line      string
		want      matcher.Truth
	}{
		{"Bash", "ls", matcher.Yes},
		{"Bash(*)", "ls", matcher.Yes},
		{"Bash()", "ls", matcher.Yes},
		{"Read", "ls", matcher.No},
		{"Bash(git push:*)", "git push", matcher.Yes},
		{"Bash(git push:*)", "git push -f origin", matcher.Yes},
		{"Bash(git push:*)", "cd x ; git push", matcher.Yes},
		{"Bash(git push:*)", "/usr/bin/git push", matcher.Yes},
		{"Bash(git push:*)", "git -v push origin", matcher.Yes},
		{"Bash(git push:*)", "git pushx", matcher.No},
		{"Bash(git push:*)", "git", matcher.No},
		{"Bash(git push:*)", "echo git push", matcher.No},
		{"Bash(git push:*)", "git ?", matcher.Unsure},
		{"Bash(git push:*)", "? push", matcher.Unsure},
		{"Bash(git push:*)", "ls ?", matcher.No},
		{"Bash(git push *)", "git push", matcher.Yes},
		{"Bash(git push *)", "git push -f", matcher.Yes},
		{"Bash(git push)", "git push", matcher.Yes},
		{"Bash(git push)", "git push -f", matcher.No},
		{"Bash(/usr/bin/git:*)", "/usr/bin/git push", matcher.Yes},
		{"Bash(/usr/bin/git:*)", "git push", matcher.No},
		{"Bash(npm run *:*)", "npm run test", matcher.Yes},
		{"Bash(* --force)", "git push --force", matcher.Yes},
		{"Bash(* --force)", "git push", matcher.No},
		{"Bash(git * main)", "git push origin main", matcher.Yes},
		{"Bash(git * main)", "git push ?", matcher.Unsure},
		{"Bash(git * main)", "rm ?", matcher.No},
		{"PowerShell(rm:*)", "rm x", matcher.Yes},
	} {
		ev := event("Bash", line(row.line))
		if got := condition(t, row.condition).Match(ev); got != row.want {
			t.Errorf("%s on %q: %v, want %v", row.condition, row.line, got, row.want)
		}
	}
}

func TestConditionPath(t *testing.T) {
	for _, row := range []struct {
		condition, access, path string
		want                    matcher.Truth
	}{
		{"Read(.env)", "read", "/repo/a/.env", matcher.Yes},
		{"Read(.env)", "read", "/repo/.envrc", matcher.No},
		{"Read(.env)", "write", "/repo/.env", matcher.No},
		{"Read(*.pem)", "read", "/etc/x/key.pem", matcher.Yes},
		{"Read(secrets/)", "read", "/repo/a/secrets/b/c", matcher.Yes},
		{"Edit(secrets/**)", "write", "/repo/secrets/b/c", matcher.Yes},
		{"Edit(secrets/**)", "write", "/other/secrets/b", matcher.No},
		{"Edit(./src/*.go)", "write", "/repo/src/a.go", matcher.Yes},
		{"Edit(./src/*.go)", "write", "/repo/src/b/a.go", matcher.No},
		{"Edit(src/**/a.go)", "delete", "/repo/src/x/y/a.go", matcher.Yes},
		{"Edit(src/**/a.go)", "delete", "/repo/src/a.go", matcher.Yes},
		{"Edit(**/a.go)", "write", "/anywhere/x/a.go", matcher.Yes},
		{"Write(//etc/**)", "permissions", "/etc/passwd", matcher.Yes},
		{"Write(/etc/**)", "write", "/etc/passwd", matcher.Yes},
		{"Write(/etc/**)", "write", "/repo/etc/passwd", matcher.Yes},
		{"Write(/etc/**)", "write", "/x/etc/passwd", matcher.No},
		{"Read(~/.ssh/**)", "read", "/home/dev/.ssh/id", matcher.Yes},
		{"Read(~/.ssh/**)", "read", "/Users/dev/.ssh/id", matcher.Yes},
		{"Read(~/.ssh/**)", "read", `C:\Users\dev\.ssh\id`, matcher.Yes},
		{"Read(~/.ssh/**)", "read", "/root/.ssh/id", matcher.Yes},
		{"Read(~/.ssh/**)", "read", "/repo/.ssh/id", matcher.No},
		{"Read(.env)", "read", "", matcher.Unsure},
		{"Read(.env)", "read", "/repo/.e*", matcher.Unsure},
		{"Read(.env)", "read", "/repo/link -> /repo/.env", matcher.Yes},
	} {
		p := hook.Path{Access: row.access, Glob: strings.Contains(row.path, "*")}
		raw, resolved, linked := strings.Cut(row.path, " -> ")
		if raw != "" {
			p.Path = &raw
		}
		if linked {
			p.Resolved = &resolved
		}
		ev := event("Bash", &hook.Facts{Paths: []hook.Path{p}})
		if got := condition(t, row.condition).Match(ev); got != row.want {
			t.Errorf("%s on %s %q: %v, want %v", row.condition, row.access, row.path, got, row.want)
		}
	}
}

func TestConditionOthers(t *testing.T) {
	host := func(h, url string) *hook.Facts {
		f := &hook.Facts{Hosts: []hook.Host{{Host: &h, URL: &url}}}
		if h == "" {
			f.Hosts[0] = hook.Host{}
		}
		return f
	}
	input := func(tool, key, value string) *hook.Event {
		ev := event(tool, &hook.Facts{})
		ev.Fields["tool_input"] = map[string]any{key: value}
		return ev
	}
	for _, row := range []struct {
		condition string
		ev        *hook.Event
		want      matcher.Truth
	}{
		{"WebFetch(domain:example.org)", event("WebFetch", host("Example.org", "")), matcher.Yes},
		{"WebFetch(domain:example.org)", event("WebFetch", host("example.org.", "")), matcher.Yes},
		{"WebFetch(domain:example.org)", event("Bash", host("x.example.org", "")), matcher.No},
		{"WebFetch(domain:*.example.org)", event("Bash", host("x.example.org", "")), matcher.Yes},
		{"WebFetch(domain:example.org)", event("Bash", host("", "")), matcher.Unsure},
		{"WebFetch(https://x.org/*)", event("Bash", host("x.org", "https://x.org/a")), matcher.Yes},
		{"WebFetch(https://x.org/*)", event("Bash", host("x.org", "http://x.org/a")), matcher.No},
		{"mcp__gh__*", event("mcp__gh__create", nil), matcher.Yes},
		{"mcp__gh", event("mcp__gh__create", nil), matcher.Yes},
		{"mcp__gh", event("mcp__ghx__create", nil), matcher.No},
		{"mcp__gh__create", event("mcp__gh__create_more", nil), matcher.No},
		{"Task(reviewer)", input("Agent", "subagent_type", "reviewer"), matcher.Yes},
		{"Agent(review*)", input("Task", "subagent_type", "reviewer"), matcher.Yes},
		{"Agent(other)", input("Agent", "subagent_type", "reviewer"), matcher.No},
		{"Skill(deploy)", input("Skill", "skill", "deploy"), matcher.Yes},
		{"WebSearch(*secret*)", input("WebSearch", "query", "my secret"), matcher.Yes},
		{"Bash(rm:*)", event("Bash", nil), matcher.Unsure},
		{"Bash(rm:*)", event("Bash", &hook.Facts{}), matcher.Unsure},
		{"Bash(rm:*)", event("Read", &hook.Facts{}), matcher.No},
		{"Bash(rm:*)", event("mcp__x__run", &hook.Facts{Opaque: true}), matcher.Unsure},
		{"Read(.env)", event("Bash", &hook.Facts{Opaque: true}), matcher.Unsure},
		{"Read(.env)", event("", &hook.Facts{Opaque: true}), matcher.No},
	} {
		if got := condition(t, row.condition).Match(row.ev); got != row.want {
			t.Errorf("%s on %s: %v, want %v", row.condition, row.ev.Tool(), got, row.want)
		}
	}
}

func TestParseConditionRefuses(t *testing.T) {
	for _, row := range []struct{ condition, message string }{
		{"", "no tool is named"},
		{"(x)", "no tool is named"},
		{"Bash(git", `missing ")"`},
		{"Bash(git) x", `missing ")"`},
		{"Ba sh(x)", "not the name of a tool"},
		{"Bash*(x)", "takes no pattern"},
		{"Bash(:*)", "no command is named"},
		{"Read(../x)", "never matches"},
		{"Read(a[)", `"[" without "]"`},
		{"Read(~/)", ""},
		{"WebFetch(domain:)", "without a name"},
		{"TodoWrite(x)", "no patterns are known"},
		{"mcp__x__y(z)", "no patterns are known"},
		{"Bash(" + strings.Repeat("x", 2000) + ")", "2000 are allowed"},
	} {
		_, err := matcher.ParseCondition(row.condition)
		if row.message == "" {
			if err != nil {
				t.Errorf("%q: %v", row.condition, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), row.message) {
			t.Errorf("%q: %v, want %q", row.condition, err, row.message)
		}
	}
}

func condition(t *testing.T, text string) matcher.Condition {
	t.Helper()
	c, err := matcher.ParseCondition(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func event(tool string, f *hook.Facts) *hook.Event {
	return &hook.Event{Name: hook.PreToolUse, Facts: f, Fields: map[string]any{"tool_name": tool, "cwd": "/repo"}}
}

func ExampleParseCondition() {
	c, err := matcher.ParseCondition("Bash(git push:*)")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Match(event("Bash", line("cd /srv ; git push --force"))))
	fmt.Println(c.Match(event("Bash", line("git ?"))))
	// Output:
	// yes
	// unsure
}

func TestConditionFacts(t *testing.T) {
	push := &hook.Facts{Effects: []hook.FactEffect{{Is: &hook.GitPush{}}}}
	hidden := &hook.Facts{Opaque: true, Unknown: []hook.Unknown{{Kind: "program"}}}
	flows := &hook.Facts{Flow: []hook.Flow{{Origin: "secret", How: "seen"}}}
	for _, row := range []struct {
		condition string
		facts     *hook.Facts
		want      matcher.Truth
	}{
		{"effect(git.push)", push, matcher.Yes},
		{"effect(git.*)", push, matcher.Yes},
		{"effect(*)", push, matcher.Yes},
		{"effect", push, matcher.Yes},
		{"effect(fs.delete)", push, matcher.No},
		{"effect(git.push)", hidden, matcher.No},
		{"effect", hidden, matcher.No},
		{"effect(git.push)", nil, matcher.Unsure},
		{"unknown(program)", hidden, matcher.Yes},
		{"unknown", hidden, matcher.Yes},
		{"unknown(code)", hidden, matcher.No},
		{"unknown", push, matcher.No},
		{"unknown", nil, matcher.Unsure},
		{"flow(secret)", flows, matcher.Yes},
		{"flow", flows, matcher.Yes},
		{"flow(untrusted)", flows, matcher.No},
		{"flow", hidden, matcher.No},
		{"flow(secret)", nil, matcher.Unsure},
	} {
		c, err := matcher.ParseCondition(row.condition)
		if err != nil {
			t.Errorf("%s: %v", row.condition, err)
			continue
		}
		if got := c.Match(&hook.Event{Name: hook.PreToolUse, Facts: row.facts}); got != row.want {
			t.Errorf("%s: %v, want %v", row.condition, got, row.want)
		}
	}
	for _, bad := range []string{"effect(", "effect()", "unknown()", "flow()"} {
		if _, err := matcher.ParseCondition(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func TestConditionAgent(t *testing.T) {
	for _, row := range []struct {
		condition, id string
		want          matcher.Truth
	}{
		{"agent_id(alpha)", "alpha", matcher.Yes},
		{"agent_id(alpha)", "alpha2", matcher.No},
		{"agent_id(alpha)", "", matcher.No},
		{"agent_id(alpha|beta)", "beta", matcher.Yes},
		{"agent_id(agent_*)", "agent_a", matcher.Yes},
		{"agent_id", "x", matcher.Yes},
		{"agent_id", "", matcher.No},
		{"agent_id(!alpha|beta)", "beta", matcher.No},
		{"agent_id(!alpha|beta)", "gamma", matcher.Yes},
		{"agent_id(!alpha)", "", matcher.Yes},
		{"agent_id(alpha)", strings.Repeat("a", 5000), matcher.Unsure},
	} {
		ev := event("Bash", &hook.Facts{})
		if ev.Fields["agent_id"] = row.id; row.id == "" {
			delete(ev.Fields, "agent_id")
		}
		if got := condition(t, row.condition).Match(ev); got != row.want {
			t.Errorf("%s with %.20q: %v, want %v", row.condition, row.id, got, row.want)
		}
	}
	if _, err := matcher.ParseCondition("agent_id(a||b)"); err == nil {
		t.Error("an empty id is accepted")
	}
}
