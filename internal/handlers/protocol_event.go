package handlers

import (
	"fmt"
	"strings"

	"gate/hook"
	"gate/internal/strictjson"
)

// stdin is what stands on a command's standard input.
func (p *protocol) stdin(h *Handlers, by *hook.Hook, ev *hook.Event) ([]byte, error) {
	if p.reads != nil && !p.reads(by, ev) {
		return nil, nil
	}
	return p.document(h, by, ev)
}

// document is what a handler is told of an event, as one line of JSON.
func (p *protocol) document(h *Handlers, by *hook.Hook, ev *hook.Event) ([]byte, error) {
	doc := p.event(h, by, ev)
	if err := strictjson.Check(doc); err != nil {
		return nil, fmt.Errorf("the event: %w", err)
	}
	return append(strictjson.Append(nil, doc), '\n'), nil
}

// ownEvent is the event as policies see it.
func ownEvent(_ *Handlers, _ *hook.Hook, ev *hook.Event) any { return ev.Document() }

// told are fields of an event; what it does not have is absent.
func told(ev *hook.Event, fields ...string) map[string]any {
	doc := map[string]any{}
	for _, f := range fields {
		renamed(doc, f, ev, f)
	}
	return doc
}

func renamed(doc map[string]any, as string, ev *hook.Event, field string) {
	if v, ok := ev.Fields[field]; ok && v != nil {
		doc[as] = v
	}
}

// outputOf adds the output of a tool as the text that it was: of a shell what
// it wrote on both streams, of what has no text its JSON.
func outputOf(doc map[string]any, ev *hook.Event) {
	switch v := ev.Fields["tool_response"].(type) {
	case nil:
	case string:
		doc["tool_output"] = v
	default:
		shell, _ := v.(map[string]any)
		out, isOut := shell["stdout"].(string)
		err, isErr := shell["stderr"].(string)
		switch {
		case !isOut || !isErr:
			doc["tool_output"] = string(strictjson.Append(nil, v))
		case out == "" || err == "":
			doc["tool_output"] = out + err
		default:
			doc["tool_output"] = strings.TrimSuffix(out, "\n") + "\n" + err
		}
	}
}

// envFile is the file of the agent's shell that a hook may write to on an event, "" if
// there is none.
func (h *Handlers) envFile(by *hook.Hook, ev *hook.Event) string {
	if h.EnvFile == nil || !ev.Name.Canonical().Moment().Shell {
		return ""
	}
	return h.EnvFile(by)
}

// ownVariables are what gate says of an event and of itself.
func ownVariables(h *Handlers, by *hook.Hook, ev *hook.Event, set func(name, value string)) {
	known := func(name, value string) {
		if value != "" {
			set(name, variable(value))
		}
	}
	known("HOOK_EVENT", string(ev.Name))
	known("HOOK_TOOL_NAME", ev.Tool())
	known("HOOK_SESSION_ID", ev.SessionID())
	known("CLAUDE_PROJECT_DIR", h.Project)
	known("CLAUDE_ENV_FILE", h.envFile(by, ev))
	if by.Scope == hook.Plugin {
		known("CLAUDE_PLUGIN_ROOT", h.Dirs[by.Source])
	}
	known("GATE_AGENT", ev.Agent)
	known("GATE_HOOK", by.ID)
	known("GATE_SOURCE_DIR", h.Dirs[by.Source])
}
