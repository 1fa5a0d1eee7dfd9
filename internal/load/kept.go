package load

import (
	"io/fs"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/scopes"
)

// A Kept holds what Rego files were parsed to, for whoever loads the same files again and
// again, such as an editor: the parser takes most of the time. The zero value is empty,
// and nil keeps nothing. It is safe for concurrent use. Nobody may change a tree of it.
type Kept struct {
	mu    sync.Mutex
	files map[string][]keptTree // by name, the newest text first
}

// A keptTree is the outcome of parsing a text.
type keptTree struct {
	text string
	parsed
}

// Two texts of a name are kept, since a file and one of the library may have the same
// name. Beyond so many names all are forgotten.
const maxKeptTexts, maxKeptFiles = 2, 10_000

// Rego is [Rego], and parses only what is not kept.
func (k *Kept) Rego(fsys fs.FS, into scopes.Source) scopes.Source {
	l := loader{src: into, kept: k, wanted: isPolicyFile, tree: dataTree{roots: []string{""}}}
	if into.Data == nil {
		l.wanted = func(name string) bool { return isPolicyFile(name) || IsDataFile(name) }
	}
	return l.rego(fsys)
}

// Dir is [Dir], and parses only what is not kept.
func (k *Kept) Dir(fsys fs.FS, into scopes.Source) scopes.Source {
	r := reader{fsys: fsys, src: into, kept: k}
	r.src.Hooks, r.src.Modules, r.src.Faults, r.src.Digest = nil, nil, nil, ""
	r.policies(PoliciesDir)
	r.hooksFile()
	r.hooksDir()
	return r.done()
}

// Lib is [Lib], and parses only what is not kept.
func (k *Kept) Lib(fsys fs.FS) ([]scopes.Module, []hook.Fault) {
	l := loader{src: scopes.Source{Library: true}, kept: k, wanted: isPolicyFile}
	return l.shared(l.read(fsys))
}

// Module parses a file that has been loaded, unless it is kept. A panic of the parser is
// an error.
func (k *Kept) Module(name, text string) (*ast.Module, error) {
	p := k.parse(file{name, text})
	return p.tree, p.err
}

func (k *Kept) parse(f file) parsed {
	if p, found := k.find(f); found {
		return p
	}
	var p parsed
	p.tree, p.err = parse(f)
	k.keep(f, p)
	return p
}

func (k *Kept) find(f file) (parsed, bool) {
	if k == nil {
		return parsed{}, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, t := range k.files[f.name] {
		if t.text == f.text {
			return t.parsed, true
		}
	}
	return parsed{}, false
}

func (k *Kept) keep(f file, p parsed) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.files == nil || len(k.files) >= maxKeptFiles {
		k.files = map[string][]keptTree{}
	}
	list := append([]keptTree{{f.text, p}}, k.files[f.name]...)
	k.files[f.name] = list[:min(len(list), maxKeptTexts)]
}
