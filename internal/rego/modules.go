package rego

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/scopes"
)

// maxModule bounds one file. The compiler and evaluator recurse along chains of
// rules, and Go cannot recover from an exhausted stack; a chain that fits here
// needs a fraction of it.
const maxModule = 1 << 20

// maxNesting bounds brackets within brackets, for the same reason.
const maxNesting = 1000

// modules is a set of Rego files that are parsed when they are first needed,
// found by package.
type modules struct {
	all  []*module
	root node
}

// A module is one file.
type module struct {
	scopes.Module
	trees Trees // nil: the file is parsed here
	once  sync.Once
	ast   *ast.Module
	refs  []dataRef
	err   error
}

// A node is one component of a package path.
type node struct {
	children map[string]*node
	modules  []*module
}

func newModules(files []scopes.Module) *modules {
	m := &modules{}
	for _, f := range files {
		if strings.HasSuffix(f.File, "_test.rego") {
			continue
		}
		mod := &module{Module: f}
		m.all = append(m.all, mod)
		n := &m.root
		for _, part := range strings.Split(f.Package, ".") {
			n = n.child(part)
		}
		n.modules = append(n.modules, mod)
	}
	return m
}

func (n *node) child(part string) *node {
	if n.children == nil {
		n.children = map[string]*node{}
	}
	c := n.children[part]
	if c == nil {
		c = &node{}
		n.children[part] = c
	}
	return c
}

// ofPackage returns the files of exactly that package.
func (m *modules) ofPackage(pkg string) []*module {
	n := &m.root
	for _, part := range strings.Split(pkg, ".") {
		if n = n.children[part]; n == nil {
			return nil
		}
	}
	return n.modules
}

// touched yields the files whose package a reference to path reads from: those
// on the way, since a package's rules hang below it, and those below.
func (m *modules) touched(path []string, yield func(*module)) {
	n := &m.root
	for _, part := range path {
		each(n.modules, yield)
		if n = n.children[part]; n == nil {
			return
		}
	}
	n.below(yield)
}

func (n *node) below(yield func(*module)) {
	each(n.modules, yield)
	for _, k := range slices.Sorted(maps.Keys(n.children)) {
		n.children[k].below(yield)
	}
}

func each(mods []*module, yield func(*module)) {
	for _, m := range mods {
		yield(m)
	}
}

// parse reads the file. Errors have the form file:line: what is wrong.
func (m *module) parse() error {
	m.once.Do(func() {
		defer func() {
			if r := recover(); r != nil {
				m.err = fmt.Errorf("%s: parser failed: %v", m.File, r)
			}
		}()
		m.err = m.read()
	})
	return m.err
}

func (m *module) read() error {
	if len(m.Text) > maxModule {
		return fmt.Errorf("%s: larger than %d bytes", m.File, maxModule)
	}
	parsed, err := m.plain()
	if err != nil {
		return err
	}
	if pkg := packageOf(parsed); pkg != m.Package {
		return fmt.Errorf("%s: package is %s, loaded as %s", m.File, pkg, m.Package)
	}
	m.ast, m.refs = parsed, dataRefs(parsed)
	return nil
}

// annotated returns the tree of a file with its METADATA, which is not to be changed.
func (m *module) annotated() (*ast.Module, error) {
	if m.trees != nil && tooDeep(m.Text) == 0 {
		if tree, err := m.trees.Module(m.File, m.Text); err == nil {
			return tree, nil
		}
	}
	return parseFile(m.File, m.Text, true)
}

// plain returns the tree of a file without its METADATA.
func (m *module) plain() (*ast.Module, error) {
	if m.trees == nil {
		return parseFile(m.File, m.Text, false)
	}
	tree, err := m.annotated()
	if err != nil {
		return nil, err
	}
	tree = tree.Copy()
	tree.Annotations = nil
	ast.WalkRules(tree, func(r *ast.Rule) bool {
		r.Annotations = nil
		return false
	})
	return tree, nil
}

// parseFile parses one Rego v1 file, with its METADATA if annotations is set.
func parseFile(file, text string, annotations bool) (*ast.Module, error) {
	if line := tooDeep(text); line > 0 {
		return nil, fmt.Errorf("%s:%d: brackets are nested deeper than %d", file, line, maxNesting)
	}
	m, err := ast.ParseModuleWithOpts(file, text, ast.ParserOptions{
		RegoVersion:       ast.RegoV1,
		ProcessAnnotation: annotations,
	})
	if err != nil {
		return nil, tidy(err)
	}
	return m, nil
}

// tooDeep returns the line on which brackets outside strings and comments are
// nested too deep, 0 if none is.
func tooDeep(text string) int {
	depth, line, quote := 0, 1, byte(0)
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\n' {
			line++
		}
		switch {
		case quote == '#':
			if c == '\n' {
				quote = 0
			}
		case quote == '"' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '`' || c == '#':
			quote = c
		case c == '(' || c == '[' || c == '{':
			if depth++; depth > maxNesting {
				return line
			}
		case c == ')' || c == ']' || c == '}':
			depth--
		}
	}
	return 0
}

// packageOf returns the module's package without "data.".
func packageOf(m *ast.Module) string {
	parts := ground(m.Package.Path)
	return strings.Join(parts, ".")
}

// A dataRef is a reference below data, without "data", cut at its first part
// that is not constant.
type dataRef struct {
	path    []string
	row     int
	perhaps bool // an import's name begins it that the rule also has a variable of
}

// dataRefs collects what a module may read below data: imports and references.
// It errs on the large side.
func dataRefs(m *ast.Module) []dataRef {
	seen := map[string]bool{}
	var refs []dataRef
	add := func(path []string, row int, perhaps bool) {
		key := fmt.Sprint(perhaps, strings.Join(path, "\x00"))
		if !seen[key] {
			seen[key] = true
			refs = append(refs, dataRef{path, row, perhaps})
		}
	}
	alias := map[ast.Var][]string{}
	for _, imp := range m.Imports {
		if ref, ok := imp.Path.Value.(ast.Ref); ok && ref.HasPrefix(ast.DefaultRootRef) {
			path := ground(ref)
			add(path, imp.Location.Row, false)
			alias[imp.Name()] = path
		}
	}
	for _, rule := range m.Rules {
		own := variables(rule)
		ast.WalkTerms(rule, func(t *ast.Term) bool {
			ref, ok := t.Value.(ast.Ref)
			if !ok || len(ref) == 0 {
				return false
			}
			if ref.HasPrefix(ast.DefaultRootRef) {
				add(ground(ref), rowOfTerm(t, rule), false)
			} else if head, ok := ref[0].Value.(ast.Var); ok && alias[head] != nil {
				add(slices.Concat(alias[head], ground(ref)), rowOfTerm(t, rule), own[head])
			}
			return false
		})
	}
	return refs
}

// variables are those that a rule declares anywhere in it, by which the names of
// imports may be hidden.
func variables(rule *ast.Rule) map[ast.Var]bool {
	own := map[ast.Var]bool{}
	add := func(terms ...*ast.Term) {
		for _, t := range terms {
			if t != nil {
				ast.WalkVars(t, func(v ast.Var) bool { own[v] = true; return false })
			}
		}
	}
	ast.WalkRules(rule, func(r *ast.Rule) bool { add(r.Head.Args...); return false })
	ast.WalkExprs(rule, func(e *ast.Expr) bool {
		switch t := e.Terms.(type) {
		case *ast.SomeDecl:
			for _, symbol := range t.Symbols {
				if call, ok := symbol.Value.(ast.Call); ok {
					add(call[1 : len(call)-1]...)
				} else {
					add(symbol)
				}
			}
		case *ast.Every:
			add(t.Key, t.Value)
		case []*ast.Term:
			if e.IsAssignment() {
				add(t[1])
			}
		}
		return false
	})
	return own
}

func rowOfTerm(t *ast.Term, r *ast.Rule) int {
	if t.Location != nil {
		return t.Location.Row
	}
	return r.Location.Row
}

// defines reports whether a file of the set defines what path names: a package,
// a rule of one, or a document above packages.
func (m *modules) defines(path []string) bool {
	n := &m.root
	for i, part := range path {
		for _, mod := range n.modules {
			if i > 0 && (mod.parse() != nil || mod.hasRule(part)) {
				return true
			}
		}
		if n = n.children[part]; n == nil {
			return false
		}
	}
	return true
}

func (m *module) hasRule(name string) bool {
	for _, r := range m.ast.Rules {
		if v, ok := r.Head.Ref()[0].Value.(ast.Var); ok && string(v) == name {
			return true
		}
	}
	return false
}

// ground returns the constant strings after the root of a reference.
func ground(ref ast.Ref) []string {
	var path []string
	for _, t := range ref[1:] {
		s, ok := t.Value.(ast.String)
		if !ok {
			break
		}
		path = append(path, string(s))
	}
	return path
}
