package load

import (
	"path"
	"strings"

	"gate/hook"
	"gate/strictjson"
)

// startsItself reports whether a command hook starts gate as agents do, as in an
// agent's settings that gate install was here before: gate would ask itself about
// the call again, and so on, until there is no time left.
func startsItself(h *hook.Hook) bool {
	if h.Kind != hook.Command {
		return false
	}
	line, _ := h.Config["command"].(string)
	words := append(strings.Fields(line), strictjson.Texts(h.Config["args"])...)
	for i := range len(words) - 1 {
		switch name := path.Base(strings.ReplaceAll(strings.Trim(words[i], `'"`), `\`, "/")); strings.TrimSuffix(name, ".exe") {
		case "gate-hook":
			if strings.HasPrefix(words[i+1], "--agent") {
				return true
			}
		case "gate":
			if words[i+1] == "hook" {
				return true
			}
		}
	}
	return false
}
