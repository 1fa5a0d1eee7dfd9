package sources

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/core"
	"gate/internal/session"
)

const someHooks = "---\nname: %\ngate: {hooks: [{events: PreToolUse, command: check}]}\n---\n"

// inSub is for an agent in sub of a project with skills, all below dir.
func inSub(dir string) For {
	project := filepath.Join(dir, "project")
	ev := &hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"cwd": filepath.Join(project, "sub", "below")}}
	return For{Machine: core.Machine{Project: project, Home: filepath.Join(dir, "home")}, Event: ev}
}

// Every file that a name means is found, and no other.
func TestSkillFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{
		"project/.claude/skills/deploy/SKILL.md", "project/sub/.claude/skills/deploy/SKILL.md", "project/.claude/commands/ops/deploy.md",
		"project/.claude/agents/x.md", "project/.claude/agents/more/y.md", "project/secret/SKILL.md", "project/other/.claude/skills/deploy/SKILL.md",
		"elsewhere/linked/SKILL.md", "home/.claude/skills/mine/SKILL.md", "plugins/fmt/skills/deploy/SKILL.md", "plugins/fmt/commands/tidy.md",
	} {
		write(name, strings.Replace(someHooks, "%", "reviewer", 1))
	}
	write("project/.claude/skills/empty/SKILL.md", "---\nname: empty\nhooks: {}\n---\n")
	write("project/.claude/agents/nameless.md", strings.Replace(someHooks, "name: %\n", "", 1))
	for link, to := range map[string]string{"home/.claude/skills/linked": "elsewhere/linked", "project/.claude/skills/out": "elsewhere/linked"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	l := &Loaded{Found: core.Found{Where: map[string]string{"plugin:fmt": filepath.Join(dir, "plugins", "fmt")}}}
	s := inSub(dir)
	for _, row := range []struct {
		kind session.Kind
		name string
		want string
	}{
		{session.Skill, "deploy", "project/.claude/skills/deploy/SKILL.md project/sub/.claude/skills/deploy/SKILL.md"},
		{session.Skill, "ops:deploy", "project/.claude/commands/ops/deploy.md"},
		{session.Skill, "fmt:deploy", "plugins/fmt/skills/deploy/SKILL.md"},
		{session.Skill, "fmt:tidy", "plugins/fmt/commands/tidy.md"},
		{session.Skill, "mine", "home/.claude/skills/mine/SKILL.md"},
		{session.Skill, "linked", "elsewhere/linked/SKILL.md"},
		{session.Skill, "empty", ""},
		{session.Agent, "reviewer", "project/.claude/agents/more/y.md project/.claude/agents/x.md"},
		{session.Agent, "nameless", "project/.claude/agents/nameless.md"},
		{session.Agent, "x", ""},
		{session.Skill, "out", "project/.claude/skills/out/SKILL.md: out is a symbolic link"},
	} {
		var got []string
		for _, f := range l.filesOf(s, row.kind, row.name) {
			name, err := filepath.Rel(dir, f.path)
			if err != nil {
				t.Fatal(err)
			}
			name = filepath.ToSlash(name)
			if f.err != nil {
				_, why, _ := strings.Cut(f.err.Error(), ".claude/skills/")
				name += ": " + strings.TrimSuffix(strings.SplitAfter(why, "link")[0], "\n")
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%s %s: %q\nwant %q", row.kind, row.name, got, row.want)
		}
	}
	if f := l.filesOf(s, session.Skill, "out"); len(f) != 1 || f[0].err == nil {
		t.Errorf("a link out of the project is followed: %+v", f)
	}
}

// A name never leads out of where skills lie.
func FuzzSkillNames(f *testing.F) {
	for _, name := range []string{"deploy", "../secret", "..", ".", "", "a:b", ":", "a:../..:b", `..\..\secret`, "/etc", "deploy/../../..", "\x00", "deploy:"} {
		f.Add(name)
	}
	dir := f.TempDir()
	project := filepath.Join(dir, "project")
	for _, at := range []string{"secret", "project/secret", "project/.claude/secret", "project/.claude/skills/deploy"} {
		at = filepath.Join(dir, filepath.FromSlash(at))
		if err := os.MkdirAll(at, 0o700); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "SKILL.md"), []byte(someHooks), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	l := &Loaded{Found: core.Found{Where: map[string]string{}}}
	s := For{Machine: core.Machine{Project: project}, Event: &hook.Event{}}
	f.Fuzz(func(t *testing.T, name string) {
		for _, kind := range []session.Kind{session.Skill, session.Agent} {
			for _, found := range l.filesOf(s, kind, name) {
				if !strings.EqualFold(name, "deploy") && found.head.Hooks || !isBelow(filepath.Join(project, ".claude"), found.path) {
					t.Errorf("%q leads to %s", name, found.path)
				}
			}
		}
	})
}
