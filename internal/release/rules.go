package release

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/internal/rego"
	"gate/scopes"
)

// A program is the compiled Rego of a release: what its rules mean, without
// comments, formatting, import names and names of variables.
type program struct {
	compiler *ast.Compiler
	rules    map[string][]clause        // by path, such as acme.push.deny
	asked    map[string]map[string]bool // what reach found, by policy
}

// A clause is one definition of a rule.
type clause struct {
	head       string   // the key or value
	conditions []string // what must hold, without names of variables; sorted
	says       []string // expressions that only make the head
	text       string   // all of it, in one form
	pos        string
	body       []string // the conditions as compiled
	plain      bool     // a definition by itself: no else, no default, no arguments
}

// compile compiles the policies of a bundle together with data.gate.lib.
func compile(src scopes.Source, lib []scopes.Module) (*program, error) {
	compiler, _ := rego.TestCompiler(hook.Managed, false)
	parsed := map[string]*ast.Module{}
	own := map[string]bool{}
	for i, m := range slices.Concat(src.Modules, lib) {
		mod, err := ast.ParseModuleWithOpts(m.File, m.Text, ast.ParserOptions{RegoVersion: ast.RegoV1})
		if err != nil {
			return nil, err
		}
		key := fmt.Sprintf("%d %s", i, m.File)
		parsed[key], own[key] = mod, i < len(src.Modules)
	}
	if compiler.Compile(parsed); compiler.Failed() {
		return nil, compiler.Errors
	}
	p := &program{compiler: compiler, rules: map[string][]clause{}, asked: map[string]map[string]bool{}}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		if !own[key] {
			continue
		}
		for _, r := range compiler.Modules[key].Rules {
			path := rulePath(r)
			p.rules[path] = append(p.rules[path], clauseOf(r))
		}
	}
	return p, nil
}

// rulePath is where a rule stands, without "data.".
func rulePath(r *ast.Rule) string {
	return strings.TrimPrefix(r.Ref().GroundPrefix().String(), "data.")
}

var compiledVars = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`__local\d+__|\$\d+`) })

// nameless writes expressions in one order and with variables numbered in it, so
// that neither their names nor the order of conditions make a difference.
func nameless(exprs []string) []string {
	sorted := slices.Clone(exprs)
	slices.SortStableFunc(sorted, func(a, b string) int {
		return strings.Compare(compiledVars().ReplaceAllString(a, "_"), compiledVars().ReplaceAllString(b, "_"))
	})
	numbers := map[string]string{}
	for i, e := range sorted {
		sorted[i] = compiledVars().ReplaceAllStringFunc(e, func(v string) string {
			if numbers[v] == "" {
				numbers[v] = fmt.Sprintf("v%d", len(numbers)+1)
			}
			return numbers[v]
		})
	}
	return sorted
}

func clauseOf(r *ast.Rule) clause {
	c := clause{plain: !r.Default && r.Else == nil && len(r.Head.Args) == 0, pos: fmt.Sprintf("%s:%d", r.Location.File, r.Location.Row)}
	head := r.Head.Copy()
	c.head = head.String()
	made := map[string]bool{} // variables that nothing but the head needs
	for _, t := range []*ast.Term{head.Key, head.Value} {
		if t != nil {
			for _, v := range compiledVars().FindAllString(t.String(), -1) {
				made[v] = true
			}
		}
	}
	said := c.making(r.Body, made)
	for i, e := range r.Body {
		if said[i] {
			c.says = append(c.says, e.String())
		} else {
			c.body = append(c.body, e.String())
		}
	}
	c.conditions = nameless(c.body)
	whole := slices.Concat(c.body, c.says, []string{"head " + c.head})
	for e := r.Else; e != nil; e = e.Else {
		whole = append(whole, "else "+e.String())
	}
	c.text = strings.Join(nameless(whole), "\n")
	return c
}

// making finds the expressions that only put together what the head says: each
// gives a value to a variable that the head, or another of them, and no condition
// uses.
func (c *clause) making(body ast.Body, made map[string]bool) map[int]bool {
	said := map[int]bool{}
	for again := true; again; {
		again = false
		for i, e := range body {
			if said[i] || e.Negated || len(e.With) > 0 {
				continue
			}
			out := outputOf(e)
			if out == "" || !made[out] || usedElsewhere(body, said, i, out) {
				continue
			}
			said[i], again = true, true
			for _, v := range compiledVars().FindAllString(e.String(), -1) {
				made[v] = true
			}
		}
	}
	return said
}

// outputOf is the variable that a call or an assignment gives a value to.
func outputOf(e *ast.Expr) string {
	terms, ok := e.Terms.([]*ast.Term)
	if !ok || len(terms) < 3 {
		return ""
	}
	last := terms[len(terms)-1]
	if e.IsEquality() || e.IsAssignment() {
		last = terms[1]
	}
	if v, ok := last.Value.(ast.Var); ok && compiledVars().MatchString(string(v)) {
		return string(v)
	}
	return ""
}

// usedElsewhere reports whether a condition uses a variable.
func usedElsewhere(body ast.Body, said map[int]bool, but int, v string) bool {
	for i, e := range body {
		if i != but && !said[i] && slices.Contains(compiledVars().FindAllString(e.String(), -1), v) {
			return true
		}
	}
	return false
}

// with reports whether c has all conditions of other, and more.
func (c *clause) with(other *clause) bool {
	if !c.plain || !other.plain || len(c.body) <= len(other.body) {
		return false
	}
	// Take away what other does not have by its shape; what is left must be
	// other, with variables and all.
	shape := func(e string) string { return compiledVars().ReplaceAllString(e, "_") }
	left := map[string]int{}
	for _, e := range other.body {
		left[shape(e)]++
	}
	var rest []string
	for _, e := range c.body {
		if left[shape(e)] > 0 {
			left[shape(e)]--
			rest = append(rest, e)
		}
	}
	return slices.Equal(nameless(rest), other.conditions)
}

var refs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:input|data)[.\[][^\s,)}]*`) })

// onlySays reports whether c differs from other only in what its head says, and
// looks at nothing for that which other did not look at: what is missing there
// would silence it.
func (c *clause) onlySays(other *clause) bool {
	if !c.plain || !other.plain || !slices.Equal(c.conditions, other.conditions) {
		return false
	}
	before := strings.Join(other.says, "\n") + "\n" + strings.Join(other.body, "\n")
	for _, e := range c.says {
		for _, ref := range refs().FindAllString(e, -1) {
			if !strings.Contains(before, ref) {
				return false
			}
		}
		if strings.Contains(e, "data.") && !strings.Contains(before, e) { // a helper's value
			return false
		}
	}
	return true
}

// reach lists the rules of the release that a policy's rules ask, by path.
func (p *program) reach(policy string) map[string]bool {
	if found := p.asked[policy]; found != nil {
		return found
	}
	found := map[string]bool{}
	p.asked[policy] = found
	var visit func(r *ast.Rule)
	seen := map[*ast.Rule]bool{}
	visit = func(r *ast.Rule) {
		if seen[r] {
			return
		}
		seen[r] = true
		found[rulePath(r)] = true
		for dep := range p.compiler.Graph.Dependencies(r) {
			if next, ok := dep.(*ast.Rule); ok {
				visit(next)
			}
		}
	}
	for _, m := range p.compiler.Modules {
		if strings.TrimPrefix(m.Package.Path.String(), "data.") != policy {
			continue
		}
		for _, r := range m.Rules {
			if rego.IsRule(ruleName(rulePath(r), policy)) {
				visit(r)
			}
		}
	}
	return found
}

// ruleName is the name of a rule within its package.
func ruleName(path, pkg string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(path, pkg), "."), ".")
	return name
}
