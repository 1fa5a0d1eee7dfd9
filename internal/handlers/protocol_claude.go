package handlers

import (
	"maps"
	"slices"
	"strings"

	"gate/engine"
	"gate/hook"
	"gate/internal/moment"
)

// claudeEvent is the event as Claude Code tells it to a hook of its own.
func claudeEvent(_ *Handlers, _ *hook.Hook, ev *hook.Event) any {
	return maps.Clone(ev.Fields)
}

func claudeVariables(h *Handlers, by *hook.Hook, ev *hook.Event, set func(name, value string)) {
	ownVariables(h, by, ev, set)
	if id := ev.SessionID(); id != "" {
		set("CLAUDE_CODE_SESSION_ID", variable(id))
	}
}

// claudeAnswer reads the answer of a hook of Claude Code: gate's own form, but
// members that gate does not know are passed over, as Claude Code does, and on
// some events plain text is for the agent.
func claudeAnswer(h *hook.Hook, ev *hook.Event, said []byte) engine.Answer {
	switch plain, err := isPlain(said); {
	case err != nil:
		return unreadable(h, err)
	case plain:
		text := cut(strings.TrimSpace(string(said)))
		if text == "" || !slices.Contains(textIsContext, ev.Name) {
			return engine.Answer{}
		}
		return engine.Answer{Verdict: hook.Verdict{Context: []hook.Context{{Text: text}}}}
	}
	return oneObject(h, said, func(doc map[string]any) engine.Answer {
		r := newReader(h, ev)
		r.foreign = foreign
		return r.read(doc, answerMembers)
	})
}

// textIsContext are the events on which Claude Code gives plain text to the
// agent.
var textIsContext = []hook.Name{hook.SessionStart, hook.UserPromptSubmit, moment.UserPromptExpansion, moment.PostModelSwitch}

// foreign reports a member that gate does not know, such as a title of the
// session: not one that is spelt otherwise than gate knows it, nor one that
// belongs to another level.
func foreign(name string, known map[string]member) bool {
	return meant(name, known) == "" && meant(name, answerMembers) == "" && meant(name, specificMembers) == ""
}
