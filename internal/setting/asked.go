package setting

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gate/hook"
)

// FindMCPServer finds the server that a hook of authority a calls name. What the
// user's settings name is not for hooks of the administrator: the user could
// have it say anything. The error says which there are.
func FindMCPServer(servers map[string]MCPServer, name string, a hook.Authority) (MCPServer, error) {
	usable := func(s MCPServer) bool { return a != hook.Managed || s.Authority == hook.Managed }
	if s, ok := servers[name]; ok && usable(s) {
		return s, nil
	}
	var names []string
	for _, n := range slices.Sorted(maps.Keys(servers)) {
		if usable(servers[n]) {
			names = append(names, n)
		}
	}
	whose := "managed or user"
	if a == hook.Managed {
		whose = "managed"
	}
	if len(names) == 0 {
		return MCPServer{}, fmt.Errorf("mcpServers of %s settings name no server, and so no %s", whose, shown(name))
	}
	return MCPServer{}, fmt.Errorf("mcpServers of %s settings name no %s, but %s", whose, shown(name), strings.Join(names, ", "))
}

// Asks reports that settings name whom a hook asks: the provider that judges
// for it, the server whose tool it calls. The error says that they do not, and
// whom they name. Hooks of other kinds ask nobody.
func (s Settings) Asks(h *hook.Hook) error {
	text := func(key string) string {
		v, _ := h.Config[key].(string)
		return v
	}
	var err error
	switch h.Kind {
	case hook.Prompt, hook.Agent:
		_, _, _, err = s.Judge(h.Authority, text("model"))
	case hook.MCPTool:
		_, err = FindMCPServer(s.MCPServers, text("server"), h.Authority)
	}
	return err
}
