package engine

import (
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
	var authors []*hook.Hook
	for i, v := range verdicts {
		if len(v.Rewrites) == 0 || c.rejected() {
			continue
		}
		for _, r := range v.Rewrites {
			if err := plan.add(hooks[i].ID, r); err != nil {
				c.reject(err.Error())
				return
			}
		}
		authors = append(authors, hooks[i].Hook)
	}
	if len(authors) == 0 {
		return
	}
	field := c.ev.Name.Rewrites()
	before := c.ev.Fields[field]
	after, err := plan.result()
	if err == nil && field == "tool_input" {
		err = c.valid(after)
	}
	if err != nil {
		c.reject(fmt.Sprintf("%s rewrites the call wrongly: %s", names(authors), err))
		return
	}
	if equal(before, after) {
		return
	}
	for i, h := range hooks {
		if len(verdicts[i].Rewrites) > 0 {
			reason := verdicts[i].Rewrites[0].Reason
			c.changes = append(c.changes, change{
				hook.Change{Hook: h.ID, Reason: reason, Before: before, After: after}, h.Hook, h.Scope,
			})
		}
	}
	c.lapse()
	c.ev = c.ev.With(field, after)
	c.refreshFacts()
}

// valid checks a rewritten tool input against the tool's schema, if there is
// one.
func (c *call) valid(after any) error {
	input, ok := after.(map[string]any)
	if !ok {
		return fmt.Errorf("the input of a tool must be an object")
	}
	if c.validate == nil {
		return nil
	}
	tool := c.ev.Tool()
	err, fault := guard(c.ctx, func() error { return c.validate(tool, input) })
	if fault != nil {
		return fault
	}
	if err != nil {
		return fmt.Errorf("not a valid input of %s: %w", tool, err)
	}
	return nil
}

func names(hooks []*hook.Hook) string {
	ids := make([]string, len(hooks))
	for i, h := range hooks {
		ids[i] = h.ID
	}
	return strings.Join(ids, " and ")
}

// A plan collects the rewrites of hooks that saw the same input.
type plan struct {
	ev    *hook.Event
	field string
	edits []edit
	patch map[string]any // merged so far
	value any            // whole replacement
	whole bool
	by    map[string]string // which hook patched a path
	who   []string
}

// An edit is one replacement with its author.
type edit struct {
	hook.Edit
	by string
}

func newPlan(ev *hook.Event) *plan {
	return &plan{ev: ev, field: ev.Name.Rewrites(), by: map[string]string{}}
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
		if err := p.addEdit(edit{e, by}); err != nil {
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

// result returns the whole new value of the field.
func (p *plan) result() (any, error) {
	if p.whole {
		if p.field == "prompt" {
			if _, ok := p.value.(string); !ok {
				return nil, fmt.Errorf("a prompt must be a string")
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
