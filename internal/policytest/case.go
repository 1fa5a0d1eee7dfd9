package policytest

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"gate/hook"
)

// A Case is one event case: what happens, in which world, and what must come of
// it. Cases stand in files named *_cases.yaml; [ParseCases] reads and
// [FormatCases] writes them.
type Case struct {
	Name string
	File string // where it was read
	Line int

	// Lines are shell lines, each a call of its own under the one expectation.
	// With them Event holds what the calls have in common.
	Lines []string

	// Session holds the steps of a whole session. With them World.Session is not set, and
	// the fields below hold nothing but what [Suite.Calls] says.
	Session []Step

	// Event holds the fields of the canonical event: hook_event_name,
	// tool_name, tool_input, prompt … What is missing gets the defaults of
	// [Event]. A relative cwd is relative to the project.
	Event map[string]any

	Agent   string // the adapter's name; "" is claude
	World   CaseWorld
	Expect  Expectation
	Comment string // what a person should know of the case; formatting only
}

// A CaseWorld is everything around a case's event. The zero CaseWorld is an
// empty project on which gate's own policies and the tested ones, loaded as the
// user's, are in force.
type CaseWorld struct {
	Head    string                    // the branch that is checked out, or a commit; "": no repository
	Files   map[string]string         // contents by path; relative ones are the project's
	Env     map[string]string         // the agent's environment
	Library *bool                     // whether gate's own policies take part; nil: they do
	Trusted *bool                     // whether a person trusted the project's and plugins' sources; nil: nobody did
	Setting map[string]map[string]any // what settings files say, by managed, user, project, local
	Sources map[string][]string       // directories with further policies by managed, user, project, plugin:NAME; relative to the case's file
	As      string                    // whose the tested policies are: managed, user, project, local, plugin:NAME; "": user
	Session map[string]any            // input.session
	Gate    map[string]any            // user, os, interactive, labels, now
}

// An Expectation says what of a decision must be so. What is nil is not looked
// at, but a fault fails every case that does not expect it.
type Expectation struct {
	Effect   *hook.Effect
	IDs      []string // the ids of the reasons of the decision's effect, as a set
	Reasons  []string // each must occur in a reason
	Warnings []string // the ids of the warnings, as a set
	Context  []string // each must occur in a text for the agent; empty and not nil: there is none
	Rewrite  *Value   // of the input or prompt; of an object only the fields that are given
	Output   *Value   // of the tool's output, likewise
	Halt     *bool
	Faults   []string // the ids of the policies that cannot answer, as a set

	// Marks are the values of marks that the event leaves to the session, by their names;
	// nil for one that it takes back. Empty and not nil: it leaves none.
	Marks map[string]any
}

// A Value is a JSON tree, nil for "there is none".
type Value struct{ Value any }

// laidOver returns the world over which w is laid, key by key.
func (w CaseWorld) laidOver(base CaseWorld) CaseWorld {
	out := CaseWorld{
		Head: cmp.Or(w.Head, base.Head), As: cmp.Or(w.As, base.As), Library: cmp.Or(w.Library, base.Library), Trusted: cmp.Or(w.Trusted, base.Trusted),
		Files: merged(base.Files, w.Files), Env: merged(base.Env, w.Env),
		Setting: merged(base.Setting, w.Setting), Sources: merged(base.Sources, w.Sources),
		Session: merged(base.Session, w.Session), Gate: merged(base.Gate, w.Gate),
	}
	return out
}

func merged[V any](base, over map[string]V) map[string]V {
	if len(over) == 0 {
		return base
	}
	out := maps.Clone(base)
	if out == nil {
		out = make(map[string]V, len(over))
	}
	maps.Copy(out, over)
	return out
}

// A call is one event of a case, as a spec of [Event].
type call struct {
	line string // the shell line, or what else is judged, for people
	spec map[string]any
}

// calls returns the events of a case.
func (c *Case) calls() []call {
	if c.Lines == nil {
		return []call{c.call(c.Event)}
	}
	list := make([]call, len(c.Lines))
	for i, line := range c.Lines {
		ev := merged(c.Event, map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": line}})
		list[i] = c.call(ev)
	}
	return list
}

// ofSpec are the fields of an event that a spec has keys of its own for.
var ofSpec = map[string]string{"hook_event_name": "event", "tool_name": "tool", "tool_input": "input", "cwd": "cwd"}

func (c *Case) call(event map[string]any) call {
	w := c.World
	spec, fields := map[string]any{}, map[string]any{}
	for key, v := range event {
		if name := ofSpec[key]; name != "" {
			spec[name] = v
			continue
		}
		fields[key] = v
	}
	dir, _ := event["cwd"].(string)
	spec["cwd"] = inProject(dir)
	files := map[string]any{}
	for name, text := range w.Files {
		files[inProject(name)] = text
	}
	if w.Head != "" {
		files[inProject(".git/HEAD")] = headFile(w.Head)
	}
	env := map[string]any{}
	for k, v := range w.Env {
		env[k] = v
	}
	spec["files"], spec["env"], spec["fields"] = files, env, fields
	spec["agent"] = cmp.Or(c.Agent, defaultAgent)
	if w.Session != nil {
		spec["session"] = w.Session
	}
	if w.Gate != nil {
		spec["gate"] = w.Gate
	}
	return call{line: judged(event), spec: spec}
}

func inProject(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(defaultProject, name)
}

// headFile is the content of .git/HEAD on a branch or at a commit.
func headFile(head string) string {
	if len(head) >= 40 && strings.Trim(head, "0123456789abcdef") == "" {
		return head + "\n"
	}
	return "ref: refs/heads/" + head + "\n"
}

// judged names what an event is about in one text.
func judged(event map[string]any) string {
	input, _ := event["tool_input"].(map[string]any)
	for _, key := range []string{"command", "file_path", "notebook_path", "url", "query", "pattern"} {
		if s, ok := input[key].(string); ok {
			return s
		}
	}
	for _, key := range []string{"prompt", "tool_name", "hook_event_name"} {
		if s, ok := event[key].(string); ok {
			return s
		}
	}
	return string(hook.PreToolUse)
}

// authorities are the words for whose something is, in a case's world.
var authorities = []string{"managed", "user", "project", "local"}

// isPlugin reports a word such as plugin:NAME.
func isPlugin(word string) bool {
	name, ok := strings.CutPrefix(word, "plugin:")
	return ok && name != "" && !strings.ContainsAny(name, `/\`)
}

func isSource(word string) bool { return slices.Contains(authorities, word) || isPlugin(word) }
