package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
)

// A change is a rewrite that took effect.
type change struct {
	hook.Change
	by    *hook.Hook
	scope hook.Scope
}

// changedSince reports whether another hook changed the input since there were
// n changes.
func (c *call) changedSince(n int, h *hook.Hook) bool {
	return slices.ContainsFunc(c.changes[n:], func(ch change) bool { return ch.by != h })
}

// rewrite applies the rewrites of hooks that saw the same input. If they do
// not go together, or what comes out is not a valid input, the call is
// rejected and the input stays.
func (c *call) rewrite(hooks []due, verdicts []hook.Verdict) {
	plan := newPlan(&c.ev)
	plan.spell = c.spelling()
	plan.together = len(verdicts) > 1 && hooks[0].Kind != hook.Rego
	var made []change
	before := c.ev.Fields[plan.field]
	for i, v := range verdicts {
		if len(v.Rewrites) == 0 || c.rejected() {
			continue
		}
		h := hooks[i].Hook
		for _, r := range v.Rewrites {
			if err := plan.add(h.ID, r); err != nil {
				c.reject(err.Error())
				return
			}
		}
		after, err := plan.result()
		if err != nil {
			c.reject(fmt.Sprintf("the rewrite by %s: %s", h.ID, err))
			return
		}
		if !equal(before, after) {
			ch := hook.Change{Hook: h.ID, Reason: v.Rewrites[0].Reason, Before: before, After: after}
			made = append(made, change{ch, h, h.Scope})
			before = after
		}
	}
	if len(made) == 0 {
		return
	}
	if err := c.valid(plan.field, before); err != nil {
		c.reject(fmt.Sprintf("the rewrite by %s: %s", authors(made), err))
		return
	}
	was := c.ev
	c.ev = c.ev.With(plan.field, before)
	c.refreshFacts()
	if err := plan.kept(was.Facts, c.ev.Facts); err != nil {
		c.ev = was
		c.reject(fmt.Sprintf("the rewrite by %s: %s", authors(made), err))
		return
	}
	c.changes = append(c.changes, made...)
	c.lapse(made)
}

// A speller tells which words of the line give a command what an edit asks for.
type speller func(*hook.Event, *hook.CommandEdit) ([]hook.Edit, error)

// spelling is the engine's speller, kept to time and from panics.
func (c *call) spelling() speller {
	if c.spell == nil {
		return nil
	}
	type spelt struct {
		edits []hook.Edit
		err   error
	}
	return func(ev *hook.Event, e *hook.CommandEdit) ([]hook.Edit, error) {
		s, fault := guard(c.ctx, c.inline, func() (s spelt) {
			s.edits, s.err = c.spell(ev, e)
			return s
		})
		if fault != nil {
			return nil, fault
		}
		return s.edits, s.err
	}
}

// valid checks a rewritten tool input against the tool's schema, if there is
// one.
func (c *call) valid(field string, after any) error {
	if field != "tool_input" {
		return nil
	}
	input, ok := after.(map[string]any)
	if !ok {
		return errors.New("the input of a tool must be an object")
	}
	if c.validate == nil {
		return nil
	}
	tool := c.ev.Tool()
	err, fault := guard(c.ctx, c.inline, func() error { return c.validate(tool, input) })
	if fault != nil {
		return fault
	}
	if err != nil {
		return fmt.Errorf("not a valid input of %s: %w", tool, err)
	}
	return nil
}

func authors(made []change) string {
	ids := make([]string, len(made))
	for i, ch := range made {
		ids[i] = ch.by.ID
	}
	return strings.Join(ids, " and ")
}

// A plan collects the rewrites of hooks that saw the same input.
type plan struct {
	ev     *hook.Event
	field  string
	spell  speller
	edits  []*edit
	asked  []*hook.CommandEdit // which the edits do
	bySpan bool                // there are other edits, too
	patch  map[string]any      // merged so far
	value  any                 // whole replacement
	whole  bool
	who    []string

	together bool // of handlers, which can only say the whole: what each changes of it counts
}

func newPlan(ev *hook.Event) *plan {
	return &plan{ev: ev, field: ev.Name.Rewrites()}
}

// add takes one rewrite in, or reports why it does not go with the others.
func (p *plan) add(by string, r hook.Rewrite) error {
	if p.field == "" {
		return fmt.Errorf("%s rewrites an event (%s) on which nothing can be rewritten", by, p.ev.Name)
	}
	if len(r.Edits) == 0 && r.Input == nil && r.Value == nil {
		return fmt.Errorf("%s rewrites the call into nothing", by)
	}
	clash := func(what string) error {
		return fmt.Errorf("%s and %s rewrite %s differently", strings.Join(p.who, " and "), by, what)
	}
	if p.together {
		r = p.part(r)
	}
	others := len(p.who) > 0
	if r.Value != nil {
		if p.whole && !equal(p.value, r.Value) || !p.whole && others {
			return clash(p.field)
		}
		p.whole, p.value = true, r.Value
	}
	if p.whole && (len(r.Edits) > 0 || r.Input != nil) {
		return clash(p.field)
	}
	if r.Input != nil {
		merged, path, ok := union(p.patch, r.Input, "")
		if !ok {
			return clash(path)
		}
		p.patch = merged
	}
	for _, e := range r.Edits {
		if err := p.addEdit(e, by); err != nil {
			return err
		}
	}
	if _, patched := p.patch["command"]; patched && len(p.edits) > 0 {
		return clash("command")
	}
	if !slices.Contains(p.who, by) {
		p.who = append(p.who, by)
	}
	return nil
}

// part makes a rewrite that gives the whole object one of the fields that it
// changes, so that it goes together with others. A value that no patch can say stays whole.
func (p *plan) part(r hook.Rewrite) hook.Rewrite {
	is, ok := r.Value.(map[string]any)
	was, both := p.ev.Fields[p.field].(map[string]any)
	if !ok || !both {
		return r
	}
	if patch, ok := patchTo(was, is); ok {
		r.Value, r.Input = nil, patch
	}
	return r
}

// result returns the whole new value of the field.
func (p *plan) result() (any, error) {
	if p.whole {
		if p.field == "prompt" {
			if _, ok := p.value.(string); !ok {
				return nil, errors.New("a prompt must be a string")
			}
		}
		return p.value, nil
	}
	current := p.ev.Fields[p.field]
	object, ok := current.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is not an object with fields", p.field)
	}
	if len(p.edits) > 0 {
		command, err := p.edited()
		if err != nil {
			return nil, err
		}
		object = merge(object, map[string]any{"command": command}).(map[string]any)
	}
	return merge(object, p.patch), nil
}
