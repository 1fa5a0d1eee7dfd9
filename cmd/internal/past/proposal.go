package past

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"

	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/load"
	"gate/internal/places"
	"gate/internal/rego"
	"gate/internal/release"
	"gate/internal/setting"
	"gate/internal/sources"
	"gate/internal/strictjson"
	"gate/scopes"
)

// A Proposal is what might be put into force: policies, and settings if it has
// any.
type Proposal struct {
	source scopes.Source
	layers []scopes.Layer
	dir    string
	as     string // whose place it takes: managed, user or project; "" for one more source of the user's
	notes  []string

	schemas load.ToolSchemas // of a signed bundle
	quiet   bool             // the policies of the library that allow are switched on
}

// Quiet is that the policies of the library that allow are switched on, beside all
// that is in force.
func Quiet() *Proposal { return &Proposal{as: hook.User.String(), quiet: true} }

// maxBundle bounds a bundle, packed and unpacked file by file.
const maxBundle = 64 << 20

// LoadProposal reads a directory of policies or an OPA bundle. as is whose
// place it takes; "" adds it as a further source of the user's. Whatever is
// wrong with it is an error: nothing of it would be in force.
func LoadProposal(name, as string) (*Proposal, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	c := &Proposal{dir: dir, as: as}
	base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(dir), ".gz"), ".tar")
	if c.source, err = standingAs(as, base); err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, fmt.Errorf("--against %s: %w", name, hostfs.Reason(err))
	case info.IsDir() && !isBundle(dir):
		err = c.readDir()
	default:
		err = c.readBundle(info)
	}
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return nil, fmt.Errorf("--against %s: %w", name, err)
	}
	return c, nil
}

// standingAs returns an empty source of the standing that --as names.
func standingAs(as, base string) (scopes.Source, error) {
	switch as {
	case "":
		return scopes.Source{Name: base, Scope: hook.Session, Authority: hook.User, Trusted: true}, nil
	case "managed":
		return scopes.Source{Name: as, Scope: hook.Policy, Authority: hook.Managed, Trusted: true}, nil
	case "user":
		return scopes.Source{Name: as, Scope: hook.Session, Authority: hook.User, Trusted: true}, nil
	case "project":
		return scopes.Source{Name: as, Scope: hook.Session, Authority: hook.Project, Trusted: true}, nil
	}
	return scopes.Source{}, fmt.Errorf("%s is nobody's place: want managed, user or project", strictjson.Quoted(as))
}

// isBundle tells OPA's bundle from a directory of policies.
func isBundle(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, bundle.ManifestExt))
	return err == nil
}

// readDir reads a directory that is laid out as gate's own are, with policies/,
// hook and settings files, or that just holds Rego.
func (c *Proposal) readDir() error {
	p := places.Open(c.dir, ".", nil)
	if p == nil {
		return errors.New("there is nothing in it")
	}
	if p.Err != nil {
		return p.Err
	}
	defer p.Close()
	settings := load.Settings(p.Files, filepath.ToSlash(c.dir), c.source.Authority)
	c.layers = settings.Layers
	var faults []hook.Fault
	if settings.Source != nil {
		faults = settings.Source.Faults
	}
	if laid, err := fs.Stat(p.Files, load.PoliciesDir); err == nil && laid.IsDir() || c.layers != nil {
		c.source = load.Dir(p.Files, c.source)
	} else {
		c.source = load.Rego(p.Files, c.source)
	}
	c.source.Faults = append(c.source.Faults, faults...)
	return nil
}

// readBundle reads an OPA bundle. It decides nothing here but what would be, so
// no signature is asked for.
func (c *Proposal) readBundle(info fs.FileInfo) error {
	loader := bundle.NewDirectoryLoader(c.dir)
	if !info.IsDir() {
		if !info.Mode().IsRegular() {
			return hostfs.ErrIrregular
		}
		data, err := hostfs.Files{}.ReadFile(c.dir, maxBundle)
		if err != nil {
			return err
		}
		loader = bundle.NewTarballLoader(bytes.NewReader(data))
	}
	b, err := bundle.NewCustomReader(loader).
		WithSkipBundleVerification(true).WithSizeLimitBytes(maxBundle).WithProcessAnnotations(true).
		WithRegoVersion(ast.RegoV1).Read()
	if err != nil {
		return err
	}
	files := fstest.MapFS{}
	for _, m := range b.Modules {
		files[strings.TrimPrefix(path.Clean(filepath.ToSlash(m.Path)), "/")] = &fstest.MapFile{Data: m.Raw}
	}
	c.notes = append(c.notes, "the bundle's signature was not checked: this only simulates")
	c.source.Data = b.Data
	c.source = load.Rego(files, c.source)
	return nil
}

// check compiles the candidate, strictly.
func (c *Proposal) check() error {
	var errs []error
	for i := range c.source.Faults {
		errs = append(errs, c.source.Faults[i].Err)
	}
	if len(errs) == 0 {
		_, lib := sources.Library(hook.User)
		errs = append(errs, rego.Check(lib, c.source))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if len(c.source.Hooks) == 0 && len(c.layers) == 0 {
		return errors.New("it holds no policy and no settings")
	}
	return nil
}

// replace puts the candidate into force: in the place of the source of its
// name, and its settings in the place of that authority's.
func (c *Proposal) replace(l *sources.Loaded) {
	if c.source.Bundle != nil {
		c.replaceBundle(l)
	} else if len(c.source.Hooks) > 0 {
		at := slices.IndexFunc(l.Sources, func(s scopes.Source) bool { return s.Name == c.source.Name })
		if at >= 0 {
			l.Sources = slices.Delete(slices.Clone(l.Sources), at, at+1)
		}
		l.Sources = append(l.Sources, c.source)
		l.Where[c.source.Name] = c.dir
	}
	if len(c.layers) > 0 && c.source.Bundle == nil {
		l.Layers = slices.DeleteFunc(slices.Clone(l.Layers), func(y scopes.Layer) bool { return y.Authority == c.source.Authority })
		l.Layers = append(l.Layers, c.layers...)
	}
	if c.quiet {
		l.Layers = append(slices.Clone(l.Layers), switchedOn(l.Sources))
	}
	if c.source.Authority != hook.Managed {
		return
	}
	for i := range l.Sources { // on a managed machine the library is managed, too
		if l.Sources[i].Library {
			l.Sources[i] = asManaged(l.Sources[i])
		}
	}
}

// switchedOn are settings of the user's that switch on what allows.
func switchedOn(list []scopes.Source) scopes.Layer {
	params := map[string]map[string]any{}
	for _, src := range list {
		for _, h := range src.Hooks {
			if h.Library && strings.HasPrefix(h.ID, setting.Quiet+".") {
				params[h.ID] = map[string]any{"on": true}
			}
		}
	}
	return scopes.Layer{Authority: hook.User, File: "settings", Params: params}
}

// replaceBundle puts a release of a signed bundle where the one in force stands,
// or behind all others.
func (c *Proposal) replaceBundle(l *sources.Loaded) {
	name, src := c.source.Bundle.Name, c.source
	l.Sources = slices.Clone(l.Sources)
	at := slices.IndexFunc(l.Sources, func(s scopes.Source) bool { return s.Name == src.Name })
	if at >= 0 {
		src.Order = l.Sources[at].Order
		l.Sources[at] = src
	} else {
		for i := range l.Sources {
			src.Order = max(src.Order, l.Sources[i].Order+1)
		}
		l.Sources = append(l.Sources, src)
	}
	l.Where[src.Name] = c.dir
	l.Layers = slices.DeleteFunc(slices.Clone(l.Layers), func(y scopes.Layer) bool { return y.Bundle == name })
	for _, layer := range c.layers {
		layer.Order = src.Order
		l.Layers = append(l.Layers, layer)
	}
	l.Schemas = maps.Clone(l.Schemas)
	for tool, schema := range c.schemas {
		if l.Schemas == nil {
			l.Schemas = load.ToolSchemas{}
		}
		l.Schemas[tool] = schema
	}
}

func asManaged(src scopes.Source) scopes.Source {
	src.Authority = hook.Managed
	hooks := make([]*hook.Hook, len(src.Hooks))
	for i, h := range src.Hooks {
		c := *h
		c.Authority = hook.Managed
		hooks[i] = &c
	}
	src.Hooks = hooks
	return src
}

// Text says what is compared with, in one line.
func (c *Proposal) Text(p screen.Page) string {
	if c.as == "" {
		return fmt.Sprintf("%s, as one more source of yours", p.Tilde(c.dir))
	}
	return fmt.Sprintf("%s, in the place of the %s source", p.Tilde(c.dir), c.as)
}

// ProposalOf puts a release of a bundle into the place of the bundle of its name.
func ProposalOf(r *release.Release) *Proposal {
	return &Proposal{source: r.Source, layers: r.Layers, schemas: r.Schemas, dir: r.Path}
}
