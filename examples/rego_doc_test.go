package examples_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gate/facts"
	"gate/hook"
	"gate/internal/load"
	"gate/internal/policytest"
	"gate/internal/rego"
	"gate/policies"
	"gate/scopes"
)

var update = flag.Bool("update", false, "write the cookbook into docs/rego.md")

const regoPage = "../docs/rego.md"

func page(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// section returns the part of a page below a heading.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	level := heading[:strings.IndexByte(heading, ' ')+1]
	_, rest, ok := strings.Cut(text, "\n"+heading+"\n")
	if !ok {
		t.Fatalf("%s has no %q", regoPage, heading)
	}
	rest, _, _ = strings.Cut(rest, "\n"+level)
	return rest
}

// cells returns the rows of the tables in a text, without heads.
func cells(text string) [][]string {
	var rows [][]string
	for _, block := range regexp.MustCompile(`(?m)(^\|.*\n)+`).FindAllString(text, -1) {
		for i, line := range strings.Split(strings.TrimSpace(block), "\n") {
			if i < 2 {
				continue
			}
			line = strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00")
			var row []string
			for _, c := range strings.Split(line, "|") {
				row = append(row, strings.ReplaceAll(strings.TrimSpace(c), "\x00", "|"))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// spans returns the texts in backquotes.
func spans(cell string) []string {
	var out []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}

// same reports what stands in one list only.
func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	for _, g := range got {
		if !slices.Contains(want, g) {
			t.Errorf("%s: the page has %s, the program does not", what, g)
		}
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("%s: the page lacks %s", what, w)
		}
	}
	if len(want) == 0 {
		t.Errorf("%s: nothing to compare with", what)
	}
}

// known returns the words that a load error says it knows.
func known(t *testing.T, policy string) []string {
	t.Helper()
	src := load.Rego(fstest.MapFS{"x.rego": {Data: []byte(policy)}}, scopes.Source{Scope: hook.Session, Authority: hook.User})
	for i := range src.Faults {
		if _, list, ok := strings.Cut(src.Faults[i].Error(), "it knows "); ok {
			return strings.Split(list, ", ")
		}
	}
	t.Fatalf("no error says what is known: %v", src.Faults)
	return nil
}

// TestContract holds the keys of METADATA and of the rules' members.
func TestContract(t *testing.T) {
	text := page(t, regoPage)
	var keys []string
	for _, row := range cells(section(t, text, "## METADATA")) {
		keys = append(keys, spans(row[0])...)
	}
	const head = "# METADATA\n# custom:\n#   gate:\n#     events: [PreToolUse]\n"
	same(t, "METADATA", keys, known(t, head+"#     zzzzzz: 1\npackage a.b\n\ndeny contains \"x\"\n"))

	last := []string(nil)
	for _, row := range cells(section(t, text, "## The ten rules")) {
		if len(row) < 4 {
			continue
		}
		listed := spans(row[2])
		if row[2] == "the same" {
			listed = slices.Clone(last)
		}
		last = slices.Clone(listed)
		name := spans(row[0])[0]
		want := known(t, head+"package a.b\n\n"+name+" contains {\"zzzzzz\": 1}\n")
		want = slices.DeleteFunc(want, func(k string) bool { return name == "modify" && k == "id" })
		same(t, name, listed, want)
	}
}

// TestBuiltins holds the builtins that the page says are not for everybody.
func TestBuiltins(t *testing.T) {
	all := map[string]rego.Builtin{}
	for _, b := range rego.Builtins() {
		all[b.Name] = b
	}
	for i, row := range cells(section(t, page(t, regoPage), "## Builtins")) {
		for _, name := range spans(row[1]) {
			found := false
			for _, b := range all {
				if ok, _ := path.Match(name, b.Name); !ok {
					continue
				}
				found = true
				if b.Others || b.Managed != (i == 0) {
					t.Errorf("%s (%s) is granted otherwise than the page says", b.Name, name)
				}
			}
			if !found {
				t.Errorf("there is no builtin %s", name)
			}
		}
	}
}

// TestInput holds what gate adds to an event.
func TestInput(t *testing.T) {
	ev := hook.Event{Native: map[string]any{}, Gate: hook.Gate{}}
	doc := ev.Document()
	want := slices.Collect(maps.Keys(doc))
	for k := range doc["gate"].(map[string]any) {
		want = append(want, "gate."+k)
	}
	var listed []string
	table, _, _ := strings.Cut(section(t, page(t, regoPage), "## Input"), "### ")
	for _, row := range cells(table) {
		listed = append(listed, spans(row[0])...)
	}
	same(t, "input", listed, want)
}

// TestFactFields holds the paths of the facts' document.
func TestFactFields(t *testing.T) {
	full := hook.Facts{
		Unknown: []hook.Unknown{{}}, Code: []hook.Code{{Calls: []string{"f"}}}, Hosts: []hook.Host{{}}, Paths: []hook.Path{{}}, Signs: []hook.Sign{{}},
		Effects: []hook.FactEffect{{Is: &hook.OwnEffect{Fields: []hook.OwnField{{Name: "*", Value: "x"}}}}},
		Shell: &hook.Shell{Commands: []hook.ShellCommand{{
			Operands: []*string{nil}, Options: map[string][]any{"*": {true}}, Words: []hook.Word{{}}, Env: map[string]*string{"*": nil},
			Via: []string{"sudo"}, Redirects: []hook.Redirect{{}}, Stdin: &hook.Stdin{},
			Repository: &hook.Repository{Starts: []string{"x"}, Remotes: []string{"x"}, Secrets: []string{"x"}},
		}}, Ground: &hook.Ground{Assigns: []string{"x"}, Forms: []string{"x"}, Programs: []string{"x"}, Leaves: []string{"x"}, Whole: []string{"x"}, Secrets: []string{"x"}}},
	}
	var want []string
	paths(full.Document(), "", &want)
	// Of these null has a meaning of its own.
	want = append(want, "shell", "shell.commands[].stdin", "shell.commands[].repository", "shell.ground")
	var listed []string
	for _, row := range cells(section(t, page(t, regoPage), "## Facts")) {
		listed = append(listed, spans(row[0])...)
	}
	same(t, "facts", listed, want)
}

// paths lists the ways to what is neither object nor list.
func paths(v any, at string, out *[]string) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			paths(e, strings.TrimPrefix(at+"."+k, "."), out)
		}
	case []any:
		for _, e := range v {
			paths(e, at+"[]", out)
		}
	default:
		*out = append(*out, at)
	}
}

// TestEffectCatalogue runs the examples of every kind, and holds the fields and
// types of its effects. The kinds are those of docs/facts.md.
func TestEffectCatalogue(t *testing.T) {
	var listed, want []string
	_, kinds, _ := strings.Cut(page(t, "../docs/facts.md"), "\n| kind | ")
	for _, row := range cells("| kind | " + kinds) {
		want = append(want, spans(row[0])...)
	}
	reader := facts.New(facts.World{Home: "/home/dev", User: "dev", OS: "linux", Project: "/home/dev/project"})
	for _, row := range cells(section(t, page(t, regoPage), "## Effects")) {
		kind := spans(row[0])[0]
		listed = append(listed, kind)
		fields := map[string]string{}
		for _, m := range regexp.MustCompile("`([a-z_]+)` ([a-z]+\\??)").FindAllStringSubmatch(row[1], -1) {
			fields[m[1]] = m[2]
		}
		seen := map[string]bool{}
		for _, line := range spans(row[2]) {
			tool, input := "Bash", map[string]any{"command": line}
			if strings.HasPrefix(line, "mcp__") {
				tool, input = line, map[string]any{}
			}
			ev := hook.Event{Name: hook.PreToolUse, Agent: "claude", Fields: map[string]any{
				"cwd": "/home/dev/project", "tool_name": tool, "tool_input": input,
			}}
			n := 0
			for _, e := range reader.Of(&ev).Effects {
				if e.Kind() != kind {
					continue
				}
				n++
				for name, at := range hook.Members(&e) {
					v := hook.Plain(at)
					if name == "kind" || name == "command" {
						continue
					}
					seen[name] = true
					if !holds(fields[name], v) {
						t.Errorf("%s: %s: %s is %v, and %q on the page", kind, line, name, v, fields[name])
					}
				}
			}
			if n == 0 {
				t.Errorf("%s is not what %q does", kind, line)
			}
		}
		for name := range fields {
			if !seen[name] {
				t.Errorf("%s: no example has %s", kind, name)
			}
		}
	}
	same(t, "effects", listed, want)
}

func holds(kind string, v any) bool {
	if kind == "any" {
		return true
	}
	kind, null := strings.CutSuffix(kind, "?")
	switch v.(type) {
	case nil:
		return null
	case string:
		return kind == "text"
	case bool:
		return kind == "bool"
	case []any:
		return kind == "list"
	}
	return false
}

// TestLibrary holds the functions of data.gate.lib to the page, and the page's
// examples to what is true.
func TestLibrary(t *testing.T) {
	lib, err := fs.ReadFile(policies.FS(), "gate/lib/lib.rego")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, m := range regexp.MustCompile(`(?m)^# METADATA\n(?:#.*\n)+([a-z_]+)\(`).FindAllStringSubmatch(string(lib), -1) {
		want = append(want, m[1])
	}
	text := section(t, page(t, regoPage), "## data.gate.lib")
	line := regexp.MustCompile("(?s)for the line `([^`]+)`").FindStringSubmatch(text)[1]
	var listed []string
	code := "package acme.page\n\nimport data.gate.lib\n"
	tests := "package acme.page_test\n\nimport data.acme.page\n"
	for _, row := range cells(text) {
		name, _, _ := strings.Cut(spans(row[0])[0], "(")
		listed = append(listed, name)
		code += fmt.Sprintf("\n%s if {\n\t%s\n}\n", name, strings.ReplaceAll(spans(row[2])[0], "; ", "\n\t"))
		tests += fmt.Sprintf("\ntest_%s if page.%s with input as gate.event(`%s`)\n", name, name, line)
	}
	same(t, "data.gate.lib", listed, want)
	runPage(t, fstest.MapFS{"page.rego": {Data: []byte(code)}, "page_test.rego": {Data: []byte(tests)}}, len(listed))
}

// TestBlocks runs the Rego that stands above the cookbook: policies and tests.
func TestBlocks(t *testing.T) {
	text, _, _ := strings.Cut(page(t, regoPage), "\n## Cookbook\n")
	files := fstest.MapFS{}
	for _, m := range regexp.MustCompile("(?ms)^```rego\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`(?m)^package (?:\w+\.)*(\w+)$`).FindStringSubmatch(m[1])[1]
		files[name+".rego"] = &fstest.MapFile{Data: []byte(m[1])}
	}
	runPage(t, files, 2)
}

func runPage(t *testing.T, files fstest.MapFS, least int) {
	t.Helper()
	lib, _ := load.Lib(policies.FS())
	results, err := policytest.Run(context.Background(), policytest.Options{
		Files: files, Lib: lib, Timeout: patience, Source: scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if !r.Passed() {
			t.Errorf("%s: %s %v", r.Name, r.Message, r.Err)
		}
	}
	if len(results) < least {
		t.Errorf("%d tests, want %d", len(results), least)
	}
}
