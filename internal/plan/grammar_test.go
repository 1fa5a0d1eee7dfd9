package plan_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A grammar writes small random policies that OPA's compiler mostly takes.
type grammar struct {
	*rand.Rand
	vars  []string // that are bound here
	next  int
	depth int
}

func (g *grammar) one(of ...string) string { return of[g.IntN(len(of))] }

// policy writes a package with helpers and rules that show what they found.
func (g *grammar) policy(pkg string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\n", pkg)
	for i := range 3 {
		g.vars, g.depth = nil, 0
		body := g.body(i)
		fmt.Fprintf(&b, "h%d := %s if {\n%s}", i, g.term(), body)
		if g.IntN(3) == 0 {
			g.vars = nil
			body = g.body(i)
			fmt.Fprintf(&b, " else := %s if {\n%s}", g.term(), body)
		}
		b.WriteString("\n\n")
		if g.IntN(3) == 0 {
			fmt.Fprintf(&b, "default h%d := %s\n\n", i, g.scalar())
		}
	}
	for i := range 2 {
		g.vars = []string{"x"}
		body := g.body(3)
		fmt.Fprintf(&b, "f%d(x) := [x, %s] if {\n%s}\n\n", i, g.term(), body)
		g.vars = nil
		body = g.body(3)
		fmt.Fprintf(&b, "s%d contains %s if {\n%s}\n\n", i, g.term(), body)
		g.vars = nil
		body = g.body(3)
		fmt.Fprintf(&b, "o%d[%s] := %s if {\n%s}\n\n", i, g.term(), g.term(), body)
	}
	for _, rule := range []string{"deny", "ask", "warn"} {
		g.vars = nil
		body := g.body(5)
		fmt.Fprintf(&b, "%s contains sprintf(\"%%v %%v\", [%s, %s]) if {\n%s}\n\n", rule, g.term(), g.term(), body)
	}
	g.vars = nil
	body := g.body(5)
	fmt.Fprintf(&b, "remember contains {\"mark\": sprintf(\"m%%v\", [%s]), \"value\": %s, \"for\": \"round\"} if {\n%s}\n\n", g.term(), g.term(), body)
	return b.String()
}

// body writes expressions; helpers below known may be used.
func (g *grammar) body(known int) string {
	var b strings.Builder
	before := len(g.vars)
	for range 1 + g.IntN(3) {
		fmt.Fprintf(&b, "\t%s\n", g.expr(known))
	}
	// OPA wants every variable used.
	if new := g.vars[before:]; len(new) > 0 {
		fmt.Fprintf(&b, "\tcount([%s]) > 0\n", strings.Join(new, ", "))
	}
	return b.String()
}

func (g *grammar) fresh() string {
	g.next++
	return fmt.Sprintf("v%d", g.next)
}

// bind makes a new variable known after the expression that binds it.
func (g *grammar) bind(format string, terms ...string) string {
	v := g.fresh()
	args := []any{v}
	for _, t := range terms {
		args = append(args, t)
	}
	g.vars = append(g.vars, v)
	return fmt.Sprintf(format, args...)
}

func (g *grammar) expr(known int) string {
	switch g.IntN(13) {
	case 0, 1:
		return g.bind("%s := %s", g.term())
	case 2, 3:
		return g.bind("some %s in %s", g.collection())
	case 4:
		k := g.fresh()
		s := g.bind("some "+k+", %s in %s", g.collection())
		g.vars = append(g.vars, k)
		return s
	case 5:
		return "input." + g.field() + g.one(" == ", " != ", " < ", " >= ") + g.term()
	case 6:
		return "not input." + g.one("a", "b", "d.x") + " == " + g.one(g.scalar(), "input.e", "count(input)")
	case 7:
		return fmt.Sprintf("every e in input.%s { e != %s }", g.one("a", "b", "c"), g.scalar())
	case 8:
		return g.bind("%s := input." + g.field())
	case 9:
		return g.bind("input." + g.field() + "[%s]")
	case 10:
		if known > 0 {
			return g.bind("%s := " + g.helper(known))
		}
		return "input." + g.field()
	case 11:
		if known > 0 {
			h := g.helper(known)
			return g.bind("%s := "+h+" with input."+g.one("a", "b", "d.x")+" as %s", g.term())
		}
		return "not input." + g.one("a", "b", "d.x")
	}
	w := g.fresh()
	s := g.bind("[%s, " + w + "] = input." + g.field())
	g.vars = append(g.vars, w)
	return s
}

func (g *grammar) helper(known int) string {
	switch {
	case known >= 5 && g.IntN(2) == 0:
		return g.one("s0", "s1", "o0", "o1", "f0("+g.term()+")", "f1("+g.term()+")", "o0["+g.term()+"]", "data.acme.shared.words")
	default:
		return fmt.Sprintf("h%d", g.IntN(min(known, 3)))
	}
}

func (g *grammar) field() string {
	return g.one("a", "b", "c", "d", "e", "a.b", "b[0]", "c[_]", "d.x", "tool_name")
}

func (g *grammar) scalar() string {
	return g.one("null", "true", "false", "0", "1", "1.0", "2.5", "-3", "1e2", `"a"`, `"b c"`, `""`, "[]", "{}", "set()")
}

func (g *grammar) collection() string {
	switch g.IntN(6) {
	case 0:
		return "[" + g.term() + ", " + g.term() + "]"
	case 1:
		return "{" + g.term() + ", " + g.term() + "}"
	case 2:
		return `{"k": ` + g.term() + "}"
	case 3:
		return "input"
	}
	return "input." + g.field()
}

// term writes something that has a value, or not.
func (g *grammar) term() string {
	if g.depth++; g.depth > 6 {
		return g.scalar()
	}
	defer func() { g.depth-- }()
	switch g.IntN(16) {
	case 0, 1, 2:
		if len(g.vars) > 0 {
			return g.vars[g.IntN(len(g.vars))]
		}
	case 3, 4:
		return "input." + g.field()
	case 5:
		return g.collection()
	case 6:
		return g.comprehension()
	case 7:
		return "count(" + g.collection() + ")"
	case 8:
		return fmt.Sprintf("object.get(input, %s, %s)", g.one(`"a"`, `"b"`, `["a", "b"]`), g.scalar())
	case 9:
		return "sprintf(\"%v\", [" + g.term() + "])"
	case 10:
		return "json.marshal(" + g.term() + ")"
	case 11:
		return "type_name(" + g.term() + ")"
	case 12:
		return "(" + g.one("1", "2.5", "count(input)") + g.one("+", "-", "*", "/", "%") + g.one("1", "2", "0.5", "0") + ")"
	case 13:
		if len(g.vars) > 0 {
			return "input[" + g.vars[g.IntN(len(g.vars))] + "]" + g.one("", ".b")
		}
	case 14:
		return "(" + g.term() + " in " + g.collection() + ")"
	}
	return g.scalar()
}

func (g *grammar) comprehension() string {
	vars := g.vars
	defer func() { g.vars = vars }()
	g.vars = append([]string(nil), vars...)
	body := strings.ReplaceAll(strings.TrimSpace(g.body(0)), "\n\t", "; ")
	switch g.IntN(3) {
	case 0:
		return "[" + g.term() + " | " + body + "]"
	case 1:
		return "{" + g.term() + " | " + body + "}"
	}
	return "{" + g.term() + ": " + g.term() + " | " + body + "}"
}

// document makes a random value of JSON.
func (g *grammar) document(depth int) any {
	n := 8
	if depth == 0 {
		n = 5
	}
	switch g.IntN(n) {
	case 0:
		return nil
	case 1:
		return g.IntN(2) == 0
	case 2:
		return []any{0, 1, 2.5, -3, 100, 1 << 40}[g.IntN(6)]
	case 3, 4:
		return g.one("", "a", "b c", "k", "x", "é")
	case 5:
		list := make([]any, g.IntN(4))
		for i := range list {
			list[i] = g.document(depth - 1)
		}
		return list
	}
	m := map[string]any{}
	for range g.IntN(4) {
		m[g.one("a", "b", "x", "k", "0")] = g.document(depth - 1)
	}
	return m
}
