package build

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"gate/hook"
	"gate/internal/artifact"
	"gate/internal/backtracking"
	"gate/internal/setting"
	"gate/scopes"
)

// check reports what is wrong with sources and layers, which is for whoever
// reads the place to say.
func check(c *artifact.Content, sources []scopes.Source) error {
	var layers []scopes.Layer
	for _, l := range c.Layers {
		layers = append(layers, l.Layer)
	}
	settings, err := setting.Combine(layers...)
	if err != nil {
		return err
	}
	// Settings must not hide a source from the check.
	settings.DisableAllHooks, settings.ManagedHooksOnly = nil, false
	set, err := scopes.New(sources, settings, scopes.WithBacktracking(backtracking.Compile))
	if err != nil {
		return err
	}
	var errs []error
	for _, src := range set.Sources() {
		for i := range src.Faults {
			errs = append(errs, &src.Faults[i])
		}
	}
	return errors.Join(errs...)
}

// part compiles a source.
func (b *Builder) part(p *artifact.Part, src *scopes.Source) error {
	p.Digest = src.Digest
	var lacking map[string]string
	if slices.ContainsFunc(src.Hooks, func(h *hook.Hook) bool { return h.Kind == hook.Rego }) {
		program, missing, saved, ok := b.known(src)
		var err error
		if !ok {
			program, missing, err = b.Compile(b.Lib, *src)
		}
		if err != nil {
			missing = map[string]string{}
			for _, h := range src.Hooks {
				missing[h.ID] = err.Error()
			}
		}
		if !ok {
			saved = b.left(src, missing)
		}
		p.Program, p.Saved, lacking = program, saved, missing
	}
	for _, h := range src.Hooks {
		written := artifact.Hook{Hook: h}
		if h.Kind == hook.Rego {
			written.Why, written.Fingerprint = lacking[h.ID], fingerprint(src, h.ID)
		}
		p.Hooks = append(p.Hooks, written)
	}
	shared, err := sharedParams(src)
	p.Always = shared
	return err
}

// left saves what OPA made of the policies that are left to it. Whoever asks those
// that cannot be saved compiles them.
func (b *Builder) left(src *scopes.Source, lacking map[string]string) string {
	var ids []string
	for _, h := range src.Hooks {
		if h.Kind == hook.Rego && lacking[h.ID] != "" {
			ids = append(ids, h.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	saved, err := b.Left(b.Lib, *src, ids)
	if err != nil {
		return ""
	}
	return saved
}

// known returns what was made of a source before.
func (b *Builder) known(src *scopes.Source) (program string, lacking map[string]string, saved string, ok bool) {
	if b.Old == nil || src.Digest == "" {
		return "", nil, "", false
	}
	list, err := b.Old.All(artifact.As{})
	i := slices.IndexFunc(list, func(s artifact.Source) bool { return s.Name == src.Name && s.Digest == src.Digest })
	if err != nil || i < 0 {
		return "", nil, "", false
	}
	if program, err = list[i].Program(); err != nil {
		return "", nil, "", false
	}
	if saved, err = list[i].Saved(); err != nil {
		return "", nil, "", false
	}
	lacking = map[string]string{}
	for _, h := range src.Hooks {
		lacking[h.ID] = list[i].Unready(h.ID)
	}
	return program, lacking, saved, true
}

// fingerprint is what the decision log names a policy's text by.
func fingerprint(src *scopes.Source, pkg string) string {
	i := slices.IndexFunc(src.Modules, func(m scopes.Module) bool { return m.Package == pkg })
	if i < 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(src.Modules[i].Text))
	return hex.EncodeToString(sum[:8])
}
