package gate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRooms holds how much stands outside: the directories at the top, hidden ones and
// the programs of make aside, and the names that other modules could use.
func TestRooms(t *testing.T) {
	const mostDirs, mostNames = 16, 363
	list, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, e := range list {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "bin" {
			dirs = append(dirs, e.Name())
		}
	}
	if len(dirs) > mostDirs {
		t.Errorf("%d directories stand at the top, %d may: %s", len(dirs), mostDirs, strings.Join(dirs, " "))
	}
	names, seen := 0, map[string]bool{}
	err = filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && slices.Contains([]string{".git", ".ci", "cmd", "examples", "internal", "testdata"}, e.Name()):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, name := range exported(file) {
			if key := filepath.Dir(path) + " " + name; !seen[key] {
				seen[key] = true
				names++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if names > mostNames || names < mostNames/2 {
		t.Errorf("%d names are public, at most %d may be", names, mostNames)
	}
}

// exported returns the types, functions, constants and variables of a file that other
// packages see, and the methods of such types; an alias counts once, fields do not.
func exported(file *ast.File) (names []string) {
	add := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names = append(names, id.Name)
			}
		}
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				add(decl.Name)
			} else if of := receiver(decl.Recv.List[0].Type); of != nil && of.IsExported() && decl.Name.IsExported() {
				names = append(names, of.Name+"."+decl.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name)
				case *ast.ValueSpec:
					add(spec.Names...)
				}
			}
		}
	}
	return names
}

// receiver is the name of the type that a method has.
func receiver(of ast.Expr) *ast.Ident {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of
	}
	return nil
}
