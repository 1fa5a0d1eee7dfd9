package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tiny is a tree with tiny programs that link one module.
type tiny struct {
	t       *testing.T
	dir     string
	version string // of the module that is linked, golang.org/x/sync
}

// newTiny makes the tree, with one commit.
func newTiny(t *testing.T) tiny {
	t.Helper()
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	const linked = "golang.org/x/sync"
	used := regexp.MustCompile(`(?m)^` + linked + ` (\S+?)(?:/go\.mod)? .*\n`)
	found := used.FindAllStringSubmatch(string(sums), -1)
	if len(found) < 2 {
		t.Fatalf("go.sum is without %s", linked)
	}
	last := found[len(found)-1]
	tree := tiny{t, t.TempDir(), last[1]}
	tree.write("go.mod", "module gate\n\ngo 1.26.0\n\nrequire "+linked+" "+last[1]+"\n")
	tree.write("go.sum", found[len(found)-2][0]+last[0])
	for _, name := range (Platform{OS: "linux"}).programs() {
		tree.write("cmd/"+name+"/main.go", "package main\n\nimport \"golang.org/x/sync/errgroup\"\n\nfunc main() { println(\""+name+"\"); new(errgroup.Group).Wait() }\n")
	}
	tree.write("README.md", "# gate\n")
	tree.write("docs/rego.md", "# Rego\n")
	for _, dir := range []string{"packaging", ".claude-plugin", ".github"} {
		if err := os.CopyFS(filepath.Join(tree.dir, dir), os.DirFS("../../"+dir)); err != nil {
			t.Fatal(err)
		}
	}
	tree.git("init", "-q")
	tree.commit("one")
	return tree
}

func (tree tiny) write(name, text string) {
	tree.t.Helper()
	file := filepath.Join(tree.dir, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		tree.t.Fatal(err)
	}
}

func (tree tiny) git(args ...string) string {
	tree.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@gate.example", "-c", "commit.gpgSign=false"}, args...)...)
	cmd.Dir = tree.dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2030-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2030-01-02T03:04:05Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		tree.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (tree tiny) commit(subject string) {
	tree.t.Helper()
	tree.git("add", "-A")
	tree.git("commit", "-q", "-m", subject)
}

// release is one that is to be made of the tree, for platforms such as "linux/amd64".
func (tree tiny) release(platforms ...string) *Release {
	tree.t.Helper()
	r := &Release{Out: tree.t.TempDir()}
	if err := r.complete(context.Background(), tree.dir, platforms); err != nil {
		tree.t.Fatal(err)
	}
	return r
}
