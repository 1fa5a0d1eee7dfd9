package gate_test

import (
	"os"
	"os/exec"
	"path/filepath"
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
