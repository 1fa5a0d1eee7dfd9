package handlers

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gate/engine"
	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// codewhaleShared are the fields that each event of CodeWhale has, as far as
// gate knows them.
var codewhaleShared = []string{"session_id", "model"}

// codewhaleFields are the events that CodeWhale tells on standard input, and
// what each has besides. It is no more than its author can rely on: no output
// of tools and nothing of the conversation.
var codewhaleFields = map[hook.Name][]string{
	hook.UserPromptSubmit: {"total_tokens"},
	hook.Stop:             {"status", "usage", "total_tokens", "queued_messages"},
	hook.SubagentStart:    {"agent_id", "agent_type"},
	hook.SubagentStop:     {"agent_id", "agent_type", "status", "duration_ms"},
}

func codewhaleEvent(_ *Handlers, _ *hook.Hook, ev *hook.Event) any {
	name := ev.Name.Canonical()
	doc := told(ev, slices.Concat(codewhaleFields[name], codewhaleShared)...)
	doc["event"] = string(cmp.Or(name.Moment().Alias, ev.Name))
	for key, v := range map[string]string{
		"workspace": cmp.Or(ev.Text("workspace"), ev.Dir()), "mode": cmp.Or(ev.Text("mode"), ev.Text("permission_mode")),
	} {
		if v != "" {
			doc[key] = v
		}
	}
	switch name {
	case hook.UserPromptSubmit:
		renamed(doc, "text", ev, "prompt")
	case hook.Stop:
		doc["stop_hook_active"] = ev.Fields["stop_hook_active"] == true
	}
	return doc
}

// codewhaleHears makes of an event what a hook of CodeWhale knows, nil if it is not
// asked. The one event on which CodeWhale asks for variables of its shell stands for
// all on which an agent takes some.
func codewhaleHears(h *Handlers, by *hook.Hook, ev *hook.Event) *hook.Event {
	if ev.Name == moment.ShellEnv || !slices.Contains(by.Events, moment.ShellEnv) {
		return ev
	}
	if h.envFile(by, ev) == "" {
		return nil
	}
	asked := *ev
	asked.Name = moment.ShellEnv
	return &asked
}

// codewhaleAnswer reads the text to submit instead, or variables. What it
// cannot read changes nothing, and is told.
func codewhaleAnswer(h *hook.Hook, ev *hook.Event, said []byte) engine.Answer {
	switch {
	case h.Observes(ev.Name) || len(bytes.TrimSpace(said)) == 0:
		return engine.Answer{}
	case ev.Name == moment.ShellEnv:
		return shellVariables(h, said)
	}
	var v hook.Verdict
	doc, err := strictjson.Decode(said, strictjson.Limits{Bytes: maxOutput})
	object, _ := doc.(map[string]any)
	switch text := object["text"].(type) {
	case string:
		v.Rewrites = []hook.Rewrite{{Reason: "changed by " + h.ID, Value: text}}
	case nil:
	default:
		err = fmt.Errorf("text is %s and must be a string", strictjson.TypeName(text))
	}
	if err != nil {
		v.Warnings = []hook.Reason{{ID: h.ID, Reason: fmt.Sprintf("%s changes nothing: %v", h.ID, err), Pos: h.Pos()}}
	}
	return engine.Answer{Verdict: v}
}

// shellVariables reads lines KEY=VALUE. A later line of a key counts.
func shellVariables(h *hook.Hook, said []byte) engine.Answer {
	a := engine.Answer{Verdict: hook.Verdict{Env: map[string]string{}}}
	if _, err := isPlain(said); err != nil {
		return unreadable(h, err)
	}
	for line := range strings.Lines(string(said)) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || !isVariable(name) {
			a.Verdict.Warnings = append(a.Verdict.Warnings, hook.Reason{
				ID: h.ID, Reason: fmt.Sprintf("%s prints %q, which is no KEY=VALUE that gate passes on", h.ID, oneLine(line)), Pos: h.Pos(),
			})
			continue
		}
		a.Verdict.Env[name] = value
	}
	return a
}

// isVariable reports a name of a variable that is not gate's own.
func isVariable(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != "" && !strings.HasPrefix(name, "GATE_")
}
