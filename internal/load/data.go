package load

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/internal/strictjson"
	"gate/scopes"
)

const (
	maxData     = 16 << 20  // bytes of one data.json
	maxDataKeys = 1_000_000 // keys and elements in it
)

// IsDataFile reports a file that OPA reads as data, and not as a document of its
// own.
func IsDataFile(name string) bool {
	return slices.Contains([]string{"data.json", "data.yaml", "data.yml"}, path.Base(name))
}

// A dataTree is what files of data hold together, each below the names of its
// directories: acme/data.json holds data.acme.
type dataTree struct {
	roots []string // outside of which nothing may stand; "" stands for everything
	value map[string]any
	files []dataFile
}

// A dataFile is a file of data as read.
type dataFile struct {
	name string
	at   string // the path of its data, "" for the root
	text []byte
}

// decode reads a file of data as strictly as its format allows.
func (f dataFile) decode() (any, error) {
	if path.Ext(f.name) != ".json" {
		d, err := decode(f.name, f.text)
		if err != nil {
			return nil, err
		}
		return d.value, nil
	}
	v, err := strictjson.Decode(f.text, strictjson.Limits{Bytes: maxData, Keys: maxDataKeys, LookAlikes: true})
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", f.name, errorLine(f.text, err), err)
	}
	return v, nil
}

// line returns the line of a path below data, 0 if the file does not hold it.
func (f dataFile) line(parts []string) int {
	pointer := ""
	for _, part := range parts {
		pointer = below(pointer, part)
	}
	at := ""
	for _, part := range f.path() {
		at = below(at, part)
	}
	rest, inside := strings.CutPrefix(pointer, at)
	if !inside {
		return 0
	}
	if path.Ext(f.name) == ".json" {
		return linesOf(f.text)[rest]
	}
	d, err := decode(f.name, f.text)
	if err != nil {
		return 0
	}
	return d.lines[rest]
}

func (f dataFile) path() []string {
	return strings.FieldsFunc(f.at, func(r rune) bool { return r == '/' })
}

func (t *dataTree) owns(at string) bool {
	return slices.ContainsFunc(t.roots, func(root string) bool {
		return root == "" || at == root || strings.HasPrefix(at, root+"/")
	})
}

// add reads a file of data into the tree.
func (t *dataTree) add(name string, text []byte) error {
	f := dataFile{name: name, at: strings.TrimPrefix(path.Dir(name), "."), text: text}
	value, err := f.decode()
	if err != nil {
		return err
	}
	if _, ok := value.(map[string]any); !ok && f.at == "" {
		return fmt.Errorf("%s:1: an object is wanted", name)
	}
	for _, part := range slices.Backward(f.path()) {
		value = map[string]any{part: value}
	}
	t.files = append(t.files, f)
	if t.value == nil {
		t.value = map[string]any{}
	}
	return t.merge(f, t.value, value.(map[string]any), nil)
}

// merge adds what a file holds. Two files that give one value are a mistake, and
// so is what stands outside of the roots.
func (t *dataTree) merge(f dataFile, into, from map[string]any, at []string) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(from)) {
		here := append(slices.Clone(at), key)
		v, isMap := from[key].(map[string]any)
		old, taken := into[key]
		inner, both := old.(map[string]any)
		bad := func(what string) {
			errs = append(errs, fmt.Errorf("%s:%d: data.%s %s", f.name, max(f.line(here), 1), strings.Join(here, "."), what))
		}
		switch {
		case t.owns(strings.Join(here, "/")) && !taken:
			into[key] = from[key]
		case taken && !(isMap && both):
			bad("is given twice")
		case isMap:
			if !taken {
				inner = map[string]any{}
				into[key] = inner
			}
			errs = append(errs, t.merge(f, inner, v, here))
		default:
			bad("is not below a root of the manifest")
		}
	}
	return errors.Join(errs...)
}

// where finds the file and line of a path below data.
func (t *dataTree) where(parts []string) string {
	for _, f := range t.files {
		if line := f.line(parts); line > 0 {
			return fmt.Sprintf("%s:%d", f.name, line)
		}
	}
	return "data"
}

// hides returns the path below data, nil if there is none, whose value would
// stand in the place of what a module defines: of a rule, or of the package.
func (t *dataTree) hides(m module) []string {
	for _, r := range m.Rules {
		parts := texts(r.Ref())
		var at any = t.value
		for i, part := range parts {
			object, ok := at.(map[string]any)
			if !ok {
				return parts[:i]
			}
			if at, ok = object[part]; !ok {
				break
			}
			if i == len(parts)-1 {
				return parts
			}
		}
	}
	return nil
}

// texts returns the constant texts that a reference below data begins with.
func texts(ref ast.Ref) []string {
	var parts []string
	for _, t := range ref[1:] {
		s, ok := t.Value.(ast.String)
		if !ok {
			break
		}
		parts = append(parts, string(s))
	}
	return parts
}

// data takes in the files of data among those of a directory of policies, and
// returns the others.
func (l *loader) data(files []file) (others []file) {
	for _, f := range files {
		if !IsDataFile(f.name) {
			others = append(others, f)
			continue
		}
		l.src.Faults = append(l.src.Faults, loadFaults(l.tree.add(f.name, []byte(f.text)))...)
		l.src.Data = l.tree.value
	}
	ours, _ := l.tree.value["gate"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(ours)) {
		if key != "bundles" { // which the directory that a bundle is made of holds
			l.fault("%s: data.gate.%s: what is below data.gate is the product's own; name it after yours, such as data.acme.%s",
				l.tree.where([]string{"gate", key}), key, key)
			delete(ours, key) // so that nothing reads it
		}
	}
	return others
}

// collisions refuses policies that data stands in the place of.
func (l *loader) collisions() {
	for _, m := range l.modules {
		if parts := l.tree.hides(m); parts != nil {
			l.drop(m)
			l.src.Modules = slices.DeleteFunc(l.src.Modules, func(o scopes.Module) bool { return o.File == m.name })
			l.fault("%s: package %s defines data.%s, and so does %s", m.pos, m.pkg, strings.Join(parts, "."), l.tree.where(parts))
		}
	}
}
