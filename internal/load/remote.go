package load

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/outgoing"
	"gate/internal/strictjson"
)

// remote checks where a webhook sends and which headers it has, and what the
// tool of an MCP server is given.
func (r *hookReader) remote(kind hook.Kind, m map[string]any, pointer string) {
	switch kind {
	case hook.Webhook:
		checkRemote(m, pointer, r.bad)
	case hook.MCPTool:
		if m["dialect"] == string(moment.Zeph) {
			return // its input is no template
		}
		if err := outgoing.CheckTemplate(m["input"]); err != nil {
			for _, f := range loadFaults(err) {
				r.bad(below(pointer, "input"), "input: %w", f.Err)
			}
		}
	}
}

// checkRemote checks the keys url and headers of whatever is sent something.
func checkRemote(m map[string]any, pointer string, bad func(pointer, format string, args ...any)) {
	if address, ok := m["url"].(string); ok {
		if err := outgoing.CheckAddress(address); err != nil {
			bad(below(pointer, "url"), "url: it %w", err)
		}
	}
	headers, _ := m["headers"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		value, ok := headers[name].(string)
		if !ok {
			continue // the schema says so
		}
		if err := outgoing.CheckHeader(name, value, strictjson.Texts(m["env"])); err != nil {
			bad(below(below(pointer, "headers"), name), "headers: %s: %w", name, err)
		}
	}
}

// mcpServers checks the servers whose tools hooks may call.
func (r *layerReader) mcpServers() {
	servers, _ := r.value["mcpServers"].(map[string]any)
	for _, name := range r.sorted(servers, "/mcpServers") {
		m, ok := servers[name].(map[string]any)
		if !ok {
			continue // the schema says so
		}
		pointer, s := below("/mcpServers", name), r.layer.MCPServers[name]
		switch {
		case (s.Command == "") == (s.URL == ""):
			r.bad(pointer, "mcpServers: %s: give either a command or a url", name)
		case s.Command != "" && m["headers"] != nil:
			r.bad(below(pointer, "headers"), "mcpServers: %s: a command has no headers", name)
		case s.URL != "" && m["args"] != nil:
			r.bad(below(pointer, "args"), "mcpServers: %s: a url has no args", name)
		case strings.ContainsAny(s.Command, `/\`) && !filepath.IsAbs(s.Command):
			r.bad(below(pointer, "command"), "mcpServers: %s: command must be an absolute path, or a name in PATH", name)
		}
		checkRemote(m, pointer, r.bad)
	}
}
