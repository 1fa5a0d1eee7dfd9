package load

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"gate/internal/hostfs"
	"gate/internal/strictjson"
	"gate/scopes"
)

// Keys of data.gate.bundles.NAME.
const (
	bundleSettings = "settings"
	bundleHooks    = "hooks"
	bundleSchemas  = "schemas"
	bundleParallel = "parallel"
)

// minDeadline is what a bundle leaves for one decision. The shortest deadline of
// all bundles counts: one of a later bundle must not close every call.
const minDeadline = time.Second

// Bundle loads what a signed bundle holds: its policies; its data; and below
// data.gate.bundles.NAME its settings, hooks and the schemas of tools, where NAME
// is that of into.Bundle. roots are the paths of the manifest, such as
// gate/bundles/company, outside of which nothing may stand. where is the
// bundle's directory for people. The argument into says whose all this is, as for
// [Rego]; its Digest stays, since it is the archive's. The Source of what is
// returned is never nil, and it is whole or has faults.
func Bundle(files fs.FS, roots []string, where string, into scopes.Source) Configuration {
	b := bundleReader{reader: reader{fsys: files, where: where, src: into}, data: dataTree{roots: roots, value: map[string]any{}}}
	b.src.Hooks, b.src.Modules, b.src.Faults, b.src.Data = nil, nil, nil, b.data.value
	b.walk()
	b.rego()
	b.own(path.Join("gate/bundles", into.Bundle.Name))
	if b.parallel != "" {
		b.sideBySide()
	}
	b.src.Digest = into.Digest
	if len(b.layers) == 0 { // its place in the order counts, even if it says nothing
		b.layers = []scopes.Layer{{Authority: into.Authority, File: where}}
	}
	for i, l := range b.layers {
		if l.Deadline > 0 && l.Deadline < minDeadline {
			b.fault(fmt.Errorf("%s: deadline: a bundle leaves each call %s at least", l.Pos("deadline"), minDeadline))
		}
		b.layers[i].Bundle, b.layers[i].Order = into.Bundle.Name, into.Order
	}
	return Configuration{Layers: b.layers, Source: &b.src, Schemas: b.schemas}
}

type bundleReader struct {
	reader
	data    dataTree
	schemas ToolSchemas
}

func (b *bundleReader) rego() {
	l := loader{src: b.src, wanted: isPolicyFile, tree: b.data}
	src := l.rego(b.fsys)
	for _, m := range src.Modules {
		if at := strings.ReplaceAll(m.Package, ".", "/"); !b.data.owns(at) {
			b.fault(fmt.Errorf("%s: package %s is not below a root of the manifest", m.File, m.Package))
		}
	}
	src.Faults = append(b.src.Faults, src.Faults...)
	b.src = src
}

// walk reads every data.json into one tree.
func (b *bundleReader) walk() {
	err := fs.WalkDir(b.fsys, ".", func(name string, d fs.DirEntry, err error) error {
		hidden := name != "." && strings.HasPrefix(d.Name(), ".")
		switch {
		case err != nil:
			return err
		case hidden && d.IsDir(): // nobody packs it
			return fs.SkipDir
		case hidden || d.IsDir():
			return nil
		case d.Name() == "data.yaml" || d.Name() == "data.yml":
			b.fault(fmt.Errorf("%s: a bundle has no data in YAML, which has no one meaning to sign; write data.json", name))
			return nil
		case d.Name() != "data.json":
			return nil
		}
		text, err := readAtMost(b.fsys, name, maxData)
		if err != nil {
			b.fault(fmt.Errorf("%s: %w", name, hostfs.Reason(err)))
			return nil
		}
		b.fault(b.data.add(name, text))
		return nil
	})
	b.fault(err)
}

// own reads what of the data is gate's.
func (b *bundleReader) own(at string) {
	tree, _ := lookup(b.data.value, "/"+at).(map[string]any)
	delete(tree, RecordKey) // it is OPA's
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		if known := []string{bundleSettings, bundleHooks, bundleSchemas, bundleParallel}; !slices.Contains(known, key) {
			b.fault(fmt.Errorf("data.%s: unknown key %s%s", strings.ReplaceAll(at, "/", "."), key, didYouMean(key, "", known)))
			continue
		}
		if key == bundleParallel {
			b.wantsParallel(at, tree[key])
			continue
		}
		d, err := b.document(at, key, tree[key])
		if err != nil {
			b.fault(fmt.Errorf("data.%s.%s: %w", strings.ReplaceAll(at, "/", "."), key, err))
			continue
		}
		switch key {
		case bundleSettings:
			b.take(d, nil, nil)
		case bundleHooks:
			d.value = map[string]any{"hooks": d.value["hooks"]}
			b.takeHooks(d, tongue{own: true})
		case bundleSchemas:
			b.takeSchemas(d)
		}
	}
}

// wantsParallel takes what a hook file says beside its hooks.
func (b *bundleReader) wantsParallel(at string, v any) {
	switch v {
	case true:
		b.parallel = path.Join(b.where, at, "data.json")
	case false:
	default:
		b.fault(fmt.Errorf("data.%s.%s must be true or false", strings.ReplaceAll(at, "/", "."), bundleParallel))
	}
}

// document makes a document of one key, as if it were a file by itself: with
// the line of each value where one file holds all of it. hooks may be a list, and
// keep their key.
func (b *bundleReader) document(at, key string, value any) (*document, error) {
	if key == bundleHooks {
		value = map[string]any{key: value}
	}
	tree, err := strictjson.Object(strictjson.Append(nil, value), strictjson.Limits{Bytes: maxFile, Depth: maxDepth, Keys: maxKeys})
	if err != nil {
		return nil, err
	}
	d := &document{value: tree, lines: map[string]int{}}
	for _, f := range b.data.files {
		rest, above := strings.CutPrefix("/"+at+"/"+key, strings.TrimSuffix("/"+f.at, "/"))
		if v, err := f.decode(); !above || err != nil || lookup(v, rest) == nil {
			continue
		}
		d.file = path.Join(b.where, f.name)
		if key == bundleHooks {
			rest = strings.TrimSuffix(rest, "/"+key)
		}
		for pointer, line := range linesOf(f.text) {
			if below, ok := strings.CutPrefix(pointer, rest); ok {
				d.lines[below] = line
			}
		}
		return d, nil
	}
	d.file = path.Join(b.where, at, "data.json")
	return d, nil
}

// linesOf finds the line of each value of a JSON text by JSON pointer.
func linesOf(data []byte) map[string]int {
	found, lines := map[string]int{}, newLineIndex(data)
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return found // whoever asks has read all of it
		}
		if k := tok.Kind(); k == '}' || k == ']' {
			continue
		}
		pointer := string(dec.StackPointer())
		if _, seen := found[pointer]; !seen {
			found[pointer] = lines.at(int(dec.InputOffset()) - 1)
		}
	}
}

// ToolSchemas are JSON Schemas of tools' inputs, by tool. The zero value knows
// no tool.
type ToolSchemas map[string]any

// Check holds a tool's input against its schema, and returns nil for a tool that
// has none.
func (t ToolSchemas) Check(tool string, input map[string]any) error {
	text, ok := t[tool]
	if !ok {
		return nil
	}
	var errs []error
	c := checker{texts: map[string]map[string]any{}, report: func(v violation) {
		if v.message == "" {
			v.message = "unknown key " + v.key
		}
		errs = append(errs, fmt.Errorf("tool_input%s: %s", strings.ReplaceAll(v.at, "/", "."), v.message))
	}}
	c.value(scheme{"", text}, input, "")
	return errors.Join(errs...)
}

// takeSchemas takes schemas in. A keyword that would be passed over is a mistake:
// whoever wrote it relies on it.
func (b *bundleReader) takeSchemas(d *document) {
	var errs []error
	for _, tool := range d.sorted(d.value, "") {
		errs = append(errs, d.schemaMistakes(d.value[tool], below("", tool))...)
	}
	if len(errs) > 0 {
		b.fault(inOrder(errs)...)
		return
	}
	b.schemas = d.value
}

func (d *document) schemaMistakes(v any, pointer string) (errs []error) {
	schemaMistakes(v, pointer, func(at, message string) { errs = append(errs, d.errorf(at, "%s", message)) })
	return errs
}
