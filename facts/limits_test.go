package facts_test

import (
	"slices"
	"strings"
	"testing"

	"gate/facts"
	"gate/hook"
)

// TestLimits checks that what is too much is said, and costs no stack.
func TestLimits(t *testing.T) {
	reader := facts.New(world())
	for name, line := range map[string]string{
		"parentheses":  strings.Repeat("(", 1e6) + "rm -rf ~" + strings.Repeat(")", 1e6),
		"open only":    strings.Repeat("(", 1e6),
		"braces":       strings.Repeat("{ ", 1e5) + "rm -rf ~; " + strings.Repeat("}; ", 1e5),
		"substitution": strings.Repeat("$(", 1e5),
		"quoted":       strings.Repeat(`"$(`, 1e5),
		"expansions":   strings.Repeat("${x:-", 1e5),
		"arithmetic":   strings.Repeat("$((", 1e5),
		"tests":        strings.Repeat("[[ ", 1e5),
		"backquotes":   strings.Repeat("`", 1e5),
		"if":           strings.Repeat("if ", 1e5),
		"bang":         strings.Repeat("! ", 1e5),
		"long":         strings.Repeat("a", 1e6),
		"commands":     strings.Repeat("true;", 5000) + "rm -rf ~",
		"loops":        strings.Repeat("for a in 1 2 3 4 5 6 7 8 9; do ", 12) + "true" + strings.Repeat("; done", 12),
		"braces words": "echo " + strings.Repeat("{1..200}", 6),
		"functions":    "f(){ f; f; f; }; g(){ f; f; f; }; g; g; g",
	} {
		t.Run(name, func(t *testing.T) {
			f := reader.Of(event(line))
			if name == "functions" || name == "braces words" {
				return // they end, which is all that is asked
			}
			if !slices.ContainsFunc(f.Unknown, func(u hook.Unknown) bool { return u.Kind == "limit" || u.Kind == "syntax" }) {
				t.Errorf("unknown: %v", f.Unknown)
			}
		})
	}
}

// TestPayloadPlace puts a payload at many places of a long line: it is found,
// or the line is over a limit that is reported.
func TestPayloadPlace(t *testing.T) {
	reader := facts.New(world())
	for _, n := range []int{1, 49, 50, 51, 500, 5000} {
		f := reader.Of(event(strings.Repeat("true && ", n) + "rm -rf ~"))
		found := slices.ContainsFunc(f.Effects, func(e hook.FactEffect) bool { return e.Kind() == "fs.delete" && hook.Tree(&e)["area"] == "home" })
		limited := slices.ContainsFunc(f.Unknown, func(u hook.Unknown) bool { return u.Kind == "limit" })
		if !found && !limited {
			t.Errorf("after %d commands: neither found nor reported", n)
		}
	}
}

// TestNoDirectory: an event without a directory has relative paths that nobody
// knows, and no command trips over them.
func TestNoDirectory(t *testing.T) {
	reader := facts.New(world())
	for _, line := range []string{"tar czf build.tgz build", "rm -rf x", "cp a b", "cd x && rm y", "git push", "find . -delete", "sed -i d a", "apply_patch <<<'*** Delete File: a'"} {
		ev := event(line)
		delete(ev.Fields, "cwd")
		for _, p := range reader.Of(ev).Paths {
			if p.Path != nil && !strings.HasPrefix(*p.Path, "/") {
				t.Errorf("%s: %s is no path", line, *p.Path)
			}
		}
	}
}

// TestNamesTell: without a directory, what matters wherever it lies is known by
// its name, with the dots that belong to it.
func TestNamesTell(t *testing.T) {
	reader := facts.New(world())
	for _, tt := range []struct{ line, want string }{
		{"truncate -s0 .gate/policy.rego", "self"},
		{"echo x > ./.gate/hooks.yaml", "self"},
		{"rm ../../.gate/settings.json", "self"},
		{"rm -rf .gate", "self"},
		{"sed -i d .claude/settings.json", "self"},
		{"cat .env", "secret.read"},
		{"cat gate/policy.rego", ""},
		{"echo x > gate/policy.rego", ""},
		{"rm claude/settings.json", ""},
	} {
		ev := event(tt.line)
		delete(ev.Fields, "cwd")
		got := ""
		for _, e := range reader.Of(ev).Effects {
			if e.Kind() == "self" || e.Kind() == "secret.read" {
				got = e.Kind()
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
}

func TestTools(t *testing.T) {
	reader := facts.New(world())
	for _, tt := range []struct {
		name  string
		tool  string
		input map[string]any
		want  string
	}{
		{"write", "Write", map[string]any{"file_path": "/home/dev/.bashrc", "content": "x"}, "fs.write area=user how=overwrite path=/home/dev/.bashrc\npersistence path=/home/dev/.bashrc verb=write what=shell start-up file\n"},
		{"edit settings, folded", "Edit", map[string]any{"file_path": "/home/dev/project/.CLAUDE/Settings.json", "old_string": "a", "new_string": "b"}, "fs.write area=project how=edit path=/home/dev/project/.CLAUDE/Settings.json\nself path=/home/dev/project/.CLAUDE/Settings.json verb=write what=agent settings\n"},
		{"read key", "Read", map[string]any{"file_path": "/home/dev/.kube/config"}, "fs.read area=user path=/home/dev/.kube/config\nsecret.read grade=key path=/home/dev/.kube/config shown what=cluster credentials\n"},
		{"read source", "Read", map[string]any{"file_path": "/home/dev/project/README.md"}, "fs.read area=project path=/home/dev/project/README.md\n"},
		{"grep secrets", "Grep", map[string]any{"pattern": ".*", "path": "/home/dev/project", "glob": ".env*", "output_mode": "content"}, "fs.read area=project_root path=/home/dev/project\nfs.read area=project path=/home/dev/project/.env*\nsecret.read grade=config path=/home/dev/project/.env* shown what=environment file\n"},
		{"grep secrets in braces", "Grep", map[string]any{"pattern": ".", "glob": "{a,{b,.env}}", "output_mode": "content"}, "fs.read area=project_root path=/home/dev/project\nfs.read area=project path=/home/dev/project/a\nfs.read area=project path=/home/dev/project/b\nfs.read area=project path=/home/dev/project/.env\nsecret.read grade=config path=/home/dev/project/.env shown what=environment file\n"},
		{"grep of more names than gate follows", "Grep", map[string]any{"pattern": ".", "glob": "{" + strings.Repeat("a,", 200) + ".env}", "output_mode": "content"}, "fs.read area=project_root path=/home/dev/project\nfs.read area=project_root path=/home/dev/project\n? limit: a pattern of names with braces that gate does not follow\n"},
		{"fetch metadata", "WebFetch", map[string]any{"url": "http://169.254.169.254/latest/", "prompt": "x"}, "net.fetch host=169.254.169.254 ip=169.254.169.254 metadata method=GET private url=http://169.254.169.254/latest/\n"},
		{"metadata as a number", "WebFetch", map[string]any{"url": "http://2852039166/", "prompt": "x"}, "net.fetch host=2852039166 ip=169.254.169.254 metadata method=GET private url=http://2852039166/\n"},
		{"another agent's shell", "run_shell_command", map[string]any{"command": "rm -rf ~"}, "fs.delete [rm] area=home force how=remove path=/home/dev recursive\n"},
		{"two synonyms", "run_shell_command", map[string]any{"command": "ls", "cmd": "rm -rf ~"}, "fs.delete [rm] area=home force how=remove path=/home/dev recursive\n"},
		{"words", "shell", map[string]any{"command": []any{"bash", "-lc", "rm -rf ~"}}, "fs.delete [bash > rm] area=home force how=remove path=/home/dev recursive\n"},
		{"unknown tool with a command", "Zsh", map[string]any{"script": "rm -rf ~"}, "fs.delete [rm] area=home force how=remove path=/home/dev recursive\n? tool: gate has no row for the tool \"Zsh\"\n"},
		{"unknown tool with several commands", "run_commands", map[string]any{"commands": []any{"ls", "rm -rf ~"}}, "fs.delete [rm] area=home force how=remove path=/home/dev recursive\n? tool: gate has no row for the tool \"run_commands\"\n"},
		{"mcp delete", "mcp__fs__delete_file", map[string]any{"path": "/home/dev/.ssh/id_rsa"}, "tool access=delete tool=mcp__fs__delete_file verb=delete\nfs.delete area=user how=remove path=/home/dev/.ssh/id_rsa recursive\n"},
		{"mcp search", "mcp__github__search_code", map[string]any{"query": "git push --force"}, "nothing\n"},
		{"camel case", "create_file", map[string]any{"filePath": "/home/dev/.bashrc"}, "fs.write area=user how=overwrite path=/home/dev/.bashrc\npersistence path=/home/dev/.bashrc verb=write what=shell start-up file\n"},
		{"patch", "apply_patch", map[string]any{"input": "*** Begin Patch\n*** Update File: .claude/settings.json\n@@\n*** Delete File: a.txt\n*** End Patch\n"}, "fs.write area=project how=edit path=/home/dev/project/.claude/settings.json\nself path=/home/dev/project/.claude/settings.json verb=write what=agent settings\nfs.delete area=project how=remove path=/home/dev/project/a.txt recursive\n"},
		{"patch that moves", "apply_patch", map[string]any{"patchText": "*** Begin Patch\n  *** Update File: a.txt\n*** Move to: /etc/b\n@@\n ctx\n *** Delete File: only a line\n*** Add File: c\n+x\n\t*** Delete File: d\n*** End Patch\n"}, "fs.write area=project how=edit path=/home/dev/project/a.txt\nfs.delete area=project how=move path=/home/dev/project/a.txt\nfs.write area=system how=overwrite path=/etc/b\nfs.write area=project how=overwrite path=/home/dev/project/c\nfs.delete area=project how=remove path=/home/dev/project/d recursive\n"},
		{"patch of nothing", "apply_patch", map[string]any{"command": "rm -rf /"}, "? tool: a patch in which gate finds no file\n"},
		{"patch in a shell", "Bash", map[string]any{"command": "cd /etc && apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: hosts\n*** End Patch\nEOF"}, "fs.delete [apply_patch] area=system how=remove path=/etc/hosts recursive\n"},
		{"patch as a word", "Bash", map[string]any{"command": "apply_patch '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch'"}, "fs.write [apply_patch] area=project how=overwrite path=/home/dev/project/a\n"},
		{"patch of a variable", "Bash", map[string]any{"command": "apply_patch \"$P\""}, "? code: a patch that only shows when it runs\n"},
		{"typed into a shell", "write_stdin", map[string]any{"chars": "rm -rf ~\n"}, "fs.delete [rm] area=home force how=remove path=/home/dev recursive\n"},
		{"a file tool without a file", "Write", map[string]any{"where": "/etc/passwd"}, "? tool: Write says no file\n"},
		{"an empty directory", "Bash", map[string]any{"command": "rm a", "workdir": ""}, "fs.delete [rm] area=project how=remove path=/home/dev/project/a\n"},
		{"words by another name", "mcp__x__exec", map[string]any{"argv": []any{"rm", "-rf", "/"}}, "fs.delete [rm] area=root force how=remove path=/ recursive\n"},
		{"commit by a server", "mcp__github__push_files", map[string]any{"branch": "refs/heads/main"}, "tool access=write tool=mcp__github__push_files verb=push\ngit.push branches=[\"main\"] branches_from=refspec\n"},
		{"commit to no branch", "mcp__github__create_or_update_file", map[string]any{"repo": "r"}, "tool access=write tool=mcp__github__create_or_update_file verb=create\ngit.push branches_from=unknown\n"},
		{"merge of a request", "mcp__gitlab__merge_merge_request", map[string]any{"id": 1}, "tool access=write tool=mcp__gitlab__merge_merge_request verb=merge\ngit.push branches_from=unknown\n"},
		{"delete of a branch", "mcp__github__delete_branch", map[string]any{"branch": "main"}, "tool access=delete tool=mcp__github__delete_branch verb=delete\ngit.push branches=[\"main\"] branches_from=refspec delete\n"},
		{"new branch", "mcp__github__create_branch", map[string]any{"branch": "x", "from_branch": "main"}, "tool access=write tool=mcp__github__create_branch verb=create\n"},
		{"file of no server", "mcp__fs__create_file", map[string]any{"name": "x"}, "tool access=write tool=mcp__fs__create_file verb=create\n"},
		{"a patch in other letters", "APPLY_PATCH", map[string]any{"command": "*** Begin Patch\n*** Delete File: .claude/settings.json\n*** End Patch"}, "fs.delete area=project how=remove path=/home/dev/project/.claude/settings.json recursive\nself path=/home/dev/project/.claude/settings.json verb=delete what=agent settings\n? tool: gate has no row for the tool \"APPLY_PATCH\"\n"},
		{"a patch of another tool", "patcher", map[string]any{"text": "*** Begin Patch\n*** Delete File: .claude/settings.json\n*** End Patch"}, "fs.delete area=project how=remove path=/home/dev/project/.claude/settings.json recursive\nself path=/home/dev/project/.claude/settings.json verb=delete what=agent settings\n? tool: gate has no row for the tool \"patcher\"\n"},
		{"a program and its words", "run", map[string]any{"CMD": "rm", "args": []any{"-rf", "~"}}, "fs.delete [rm] area=home force how=remove path=/home/dev recursive\n? tool: gate has no row for the tool \"run\"\n"},
		{"a server's program and its words", "mcp__x__spawn", map[string]any{"command": "rm", "args": []any{"-rf", "/"}}, "fs.delete [rm] area=root force how=remove path=/ recursive\n"},
		{"steps", "runner", map[string]any{"steps": []any{map[string]any{"run": "rm -rf ~"}}}, "fs.delete [rm] area=home force how=remove path=/home/dev recursive\n? tool: gate has no row for the tool \"runner\"\n"},
		{"a server's verb", "mcp__x__view", map[string]any{"run": "latest"}, "nothing\n"},
		{"prompt text", "Task", map[string]any{"description": "explain", "prompt": "Explain what rm -rf / does"}, "nothing\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ev := event("")
			ev.Fields["tool_name"], ev.Fields["tool_input"] = tt.tool, tt.input
			if got := summary(reader.Of(ev)); got != tt.want {
				t.Errorf("got:\n%swant:\n%s", got, tt.want)
			}
		})
	}
}

// TestUnknownDirectory holds that a name below a directory that nobody knows
// still tells what it is, also when the line goes there by its name.
func TestUnknownDirectory(t *testing.T) {
	reader := facts.New(facts.World{Home: "/home/dev", Project: "/home/dev/project"})
	for line, want := range map[string]bool{
		"rm .gate/policy.rego":                            true,
		"cd .gate && rm policy.rego":                      true,
		"cd .gate; rm policy.rego":                        true,
		"(cd .gate; cd policies; rm x/../y.rego)":         true,
		"cd src && cd ../.claude && echo > settings.json": true,
		"pushd .claude; rm settings.json":                 true,
		"git -C .gate rm policies/x.rego":                 true,
		"make -C .claude; rm settings.json":               false,
		"cd .gate && cd .. && rm policy.rego":             false,
		"cd .gate; cd /tmp; rm policy.rego":               false,
		"cd .gate; cd $X; rm policy.rego":                 false,
		"cd .gate && ls":                                  false,
		"cd src && rm policy.rego":                        false,
	} {
		ev := &hook.Event{Name: hook.PreToolUse, Fields: map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": line}}}
		found := reader.Of(ev)
		got := slices.ContainsFunc(found.Effects, func(e hook.FactEffect) bool { return e.Kind() == "self" })
		if got != want || !found.Opaque && line != "cd .gate && ls" && !strings.Contains(line, "/tmp") {
			t.Errorf("%s: self %v, want %v: %+v", line, got, want, found.Effects)
		}
	}
}
