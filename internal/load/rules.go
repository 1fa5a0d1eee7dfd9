package load

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/mark"
	"gate/internal/spelling"
	"gate/internal/strictjson"
)

// rules are the names that mean something, each a partial set.
var rules = []string{"deny", "ask", "allow", "modify", "context", "warn", "halt", "consult", "remember", "confine"}

// Rules lists them.
func Rules() []string { return slices.Clone(rules) }

// misnamed are the names that other systems give them.
var misnamed = map[string]string{
	"violation": "deny", "violations": "deny", "block": "deny", "blocks": "deny", "blocked": "deny",
	"reject": "deny", "forbid": "deny", "denies": "deny", "denied": "deny",
	"permit": "allow", "allowed": "allow", "allows": "allow", "confirm": "ask", "prompt": "ask",
	"warning": "warn", "warnings": "warn", "rewrite": "modify", "mutate": "modify", "transform": "modify", "modifies": "modify",
	"add_context": "context", "inject": "context", "stop": "halt", "remembers": "remember", "mark": "remember", "confines": "confine", "sandbox": "confine", "jail": "confine",
}

// memberKeys are the keys of a rule's members.
func memberKeys(rule string) []string {
	switch rule {
	case "modify":
		return []string{"reason", "edits", "input"}
	case "context":
		return []string{"text", "strategy"}
	case "consult":
		return []string{"hook", "reason"}
	case "confine":
		return []string{"profile", "reason", "otherwise"}
	case "remember":
		return []string{"mark", "value", "for"}
	}
	return []string{"reason", "id", "help", "suggestion", "span"}
}

// misnamedKeys are the keys that other systems give members.
var misnamedKeys = map[string]string{
	"msg": "reason", "message": "reason", "description": "reason", "why": "reason",
	"name": "mark", "key": "mark", "scope": "for", "until": "for", "rule_id": "id", "rule": "id", "code": "id", "hint": "help", "fix": "suggestion", "location": "span",
}

// checkRules checks the names and forms of a module's rules and returns which
// of the fixed ones it defines.
func (l *loader) checkRules(m module) []string {
	var defined []string
	used := references(m.Module)
	for _, r := range m.Rules {
		name := ruleName(r)
		pos := fmt.Sprintf("%s:%d", m.name, r.Loc().Row)
		if !slices.Contains(rules, name) {
			if right := meant(name, r, used); right != "" {
				l.fault("%s: rule %s decides nothing; did you mean %s?", pos, name, right)
			}
			continue
		}
		if !slices.Contains(defined, name) {
			defined = append(defined, name)
		}
		l.checkRule(pos, name, r)
	}
	slices.Sort(defined)
	return defined
}

func (l *loader) checkRule(pos, name string, r *ast.Rule) {
	switch {
	case r.Default:
		l.fault("%s: default %s: %s is a set, empty unless something is in it; remove the default", pos, name, name)
		return
	case len(r.Head.Args) > 0, len(r.Head.Ref()) != 1, r.Head.RuleKind() != ast.MultiValue:
		l.fault("%s: %s must be a set; write: %s contains … if { … }", pos, name, name)
		return
	}
	allowed := memberKeys(name)
	for _, member := range members(r) {
		_ = member.Iter(func(k, _ *ast.Term) error {
			key, ok := k.Value.(ast.String)
			if ok && !slices.Contains(allowed, string(key)) {
				right := misnamedKeys[string(key)]
				if !slices.Contains(allowed, right) {
					right = ""
				}
				l.fault("%s: %s has no key %q%s", pos, name, string(key), didYouMean(string(key), right, allowed))
			}
			return nil
		})
		if name == "remember" {
			l.checkMark(pos, member)
		}
	}
}

// checkMark reports a mark that is written so that it can never be kept.
func (l *loader) checkMark(pos string, member ast.Object) {
	text := func(key string) (s string, is, constant bool) {
		t := member.Get(ast.StringTerm(key))
		if t == nil {
			return "", false, false
		}
		v, is := t.Value.(ast.String)
		return string(v), is, ast.IsConstant(t.Value)
	}
	closed := !member.Until(func(k, _ *ast.Term) bool { return !ast.IsConstant(k.Value) })
	switch s, is, constant := text("mark"); {
	case !is && !constant && closed && member.Get(ast.StringTerm("mark")) == nil:
		l.fault("%s: a member of remember has no mark; add \"mark\", its name", pos)
	case constant && (!is || strings.TrimSpace(s) == ""):
		l.fault("%s: mark of remember is the name of the mark, a text that says something", pos)
	case len(s) > mark.MaxName:
		l.fault("%s: the name of a mark has %d bytes; %d are allowed", pos, len(s), mark.MaxName)
	}
	if s, _, constant := text("for"); constant && s != mark.Session && s != mark.Round {
		l.fault("%s: for of remember is %s; it is %q or %q", pos, member.Get(ast.StringTerm("for")), mark.Session, mark.Round)
	}
}

// members returns the object literals that a rule puts into its set: written
// in the head, or assigned to the head's variable in the body.
func members(r *ast.Rule) []ast.Object {
	var found []ast.Object
	switch key := r.Head.Key.Value.(type) {
	case ast.Object:
		found = append(found, key)
	case ast.Var:
		for _, e := range r.Body {
			if !e.IsAssignment() && !e.IsEquality() || len(e.Operands()) != 2 {
				continue
			}
			left, isVar := e.Operand(0).Value.(ast.Var)
			if right, ok := e.Operand(1).Value.(ast.Object); ok && isVar && left == key {
				found = append(found, right)
			}
		}
	}
	return found
}

func ruleName(r *ast.Rule) string {
	name, _ := r.Head.Ref()[0].Value.(ast.Var)
	return string(name)
}

// meant returns the rule that a misspelt one was meant to be, "" for a rule in
// its own right: one that others use, or that does not look like a set of
// verdicts.
func meant(name string, r *ast.Rule, used map[string]bool) string {
	if used[name] || len(r.Head.Args) > 0 {
		return ""
	}
	if right, ok := misnamed[name]; ok {
		return right
	}
	if r.Head.RuleKind() != ast.MultiValue && !r.Default {
		return ""
	}
	for _, right := range rules {
		if near(strings.ToLower(name), right) {
			return right
		}
	}
	return ""
}

// references returns the names that a module's rules refer to.
func references(m *ast.Module) map[string]bool {
	used := map[string]bool{}
	own := m.Package.Path
	visit := ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case *ast.Head:
			if x.Key != nil {
				ast.WalkVars(x.Key, func(v ast.Var) bool { used[string(v)] = true; return false })
			}
			if x.Value != nil {
				ast.WalkVars(x.Value, func(v ast.Var) bool { used[string(v)] = true; return false })
			}
			return true
		case ast.Ref:
			if x.HasPrefix(own) && len(x) > len(own) {
				if s, ok := x[len(own)].Value.(ast.String); ok {
					used[string(s)] = true
				}
			}
		case ast.Var:
			used[string(x)] = true
		}
		return false
	})
	for _, r := range m.Rules {
		visit.Walk(r)
	}
	return used
}

// didYouMean ends a message with the known word that was meant, or with all of
// them.
func didYouMean(word, right string, known []string) string {
	if right = cmp.Or(right, spelling.Nearest(word, known)); right != "" {
		return fmt.Sprintf("; did you mean %q?", right)
	}
	var once []string // and not again as other systems write it
	for _, k := range known {
		if !slices.ContainsFunc(once, func(o string) bool { return strictjson.Fold(o) == strictjson.Fold(strings.ReplaceAll(k, "_", "")) }) {
			once = append(once, k)
		}
	}
	return "; it knows " + strings.Join(once, ", ")
}

// near reports words that differ by one slip: a letter more, less, other, or
// two swapped.
func near(a, b string) bool { return spelling.Distance(a, b) <= 1 }
