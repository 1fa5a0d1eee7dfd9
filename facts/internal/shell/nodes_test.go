package shell

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"testing"
)

// handled lists every kind of node for which the shell has a case.
var handled = map[string][]string{
	"Command":    {"ArithmCmd", "BinaryCmd", "Block", "CallExpr", "CaseClause", "CoprocClause", "DeclClause", "ForClause", "FuncDecl", "IfClause", "LetClause", "Subshell", "TestClause", "TestDecl", "TimeClause", "WhileClause"},
	"WordPart":   {"ArithmExp", "BraceExp", "CmdSubst", "DblQuoted", "ExtGlob", "Lit", "ParamExp", "ProcSubst", "SglQuoted"},
	"ArithmExpr": {"BinaryArithm", "FlagsArithm", "ParenArithm", "UnaryArithm", "Word"},
	"TestExpr":   {"BinaryTest", "ParenTest", "UnaryTest", "Word"},
	"Loop":       {"CStyleLoop", "WordIter"},
}

// TestNodes fails when the parser gains a kind of node nobody has looked at.
// TestDecl is bats syntax, which the bash parser never makes.
func TestNodes(t *testing.T) {
	pkg, err := importer.ForCompiler(token.NewFileSet(), "source", nil).Import("mvdan.cc/sh/v3/syntax")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range handled {
		iface := pkg.Scope().Lookup(name).Type().Underlying().(*types.Interface)
		var got []string
		for _, n := range pkg.Scope().Names() {
			obj, ok := pkg.Scope().Lookup(n).(*types.TypeName)
			if !ok || types.IsInterface(obj.Type()) || !obj.Exported() {
				continue
			}
			if types.Implements(types.NewPointer(obj.Type()), iface) {
				got = append(got, n)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the parser has %v, the shell knows %v", name, got, want)
		}
	}
}

// switches names the functions of this package that tell the nodes of an
// interface apart.
var switches = map[string][]string{
	"Command": {"stmt", "compound"}, "WordPart": {"parts"}, "ArithmExpr": {"arithmetic"}, "TestExpr": {"test"}, "Loop": {"forClause"},
}

// TestNodesAreHandled fails when a kind of node that the parser makes has no
// case of its own in the function that tells them apart.
func TestNodesAreHandled(t *testing.T) {
	cases := map[string]map[string]bool{} // by function
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				collectNodes(cases, f)
			}
		}
	}
	for iface, nodes := range handled {
		for _, node := range nodes {
			if node == "TestDecl" { // bats syntax
				continue
			}
			if !slices.ContainsFunc(switches[iface], func(f string) bool { return cases[f][node] }) {
				t.Errorf("%s: no case for *syntax.%s in %v", iface, node, switches[iface])
			}
		}
	}
}

// collectNodes notes the types of syntax that a function asks for.
func collectNodes(cases map[string]map[string]bool, f *ast.FuncDecl) {
	note := func(e ast.Expr) {
		star, ok := e.(*ast.StarExpr)
		if !ok {
			return
		}
		if sel, ok := star.X.(*ast.SelectorExpr); ok {
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "syntax" {
				if cases[f.Name.Name] == nil {
					cases[f.Name.Name] = map[string]bool{}
				}
				cases[f.Name.Name][sel.Sel.Name] = true
			}
		}
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CaseClause:
			for _, e := range n.List {
				note(e)
			}
		case *ast.TypeAssertExpr:
			note(n.Type)
		}
		return true
	})
}
