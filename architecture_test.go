package gate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestArchitecture holds docs/architecture.md to the code: every Go file that it
// names is there, every function and type is declared, and where the page says in
// which file, there.
func TestArchitecture(t *testing.T) {
	data, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	page := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(string(data), "")
	page = strings.Join(strings.Fields(page), " ")
	declared := declarations(t)
	names, inFiles := 0, 0
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(page, -1) {
		switch name := m[1]; {
		case strings.Contains(name, "NAME"): // a pattern of names
		case strings.HasSuffix(name, ".go"):
			if len(declaring(declared, name)) == 0 {
				t.Errorf("there is no file %s", name)
			}
		case regexp.MustCompile(`^\w*([a-z][A-Z]|[a-z]\.[A-Za-z])\w*$`).MatchString(name):
			names++
			if !declares(declared, "", name) && !foreign(name) {
				t.Errorf("nothing declares %s", name)
			}
		}
	}
	for _, m := range regexp.MustCompile("`([\\w.]+)`(?: \\(| in )`([\\w./]+\\.go)`").FindAllStringSubmatch(page, -1) {
		inFiles++
		if !declares(declared, m[2], m[1]) && !command(m[1]) {
			t.Errorf("%s does not declare %s", m[2], m[1])
		}
	}
	if names < 50 || inFiles < 40 {
		t.Errorf("only %d names and %d names with their files were found on the page", names, inFiles)
	}
}

// foreign reports what is no name of Go code: keys and packages of policies.
func foreign(name string) bool {
	return slices.ContainsFunc([]string{"input.", "data.", "gate.", "hooks."}, func(p string) bool { return strings.HasPrefix(name, p) })
}

// command reports the name of a command of gate, which stands before its file.
func command(name string) bool {
	return slices.Contains([]string{"mcp", "serve", "suggest", "test"}, name)
}

// declares reports whether a file, or any, declares the last part of a name, also
// as a field or a method.
func declares(declared map[string]map[string]bool, file, name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	return slices.ContainsFunc(declaring(declared, file), func(names map[string]bool) bool { return names[last] })
}

// declaring returns what the files declare whose path ends in a name; "": all.
func declaring(declared map[string]map[string]bool, file string) (found []map[string]bool) {
	for path, names := range declared {
		if file == "" || path == file || strings.HasSuffix(path, "/"+file) {
			found = append(found, names)
		}
	}
	return found
}

// declarations reads the names that each Go file declares outside of functions.
func declarations(t *testing.T) map[string]map[string]bool {
	t.Helper()
	declared := map[string]map[string]bool{}
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		names := map[string]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names[n.Name.Name] = true
				return false
			case *ast.TypeSpec:
				names[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, name := range n.Names {
					names[name.Name] = true
				}
			case *ast.Field:
				for _, name := range n.Names {
					names[name.Name] = true
				}
			}
			return true
		})
		declared[filepath.ToSlash(path)] = names
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return declared
}
