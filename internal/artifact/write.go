package artifact

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gate/hook"
	"gate/matcher"
)

// Encode writes an artifact. The same content makes the same bytes. It returns
// an error for what has no compiled form: values that are no JSON, and hooks
// whose matchers do not compile.
func Encode(c *Content) ([]byte, error) {
	var head encoder
	head.byte(byte(c.Kind))
	head.text(c.Maker)
	head.text(c.Place)
	head.time(c.Made)
	head.bool(c.Empty)
	head.text(c.Refused)
	head.text(c.Trust)
	head.bool(c.RootOnly)
	listOf(&head, c.Bundles, head.bundle)
	head.int(len(c.Sources))
	var stamps, layers, schemas encoder
	stamps.stamps(c.Stamps)
	listOf(&layers, c.Layers, func(l Layer) {
		layers.byte(byte(l.Role))
		layers.int(l.In)
		layers.layer(&l.Layer)
	})
	schemas.tree(c.Schemas)
	sections := []*encoder{&head, &stamps, &layers, &schemas}
	for _, p := range c.Sources {
		if _, _, err := scopeOf(c.Kind, p.Role, As{}); err != nil {
			return nil, err
		}
		head.byte(byte(p.Role))
		head.int(p.In)
		head.text(p.Digest)
		head.int(len(p.Hooks))
		head.ints(p.always())
		head.ints(p.handlers())
		head.int(len(sections))
		more, err := p.sections()
		if err != nil {
			return nil, err
		}
		sections = append(sections, more...)
	}
	return join(sections)
}

// join puts a table in front of sections.
func join(sections []*encoder) ([]byte, error) {
	if len(sections) > maxSections {
		return nil, fmt.Errorf("%d sections; %d are allowed", len(sections), maxSections)
	}
	table := encoder{buf: []byte(magic)}
	table.fixed(uint32(len(sections)))
	var errs []error
	for _, s := range sections {
		errs = append(errs, s.err)
		table.fixed(uint32(len(s.buf)))
		table.fixed(checksum(string(s.buf)))
		table.fixed(0)
	}
	table.fixed(checksum(string(table.buf)))
	for _, s := range sections {
		table.buf = append(table.buf, s.buf...)
	}
	return table.buf, errors.Join(errs...)
}

// always adds the hooks that decide whether an event is counted in the memory of
// the session, whether or not they concern it.
func (p *Part) always() []int {
	list := slices.Clone(p.Always)
	for i, h := range p.Hooks {
		if h.Session || h.Once {
			list = append(list, i)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// handlers are the positions of the hooks that are no policies.
func (p *Part) handlers() (list []int) {
	for i, h := range p.Hooks {
		if h.Kind != hook.Rego {
			list = append(list, i)
		}
	}
	return list
}

// sections writes the hooks of a part, where each of them stands, and which of
// them an event may concern.
func (p *Part) sections() ([]*encoder, error) {
	var index, records encoder
	routed := routing{map[string]map[string][]int{}, map[string][]string{}}
	for i, h := range p.Hooks {
		index.fixed(uint32(len(records.buf)))
		var one encoder
		one.hook(&h)
		if one.err != nil {
			return nil, fmt.Errorf("hook %q: %w", h.ID, one.err)
		}
		records.fixed(checksum(string(one.buf)))
		records.text(string(one.buf))
		if err := routed.add(h.Hook, i); err != nil {
			return nil, fmt.Errorf("hook %q: %w", h.ID, err)
		}
	}
	var data encoder
	data.tree(p.Data)
	return []*encoder{&index, &records, routed.encode(), {buf: []byte(p.Program)}, &data, {buf: []byte(p.Saved)}}, nil
}

// A routing is what leads from an event to hooks: by the keys that route looks
// up, then by the matcher that still has to be asked, "" for none, the positions.
type routing struct {
	keys     map[string]map[string][]int
	literals map[string][]string // of matchers
}

func (r *routing) add(h *hook.Hook, position int) error {
	var names []string
	var all, exact bool
	switch m, err := matcher.Compile(h.Matcher, nil); {
	case err == nil:
		all = m.All()
		r.literals[h.Matcher] = m.Literals()
		names, exact = m.Names()
	case !errors.Is(err, matcher.ErrBacktracks): // these are asked anew each time
		return err
	}
	put := func(key, ask string) {
		groups := r.keys[key]
		if groups == nil {
			groups = map[string][]int{}
			r.keys[key] = groups
		}
		if list := groups[ask]; len(list) == 0 || list[len(list)-1] != position {
			groups[ask] = append(list, position)
		}
	}
	for _, event := range h.Events {
		put(string(event)+routeAll, "")
		switch {
		case all:
			put(string(event)+routeRest, "")
		case !exact:
			put(string(event)+routeRest, h.Matcher)
		}
		for _, name := range names {
			put(string(event)+routeRest+name, "")
		}
	}
	return nil
}

// encode writes the routes in the order of their keys, behind a table of where
// each begins.
func (r *routing) encode() *encoder {
	keys := slices.Sorted(maps.Keys(r.keys))
	var all, list encoder
	all.int(len(keys))
	begin := len(all.buf) + 4*len(keys)
	for _, key := range keys {
		all.fixed(uint32(begin + len(list.buf)))
		list.text(key)
		groups := r.keys[key]
		list.int(len(groups))
		for _, ask := range slices.Sorted(maps.Keys(groups)) {
			list.text(ask)
			list.texts(r.literals[ask])
			list.ints(groups[ask])
		}
	}
	all.buf = append(all.buf, list.buf...)
	return &all
}

func (e *encoder) bundle(b Bundle) {
	e.text(b.Name)
	e.signed(b.Version)
	e.text(b.Digest)
	e.bool(b.Trial)
	e.text(b.Dir)
	e.time(b.Expires)
	e.time(b.Synced)
}

func (d *decoder) bundle() Bundle {
	return Bundle{
		Bundle: hook.Bundle{Name: d.text(), Version: d.signed(), Digest: d.text(), Trial: d.bool()},
		Dir:    d.text(), Expires: d.time(), Synced: d.time(),
	}
}

// hook writes a hook. What its source says of it is left out.
func (e *encoder) hook(h *Hook) {
	e.text(h.Why)
	e.text(h.Fingerprint)
	e.text(h.ID)
	e.text(string(h.Kind))
	e.text(string(h.Dialect))
	e.text(h.Title)
	e.text(h.Description)
	e.texts(h.Serves)
	e.text(h.File)
	e.int(h.Line)
	listOf(e, h.Events, func(n hook.Name) { e.text(string(n)) })
	e.text(h.Matcher)
	e.texts(h.If)
	e.signed(int64(h.Priority))
	e.signed(int64(h.Timeout))
	e.text(string(h.OnFault))
	e.bool(h.Opaque)
	writeMap(e, h.Params, func(p hook.Param) {
		e.text(p.Type)
		e.value(p.Default)
		e.text(p.Description)
		e.texts(p.Values)
	})
	e.texts(h.WhenSet)
	e.bool(h.Session)
	e.bool(h.Beside)
	e.bool(h.Consults)
	writePointer(e, h.Recheck, e.bool)
	e.bool(h.Once)
	e.bool(h.Async)
	e.bool(h.Consult)
	e.bool(h.Parallel)
	e.tree(h.Config)
}
