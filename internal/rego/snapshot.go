package rego

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/version"

	"gate/scopes"
)

// A snapshot is what the compiler made of a source, with all checks done and all
// guards in place, so that a program can ask policies without parsing and
// compiling them. It holds, after a head that lists the
// files and what each package needs, one section of compiled rules for each
// file; only the sections that are needed are read.
//
// It is used only for the grant and the version of OPA that it was made for. One
// that comes beside its source ([Snapshot]) is used only for exactly the files and
// parameters that it was made of, and whatever does not fit, or is damaged, is
// compiled. One that comes in the place of the source's text ([Save]) cannot be
// compared with anything.
type snapshot struct {
	data  string
	alone bool // there is no text
	once  sync.Once
	files []savedFile
	own   int // so many of files are the source's, the others the library's
	err   error

	grant    grant
	declared string // the source's parameters
}

// A savedFile is one file of a snapshot.
type savedFile struct {
	file, pkg string
	digest    string // SHA-256 of the text
	sum       uint32 // of the section
	section   string
	needs     []int // the files that the file's package needs, itself included
}

// snapshotMagic changes whenever the form or its meaning does.
const snapshotMagic = "gate policies 4\n"

// WithSnapshot gives the evaluator what [Snapshot] made of the embedded library,
// which makes the first evaluation cheap and later ones a little dearer.
// The data must be as trusted as the program itself: that it belongs to the
// sources is checked, that it says what they say is not.
func WithSnapshot(data string) Option {
	return func(e *Evaluator) { e.snapshot = &snapshot{data: data} }
}

// Snapshot compiles a source with the modules of data.gate.lib and returns what
// came of it, for [WithSnapshot]. It returns an error when the source has a
// mistake.
func Snapshot(lib []scopes.Module, s scopes.Source) ([]byte, error) {
	if err := Check(lib, s); err != nil {
		return nil, err
	}
	src := newSource(&s, newModules(lib))
	own, needed, err := src.closure(src.packages())
	if err != nil {
		return nil, err
	}
	compiler, err := src.compileFiles(own, needed)
	if err != nil {
		return nil, err
	}
	return src.save(compiler, src.files.all, src.lib.all)
}

// save writes a snapshot of files that a compiler has compiled.
func (s *source) save(compiler *ast.Compiler, own, lib []*module) ([]byte, error) {
	list := slices.Concat(own, lib)
	head := &encoder{}
	head.raw(snapshotMagic)
	head.text(version.Version)
	head.int(int(s.grant))
	head.text(s.params.List())
	head.int(len(list))
	head.int(len(own))
	var sections []byte
	for i, m := range list {
		section := &encoder{}
		if compiled := compiler.Modules[fileKey(i >= len(own), m.Package, m.File)]; compiled != nil {
			section.module(compiled)
		}
		if section.err != nil {
			return nil, fmt.Errorf("%s: %w", m.File, section.err)
		}
		if err := s.saveHead(head, m, list, section.buf); err != nil {
			return nil, err
		}
		sections = append(sections, section.buf...)
	}
	head.sum(checksum(string(head.buf)))
	return append(head.buf, sections...), nil
}

// saveHead writes what the head says about one file.
func (s *source) saveHead(head *encoder, m *module, list []*module, section []byte) error {
	own, lib, err := s.closure([]string{m.Package})
	if err != nil {
		return err
	}
	digest := sha256.Sum256([]byte(m.Text))
	head.text(m.File)
	head.text(m.Package)
	head.raw(string(digest[:]))
	head.sum(checksum(string(section)))
	head.int(len(section))
	needs := slices.Concat(own, lib)
	head.int(len(needs))
	for _, n := range needs {
		head.int(slices.Index(list, n))
	}
	return nil
}

// checksum finds damage, not malice: whoever may write the program writes that,
// too. It needs no tables, which would take longer to make than to use.
func checksum(data string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(data))
	return h.Sum32()
}

var errStale = errors.New("the snapshot was made of something else")

// read reads the head, once.
func (s *snapshot) read() error {
	s.once.Do(func() { s.err = s.readHead() })
	return s.err
}

func (s *snapshot) readHead() error {
	d := &decoder{data: s.data}
	if d.raw(len(snapshotMagic)) != snapshotMagic || d.text() != version.Version {
		return errStale
	}
	s.grant, s.declared = grant(d.int()), d.text()
	n := d.count()
	if s.own = d.int(); n == 0 || s.own > n {
		d.damaged()
	}
	s.files = make([]savedFile, 0, n)
	sizes := make([]int, 0, n)
	for range n {
		f := savedFile{file: d.text(), pkg: d.text(), digest: d.raw(sha256.Size), sum: d.sum()}
		sizes = append(sizes, d.int())
		f.needs = make([]int, d.count())
		for i := range f.needs {
			if f.needs[i] = d.int(); f.needs[i] >= n {
				d.damaged()
			}
		}
		s.files = append(s.files, f)
	}
	if sum := checksum(s.data[:d.at]); d.sum() != sum {
		d.damaged()
	}
	for i := range s.files {
		s.files[i].section = d.raw(sizes[i])
	}
	if d.err == nil && d.at != len(s.data) {
		d.damaged()
	}
	return d.err
}

// restore returns a compiler with what pkgs need, taken from the snapshot.
func (s *source) restore(pkgs []string) (c *ast.Compiler, err error) {
	defer func() {
		if r := recover(); r != nil {
			c, err = nil, fmt.Errorf("the snapshot is damaged: %v", r)
		}
	}()
	if s.saved == nil {
		return nil, errStale
	}
	if err := s.saved.read(); err != nil {
		return nil, err
	}
	needed, err := s.savedFor(pkgs)
	if err != nil {
		return nil, err
	}
	modules, may := make(map[string]*ast.Module, len(needed)), s.mayCall()
	for _, i := range needed {
		f := &s.saved.files[i]
		if checksum(f.section) != f.sum {
			return nil, errDamaged
		}
		m, err := decodeModule(f, may)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.file, err)
		}
		modules[fileKey(i >= s.saved.own, f.pkg, f.file)] = m
	}
	return restored(modules), nil
}

// savedFor returns the files that packages need, after comparing the source with
// the one that the snapshot was made of: the same files in the same order.
func (s *source) savedFor(pkgs []string) ([]int, error) {
	saved := s.saved
	if saved.grant != s.grant {
		return nil, errStale
	}
	if saved.alone {
		return saved.needs(pkgs)
	}
	own := len(s.files.all)
	if len(saved.files) != own+len(s.lib.all) || saved.own != own || saved.declared != s.params.List() {
		return nil, errStale
	}
	at := func(i int) *module {
		if i < own {
			return s.files.all[i]
		}
		return s.lib.all[i-own]
	}
	needed := map[int]bool{}
	for i, f := range saved.files {
		if m := at(i); m.File != f.file || m.Package != f.pkg {
			return nil, errStale
		}
		if i < own && slices.Contains(pkgs, f.pkg) {
			for _, n := range f.needs {
				needed[n] = true
			}
		}
	}
	for i := range needed {
		if digest := sha256.Sum256([]byte(at(i).Text)); string(digest[:]) != saved.files[i].digest {
			return nil, errStale
		}
	}
	return slices.Sorted(maps.Keys(needed)), nil
}

// restored returns a compiler that knows modules as if it had compiled them. The
// capabilities have done their work already; what is left of them is that no
// host may be asked for schemas. Indices of comprehensions are not made: that
// takes longer than one call gains by them.
func restored(modules map[string]*ast.Module) *ast.Compiler {
	keep := []ast.StageID{ast.StageSetRuleTree, ast.StageBuildRuleIndices}
	skip := slices.DeleteFunc(ast.AllStages(), func(id ast.StageID) bool { return slices.Contains(keep, id) })
	c := ast.NewCompiler().
		WithCapabilities(&ast.Capabilities{AllowNet: []string{}}).
		WithDefaultRegoVersion(ast.RegoV1).
		WithSkipStages(skip...).
		WithStageAfterID(ast.StageSetRuleTree, ast.CompilerStageDefinition{
			Name: "RestoreModules", MetricName: "restore_modules",
			Stage: func(c *ast.Compiler) *ast.Error {
				c.Modules = modules
				c.ModuleTree = ast.NewModuleTree(modules)
				c.RuleTree = ast.NewRuleTree(c.ModuleTree)
				return nil
			},
		})
	c.Compile(nil)
	return c
}

// fileKey names a file for the compiler, which takes rules in the order of such
// names.
func fileKey(lib bool, pkg, file string) string {
	if lib {
		return "0:" + pkg + ":" + file
	}
	return "1:" + pkg + ":" + file
}
