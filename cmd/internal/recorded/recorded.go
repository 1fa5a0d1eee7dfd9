// Package recorded makes event cases of decisions of the log.
//
// A case holds the event, the files and settings that mattered, and the decision. The
// package runs no case; its caller does. Start with Of.
package recorded

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/policytest"
	"gate/internal/strictjson"
)

// A Call is a decision of the log on its way to become an event case. There
// the project is /home/dev/project and the person dev, whoever it was.
type Call struct {
	Notes []string // what a person should know of the case, such as that secrets are missing

	record        *audit.Record
	event         hook.Event
	home, project string
}

// Where a case's world has what was elsewhere then.
const (
	caseHome    = "/home/dev"
	caseProject = "/home/dev/project"
)

// Of takes apart what the log has of a decision. home is the directory of the
// person whose log it is. A record that does not have the whole call is an error.
func Of(r *audit.Record, home string) (*Call, error) {
	ev, err := r.Restore()
	if err != nil {
		return nil, fmt.Errorf("decision %s: %w", strictjson.Visible(r.ID), err)
	}
	for _, c := range r.Kept.Cut {
		if strings.HasPrefix(c.At, "/input/") && !strings.HasPrefix(c.At, "/input/facts") {
			return nil, fmt.Errorf("decision %s: %s was too long for the log, so that no case can be made of it",
				strictjson.Visible(r.ID), strictjson.Visible(strings.ReplaceAll(strings.TrimPrefix(c.At, "/input/"), "/", ".")))
		}
	}
	past := &Call{record: r, event: ev, home: filepath.ToSlash(home), project: filepath.ToSlash(r.Project)}
	if past.project == "" {
		past.project = ev.Dir()
	}
	if _, redacted := r.Kept.Lost("/input/tool_input", "/input/prompt", "/input/tool_response"); len(redacted) > 0 {
		past.Notes = append(past.Notes, "secrets were taken out of the call; the word redacted stands for each")
	}
	return past, nil
}

// Case returns the shortest case that passes, else the shortest.
func (c *Call) Case(passes func(*policytest.Case) (bool, error)) (policytest.Case, error) {
	short := c.short()
	ok, err := passes(&short)
	if ok || err != nil {
		return short, err
	}
	whole := c.whole()
	if ok, err := passes(&whole); ok || err != nil {
		return whole, err
	}
	_, err = passes(&short) // for what is said about it
	return short, err
}

// short is the call and what its facts say of the world.
func (c *Call) short() policytest.Case {
	out := policytest.Case{Name: c.name(), Event: map[string]any{}, Agent: c.record.Agent, Expect: c.expectation()}
	for _, key := range []string{"hook_event_name", "tool_name", "tool_input", "prompt", "tool_response", "error"} {
		if v, ok := c.event.Fields[key]; ok {
			out.Event[key] = c.moved(v)
		}
	}
	if dir := c.movedText(c.event.Dir()); dir != caseProject && dir != "" {
		out.Event["cwd"] = strings.TrimPrefix(dir, caseProject+"/")
	}
	out.World = c.world()
	return out
}

// whole has all of the event, and the moment.
func (c *Call) whole() policytest.Case {
	out := c.short()
	for key, v := range c.event.Fields {
		switch key {
		case "session_id", "transcript_path", "tool_use_id", "cwd":
		default:
			out.Event[key] = c.moved(v)
		}
	}
	gate := map[string]any{"now": c.record.Time.UTC().Format(time.RFC3339)}
	maps.Copy(gate, out.World.Gate)
	out.World.Gate = gate
	return out
}

func (c *Call) name() string {
	what := c.movedText(c.record.Call)
	if what == "" {
		what = c.movedText(c.event.Text("prompt"))
	}
	if what == "" {
		what = strings.TrimSpace(string(c.record.Event) + " " + c.record.Tool)
	}
	return strings.TrimRight(screen.Column(what, 60), " ") + ", as decided in " + strictjson.OneLine(c.record.ID)
}

// world is what the facts say of the machine, and what the event did not bring.
func (c *Call) world() policytest.CaseWorld {
	w := policytest.CaseWorld{Session: c.session(), As: c.as()}
	doc, _ := c.record.Kept.Input["facts"].(map[string]any)
	effects, _ := doc["effects"].([]any)
	for _, e := range effects {
		effect, _ := e.(map[string]any)
		branches, _ := effect["branches"].([]any)
		if branch, ok := firstText(branches); ok && effect["branches_from"] == "head" {
			w.Head = branch
		}
		if context, ok := effect["context"].(string); ok && effect["context_from"] == "file" {
			w.Files = map[string]string{caseHome + "/.kube/config": "current-context: " + context + "\n"}
		}
	}
	gate := map[string]any{}
	if !c.event.Gate.Interactive {
		gate["interactive"] = false
	}
	if os := c.event.Gate.OS; os != "" && os != "linux" {
		gate["os"] = os
	}
	if len(c.event.Gate.Labels) > 0 {
		labels := map[string]any{}
		for name, v := range c.event.Gate.Labels {
			labels[name] = v
		}
		gate["labels"] = labels
	}
	if len(gate) > 0 {
		w.Gate = gate
	}
	return w
}

// session is what was known of the session. A case has one memory for all sources, so
// that it shows each of them all marks.
func (c *Call) session() map[string]any {
	if len(c.event.Memory) == 0 {
		return nil
	}
	session, marks := maps.Clone(c.event.Memory), map[string]any{}
	for _, k := range c.event.Marks.All {
		marks[k.Name] = document.MarkValue(k)
	}
	if len(marks) > 0 {
		session["marks"] = marks
	}
	return session
}

func firstText(list []any) (string, bool) {
	if len(list) == 0 {
		return "", false
	}
	s, ok := list[0].(string)
	return s, ok
}

// as is whose the policies are that the decision is due to, where that is not
// what cases take them for.
func (c *Call) as() string {
	for _, why := range slices.Concat(c.record.Reasons, c.record.Warned) {
		if why.Source == "managed" || why.Source == "project" || strings.HasPrefix(why.Source, "plugin:") {
			return why.Source
		}
	}
	return ""
}

// expectation is what was decided.
func (c *Call) expectation() policytest.Expectation {
	r := c.record
	effect := r.Effect
	e := policytest.Expectation{Effect: &effect}
	add := func(list *[]string, id string) {
		if !slices.Contains(*list, id) {
			*list = append(*list, id)
		}
	}
	for _, why := range r.Reasons {
		if why.Effect == r.Effect && r.Effect != hook.Pass {
			add(&e.IDs, why.ID)
		}
	}
	for _, why := range r.Warned {
		add(&e.Warnings, why.ID)
	}
	for _, f := range r.Faults {
		id, _, _ := strings.Cut(f, ": ")
		add(&e.Faults, id)
	}
	if r.Halt {
		e.Halt = &r.Halt
	}
	if r.Kept.Rewrite != nil {
		e.Rewrite = &policytest.Value{Value: c.rewritten()}
	}
	return e
}

// rewritten is what the call ran with, as far as it is another input.
func (c *Call) rewritten() any {
	now, isObject := c.moved(c.record.Kept.Rewrite).(map[string]any)
	if !isObject {
		return c.moved(c.record.Kept.Rewrite)
	}
	then, _ := c.moved(c.event.Fields[c.event.Name.Rewrites()]).(map[string]any)
	out := map[string]any{}
	for key, v := range now {
		if document.Line(v) != document.Line(then[key]) {
			out[key] = v
		}
	}
	return out
}

// moved returns a tree with its paths where a case's world has them.
func (c *Call) moved(v any) any {
	switch v := v.(type) {
	case string:
		return c.movedText(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, e := range v {
			out[key] = c.moved(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = c.moved(e)
		}
		return out
	}
	return v
}

func (c *Call) movedText(s string) string {
	const between = "\x00" // what stands for the project until the home directory is moved
	s = movePath(s, c.project, between)
	s = movePath(s, c.home, caseHome)
	s = strings.ReplaceAll(s, between, caseProject)
	return strings.ReplaceAll(s, "[redacted]", "redacted")
}

// movePath replaces a directory wherever a text names it or what is below it.
func movePath(s, from, to string) string {
	if len(from) < 2 {
		return s
	}
	var b strings.Builder
	for {
		i := strings.Index(s, from)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		end := i + len(from)
		b.WriteString(s[:i])
		if (i == 0 || !inPath(s[i-1])) && (end == len(s) || s[end] == '/' || !inPath(s[end])) {
			b.WriteString(to)
		} else {
			b.WriteString(s[i:end])
		}
		s = s[end:]
	}
}

// inPath reports a byte that goes on a path's name.
func inPath(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("/._-", c) >= 0 || c >= 0x80
}
