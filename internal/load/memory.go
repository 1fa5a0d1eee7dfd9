package load

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// session finds the policies that read input.session, beside those that have
// something remembered, so that the memory of a session is kept only where somebody asks for it. A policy that may read it
// counts: one that uses input as a whole, or code that does.
func (l *loader) session() {
	reads := map[string]bool{} // by package
	for _, m := range l.modules {
		if readsSession(m.Module) {
			reads[m.pkg] = true
		}
	}
	for more := len(reads) > 0; more; {
		more = false
		for _, m := range l.modules {
			if !reads[m.pkg] && l.uses(m.Module, reads) {
				reads[m.pkg], more = true, true
			}
		}
	}
	for _, h := range l.src.Hooks {
		h.Session = h.Session || reads[h.ID]
	}
}

func readsSession(m *ast.Module) (reads bool) {
	ast.WalkTerms(m, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Var:
			reads = reads || v.Equal(ast.InputRootDocument.Value)
		case ast.Ref:
			if v[0].Equal(ast.InputRootDocument) {
				reads = reads || len(v) == 1 || !v[1].IsGround() || v[1].Equal(ast.StringTerm("session"))
				for _, part := range v[1:] {
					reads = reads || mentionsInput(part)
				}
				return true
			}
		}
		return reads
	})
	return reads
}

// mentionsInput reports whether a part of a reference uses input for itself, as
// in input.a[input.b].
func mentionsInput(t *ast.Term) (found bool) {
	ast.WalkTerms(t, func(t *ast.Term) bool {
		found = found || t.Equal(ast.InputRootDocument)
		return found
	})
	return found
}

// uses reports whether a module refers to one of the packages, or to data that
// is not known before it runs.
func (l *loader) uses(m *ast.Module, packages map[string]bool) (found bool) {
	ast.WalkRefs(m, func(r ast.Ref) bool {
		for _, o := range l.modules {
			if packages[o.pkg] && (r.HasPrefix(o.Package.Path) || o.Package.Path.HasPrefix(r.GroundPrefix()) && r[0].Equal(ast.DefaultRootDocument)) {
				found = true
			}
		}
		return found
	})
	return found
}
