package matcher

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gate/hook"
)

// A Condition is one "if" of a hook, in the form of a permission rule. It is
// judged on an event's facts, not on its text, so that Bash(git push:*) also
// fires for "cd x && sudo git -C y push". It is safe for concurrent use.
type Condition struct {
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
//	agent_id(a|b)            what the agent with one of these ids does; agent_id(!a|b) what any other does, or one without an id
//
// effect and unknown make a policy cost nothing on calls that have no such
// effect. They are never Unsure on an event with facts: what hides an effect is an
// unknown, and a condition of its own.
//
// Path patterns: *.go and .env match at any depth, //etc/hosts is absolute,
// ~/x is below anybody's home, /x is absolute or below the working directory,
// and everything else is below the working directory. * stays within a
// directory, ** does not.
func ParseCondition(s string) (*Condition, error) {
	if len(s) > maxPattern {
		return nil, fmt.Errorf("condition of %d bytes; %d are allowed", len(s), maxPattern)
	}
	name, inner, hasInner := strings.Cut(strings.TrimSpace(s), "(")
	c := &Condition{}
	var err error
	if c.tool, err = parseTool(name); err != nil {
		return nil, fmt.Errorf("if %q: %w", s, err)
	}
	if !hasInner {
		if !c.tool.facts() {
			return c, nil
		}
		inner = "*)"
	}
	inner, closed := strings.CutSuffix(inner, ")")
	if !closed {
		return nil, fmt.Errorf(`if %q: missing ")"`, s)
	}
	inner = strings.TrimSpace(inner)
	if (inner == "" || inner == "*") && !c.tool.facts() {
		return c, nil
	}
	if c.judge, err = parseJudge(c.tool, inner); err != nil {
		return nil, fmt.Errorf("if %q: %w", s, err)
	}
	return c, nil
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
	case "effect", "unknown":
		return parseFact(t.name, pattern)
	case "agent_id":
		return parseAgent(pattern)
	case "Bash", "PowerShell":
		return parseCommand(pattern)
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
func (c *Condition) Match(ev *hook.Event) Truth {
	if c.judge == nil {
		return truth(c.tool.matches(ev.Tool()))
	}
	return c.judge(ev)
}

// facts reports the names that stand for something else than a tool.
func (t tool) facts() bool {
	return !t.prefix && (t.name == "effect" || t.name == "unknown" || t.name == "agent_id")
}

// parseAgent judges the id of the agent that an event is about.
func parseAgent(pattern string) (func(*hook.Event) Truth, error) {
	list, others := strings.CutPrefix(pattern, "!")
	var globs []glob
	for id := range strings.SplitSeq(list, "|") {
		g, err := newGlob(strings.TrimSpace(id))
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
		one := id != "" && slices.ContainsFunc(globs, func(g glob) bool { return g.matches(id) })
		return truth(one != others)
	}, nil
}

// parseFact judges the kinds of effects or unknowns.
func parseFact(what, pattern string) (func(*hook.Event) Truth, error) {
	g, err := newGlob(pattern)
	if err != nil {
		return nil, err
	}
	if len(g) == 0 {
		return nil, fmt.Errorf("%s() without a kind: write %s(*) for any", what, what)
	}
	return func(ev *hook.Event) Truth {
		if ev.Facts == nil {
			return Unsure
		}
		if what == "effect" {
			for i := range ev.Facts.Effects {
				if g.matches(ev.Facts.Effects[i].Kind) {
					return Yes
				}
			}
			return No
		}
		for i := range ev.Facts.Unknown {
			if g.matches(ev.Facts.Unknown[i].Kind) {
				return Yes
			}
		}
		return No
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
	g, err := newGlob(pattern)
	if err != nil {
		return nil, err
	}
	return func(ev *hook.Event) Truth {
		if !t.matches(ev.Tool()) {
			return No
		}
		for _, f := range fields {
			if v, ok := ev.ToolInput()[f].(string); ok && (len(v) > MaxValue || g.matches(v)) {
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
	g, err := newGlob(text)
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
			case byDomain && g.matches(strings.ToLower(strings.TrimSuffix(*value, "."))), !byDomain && g.matches(*value):
				return Yes
			}
		}
		return t
	}, nil
}
