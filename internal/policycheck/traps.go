package policycheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/facts"
	"gate/hook"
)

// What is written as it should be and means something else.

// Where policies read what a tool gets, and the library's functions.
var (
	toolInputRef = ast.Ref{ast.InputRootDocument, ast.StringTerm("tool_input")}
	libRef       = ast.Ref{ast.DefaultRootDocument, ast.StringTerm("gate"), ast.StringTerm("lib")}
)

// always reports a list of the library's as a condition: it is there, whatever
// it holds.
func (c *checker) always(s *scope, e *ast.Expr, t *ast.Term) {
	shownAs := t
	if v, ok := t.Value.(ast.Var); ok {
		in, b, found := s.find(v)
		if !found || b.term == nil || b.element {
			return
		}
		s, t = in, b.term
	}
	call, ok := t.Value.(ast.Call)
	if !ok || c.pass != reporting {
		return
	}
	u, _ := c.function(s, call[0])
	if u == nil || !u.lib {
		return
	}
	if is := c.eval(s, t).kinds(); is == 0 || is&^(array|set) != 0 {
		return
	}
	list := shown(shownAs)
	if e.Negated {
		c.report(s, e.Location, Error, "never", fmt.Sprintf("not %s is never true: it is a list, which may be empty", list), fmt.Sprintf("write: count(%s) == 0", list))
		return
	}
	c.report(s, e.Location, Error, "never", fmt.Sprintf("%s is always true: it is a list, which may be empty", list), fmt.Sprintf("write: some x in %s", list))
}

// missingNegated reports a negated call with an argument that may be missing:
// Rego looks arguments up outside of not, and then nothing around it holds.
func (c *checker) missingNegated(s *scope, e *ast.Expr, t []*ast.Term) {
	if c.pass != reporting || e == nil || !e.Negated || slices.Contains([]string{"eq", "equal"}, t[0].String()) {
		return
	}
	for _, a := range t[1:] {
		ref, ok := a.Value.(ast.Ref)
		if !ok || s.asks(e, a) {
			continue
		}
		missing := false
		c.follow(s, ref, func(_ int, _ ast.Ref, _, after value) bool {
			missing = missing || slices.ContainsFunc(after, func(f *shape) bool { return f.optional })
			return true
		})
		if !missing {
			continue
		}
		last := ref[len(ref)-1]
		c.report(s, a.Location, Warning, "null", fmt.Sprintf("%s may be missing, and then the rule says nothing: not is about the call, not about its arguments", shown(ref)),
			fmt.Sprintf("write object.get(%s, %s, \"\") in its place", shown(ref[:len(ref)-1]), last))
	}
}

// rawText reports a search in the text of a command line, in a rule that does not
// also ask the facts.
func (c *checker) rawText(s *scope, op string, t []*ast.Term) {
	at := map[string]int{"contains": 1, "startswith": 1, "endswith": 1, "indexof": 1, "regex.match": 2, "glob.match": 3}[op]
	if at == 0 || at >= len(t) {
		return
	}
	ref := c.origin(s, t[at])
	if len(ref) != 3 || !ref.HasPrefix(toolInputRef) || !ref[2].Equal(ast.StringTerm("command")) || s.asksFacts() {
		return
	}
	c.report(s, t[at].Location, Warning, "text", fmt.Sprintf("%s looks at how the line is written: it meets echo 'git push' and misses git -C . push", op),
		`ask what the line does: some push in data.gate.lib.effects("git.push"), or data.gate.lib.commands("git")`)
}

// asksFacts reports whether the rule around an expression reads facts.
func (s *scope) asksFacts() bool {
	found := false
	lists := []ast.Ref{factsRef, libRef.Append(ast.StringTerm("effects")), libRef.Append(ast.StringTerm("commands"))}
	ast.WalkTerms(s.rule, func(t *ast.Term) bool {
		if ref, ok := t.Value.(ast.Ref); ok {
			found = found || slices.ContainsFunc(lists, s.unit.resolve(ref).HasPrefix)
		}
		return found
	})
	return found
}

// address reports the name of a host in the place of an address.
func (c *checker) address(s *scope, t []*ast.Term) bool {
	if s.unit.mentionsCall("net.cidr_is_valid") {
		return false
	}
	for _, a := range t[1:] {
		v := c.eval(s, a)
		if v.any() || nameOf(v) != "host" {
			continue
		}
		ip := "input.facts.hosts[_].ip"
		if ref, ok := a.Value.(ast.Ref); ok && len(c.eval(s, ast.NewTerm(ref[:len(ref)-1])).field("ip")) > 0 {
			ip = shown(ref[:len(ref)-1]) + ".ip"
		}
		c.report(s, a.Location, Error, "value", fmt.Sprintf("%s may be a name, and %s of a name is a fault of the whole policy", shown(a), t[0]),
			fmt.Sprintf("ask %s, which is null where there is a name, behind is_string(%s)", ip, ip))
		return true
	}
	return false
}

// mentionsCall reports whether a package calls a builtin.
func (u *unit) mentionsCall(builtin string) bool {
	found := false
	ast.WalkTerms(u.module, func(t *ast.Term) bool {
		found = found || t.String() == builtin
		return found
	})
	return found
}

// ordered checks left < right and its like.
func (c *checker) ordered(s *scope, e *ast.Expr, left, right *ast.Term) {
	a, b := c.without(s, e, left), c.without(s, e, right)
	if len(a) > 0 && len(b) > 0 {
		c.mismatch(s, left, a, right, b)
	}
}

// wholeNames reports a prefix of paths that ends within a name.
func (c *checker) wholeNames(s *scope, left *ast.Term, prefix string) {
	if len(prefix) < 2 || prefix[0] != '/' || strings.HasSuffix(prefix, "/") {
		return
	}
	v := c.eval(s, left)
	name := nameOf(v)
	if v.any() || v.kinds()&text == 0 || !slices.Contains([]string{"path", "resolved", "cwd", "file_path", "notebook_path"}, name) {
		return
	}
	c.report(s, left.Location, Warning, "value", fmt.Sprintf("%q also begins %s: this is a prefix of texts, not of directories", prefix, prefix+"x"),
		fmt.Sprintf("write data.gate.lib.within(%s, %q)", shown(left), prefix))
}

// rowless warns of the options and operands of a program that gate knows
// nothing of.
func (c *checker) rowless(s *scope, loc *ast.Location, of ast.Ref, field string, before value) {
	if field != "options" && field != "operands" || s.unit.mentions("guessed") || s.unit.mentions("known") {
		return
	}
	programs, closed := before.field("program").texts()
	if !closed || len(before.field("via")) == 0 || slices.ContainsFunc(programs, c.hasRow) {
		return
	}
	what := "its operands are a guess: every word that is no option"
	if field == "options" {
		what = "it has no options"
	}
	c.report(s, loc, Warning, "value", fmt.Sprintf("gate has no row for %s, so that %s", strings.Join(programs, ", "), what),
		fmt.Sprintf("add a row for it to programs in settings, or compare %s.words", shown(of)))
}

// hasRow reports whether gate knows how a program is used.
func (c *checker) hasRow(program string) bool {
	known, done := c.rows[program]
	if done {
		return known
	}
	if c.rows == nil {
		c.rows = map[string]bool{}
	}
	if _, known = c.programs.Lookup(program); !known {
		ev := hook.Event{Agent: "generic", Name: hook.PreToolUse, Fields: map[string]any{
			"hook_event_name": string(hook.PreToolUse), "tool_name": "Bash", "tool_input": map[string]any{"command": program + " x"},
		}}
		if f := facts.New(facts.World{}).Of(&ev); f.Shell != nil {
			known = slices.ContainsFunc(f.Shell.Commands, func(c hook.ShellCommand) bool { return c.Known })
		}
	}
	c.rows[program] = known
	return known
}
