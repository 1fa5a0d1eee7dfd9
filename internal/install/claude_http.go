package install

import (
	"strings"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// ClaudeOverHTTP returns a settings file of Claude Code that has it ask a gate
// serve at the address base, such as http://127.0.0.1:4283, instead of starting
// gate. The token is in the environment variable that is named. The events on
// which Claude Code asks nobody over HTTP have the entries of user scope.
func (m Machine) ClaudeOverHTTP(base, variable string) string {
	var c claude
	base = strings.TrimSuffix(base, "/") + "/hook/" + c.name() + "/"
	hooks := map[string]any{}
	for _, e := range claudeEvents() {
		handler := map[string]any{
			"type": "http", "url": base + string(e.name),
			"headers":        map[string]any{"Authorization": "Bearer $" + variable, "Gate-Attended": "1"},
			"allowedEnvVars": []any{variable},
		}
		if e.name == hook.SessionStart || e.name == moment.Setup {
			words := c.line(m, User, e.name)
			handler = map[string]any{"type": "command", "command": words[0], "args": words[1:]}
		}
		handler["timeout"] = e.timeout
		if e.block {
			handler["onFailure"] = "block"
		}
		group := map[string]any{"hooks": []any{handler}}
		if e.matcher {
			group["matcher"] = "*"
		}
		hooks[string(e.name)] = []any{group}
	}
	return strictjson.Indent(map[string]any{"hooks": hooks})
}
