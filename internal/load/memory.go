package load

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// reads finds the policies that read dear fields, so that gate works these out only where
// somebody asks for them. The fields are input.session and what decides beside the words of a
// line and of its commands. A policy that has something remembered counts, too, and so does one
// that may read such a field.
func (l *loader) reads() {
	session, beside := l.readers(readsSession), l.readers(readsBeside)
	for _, h := range l.src.Hooks {
		h.Session = h.Session || session[h.ID]
		h.Beside = beside[h.ID]
	}
}

// readers are the packages with code that reads something, or that use such code.
func (l *loader) readers(of func(*ast.Module) bool) (reads map[string]bool) {
	reads = map[string]bool{}
	for _, m := range l.modules {
		if of(m.Module) {
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
	return reads
}

// readsBeside reports a module that names one of the fields, whatever it is a field of, or
// the library's package that reads them (data.gate.proof). One that uses input as a whole
// counts, too.
func readsBeside(m *ast.Module) (reads bool) {
	named := func(t *ast.Term) bool {
		name, ok := t.Value.(ast.String)
		return ok && (name == "repository" || name == "ground" || name == "proof")
	}
	ast.WalkTerms(m, func(t *ast.Term) bool {
		r, isRef := t.Value.(ast.Ref)
		switch {
		case named(t), t.Value.Compare(ast.InputRootDocument.Value) == 0:
			reads = true
		case isRef && r[0].Equal(ast.InputRootDocument):
			reads = reads || len(r) == 1
			for _, part := range r[1:] {
				reads = reads || named(part) || mentionsInput(part)
			}
			return true
		}
		return reads
	})
	return reads
}

// readsSession reports a module that reads input.session, or uses input as a whole.
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
