package gate_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestModule has the module renamed in a copy of the tree, which then builds, and whose
// tests go on to know where they are.
func TestModule(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles everything once more")
	}
	const name = "host.example/owner/gate"
	dir := t.TempDir()
	copyTree(t, dir)
	in := func(program string, args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	in("make", "module", "MODULE="+name)
	old := strings.TrimSuffix(module(), "/")
	for word := range strings.FieldsSeq(in("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}} {{join .XTestImports " "}}`, "./...")) {
		if word == old || under(word, old) && !under(word, name) {
			t.Errorf("%s is imported", word)
		}
	}
	testNested(t, filepath.Join(dir, "cmd", "gate-release"), old, name)
	in("go", "build", "./...")
	in("go", "vet", "./hook", "./matcher")
	in("go", "test", "./hook", "./examples/embed")
	in("go", "test", "-run", "OPA|Manifest", "./bundles")
	in("go", "test", "-run", "^(TestArrows|TestHookProgram|Example)$", ".")
	for _, wrong := range []string{"gate", "../gate", "host.example", "a b"} {
		cmd := exec.Command("make", "module", "MODULE="+wrong)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err == nil {
			t.Errorf("the name %q was taken: %s", wrong, out)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !strings.HasPrefix(string(page), "module "+name+"\n") {
		t.Errorf("go.mod: %.40q %v", page, err)
	}
}

// testNested holds that the module which makes releases was renamed with the tree. It is
// read and not built: what it links, nobody who tests gate shall wait for.
func testNested(t *testing.T, dir, old, name string) {
	t.Helper()
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	type version struct{ Path, Version string }
	var mod struct {
		Module  version
		Require []version
		Replace []struct{ Old, New version }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(mod.Require, func(v version) bool { return v.Path == name })
	if mod.Module.Path != name+"/cmd/gate-release" || at < 0 || len(mod.Replace) != 1 || mod.Replace[0].Old.Path != name || mod.Replace[0].New.Path != "../.." {
		t.Errorf("cmd/gate-release is %+v with %+v", mod.Module, mod.Replace)
	}
	if slices.ContainsFunc(mod.Require, func(v version) bool { return v.Path == old }) {
		t.Errorf("cmd/gate-release requires %s", old)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	renamed := 0
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range parsed.Imports {
			switch path := strings.Trim(i.Path.Value, `"`); {
			case under(path, name):
				renamed++
			case under(path, old):
				t.Errorf("%s imports %s", filepath.Base(file), path)
			}
		}
	}
	if renamed == 0 {
		t.Error("cmd/gate-release imports nothing of the tree")
	}
}

// copyTree copies the tree without what git and make keep there.
func copyTree(t *testing.T, into string) {
	t.Helper()
	list, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		to := filepath.Join(into, e.Name())
		switch {
		case e.Name() == ".git" || e.Name() == "bin":
			continue
		case e.IsDir():
			err = os.CopyFS(to, os.DirFS(e.Name()))
		case e.Type().IsRegular():
			var data []byte
			if data, err = os.ReadFile(e.Name()); err == nil {
				err = os.WriteFile(to, data, 0o644)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
