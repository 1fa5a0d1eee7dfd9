package matcher

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/paths"
)

// A Condition is one "if" of a hook, in the form of a permission rule. It is
// judged on an event's facts, not on its text, so that Bash(git push:*) also
// fires for "cd x && sudo git -C y push". It is safe for concurrent use.
// The zero Condition holds for no event.
type Condition struct {
	about   subject
	pattern string // of the subject, checked; it is read anew with each match, as globs are
	other   *rule  // where it is about none of the subjects
}

// A subject is what nearly all conditions are about: a set has thousands of them,
// which take no memory of their own.
type subject uint8

const (
	anything subject = iota
	anEffect
	anUnknown
	aFlow
	aCommand
)

// A rule is any other condition.
type rule struct {
	tool  tool
	judge func(ev *hook.Event) Truth // nil: the tool alone decides
}

// A tool is the name before the parenthesis.
type tool struct {
	name   string
	prefix bool // name is a prefix: mcp__server__*
	server bool // name is an MCP server: all of its tools
}

// ParseCondition reads one condition:
//
//	Bash                     any call of that tool; also mcp__server, mcp__server__*, mcp__server__tool
//	Bash(git push:*)         any command, at any depth, whose words begin so
//	Bash(git push *)         the same; elsewhere * stands for any text
//	Bash(make test)          exactly these words
//	Read(~/.ssh/**)          any path that is read, whatever reads it; Edit and Write likewise for changes
//	WebFetch(domain:x.org)   any network peer; *.x.org for its subdomains; or a glob of the URL
//	Agent(reviewer)          the kind of agent; Skill(name) likewise
//	effect(git.push)         any effect of that kind among the facts, whatever tool causes it; * stands for any text
//	unknown(program)         anything of that kind that was not understood; unknown alone, anything at all
//	flow(secret)             data of that origin goes into an effect; flow alone, data of any
//	agent_id(a|b)            what the agent with one of these ids does; agent_id(!a|b) what any other does, or one without an id
//
// effect, unknown and flow make a policy cost nothing on calls that have no such
// effect. They are never Unsure on an event with facts: what hides an effect is an
// unknown, and a condition of its own.
//
// Path patterns: *.go and .env match at any depth, //etc/hosts is absolute,
// ~/x is below anybody's home, /x is absolute or below the working directory,
// and everything else is below the working directory. * stays within a
// directory, ** does not.
func ParseCondition(s string) (Condition, error) {
	if len(s) > maxPattern {
		return Condition{}, fmt.Errorf("condition of %d bytes; %d are allowed", len(s), maxPattern)
	}
	c, err := parseCondition(strings.TrimSpace(s))
	if err != nil {
		return Condition{}, fmt.Errorf("if %q: %w", s, err)
	}
	return c, nil
}

func parseCondition(s string) (Condition, error) {
	name, pattern, has := strings.Cut(s, "(")
	pattern, closed := strings.CutSuffix(pattern, ")")
	if has && !closed {
		return Condition{}, errors.New(`missing ")"`)
	}
	pattern = strings.TrimSpace(pattern)
	switch name {
	case "effect", "unknown", "flow", "agent_id":
		if !has {
			pattern = "*"
		}
		if pattern == "" {
			return Condition{}, fmt.Errorf("%s() names none: write %s(*) for any", name, name)
		}
	default:
		if pattern == "*" {
			pattern = ""
		}
	}
	c, err := Condition{pattern: pattern}, error(nil)
	switch {
	case name == "effect":
		c.about = anEffect
		_, err = paths.NewSegment(pattern)
	case name == "unknown":
		c.about = anUnknown
		_, err = paths.NewSegment(pattern)
	case name == "flow":
		c.about = aFlow
		_, err = paths.NewSegment(pattern)
	case pattern != "" && (name == "Bash" || name == "PowerShell"):
		c.about = aCommand
		err = commandOf(pattern).check()
	default:
		c.other, err = parseRule(name, pattern)
	}
	return c, err
}

// parseRule reads a rule, whose pattern is "" where it has none.
func parseRule(name, pattern string) (*rule, error) {
	t, err := parseTool(name)
	if err != nil {
		return nil, err
	}
	r := &rule{tool: t}
	if pattern != "" {
		r.judge, err = parseJudge(t, pattern)
	}
	return r, err
}

func parseTool(s string) (tool, error) {
	name, isPrefix := strings.CutSuffix(s, "*")
	if name == "" {
		return tool{}, errors.New("no tool is named")
	}
	for i := range len(name) {
		if c := name[i]; !isWord(c) && c != '-' && c != '.' {
			return tool{}, fmt.Errorf("%q is not the name of a tool", s)
		}
	}
	server := strings.HasPrefix(name, "mcp__") && strings.Count(name, "__") == 1
	return tool{name, isPrefix, server && !isPrefix}, nil
}

func (t tool) matches(name string) bool {
	switch {
	case t.prefix:
		return strings.HasPrefix(name, t.name)
	case t.server:
		return name == t.name || strings.HasPrefix(name, t.name+"__")
	}
	return name == t.name || name != "" && alias(name) == t.name
}

func parseJudge(t tool, pattern string) (func(*hook.Event) Truth, error) {
	if t.prefix {
		return nil, errors.New("a tool with * takes no pattern")
	}
	switch t.name {
	case "agent_id":
		return parseAgent(pattern)
	case "Read", "Grep", "Glob", "LS":
		return parsePath(pattern, "read", "list")
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		return parsePath(pattern, "write", "delete", "permissions")
	case "WebFetch":
		return parseHost(pattern)
	case "Agent", "Task":
		return parseField(t, pattern, "subagent_type")
	case "Skill":
		return parseField(t, pattern, "skill", "command", "name")
	case "WebSearch":
		return parseField(t, pattern, "query")
	}
	return nil, fmt.Errorf("no patterns are known for %s: write %s alone and look at its input in the policy", t.name, t.name)
}

// Match reports whether the condition holds for ev. Facts that are missing or
// opaque make a No an Unsure.
func (c Condition) Match(ev *hook.Event) Truth {
	switch {
	case c.about == aCommand:
		return commandOf(c.pattern).match(ev)
	case c.about != anything:
		return c.matchFact(ev.Facts)
	case c.other == nil:
		return No
	case c.other.judge == nil:
		return truth(c.other.tool.matches(ev.Tool()))
	}
	return c.other.judge(ev)
}

// matchFact judges the kinds of effects or unknowns, or the origins of flows.
func (c Condition) matchFact(f *hook.Facts) Truth {
	if f == nil {
		return Unsure
	}
	kind := paths.Segment(c.pattern)
	switch c.about {
	case anEffect:
		return truth(slices.ContainsFunc(f.Effects, func(e hook.FactEffect) bool { return kind.Matches(e.Kind()) }))
	case aFlow:
		return truth(slices.ContainsFunc(f.Flow, func(l hook.Flow) bool { return kind.Matches(l.Origin) }))
	}
	return truth(slices.ContainsFunc(f.Unknown, func(u hook.Unknown) bool { return kind.Matches(u.Kind) }))
}

// parseAgent judges the id of the agent that an event is about.
func parseAgent(pattern string) (func(*hook.Event) Truth, error) {
	list, others := strings.CutPrefix(pattern, "!")
	var globs []paths.Segment
	for id := range strings.SplitSeq(list, "|") {
		g, err := paths.NewSegment(strings.TrimSpace(id))
		if err != nil {
			return nil, err
		}
		if len(g) == 0 {
			return nil, errors.New("agent_id() without an id: write agent_id(*) for any")
		}
		globs = append(globs, g)
	}
	return func(ev *hook.Event) Truth {
		id := ev.Text("agent_id")
		if len(id) > MaxValue {
			return Unsure
		}
		one := id != "" && slices.ContainsFunc(globs, func(g paths.Segment) bool { return g.Matches(id) })
		return truth(one != others)
	}, nil
}

// unlessOpaque is the answer when nothing matched: No, if everything was seen.
func unlessOpaque(ev *hook.Event) Truth {
	if ev.Tool() != "" && (ev.Facts == nil || ev.Facts.Opaque) {
		return Unsure
	}
	return No
}

// parseField judges a string of the tool's own input.
func parseField(t tool, pattern string, fields ...string) (func(*hook.Event) Truth, error) {
	g, err := paths.NewSegment(pattern)
	if err != nil {
		return nil, err
	}
	return func(ev *hook.Event) Truth {
		if !t.matches(ev.Tool()) {
			return No
		}
		for _, f := range fields {
			if v, ok := ev.ToolInput()[f].(string); ok && (len(v) > MaxValue || g.Matches(v)) {
				return Yes
			}
		}
		return No
	}, nil
}

func parseHost(pattern string) (func(*hook.Event) Truth, error) {
	domain, byDomain := strings.CutPrefix(pattern, "domain:")
	text := pattern
	if byDomain {
		text = strings.ToLower(strings.TrimSuffix(domain, "."))
	}
	g, err := paths.NewSegment(text)
	if err != nil {
		return nil, err
	}
	if len(g) == 0 {
		return nil, errors.New("domain: without a name")
	}
	return func(ev *hook.Event) Truth {
		t := unlessOpaque(ev)
		if ev.Facts == nil {
			return t
		}
		for _, h := range ev.Facts.Hosts {
			value := h.URL
			if byDomain {
				value = h.Host
			}
			switch {
			case value == nil:
				t = max(t, Unsure)
			case byDomain && g.Matches(strings.ToLower(strings.TrimSuffix(*value, "."))), !byDomain && g.Matches(*value):
				return Yes
			}
		}
		return t
	}, nil
}
