package policytest

import (
	"bytes"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"

	"gate/internal/load"
	"gate/internal/strictjson"
)

// recordedEvents is the package of what gate.event said, below [load.RecordRef]. Tests
// import it as "gate".
const recordedEvents = "gate"

// maxRecord bounds a record, in bytes, so that it can be read as a file of tests.
const maxRecord = maxTests

// A Record has what gate.event said in tests, in Rego, so that OPA, which has no
// such builtin, runs them too.
type Record struct {
	Module string          // the file of the record; "" if nothing was said, or too much
	Import string          // a line that makes gate.event in a file that of the record
	Files  map[string]bool // the files with tests that need it
}

// Record returns what gate.event said in the runs of a suite until now, for the
// bundle of that name. gate itself passes over records and asks anew.
func (s *Suite) Record(bundle string) Record {
	at := load.RecordRef(bundle).String() + "." + recordedEvents
	r := Record{Import: "import " + at + "\n", Files: map[string]bool{}}
	said := s.events.said(r.Files)
	if len(said) == 0 {
		return r
	}
	var b strings.Builder
	b.WriteString("# What gate.event said in the tests of this bundle when it was packed, for OPA.\npackage " + strings.TrimPrefix(at, "data.") +
		"\n\nevent(spec) := json.unmarshal(said[spec])\n\nsaid := {\n")
	for _, line := range said {
		b.WriteString("\t" + line + ",\n")
	}
	b.WriteString("}\n")
	if text, err := format.Source("record.rego", []byte(b.String())); err == nil && len(text) <= maxRecord {
		r.Module = string(text)
	}
	return r
}

// said returns an entry for each event that was made, sorted, and notes the files
// with the calls that made them.
func (e *events) said(files map[string]bool) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	type entry struct{ spec, document []byte }
	var list []entry
	for _, made := range e.known {
		if made.err != nil || len(made.rows) == 0 {
			continue
		}
		for file := range made.rows {
			files[file] = true
		}
		document := string(strictjson.Append(nil, made.event.Document()))
		list = append(list, entry{strictjson.Append(nil, made.spec), strictjson.Append(nil, document)})
	}
	slices.SortFunc(list, func(a, b entry) int { return bytes.Compare(a.spec, b.spec) })
	lines := make([]string, len(list))
	for i, x := range list {
		lines[i] = string(x.spec) + ": " + string(x.document)
	}
	return lines
}

// WithoutRecord returns a file of tests as its author wrote it: nil if it is a
// record, else without the import of one.
func WithoutRecord(m *ast.Module) *ast.Module {
	if m == nil || isRecord(m.Package.Path) {
		return nil
	}
	ofRecord := func(i *ast.Import) bool {
		path, ok := i.Path.Value.(ast.Ref)
		return ok && isRecord(path)
	}
	if slices.ContainsFunc(m.Imports, ofRecord) {
		m = m.Copy()
		m.Imports = slices.DeleteFunc(m.Imports, ofRecord)
	}
	return m
}

// isRecord reports the path of a package that a bundle holds for OPA alone.
func isRecord(path ast.Ref) bool {
	const names = 6 // data.gate.bundles.NAME.recorded.gate
	if len(path) != names {
		return false
	}
	bundle, ok := path[names-3].Value.(ast.String)
	return ok && path.HasPrefix(load.RecordRef(string(bundle)))
}
