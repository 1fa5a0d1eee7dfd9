package explain

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"gate/hook"
)

// A ChangeKind says what a change does to a call.
type ChangeKind string

const (
	WithoutOption   ChangeKind = "without_option"
	PathInProject   ChangeKind = "path_in_project" // a path is replaced by one inside the project
	OtherBranch     ChangeKind = "other_branch"    // a branch is replaced by one that nobody protects
	Quoted          ChangeKind = "quoted"          // a word is quoted, so that nothing in it runs
	WithoutRedirect ChangeKind = "without_redirect"
	WithoutArgument ChangeKind = "without_argument"
	WithoutWrapper  ChangeKind = "without_wrapper"
	WithoutCommand  ChangeKind = "without_command"
)

// An Edit is one part of a change.
type Edit struct {
	Kind   ChangeKind
	Field  string    // of the tool's input: command, file_path …
	Span   hook.Span // code points of the field
	Before string    // what stands there
	After  string    // what would; "" if it is left out

	cost int
}

// A Change is one or two edits of a call that lead to a lower effect.
type Change struct {
	Edits  []Edit
	Input  map[string]any // the whole input then
	Effect hook.Effect
}

// search looks for the smallest changes of a call that lead to a lower effect:
// single edits first, pairs if no single one does.
func (x *Explainer) search(ctx context.Context, e *Explanation) {
	s := &search{Explainer: x, ctx: ctx, e: e}
	edits := x.edits(&e.Event, e.Causes)
	same := e.Event
	same.Facts = nil
	if x.Decide(ctx, same).Effect != e.Decision.Effect {
		return // a handler, an approval or the session has a part in it
	}
	for _, edit := range edits {
		s.try(edit)
	}
	edits = edits[:min(len(edits), maxPaired)]
	for i := 0; i < len(edits) && len(s.found) == 0; i++ {
		for j := i + 1; j < len(edits); j++ {
			if a, b := edits[i], edits[j]; a.Field == b.Field && (a.Span[1] <= b.Span[0] || b.Span[1] <= a.Span[0]) {
				s.try(a, b)
			}
		}
	}
	slices.SortStableFunc(s.found, func(a, b Change) int {
		return cmp.Or(cmp.Compare(costOf(a), costOf(b)), cmp.Compare(a.Effect, b.Effect))
	})
	e.Changes = fewest(s.found)
}

const (
	maxChanges = 3  // are worth telling
	maxPaired  = 24 // edits, the cheapest ones, are tried in pairs
)

// fewest keeps the best of each kind, and of each effect only what is smaller
// than what leads further.
func fewest(found []Change) []Change {
	var kept []Change
	for _, c := range found {
		worse := slices.ContainsFunc(kept, func(k Change) bool {
			return k.Effect < c.Effect || k.Effect == c.Effect && len(k.Edits) == len(c.Edits) && k.Edits[0].Kind == c.Edits[0].Kind
		})
		if !worse && len(kept) < maxChanges {
			kept = append(kept, c)
		}
	}
	return kept
}

func costOf(c Change) int {
	n := 0
	for _, e := range c.Edits {
		n += e.cost
	}
	return n
}

type search struct {
	*Explainer
	ctx   context.Context
	e     *Explanation
	found []Change
}

// try decides about the call with edits made.
func (s *search) try(edits ...Edit) {
	if s.e.Searched >= s.Changes || s.ctx.Err() != nil {
		s.e.Cut = true
		return
	}
	input, ok := applied(s.e.Event.ToolInput(), edits)
	if !ok {
		return
	}
	s.e.Searched++
	ev := s.e.Event.With("tool_input", input)
	d := s.Decide(s.ctx, ev)
	if d.Fault != nil || d.Effect >= s.e.Decision.Effect || s.ctx.Err() != nil {
		return
	}
	// A rewrite changes the facts of the decision: what counts is the edit.
	facts := s.factsOf(&ev, d.Facts, len(d.Changes) > 0)
	if understood(s.e.Event.Facts, facts, edits) {
		s.found = append(s.found, Change{Edits: edits, Input: input, Effect: d.Effect})
	}
}

// applied makes edits, the last one first.
func applied(input map[string]any, edits []Edit) (map[string]any, bool) {
	out := make(map[string]any, len(input))
	maps.Copy(out, input)
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b Edit) int { return cmp.Compare(b.Span[0], a.Span[0]) })
	for _, e := range edits {
		text, ok := out[e.Field].(string)
		runes := []rune(text)
		if !ok || e.Span[1] > len(runes) {
			return nil, false
		}
		out[e.Field] = string(runes[:e.Span[0]]) + e.After + string(runes[e.Span[1]:])
		if strings.TrimSpace(out[e.Field].(string)) == "" {
			return nil, false
		}
	}
	return out, true
}

// understood reports that a changed call is as well understood as the one that
// came, and runs no program that it did not run: a change that merely breaks
// the line, or hides what it does, is none.
func understood(was, is *hook.Facts, edits []Edit) bool {
	if is == nil || was == nil || (was.Shell == nil) != (is.Shell == nil) {
		return false
	}
	kinds := map[string]int{}
	for _, u := range was.Unknown {
		kinds[u.Kind]++
	}
	for _, u := range is.Unknown {
		if kinds[u.Kind]--; kinds[u.Kind] < 0 {
			return false
		}
	}
	if was.Shell == nil {
		return true
	}
	if len(is.Shell.Commands) == 0 || is.Shell.Dialect != was.Shell.Dialect {
		return false
	}
	programs := map[string]int{}
	for _, c := range was.Shell.Commands {
		programs[program(&c)]++
	}
	for _, c := range is.Shell.Commands {
		if programs[program(&c)]--; programs[program(&c)] < 0 {
			return false
		}
	}
	gone := len(was.Shell.Commands) - len(is.Shell.Commands)
	quoted := func(e Edit) bool { return e.Kind == Quoted }
	if !slices.ContainsFunc(edits, quoted) && gone != leftOut(was, edits) {
		return false // what another command makes or runs went with it
	}
	if slices.ContainsFunc(edits, func(e Edit) bool { return e.Kind == WithoutCommand || e.Kind == Quoted }) {
		return true
	}
	before, after := written(was), written(is)
	if len(before) != len(after) || len(is.Code) != len(was.Code) {
		return false
	}
	for i := range before {
		if !sameCall(before[i], after[i]) {
			return false
		}
		// Who leaves a wrapper out must not take words along that it gives.
		if slices.ContainsFunc(edits, func(e Edit) bool { return e.Kind == WithoutWrapper }) && len(after[i].Operands) != len(before[i].Operands) {
			return false
		}
	}
	return true
}

// leftOut counts the commands that edits leave out themselves, with those that
// they run.
func leftOut(f *hook.Facts, edits []Edit) int {
	m := &marker{facts: f}
	n := 0
	for i := range f.Shell.Commands {
		at := &f.Shell.Commands[i]
		for at != nil && firstSpan(at) == nil {
			at = m.outer(at)
		}
		if at != nil && slices.ContainsFunc(edits, func(e Edit) bool {
			return e.Kind == WithoutCommand && firstSpan(at)[0] >= e.Span[0] && firstSpan(at)[1] <= e.Span[1]
		}) {
			n++
		}
	}
	return n
}

// sameCall reports that a command has no operand and no option that it did not
// have: no word took another part than it had.
func sameCall(was, is *hook.ShellCommand) bool {
	if len(is.Operands) > len(was.Operands) || textOrNone(is.Subcommand) != textOrNone(was.Subcommand) {
		return false
	}
	for name := range is.Options {
		if _, had := was.Options[name]; !had {
			return false
		}
	}
	return true
}

func program(c *hook.ShellCommand) string { return textOrNone(c.Program) }

func textOrNone(s *string) string {
	if s == nil {
		return "?"
	}
	return *s
}

// written returns the commands whose program is a word of the line.
func written(f *hook.Facts) []*hook.ShellCommand {
	var list []*hook.ShellCommand
	for i := range f.Shell.Commands {
		if firstSpan(&f.Shell.Commands[i]) != nil {
			list = append(list, &f.Shell.Commands[i])
		}
	}
	return list
}

// inProject returns where in the project a path could lie instead.
func (x *Explainer) inProject(dir, of string) string {
	name := path.Base(strings.TrimRight(of, "/*"))
	if name == "." || name == "/" || name == ".." || name == "~" || strings.ContainsAny(name, "*?[]{}$`\"'\\ \t\n(){};&|<>") {
		name = "build"
	}
	here := x.Project == "" || dir == x.Project
	if here && path.Clean(strings.TrimRight(of, "/*")) == name { // it is that one which leads elsewhere
		name = "build"
	}
	if here {
		return "./" + name
	}
	return x.Project + "/" + name
}
