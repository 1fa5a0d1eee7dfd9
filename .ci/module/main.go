// Command module renames the module of the tree that it runs in, and those below it: in
// go.mod, imports, comments, pages and scripts. It changes files in place and asks no network.
//
//	go run ./.ci/module host.example/owner/gate
package main

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "module:", err)
		os.Exit(1)
	}
}

var (
	path   = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*\.[a-z]+(/[A-Za-z0-9._~-]+)+$`)
	clause = regexp.MustCompile(`(?m)^module (\S+)$`)
)

func run(args []string) error {
	if len(args) != 1 || !path.MatchString(args[0]) {
		return errors.New("name a path such as host.example/owner/gate")
	}
	data, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	found := clause.FindSubmatch(data)
	if found == nil {
		return errors.New("go.mod names no module")
	}
	r := renaming{old: string(found[1]), new: args[0]}
	old := regexp.QuoteMeta(r.old)
	r.program = regexp.MustCompile(`(^|[^\w/.~$-])` + old + `(/cmd/[\w./-]*\w)`)
	r.line = regexp.MustCompile(`(?m)^((?:// ?)?\s*(?:import )?\s*)"` + old + `((?:/[a-z][a-z/_]*)?)"$`)
	if err := filepath.WalkDir(".", r.visit); err != nil {
		return err
	}
	return os.WriteFile("go.mod", clause.ReplaceAll(data, []byte("module "+r.new)), 0o644)
}

// A renaming changes the name of a module from old to new.
type renaming struct {
	old, new string

	// Text names programs by their path. Of other paths that begin as the module's do,
	// nobody knows whether a package is meant: gate/bundles is a root in bundles, too.
	program *regexp.Regexp
	line    *regexp.Regexp // an import, on a page
}

// pages are files with text that names packages.
var pages = []string{".md", ".sh", ".yml", ".yaml", ".txtar"}

func (r *renaming) visit(name string, e fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if e.IsDir() {
		if e.Name() == ".git" || name == "bin" {
			return fs.SkipDir
		}
		return nil
	}
	if e.Name() == "go.mod" && name != "go.mod" && !strings.Contains(filepath.ToSlash(name), "testdata/") {
		return r.nested(filepath.ToSlash(filepath.Dir(name)))
	}
	ext := filepath.Ext(name)
	scripts := e.Name() == "Makefile" || filepath.Dir(name) == ".ci"
	if !e.Type().IsRegular() || ext != ".go" && !scripts && !slices.Contains(pages, ext) {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text := string(data)
	if ext == ".go" {
		if text, err = r.imports(name, text); err != nil {
			return err
		}
	}
	text = r.line.ReplaceAllString(text, `${1}"`+r.new+`${2}"`)
	text = r.program.ReplaceAllString(text, `${1}`+r.new+`${2}`)
	if text == string(data) {
		return nil
	}
	info, err := e.Info()
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), info.Mode().Perm())
}

// nested renames a module in a directory of the tree, which stands on the tree's own. The
// go tool does it, since the order of what a module stands on depends on the names.
func (r *renaming) nested(dir string) error {
	root := strings.Repeat("../", strings.Count(dir, "/")) + ".."
	cmd := exec.Command("go", "mod", "edit", "-module="+r.new+"/"+dir,
		"-droprequire="+r.old, "-dropreplace="+r.old, "-require="+r.new+"@v0.0.0", "-replace="+r.new+"="+root)
	cmd.Dir = filepath.FromSlash(dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s/go.mod: %w\n%s", dir, err, out)
	}
	return nil
}

// imports renames the imports of a Go file.
func (r *renaming) imports(name, text string) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ImportsOnly)
	if err != nil {
		if strings.Contains(filepath.ToSlash(name), "testdata/") {
			return text, nil // a sample of a broken file
		}
		return "", err
	}
	for _, i := range slices.Backward(file.Imports) {
		below, ok := strings.CutPrefix(strings.Trim(i.Path.Value, "\"`"), r.old)
		if ok && (below == "" || below[0] == '/') {
			at := set.Position(i.Path.Pos()).Offset
			text = text[:at] + strconv.Quote(r.new+below) + text[at+len(i.Path.Value):]
		}
	}
	return text, nil
}
