package policies_test

import (
	"path"
	"strings"
	"testing"

	"gate/hook"
)

// spellings are ways to write one path, seen from the project: T20.
func spellings(p string) []string {
	dir, base := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	above, last := path.Split(dir)
	relative := "../../.." + p // from /home/dev/project
	return []string{
		p,
		strings.ReplaceAll(p, "/", "//"),
		dir + "/./" + base,
		dir + "/x/../" + base,
		dir + "/../" + last + "/" + base,
		above + "./" + last + "/./" + base,
		relative,
		"./" + relative,
		"x/../" + relative,
		"x/y/../../" + relative,
		"/../.." + p,
		"/tmp/.." + p,
		"/proc/self/cwd/" + relative,
		"/proc/self/root" + p,
		above + strings.ToUpper(last) + "/" + base,
		dir + "/" + strings.ToUpper(base),
		"file://" + p,
	}
}

// guarded are paths that only a person may change.
var guarded = []string{
	"/home/dev/.claude/settings.json", "/home/dev/project/.claude/settings.json", "/home/dev/project/.gate/policies/x.rego",
	"/home/dev/.config/gate/gate.yaml", "/home/dev/.bashrc", "/home/dev/project/.git/hooks/pre-commit",
}

// TestThreatSpellings writes each guarded path in each spelling, with each kind of tool.
func TestThreatSpellings(t *testing.T) {
	decide := decider(t)
	for _, p := range guarded {
		all := spellings(p)
		if len(all) < 15 {
			t.Fatalf("%d spellings", len(all))
		}
		for _, s := range all {
			for _, call := range []map[string]any{
				{"tool": "Write", "input": map[string]any{"file_path": s, "content": "x"}},
				{"tool": "Edit", "input": map[string]any{"file_path": s, "old_string": "a", "new_string": "b"}},
				{"tool": "mcp__fs__write_file", "input": map[string]any{"path": s, "content": "x"}},
				{"tool": "mcp__fs__edit_file", "input": map[string]any{"path": s}},
				{"bash": "echo x > " + s}, {"bash": "rm -f " + s}, {"bash": "cp a " + s},
			} {
				if call["bash"] != nil && strings.HasPrefix(s, "file:") {
					continue // of a shell's file names it is none
				}
				if d := decide(call); d.Effect < hook.Ask {
					t.Errorf("%v: %s", call, d.Effect)
				}
			}
		}
	}
}

// readers are calls that read one path, by each way that the catalogue of tools knows and
// by tools that nobody knows: T27.
func readers(p string) []map[string]any {
	dir, base := path.Split(p)
	of := func(tool string, input map[string]any) map[string]any {
		return map[string]any{"tool": tool, "input": input}
	}
	shell := func(line string) map[string]any { return map[string]any{"bash": line} }
	return []map[string]any{
		of("Read", map[string]any{"file_path": p}),
		of("Grep", map[string]any{"pattern": ".", "path": p, "output_mode": "content"}),
		of("Grep", map[string]any{"pattern": ".", "path": dir, "glob": base, "output_mode": "content"}),
		of("NotebookRead", map[string]any{"notebook_path": p}),
		of("ReadMcpResource", map[string]any{"server": "x", "uri": "file://" + p}),
		of("WebFetch", map[string]any{"url": "file://" + p, "prompt": "x"}),
		of("view", map[string]any{"path": p}),
		of("read_file", map[string]any{"absolute_path": p}),
		of("read_many_files", map[string]any{"paths": []any{p}}),
		of("mcp__filesystem__read_text_file", map[string]any{"path": p}),
		of("mcp__filesystem__read_multiple_files", map[string]any{"paths": []any{p}}),
		of("mcp__x__anything", map[string]any{"thing": p}),
		of("mcp__x__anything", map[string]any{"path": p}),
		of("mcp__x__anything", map[string]any{"deep": map[string]any{"er": []any{p}}}),
		of("mcp__x__anything", map[string]any{"thing": "file://" + p}),
		of("mcp__x__anything", map[string]any{"thing": strings.Replace(p, "/home/dev", "~", 1)}),
		of("SomeNewTool", map[string]any{"thing": p}),
		shell("cat " + p),
		shell("docker run -v " + p + ":/k alpine cat /k"),
		shell("docker run --mount type=bind,src=" + p + ",dst=/k alpine cat /k"),
		shell("docker cp " + p + " x:/"),
		shell("git diff --no-index /dev/null " + p),
	}
}

// TestThreatReaders reads a key and a file of secrets through every tool.
func TestThreatReaders(t *testing.T) {
	decide := decider(t)
	for _, p := range []string{"/home/dev/.ssh/id_rsa", "/home/dev/project/.env", "/home/dev/.aws/credentials"} {
		for _, call := range readers(p) {
			if d := decide(call); d.Effect < hook.Ask {
				t.Errorf("%v: %s", call, d.Effect)
			}
		}
	}
	for _, line := range []string{"git show :.env", "git show HEAD:.env", "git cat-file -p :.env", "git grep . -- .env"} {
		if d := decide(line); d.Effect < hook.Ask {
			t.Errorf("%s: %s", line, d.Effect)
		}
	}
	for _, call := range readers("/home/dev/project/README.md") {
		if call["tool"] == "WebFetch" || call["tool"] == "ReadMcpResource" {
			continue // a URL of a file is a question of its own
		}
		if d := decide(call); d.Effect != hook.Pass {
			t.Errorf("%v: %s: %q", call, d.Effect, said(d))
		}
	}
	for _, call := range []map[string]any{
		{"tool": "mcp__fs__list_directory", "input": map[string]any{"path": "/home/dev/.ssh"}},
		{"tool": "mcp__fs__get_file_info", "input": map[string]any{"path": "/home/dev/.ssh/id_rsa"}},
		{"tool": "mcp__api__call", "input": map[string]any{"route": "/users/7", "text": "see ~/.ssh/id_rsa"}},
	} {
		if d := decide(call); d.Effect != hook.Pass {
			t.Errorf("%v: %s: %q", call, d.Effect, said(d))
		}
	}
}
