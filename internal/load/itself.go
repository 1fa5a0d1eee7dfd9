package load

import (
	"path"
	"strings"

	"gate/hook"
	"gate/internal/strictjson"
)

// startsItself reports whether a command hook starts gate as agents do, as in an
// agent's settings that gate install was here before: gate would ask itself about
// the call again, and so on, until there is no time left. alone says that the hook
// does nothing else, so that nothing is lost without it.
func startsItself(h *hook.Hook) (starts, alone bool) {
	if h.Kind != hook.Command {
		return false, false
	}
	line, _ := h.Config["command"].(string)
	args := strictjson.Texts(h.Config["args"])
	if _, rest, ok := strings.Cut(line, "' gate "); ok && strings.HasPrefix(line, installed) {
		line = rest // what gate install puts before it, for agents that need it
	}
	words := append(strings.Fields(line), args...)
	for i := range len(words) - 1 {
		name := path.Base(strings.ReplaceAll(strings.Trim(words[i], `'"`), `\`, "/"))
		switch strings.TrimSuffix(name, ".exe") {
		case "gate-hook":
			starts = strings.HasPrefix(words[i+1], "--agent")
		case "gate":
			starts = words[i+1] == "hook"
		}
		if starts {
			return true, isOneWord(words[:i+1]) && !strings.ContainsAny(line, ";|&()<>`\n")
		}
	}
	return false, false
}

// installed is how such a line of gate install begins.
const installed = `/bin/sh -c '"$@" `

// isOneWord reports words that blanks within one quoted word have parted.
func isOneWord(words []string) bool {
	first, last := words[0], words[len(words)-1]
	return len(words) == 1 || strings.ContainsAny(first[:1], `'"`) && strings.HasSuffix(last, first[:1]) && strings.Count(strings.Join(words, " "), first[:1]) == 2
}
