// Package load reads the files that hooks are written in and turns them into
// [scopes.Source] values.
//
// It reads an fs.FS and nothing more. The caller knows the directories, their owners,
// and whether a person trusted them. The loader does not stop at the first mistake and
// never returns half a policy: each mistake becomes a fault of the source, with file
// and line. It compiles nothing; internal/rego does. Start with [Rego].
package load

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"gate/hook"
	"gate/internal/setting"
	"gate/scopes"
)

// Rego loads the policies in fsys: every *.rego file but *_test.rego, at any
// depth, files and directories whose names begin with a dot left out, and the
// data beside them: data.json and data.yaml, each below the names of its
// directories, as OPA reads them. The argument into says whose they are: its
// name, scope, authority, Library, Trusted and Params are taken over, and its
// hooks, modules, digest and faults are filled in; so is its data unless it has
// some. Library code that every source may import is not among the modules; see [Lib].
//
// Use the FS of an os.Root for a directory: an os.DirFS follows links out of
// the tree between the check and the reading.
func Rego(fsys fs.FS, into scopes.Source) scopes.Source {
	return (*Kept)(nil).Rego(fsys, into)
}

// rego is [Rego], with the files that are wanted and the data that is there.
func (l *loader) rego(fsys fs.FS) scopes.Source {
	l.src.Hooks, l.src.Modules, l.src.Faults = nil, nil, nil
	files := l.read(fsys)
	l.src.Digest = digest(files)
	files = l.data(files)
	trees := l.parseAll(files)
	for i, f := range files {
		l.add(f, trees[i])
	}
	l.packages()
	l.collisions()
	l.reads()
	if l.src.Library && len(l.src.Hooks) == 0 && len(l.src.Faults) == 0 {
		l.fault("the library holds no policy")
	}
	return l.src
}

// Lib returns the modules in fsys that every source may import, and what is
// wrong with them. They are shared by all sources and come from the product
// only.
func Lib(fsys fs.FS) ([]scopes.Module, []hook.Fault) {
	return (*Kept)(nil).Lib(fsys)
}

// shared is [Lib] of files that were read.
func (l *loader) shared(files []file) ([]scopes.Module, []hook.Fault) {
	trees := l.parseAll(files)
	for i, f := range files {
		if m, ok := l.module(f, trees[i]); ok && setting.Shared(m.pkg) {
			l.lib = append(l.lib, scopes.Module{File: f.name, Package: m.pkg, Text: f.text})
		}
	}
	return l.lib, l.src.Faults
}

// A loader collects what one tree holds.
type loader struct {
	src     scopes.Source
	kept    *Kept                  // nil: nothing is kept
	wanted  func(name string) bool // which files are read
	lib     []scopes.Module
	modules []module // all but library code
	tree    dataTree
	entries int
	bytes   int64
}

// fault records a mistake. format begins with the position where there is one.
func (l *loader) fault(format string, args ...any) {
	l.src.Faults = append(l.src.Faults, *hook.Faultf(hook.FaultLoad, format, args...))
}

// add takes one parsed file in: as a policy, as a helper module, or not at all. A
// panic about its tree is a fault of the file.
func (l *loader) add(f file, p parsed) {
	defer func() {
		if p := recover(); p != nil {
			l.fault("%s: it cannot be checked: %v", f.name, p)
		}
	}()
	m, ok := l.module(f, p)
	if !ok {
		return
	}
	if l.src.Library && setting.Shared(m.pkg) {
		return
	}
	before := len(l.src.Faults)
	l.checkPackage(m)
	h := l.policy(m)
	if mistakes := l.src.Faults[before:]; len(mistakes) > 0 {
		slices.SortStableFunc(mistakes, func(a, b hook.Fault) int { return lineIn(f.name, a) - lineIn(f.name, b) })
		return
	}
	l.modules = append(l.modules, m)
	l.src.Modules = append(l.src.Modules, scopes.Module{File: f.name, Package: m.pkg, Text: f.text})
	if h != nil {
		l.src.Hooks = append(l.src.Hooks, h)
	}
}

// lineIn is the line of a file that a fault names, 0 if it names none.
func lineIn(name string, f hook.Fault) int {
	pos, _ := strings.CutPrefix(f.Error(), name+":")
	pos, _, _ = strings.Cut(pos, ":")
	line, err := strconv.Atoi(pos)
	if err != nil {
		return 0
	}
	return line
}

// checkPackage keeps the names of the product for the product.
func (l *loader) checkPackage(m module) {
	ours := m.pkg == "gate" || strings.HasPrefix(m.pkg, "gate.")
	switch {
	case ours && !l.src.Library:
		l.fault("%s: packages under gate. are the product's own; name it after yours, such as acme.%s", m.pos, lastPart(m.pkg))
	case !ours && l.src.Library:
		l.fault("%s: package %s of the library is not under gate.", m.pos, m.pkg)
	case m.pkg == "gate.params" || strings.HasPrefix(m.pkg, "gate.params."),
		m.pkg == "gate.bundles" || strings.HasPrefix(m.pkg, "gate.bundles."):
		l.fault("%s: package %s is where data stands", m.pos, m.pkg)
	}
}

func lastPart(pkg string) string { return pkg[strings.LastIndexByte(pkg, '.')+1:] }

// packages refuses packages that several files share: one policy, one
// package, one file.
func (l *loader) packages() {
	first := map[string]module{}
	for _, m := range l.modules {
		if o, taken := first[m.pkg]; taken {
			l.drop(m)
			l.fault("%s: package %s is also in %s; one package, one file", m.pos, m.pkg, o.pos)
			continue
		}
		first[m.pkg] = m
	}
}

// drop takes the policy of a module out of the source, which is broken anyway: a
// second hook with the id of the first would be reported once more.
func (l *loader) drop(m module) {
	l.src.Hooks = slices.DeleteFunc(l.src.Hooks, func(h *hook.Hook) bool { return h.ID == m.pkg && h.File == m.name })
}

// digest identifies the content of a tree: the same files with the same bytes
// have the same digest, and no others do.
func digest(files []file) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%d %d\n%s\n%s\n", len(f.name), len(f.text), f.name, f.text)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
