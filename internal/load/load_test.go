package load_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/strictjson"
	"gate/scopes"
)

var update = flag.Bool("update", false, "write what the cases load into testdata")

// TestCases loads the trees in testdata, as a managed source or, if the
// comment begins with it, as the one it names. "want" describes the source.
func TestCases(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases (%v)", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tree := fstest.MapFS{}
			want := -1
			for i, f := range ar.Files {
				if f.Name == "want" {
					want = i
					continue
				}
				tree[f.Name] = &fstest.MapFile{Data: f.Data}
			}
			got := describe(load.Rego(tree, into(string(ar.Comment))))
			if *update {
				ar.Files[want].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(ar.Files[want].Data) {
				t.Errorf("%s--- got ---\n%s--- want ---\n%s", ar.Comment, got, ar.Files[want].Data)
			}
		})
	}
}

func into(comment string) scopes.Source {
	switch {
	case strings.HasPrefix(comment, "Library"):
		return scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true}
	case strings.HasPrefix(comment, "Project"):
		return scopes.Source{Name: "project", Scope: hook.Session, Authority: hook.Project}
	}
	return scopes.Source{Name: "managed:acme", Scope: hook.Policy, Authority: hook.Managed}
}

func describe(src scopes.Source) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, h := range src.Hooks {
		line("hook %s at %s, %s %s of %s, on %v", h.ID, h.Pos(), h.Scope, h.Authority, h.Source, h.Events)
		if h.Title != "" || h.Description != "" {
			line("  %q: %q", h.Title, h.Description)
		}
		if h.Matcher != "" || h.If != nil || h.Priority != 0 || h.Timeout != 0 || h.OnFault != "" || h.Opaque {
			line("  matcher %q, if %q, priority %d, timeout %v, on_fault %q, opaque %v", h.Matcher, h.If, h.Priority, h.Timeout, h.OnFault, h.Opaque)
		}
		if h.Serves != nil {
			line("  serves %v", h.Serves)
		}
		params := map[string]any{}
		for name, p := range h.Params {
			params[name] = map[string]any{"type": p.Type, "default": p.Default, "description": p.Description}
		}
		if len(params) > 0 {
			line("  params %s", strictjson.Append(nil, params))
		}
	}
	for _, m := range src.Modules {
		line("module %s in %s, %d bytes", m.Package, m.File, len(m.Text))
	}
	if src.Data != nil {
		line("data %s", strictjson.Append(nil, src.Data))
	}
	for _, f := range src.Faults {
		line("%s: %s", f.Kind, f.Error())
	}
	return b.String()
}

const policy = `# METADATA
# custom:
#   gate:
#     events: [PreToolUse]
package acme.a

deny contains "no" if input.tool_name == "Bash"
`

func managed(fsys fs.FS) scopes.Source {
	return load.Rego(fsys, into("Managed"))
}

func tree(files ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return m
}

// The digest is of names and contents, and of nothing else.
func TestDigest(t *testing.T) {
	base := managed(tree("a.rego", policy)).Digest
	same := managed(tree("a.rego", policy, "README.md", "x", "a_test.rego", "x")).Digest
	if base != same || !strings.HasPrefix(base, "sha256:") {
		t.Errorf("%s and %s", base, same)
	}
	seen := map[string]string{base: "base"}
	for name, files := range map[string][]string{
		"content": {"a.rego", policy + "\n"}, "name": {"b.rego", policy}, "more": {"a.rego", policy, "b.rego", "package b"},
		"empty": nil, "moved": {"a.rego", policy + "package b", "b.rego", ""},
		"data": {"a.rego", policy, "acme/data.json", "{}"}, "other data": {"a.rego", policy, "acme/data.json", "[]"},
	} {
		d := managed(tree(files...)).Digest
		if other, twin := seen[d]; twin {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[d] = name
	}
}

// A policy cut off at any byte of its METADATA or package is a fault, or
// still the same hook, and never silently nothing.
func TestTruncated(t *testing.T) {
	end := strings.Index(policy, "deny contains")
	for i := range end + len(`deny contains "no"`) {
		src := managed(tree("a.rego", policy[:i]))
		if len(src.Faults) == 0 && len(src.Hooks) == 0 {
			if !strings.HasPrefix(policy[i:], "\n\ndeny") && strings.Contains(policy[:i], "package") {
				continue // a helper module as far as anybody can tell
			}
			t.Errorf("%q loads as nothing", policy[:i])
		}
	}
}

func TestLimits(t *testing.T) {
	big := strings.Repeat("# x\n", 1<<18+1)
	many := fstest.MapFS{}
	for i := range 50_001 {
		many[fmt.Sprintf("f%d", i)] = &fstest.MapFile{}
	}
	for name, fsys := range map[string]fs.FS{
		"larger than 1048576 bytes":     tree("a.rego", big),
		"more than 50000":               many,
		"not valid UTF-8":               tree("a.rego", "package a\n# \xff"),
		"a.rego:1: empty module":        tree("a.rego", ""),
		"not a regular file":            fstest.MapFS{"a.rego": {Mode: fs.ModeNamedPipe}},
		"permission denied":             unreadable{tree("d/a.rego", policy)},
		".: file does not exist":        os.DirFS(filepath.Join(t.TempDir(), "missing")),
		"does not implement ReadLinkFS": linksOnly{tree("a.rego", policy)},
	} {
		src := managed(fsys)
		if name == ".: file does not exist" {
			name = "no such file"
		}
		if name == "does not implement ReadLinkFS" {
			name = "a.rego: "
		}
		if len(src.Faults) == 0 || !strings.Contains(src.Faults[len(src.Faults)-1].Error(), name) {
			t.Errorf("want %q, got %v", name, src.Faults)
		}
	}
}

// unreadable refuses to list directories below the root.
type unreadable struct{ fs.FS }

func (u unreadable) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return fs.ReadDir(u.FS, name)
}

// linksOnly claims that everything is a symbolic link, and cannot follow any.
type linksOnly struct{ fs.FS }

func (l linksOnly) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(l.FS, name)
	for i, e := range list {
		list[i] = linkEntry{e}
	}
	return list, err
}

func (l linksOnly) ReadLink(string) (string, error)        { return "", errors.New("cannot follow") }
func (l linksOnly) Lstat(name string) (fs.FileInfo, error) { return fs.Stat(l.FS, name) }

type linkEntry struct{ fs.DirEntry }

func (linkEntry) Type() fs.FileMode { return fs.ModeSymlink }

// Links within a tree work, as a mounted Kubernetes volume needs them; links
// that leave it, and links to directories, are faults.
func TestSymbolicLinks(t *testing.T) {
	outside := t.TempDir()
	write := func(path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(policy), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "a.rego"))
	for _, row := range []struct {
		name, link, to string
		hooks          int
		fault          string
	}{
		{"inside", "a.rego", "..data/a.rego", 1, ""},
		{"chain", "a.rego", "..link", 1, ""},
		{"absolute", "a.rego", filepath.Join(outside, "a.rego"), 0, "out of the tree"},
		{"upwards", "a.rego", "../" + filepath.Base(outside) + "/a.rego", 0, "out of the tree"},
		{"dangling", "a.rego", "missing.rego", 0, "a.rego: a symbolic link that leads nowhere, to missing.rego"},
		{"loop", "a.rego", "a.rego", 0, "too many symbolic links"},
		{"directory inside", "dir", "..data", 0, "link to a directory"},
		{"directory outside", "dir", outside, 0, "out of the tree"},
		{"other file outside", "notes.txt", filepath.Join(outside, "a.rego"), 0, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			write(filepath.Join(dir, "..data", "a.rego"))
			for link, to := range map[string]string{row.link: row.to, "..link": "..data/a.rego"} {
				if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
					t.Skip(err)
				}
			}
			src := managed(os.DirFS(dir))
			if len(src.Hooks) != row.hooks {
				t.Errorf("%d hooks", len(src.Hooks))
			}
			switch {
			case row.fault == "" && len(src.Faults) > 0:
				t.Error(src.Faults)
			case row.fault != "" && (len(src.Faults) != 1 || !strings.Contains(src.Faults[0].Error(), row.fault)):
				t.Errorf("want %q, got %v", row.fault, src.Faults)
			}
		})
	}
}

func TestLib(t *testing.T) {
	fsys := tree("gate/lib/lib.rego", "package gate.lib\nis(x) if x", "gate/lib/shell/shell.rego", "package gate.lib.shell\nx := 1",
		"gate/a/a.rego", strings.Replace(policy, "acme.a", "gate.a", 1), "gate/lib/lib_test.rego", "broken")
	modules, faults := load.Lib(fsys)
	if len(faults) != 0 || len(modules) != 2 || modules[0].Package != "gate.lib" || modules[1].Package != "gate.lib.shell" {
		t.Errorf("%v %v", modules, faults)
	}
	src := load.Rego(fsys, into("Library"))
	if len(src.Faults) != 0 || len(src.Modules) != 1 || src.Hooks[0].ID != "gate.a" || !src.Hooks[0].Library {
		t.Errorf("%s", describe(src))
	}
	if _, faults = load.Lib(tree("gate/lib/lib.rego", "package gate.lib\nx :=")); len(faults) == 0 {
		t.Error("a broken library has no fault")
	}
	if src = load.Rego(tree("gate/lib/lib.rego", "package gate.lib"), into("Library")); len(src.Faults) == 0 {
		t.Error("a library without policies has no fault")
	}
}

// What load accepts, scopes.New accepts too: load is where an author hears of
// mistakes.
func FuzzRego(f *testing.F) {
	names, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range names {
		ar, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range ar.Files {
			if strings.HasSuffix(file.Name, ".rego") {
				f.Add(string(file.Data))
			}
		}
	}
	f.Add(policy)
	f.Fuzz(func(t *testing.T, text string) {
		src := managed(tree("a.rego", text))
		if len(src.Faults) > 0 {
			return
		}
		set, err := scopes.New([]scopes.Source{src}, scopes.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range set.Sources() {
			if len(s.Faults) > 0 {
				t.Errorf("load saw nothing wrong: %v", s.Faults)
			}
		}
		for _, h := range src.Hooks {
			if len(h.Events) == 0 || h.ID == "" || h.Line == 0 {
				t.Errorf("%+v", h)
			}
		}
	})
}

func ExampleRego() {
	src := load.Rego(fstest.MapFS{"a.rego": {Data: []byte(policy)}},
		scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User})
	for _, h := range src.Hooks {
		fmt.Println(h.ID, h.Pos(), h.Events)
	}
	// Output: acme.a a.rego:5 [PreToolUse]
}
