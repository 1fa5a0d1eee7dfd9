package sealed

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"gate/internal/strictjson"
)

// A Manifest is what a bundle says about itself.
type Manifest struct {
	Revision string
	Roots    []string // paths below data that the bundle owns; "" is everything
	Gate     Metadata // the zero Metadata where the bundle is pinned by its digest
}

// Metadata is metadata.gate of the manifest.
type Metadata struct {
	Name     string
	Version  int64     // 1 or more; it grows with every release
	Expires  time.Time // zero: never
	Audience []string  // "key=value" of a machine's labels, one of which must fit; none: every machine
	MinGate  string    // the oldest gate that understands the bundle, such as "v1.4.0"; "": any
	Facts    int64     // the schema of facts that its policies are written for; 0: the first
	Previous string    // the digest of the release before; ""
}

// manifestOf reads a manifest, nil if there is none: then the bundle owns all of
// data, as OPA has it.
func ManifestOf(data []byte) (Manifest, error) {
	if data == nil {
		return Manifest{Roots: []string{""}}, nil
	}
	return ParseManifest(data)
}

// Overlap returns a path below data that both bundles own, so that they cannot
// be in force side by side; ok is false if there is none.
func (m Manifest) Overlap(other Manifest) (root string, ok bool) {
	for _, a := range m.Roots {
		for _, b := range other.Roots {
			if within(a, b) {
				return a, true
			}
			if within(b, a) {
				return b, true
			}
		}
	}
	return "", false
}

// parseManifest reads .manifest. Without metadata.gate the name stays empty.
func ParseManifest(data []byte) (Manifest, error) {
	var m Manifest
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: 1 << 20})
	if err != nil {
		return m, RefuseFile(BadManifest, ManifestFile, err)
	}
	f := NewFields("", doc)
	m.Revision = f.Text("revision")
	_, hasRoots := f.left["roots"]
	m.Roots = f.roots("roots")
	if !hasRoots {
		m.Roots = []string{""} // OPA's default
	}
	for _, opa := range []string{"wasm", "rego_version", "file_rego_versions"} {
		f.take(opa)
	}
	if gate, ok := f.Object("metadata")["gate"]; ok {
		m.Gate = f.metadata(gate)
	}
	f.checkRoots(m)
	if err := f.Done(); err != nil {
		return m, RefuseFile(BadManifest, ManifestFile, err)
	}
	return m, nil
}

// roots is a list of paths; "" is one, too.
func (f *fields) roots(key string) []string {
	list, _ := read[[]any](f, key, "a list of paths")
	roots := []string{}
	if len(list) > maxTexts {
		f.fail(key, "more than %d paths", maxTexts)
		return roots
	}
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			f.fail(key, "a list of paths is wanted")
			return roots
		}
		roots = append(roots, strings.Trim(s, "/"))
	}
	for i, a := range roots {
		for j, b := range roots {
			if i != j && (a == b && i < j || a != b && within(b, a)) {
				f.fail(key, "%q and %q overlap", Shown(a), Shown(b))
			}
		}
	}
	return roots
}

// within reports whether a path is a root or lies below it.
func within(name, root string) bool {
	return root == "" || name == root || strings.HasPrefix(name, root+"/")
}

// bundleRoot is where the hooks and settings of a bundle stand in data.
const bundleRoot = "gate/bundles"

// checkRoots refuses a bundle that owns the place of another one's settings.
func (f *fields) checkRoots(m Manifest) {
	for _, root := range m.Roots {
		if root != bundleRoot && within(root, bundleRoot) && !within(root, path.Join(bundleRoot, m.Gate.Name)) {
			f.fail("roots", "%s belongs to another bundle", Shown(root))
		}
	}
}

func (f *fields) metadata(v any) Metadata {
	object, ok := v.(map[string]any)
	if !ok {
		f.fail("metadata.gate", "an object is wanted")
		return Metadata{}
	}
	g := NewFields("metadata.gate", object)
	m := Metadata{
		Name: g.Text("name"), Version: g.Number("version", MaxInteger), Expires: g.Moment("expires"),
		Audience: g.labels(), MinGate: g.Text("min_gate"), Facts: g.Number("facts", MaxInteger), Previous: g.digest("previous"),
	}
	if !IsName(m.Name) {
		g.fail("name", "%q is no name; lower-case letters, digits, - and _ are taken", Shown(m.Name))
	}
	if m.Version < 1 {
		g.fail("version", "1 or more is wanted")
	}
	if _, err := parseVersion(m.MinGate); m.MinGate != "" && err != nil {
		g.fail("min_gate", "%w", err)
	}
	f.Errs = append(f.Errs, g.Done())
	return m
}

// labels are those of the machines that a bundle is for. People write labels;
// audience is the word of earlier releases, and that of a packed bundle, which
// machines with an older gate read, too.
func (f *fields) labels() []string {
	list, key := f.Texts("labels"), "labels"
	if old := f.Texts("audience"); len(old) > 0 {
		if len(list) > 0 {
			f.fail("audience", "it is the old word for labels; give one of the two")
		}
		list, key = old, "audience"
	}
	for _, label := range list {
		if !isLabel(label) {
			f.fail(key, "%q is not key=value", Shown(label))
		}
	}
	return list
}

// isLabel reports key=value.
func isLabel(s string) bool {
	key, value, _ := strings.Cut(s, "=")
	return key != "" && value != ""
}

// object is metadata.gate as JSON.
func (m Metadata) object() map[string]any {
	return said(map[string]any{"name": m.Name, "version": m.Version}, map[string]any{
		"expires": moment(m.Expires), "audience": slices.Sorted(slices.Values(m.Audience)), "min_gate": m.MinGate, "facts": m.Facts, "previous": m.Previous,
	})
}

// parseVersion reads v1.2.3; what follows a "-" or "+" makes no difference.
func parseVersion(s string) (v [3]int, err error) {
	core, _, _ := strings.Cut(s, "+")
	core, _, _ = strings.Cut(core, "-")
	var rest string
	n, _ := fmt.Sscanf(core, "v%d.%d.%d%s", &v[0], &v[1], &v[2], &rest)
	if n != 3 || core != fmt.Sprintf("v%d.%d.%d", v[0], v[1], v[2]) {
		return v, fmt.Errorf("%q is no version such as v1.4.0", Shown(s))
	}
	return v, nil
}
