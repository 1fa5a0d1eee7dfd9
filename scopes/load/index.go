package load

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"time"

	"gate/hook"
	"gate/scopes"
	"gate/strictjson"
)

// Index returns what [Rego] and [Lib] find in fsys as JSON, so that a program
// that carries the same files can start without parsing them. It returns an
// error when a file has a mistake.
func Index(fsys fs.FS) ([]byte, error) {
	s := Rego(fsys, scopes.Source{Name: "library", Scope: hook.Policy, Authority: hook.User, Library: true})
	lib, faults := Lib(fsys)
	for _, f := range append(s.Faults, faults...) {
		return nil, f.Err
	}
	doc := map[string]any{"digest": s.Digest, "lib": indexModules(lib), "modules": indexModules(s.Modules)}
	hooks := []any{}
	for _, h := range s.Hooks {
		hooks = append(hooks, indexHook(h))
	}
	doc["hooks"] = hooks
	return append([]byte(strictjson.Indent(doc)), '\n'), nil
}

func indexModules(list []scopes.Module) []any {
	out := []any{}
	for _, m := range list {
		out = append(out, map[string]any{"file": m.File, "package": m.Package})
	}
	return out
}

func indexHook(h *hook.Hook) map[string]any {
	events := []any{}
	for _, e := range h.Events {
		events = append(events, string(e))
	}
	conditions := []any{}
	for _, c := range h.If {
		conditions = append(conditions, c)
	}
	params := map[string]any{}
	for name, p := range h.Params {
		params[name] = map[string]any{"type": p.Type, "default": p.Default, "description": p.Description}
	}
	return map[string]any{
		"id": h.ID, "title": h.Title, "description": h.Description, "file": h.File, "line": h.Line, "events": events,
		"matcher": h.Matcher, "if": conditions, "priority": h.Priority, "timeout": int64(h.Timeout),
		"on_fault": string(h.OnFault), "opaque": h.Opaque, "params": params,
	}
}

// Indexed is [Rego] and [Lib] for files that were indexed when the program was
// built. It reads the texts and parses none. The index must be as trusted as
// the program itself: nothing in it is checked against the files.
func Indexed(fsys fs.FS, index []byte, into scopes.Source) (scopes.Source, []scopes.Module) {
	s := into
	s.Hooks, s.Modules, s.Faults = nil, nil, nil
	doc, err := strictjson.Object(index, strictjson.Limits{})
	if err == nil {
		var lib []scopes.Module
		if lib, err = readIndex(fsys, doc, &s); err == nil {
			return s, lib
		}
	}
	s.Hooks, s.Modules = nil, nil
	s.Faults = []hook.Fault{*hook.Faultf(hook.FaultLoad, "index of the library: %w", err)}
	return s, nil
}

func readIndex(fsys fs.FS, doc map[string]any, s *scopes.Source) (lib []scopes.Module, err error) {
	s.Digest = indexText(doc, "digest")
	if s.Modules, err = readModules(fsys, doc, "modules"); err != nil {
		return nil, err
	}
	hooks, _ := doc["hooks"].([]any)
	for _, e := range hooks {
		m, ok := e.(map[string]any)
		if !ok || indexText(m, "id") == "" {
			return nil, fmt.Errorf("a hook without id")
		}
		s.Hooks = append(s.Hooks, readHook(m, s))
	}
	if len(s.Hooks) == 0 {
		return nil, fmt.Errorf("no hooks")
	}
	return readModules(fsys, doc, "lib")
}

func readModules(fsys fs.FS, doc map[string]any, key string) ([]scopes.Module, error) {
	var out []scopes.Module
	list, _ := doc[key].([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		text, err := fs.ReadFile(fsys, indexText(m, "file"))
		if err != nil {
			return nil, err
		}
		out = append(out, scopes.Module{File: indexText(m, "file"), Package: indexText(m, "package"), Text: string(text)})
	}
	return out, nil
}

func readHook(m map[string]any, s *scopes.Source) *hook.Hook {
	h := &hook.Hook{
		ID: indexText(m, "id"), Kind: hook.Rego, Title: indexText(m, "title"), Description: indexText(m, "description"),
		Scope: s.Scope, Authority: s.Authority, Library: s.Library, Source: s.Name,
		File: indexText(m, "file"), Line: indexNumber(m, "line"), Matcher: indexText(m, "matcher"), If: indexTexts(m, "if"),
		Priority: indexNumber(m, "priority"), Timeout: time.Duration(indexNumber(m, "timeout")), OnFault: hook.OnFault(indexText(m, "on_fault")),
		Opaque: m["opaque"] == true,
	}
	for _, e := range indexTexts(m, "events") {
		h.Events = append(h.Events, hook.Name(e))
	}
	params, _ := m["params"].(map[string]any)
	for name, v := range params {
		p, _ := v.(map[string]any)
		if h.Params == nil {
			h.Params = make(map[string]hook.Param, len(params))
		}
		h.Params[name] = hook.Param{Type: indexText(p, "type"), Default: p["default"], Description: indexText(p, "description")}
	}
	return h
}

func indexText(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

func indexNumber(m map[string]any, key string) int {
	n, _ := m[key].(json.Number)
	i, _ := n.Int64()
	return int(i)
}

func indexTexts(m map[string]any, key string) []string {
	list, _ := m[key].([]any)
	var out []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
