package install

import (
	"bytes"
	"encoding/json"
	"fmt"

	"gate/adapters"
	"gate/internal/strictjson"
)

// ownFile is a file that is gate's alone: written and removed as a whole. One
// that gate did not write is left alone.
type ownFile struct {
	text func(t *table, m Machine, s Scope) []byte
}

func (f ownFile) install(t *table, m Machine, s Scope, path string, old []byte) ([]byte, error) {
	if old != nil && !f.isOwn(t, old) {
		return nil, fmt.Errorf("%s: it is not of gate's; move it away", path)
	}
	return f.text(t, m, s), nil
}

func (f ownFile) uninstall(t *table, path string, old []byte) ([]byte, error) {
	if !f.isOwn(t, old) {
		return old, nil
	}
	return nil, nil
}

// isOwn recognises a file that gate wrote, whatever version of it: its command
// line is there.
func (ownFile) isOwn(t *table, text []byte) bool { return t.isGate(ownCommand(text)) }

func (f ownFile) entries(t *table, m Machine, s Scope, _ string, text []byte) ([]tableEntry, error) {
	if !f.isOwn(t, text) {
		return nil, nil
	}
	words := ownCommand(text)
	var out []tableEntry
	for _, event := range t.events {
		e := tableEntry{event: event, words: words, line: 1, exact: bytes.Equal(text, f.text(t, m, s))}
		e.sound = e.exact || bytes.Equal(text, f.text(t, t.as(m, words), s))
		out = append(out, e)
	}
	return out, nil
}

func (ownFile) switched(*table, []byte) []switchedOff { return nil }

// opencodePlugin is the plugin that asks gate.
func opencodePlugin(t *table, m Machine, s Scope) []byte {
	return adapters.OpenCodePlugin(t.words(m, s, ""), t.seconds("PreToolUse"))
}

// kiroHooks is a file of hooks of Kiro CLI 3.
func kiroHooks(t *table, m Machine, s Scope) []byte {
	hooks := []any{}
	for _, event := range t.events {
		hooks = append(hooks, map[string]any{
			"name": "gate-" + event, "trigger": event, "matcher": "*", "enabled": true, "timeout": int(t.seconds(event).Seconds()),
			"action": map[string]any{"type": "command", "command": t.line(m, s, event)},
		})
	}
	return []byte(strictjson.Indent(map[string]any{"version": "v1", "hooks": hooks}))
}

// ownCommand is the first command line in a file of gate's: a list of words in a
// program, or the text of a JSON hook.
func ownCommand(text []byte) []string {
	const list = "\nconst COMMAND = "
	if _, rest, ok := bytes.Cut(text, []byte(list)); ok {
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		var words []string
		if json.Unmarshal(line, &words) == nil {
			return words
		}
		return nil
	}
	var doc struct {
		Hooks []struct{ Action struct{ Command string } }
	}
	if json.Unmarshal(text, &doc) != nil || len(doc.Hooks) == 0 {
		return nil
	}
	return lineWords(doc.Hooks[0].Action.Command)
}
