//go:build linux || darwin

package build_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/artifact"
	"gate/internal/artifact/build"
	"gate/internal/consent"
	"gate/internal/hostfs"
	"gate/internal/load"
	"gate/scopes"
)

const maker = "test"

// builder compiles nothing: what is proven here is what is read.
func builder() *build.Builder {
	return &build.Builder{
		Maker: maker,
		Now:   func() time.Time { return time.Now().Add(time.Hour) }, // everything has settled by then
		Compile: func(_ []scopes.Module, src scopes.Source) (string, map[string]string, error) {
			lacking := map[string]string{}
			for _, m := range src.Modules {
				if strings.Contains(m.Text, "http.send") {
					lacking[m.Package] = "it calls http.send"
				}
			}
			return "program of " + src.Name, lacking, nil
		},
		Left: func(_ []scopes.Module, src scopes.Source, ids []string) (string, error) {
			return "saved of " + strings.Join(ids, " "), nil
		},
	}
}

// files writes a directory: of each name its text; a text "-> x" makes a link.
func files(t testing.TB, tree map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "place")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range tree {
		put(t, dir, name, text)
	}
	return dir
}

func put(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if to, link := strings.CutPrefix(text, "-> "); link {
		err = errors.Join(err, os.Symlink(to, path))
	} else {
		err = errors.Join(err, os.WriteFile(path, []byte(text), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func opened(t testing.TB, k artifact.Kind, dir string) build.Place {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return build.Place{Kind: k, Dir: dir, Files: hostfs.Dir{Root: root}}
}

// policy is one that denies, with more METADATA.
func policy(pkg string, more ...string) string {
	text := "# METADATA\n# title: T\n# description: D.\n# custom:\n#   gate:\n#     events: [PreToolUse]\n"
	for _, line := range more {
		text += "#     " + line + "\n"
	}
	return text + "package " + pkg + "\n\ndeny contains \"no\" if input.tool_name == \"Bash\"\n"
}

var example = map[string]string{
	"policies/a.rego":         policy("acme.a", "matcher: Bash", "params:", "  most: {type: number, default: 1, description: d}"),
	"policies/sub/b.rego":     policy("acme.b", "matcher: Write"),
	"policies/c.rego":         policy("acme.c") + "\nx := http.send({})\n",
	"policies/a_test.rego":    "package acme.a_test\n",
	"policies/acme/data.json": `{"list": ["a", 1], "flag": true}`,
	"hooks.json":              `{"hooks": [{"id": "fmt", "type": "command", "events": ["PostToolUse"], "command": "gofmt"}]}`,
	"settings.json":           `{"policies": {"acme.b": "warn"}, "params": {"acme.a": {"most": 3}}}`,
	"notes.md":                "anything",
}

// TestPlace holds that a form says what the place says to whoever reads it.
func TestPlace(t *testing.T) {
	for _, k := range []artifact.Kind{artifact.Managed, artifact.User, artifact.Project} {
		t.Run(k.String(), func(t *testing.T) {
			dir := files(t, example)
			if k == artifact.Project {
				put(t, dir, "settings.local.json", `{"policies": {"acme.a": "warn"}}`)
			}
			p := opened(t, k, dir)
			a := place(t, p)
			if err := a.Fresh(dir); err != nil {
				t.Fatal(err)
			}
			wantLayers, wantSources := read(p)
			layers, err := a.Layers(artifact.As{})
			if err != nil || !reflect.DeepEqual(layers, wantLayers) {
				t.Errorf("%v\ngot  %+v\nwant %+v", err, layers, wantLayers)
			}
			list, err := a.All(artifact.As{})
			if err != nil || len(list) != len(wantSources) {
				t.Fatalf("%d sources, %v", len(list), err)
			}
			for i, s := range list {
				want := wantSources[i]
				want.Modules, want.HookFiles = nil, nil // texts are compiled, and people look at files
				if !reflect.DeepEqual(s.Source, want) {
					t.Errorf("got  %+v\nwant %+v", s.Source, want)
				}
			}
			s := list[len(list)-1]
			if got, err := s.Program(); got != "program of "+s.Name || err != nil {
				t.Error(got, err)
			}
			if got, err := s.Saved(); got != "saved of acme.c" || err != nil {
				t.Error(got, err)
			}
			if s.Unready("acme.c") != "it calls http.send" || s.Unready("acme.a") != "" || s.Unready("fmt") != "" {
				t.Error(s.Unready("acme.c"), s.Unready("acme.a"), s.Unready("fmt"))
			}
			if got := s.Fingerprint("acme.a"); len(got) != 16 {
				t.Errorf("the text of acme.a is named %q", got)
			}
			checkTrust(t, a, p)
		})
	}
}

// checkTrust holds that projects have the digest that trust is given to.
func checkTrust(t *testing.T, a *artifact.Artifact, p build.Place) {
	t.Helper()
	want := ""
	if p.Kind == artifact.Project {
		var err error
		if _, want, err = consent.Snapshot(p.Files); err != nil {
			t.Fatal(err)
		}
		put(t, p.Dir, "notes.md", "anything")
		if err := a.Fresh(p.Dir); !errors.Is(err, artifact.ErrStale) {
			t.Errorf("the digest is of all files, the stamps are not: %v", err)
		}
	}
	if a.Trust() != want {
		t.Errorf("the trusted content is %q, not %q", a.Trust(), want)
	}
}

// read is what somebody finds who reads the place.
func read(p build.Place) (layers []scopes.Layer, sources []scopes.Source) {
	as := scopes.Source{Name: p.Kind.String(), Scope: hook.Session, Authority: hook.User}
	switch p.Kind {
	case artifact.Managed:
		as.Scope, as.Authority = hook.Policy, hook.Managed
	case artifact.Project:
		as.Authority = hook.Project
	}
	layers, sources = load.Place(p.Files, p.Dir, as)
	for i := range layers {
		if len(layers[i].Params) == 0 {
			layers[i].Params = nil // means the same
		}
	}
	return layers, sources
}

func place(t testing.TB, p build.Place) *artifact.Artifact {
	t.Helper()
	c, err := builder().Place(p)
	if err != nil {
		t.Fatal(err)
	}
	data, err := artifact.Encode(&c)
	if err != nil {
		t.Fatal(err)
	}
	a, err := artifact.Open(string(data), maker, p.Kind)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestRefused holds that what is broken, or leads elsewhere, has no form, and that
// this is known until the place changes.
func TestRefused(t *testing.T) {
	for what, c := range map[string]struct {
		name, text, why string
	}{
		"a policy that does not parse":   {"policies/x.rego", "package x\ndeny contains", "policies/x.rego"},
		"a policy without METADATA":      {"policies/x.rego", "package x\ndeny contains 1 if true", "policies/x.rego"},
		"a setting that nobody knows":    {"settings.json", `{"polices": {}}`, "polices"},
		"two settings files":             {"settings.yaml", "policies: {}\n", "settings"},
		"a broken hook file":             {"hooks.json", "{", "hooks.json"},
		"a pattern that does not match":  {"policies/x.rego", policy("acme.x", "matcher: Bash(git push)"), "never matches"},
		"the same id twice":              {"hooks.json", `{"hooks": [{"id": "acme.a", "type": "command", "events": ["Stop"], "command": "x"}]}`, "acme.a"},
		"a link":                         {"policies/x.rego", "-> ../notes.md", "link"},
		"a link that leads nowhere":      {"settings.toml", "-> nowhere", "link"},
		"a directory that is a link":     {"policies/x", "-> sub", "link"},
		"an exception that never begins": {"settings.json", `{"exceptions": [{"policy": "acme.a"}]}`, "exception"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := files(t, example)
			if strings.HasPrefix(c.name, "settings.y") {
				put(t, dir, "settings.toml", "")
			}
			os.Remove(filepath.Join(dir, c.name))
			put(t, dir, c.name, c.text)
			a := place(t, opened(t, artifact.User, dir))
			if !strings.Contains(a.Refused(), c.why) {
				t.Errorf("refused because of %q", a.Refused())
			}
			if err := a.Fresh(dir); err != nil {
				t.Error(err)
			}
			if list, err := a.All(artifact.As{}); len(list) > 0 || err != nil {
				t.Errorf("%d sources, %v", len(list), err)
			}
			if layers, err := a.Layers(artifact.As{}); len(layers) > 0 || err != nil {
				t.Errorf("%d layers, %v", len(layers), err)
			}
			put(t, dir, "more", "")
			if err := a.Fresh(dir); !errors.Is(err, artifact.ErrStale) {
				t.Errorf("after a change: %v", err)
			}
		})
	}
}

// TestKnown holds that what has not changed is not compiled again, and what has is.
func TestKnown(t *testing.T) {
	dir := files(t, example)
	p := opened(t, artifact.User, dir)
	b := builder()
	b.Old = place(t, p)
	times := 0
	compile := b.Compile
	b.Compile = func(lib []scopes.Module, src scopes.Source) (string, map[string]string, error) {
		times++
		return compile(lib, src)
	}
	first, err := b.Place(p)
	if err != nil || times > 0 {
		t.Errorf("compiled %d times, %v", times, err)
	}
	if part := first.Sources[0]; part.Program != "program of user" || part.Hooks[1].Why != "it calls http.send" || part.Hooks[0].Why != "" {
		t.Errorf("got %+v", part)
	}
	put(t, dir, "settings.json", "{}")
	if _, err := b.Place(p); err != nil || times > 0 {
		t.Errorf("after another setting: compiled %d times, %v", times, err)
	}
	put(t, dir, "policies/a.rego", policy("acme.other"))
	if _, err := b.Place(p); err != nil || times != 1 {
		t.Errorf("after another policy: compiled %d times, %v", times, err)
	}
}

func TestEmpty(t *testing.T) {
	dir := files(t, nil)
	a := place(t, opened(t, artifact.Managed, dir))
	if !a.Empty() || a.Fresh(dir) != nil {
		t.Error("an empty directory is not known to be empty")
	}
	put(t, dir, "x", "")
	if a.Fresh(dir) == nil {
		t.Error("a directory that is not empty any more is fresh")
	}
}

// TestUnsettled holds that nothing is made of what was touched a moment ago, or
// while it was read, or of a directory that another one took the place of.
func TestUnsettled(t *testing.T) {
	dir := files(t, example)
	p := opened(t, artifact.User, dir)
	b := builder()
	b.Now = func() time.Time { return time.Now().Add(-time.Hour) }
	b.Compile = func([]scopes.Module, scopes.Source) (string, map[string]string, error) {
		t.Error("what nothing can come of is compiled: another attempt comes later than need be")
		return "", nil, nil
	}
	if _, err := b.Place(p); !errors.Is(err, build.ErrUnsettled) {
		t.Errorf("touched a moment ago: %v", err)
	}
	for what, touch := range map[string]func(){
		"a file is written":    func() { put(t, dir, "policies/a.rego", policy("acme.other")) },
		"a file is added":      func() { put(t, dir, "policies/zz.rego", policy("acme.zz")) },
		"a file is gone":       func() { os.Remove(filepath.Join(dir, "policies/sub/b.rego")) },
		"the place is another": func() { os.Rename(dir, dir+".old"); put(t, dir, "settings.json", "{}") },
	} {
		t.Run(what, func(t *testing.T) {
			during := p
			during.Files = &touchy{FS: p.Files, at: "hooks.json", touch: touch}
			// A change within one tick of the file system's clock cannot be seen;
			// that is what Settled is for.
			waitTick(t, dir)
			if _, err := builder().Place(during); !errors.Is(err, build.ErrUnsettled) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// touchy does something when a file is opened.
type touchy struct {
	fs.FS
	at    string
	touch func()
}

func (f *touchy) Open(name string) (fs.File, error) {
	if name == f.at && f.touch != nil {
		f.touch()
		f.touch = nil
	}
	return f.FS.Open(name)
}

func (f *touchy) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(f.FS, name) }
func (f *touchy) ReadLink(name string) (string, error)   { return fs.ReadLink(f.FS, name) }

// waitTick waits until what is written has another change time than all below dir.
func waitTick(t *testing.T, dir string) {
	t.Helper()
	var last int64
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		s, err := artifact.Look(path)(".")
		last = max(last, s.Changed)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for probe := t.TempDir(); ; time.Sleep(time.Millisecond) {
		put(t, probe, "x", "x")
		if s, err := artifact.Look(probe)("x"); err != nil {
			t.Fatal(err)
		} else if s.Changed > last {
			return
		}
	}
}

// TestShared holds that parameters are there for whoever reads them.
func TestShared(t *testing.T) {
	const params = "params: {most: {type: number, default: 1, description: d}}"
	for what, c := range map[string]struct {
		text string
		want bool
	}{
		"nobody":                {"", false},
		"its own":               {"x := data.gate.params.acme.x.most", false},
		"another's":             {"x := data.gate.params.acme.a.most", true},
		"by brackets":           {`x := data["gate"]["params"].acme["a"].most`, true},
		"by a variable":         {"x := {p | some k; p := data.gate.params.acme[k]}", true},
		"all of them":           {"x := data.gate.params", true},
		"all of data":           {"x := data", true},
		"within a reference":    {`x := input[data.gate.params.acme.a.most]`, true},
		"through the package":   {"x := data.acme.a.deny", true},
		"the package above":     {"x := data.acme", true},
		"the library":           {"x := data.gate.lib.is", false},
		"an import":             {"import data.gate.params.acme.a as q\nx := q.most", true},
		"an import of its own":  {"import data.gate.params.acme.x as q\nx := q.most", false},
		"an import of all":      {"import data.gate.params\nx := params.acme.a.most", true},
		"an import, its own":    {"import data.gate.params\nx := params.acme.x.most", false},
		"an import as a value":  {"import data.acme\nx := count(acme)", true},
		"a name that begins so": {"x := data.gate.params.acme.ab.most", false},
	} {
		t.Run(what, func(t *testing.T) {
			text := policy("acme.x", params)
			if imports, rest, ok := strings.Cut(c.text, "\n"); ok && strings.HasPrefix(imports, "import") {
				text = strings.Replace(text, "package acme.x\n", "package acme.x\n"+imports+"\n", 1) + rest + "\n"
			} else {
				text += c.text + "\n"
			}
			a := place(t, opened(t, artifact.User, files(t, map[string]string{
				"policies/a.rego": policy("acme.a", params), "policies/x.rego": text,
			})))
			if a.Refused() != "" {
				t.Fatal(a.Refused())
			}
			list, err := a.Sources(&hook.Event{Name: hook.Stop}, artifact.As{})
			if err != nil {
				t.Fatal(err)
			}
			got := slices.ContainsFunc(list[0].Hooks, func(h *hook.Hook) bool { return h.ID == "acme.a" })
			if got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}

func TestSaveAndClean(t *testing.T) {
	base := t.TempDir()
	gone := t.TempDir()
	save := func(place, by string) string {
		name := artifact.Name(artifact.Project, place)
		c := artifact.Content{Kind: artifact.Project, Maker: by, Place: place}
		if err := build.Save(base, name, &c); err != nil {
			t.Fatal(err)
		}
		return name
	}
	here := t.TempDir()
	kept, lost, other := save(here, maker), save(filepath.Join(gone, "x"), maker), save(t.TempDir(), "another version")
	dir := filepath.Join(base, artifact.Dir)
	put(t, dir, "project-damaged"+artifact.Suffix, "x")
	put(t, dir, ".draft-1", "x")
	put(t, dir, "notes.txt", "x")
	if err := build.Clean(base, maker, time.Now(), other); err != nil {
		t.Fatal(err)
	}
	want := []string{".draft-1", "notes.txt", kept, other}
	slices.Sort(want)
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q; %s is of a directory that is gone", got, want, lost)
	}
	if err := build.Clean(base, maker, time.Now().Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"notes.txt", kept}) {
		t.Errorf("later, left are %q", got)
	}
	for i := range 205 {
		if err := os.Mkdir(filepath.Join(here, fmt.Sprint(i)), 0o700); err != nil {
			t.Fatal(err)
		}
		save(filepath.Join(here, fmt.Sprint(i)), maker)
	}
	if err := build.Clean(base, maker, time.Now()); err != nil {
		t.Fatal(err)
	}
	if n := len(names(t, dir)); n != 201 {
		t.Errorf("%d files are left of 206", n)
	}
	if err := build.Clean(t.TempDir(), maker, time.Now()); err != nil {
		t.Errorf("where nothing is: %v", err)
	}
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}
