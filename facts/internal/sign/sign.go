// Package sign finds signs in messages of MCP: texts by which a server tells the model what to
// do, hides something, or asks for more than what it offers needs. It is for what a server
// says of itself, lists, asks for and gives back; calls are package tool's.
//
// It knows English, and ways of writing that hide it. It judges nothing: policies do. Start
// with [Reads] and [Look], and for results with [ReadsResult] and [LookResult].
package sign

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/moment"
)

// The kinds of signs.
const (
	instruction  = "instruction"
	hidden       = "hidden"
	otherTool    = "other_tool"
	secrets      = "secret"
	concealment  = "concealment"
	conversation = "conversation"
	contents     = "contents"
	context      = "context"
	password     = "password"
	outside      = "outside"
)

// Bounds. What lies beyond makes the facts opaque.
const (
	maxSigns = 256
	maxText  = 200     // code points of a sign's text
	maxDepth = 64      // of a definition
	maxBytes = 4 << 20 // of all texts of a message
)

// Reads reports an event that may have signs.
func Reads(n hook.Name) bool {
	return n == moment.Elicitation || slices.ContainsFunc(moment.Messages(), func(m moment.Moment) bool { return m.Name == n })
}

// Look adds the signs of the draft's event to its facts.
func Look(d *draft.Draft) {
	l := look{Draft: d, left: maxBytes, patterns: compiled(patterns), pairs: compiled(secretPairs)}
	ev := d.Event
	mcp, _ := ev.Fields["mcp"].(map[string]any)
	result, _ := mcp["result"].(map[string]any)
	params, _ := mcp["params"].(map[string]any)
	server := ev.Text("mcp_server_name")
	switch ev.Name {
	case moment.MCPInitialize:
		about := maps.Clone(result)
		delete(about, "capabilities")
		l.thing("server", server, about)
		info, _ := result["serverInfo"].(map[string]any)
		told, _ := info["name"].(string)
		others, _ := mcp["servers"].([]any)
		l.names(server, told, others)
	case moment.MCPToolsList:
		l.list("tool", "name", result["tools"])
	case moment.MCPPromptsList:
		l.list("prompt", "name", result["prompts"])
	case moment.MCPResourcesList:
		l.list("resource", "uri", result["resources"])
	case moment.MCPTemplatesList:
		l.list("template", "uriTemplate", result["resourceTemplates"])
	case moment.MCPSampling:
		if all, _ := params["includeContext"].(string); all == "allServers" {
			l.Of, l.Name = "sampling", server
			l.add(context, "includeContext", all)
		}
		l.thing("sampling", server, params)
	case moment.MCPNotification:
		l.thing("notification", server, params)
	case moment.MCPRoots:
		l.roots(result["roots"])
	case moment.Elicitation:
		l.elicitation(ev.Text("mcp_server_name"), ev.Text("message"), ev.Fields["requested_schema"])
	}
	if l.cut {
		d.Limit("more of a message of MCP than gate looks through")
	}
}

// A look goes through one message.
type look struct {
	*draft.Draft
	Of, Name string // of the signs that are found

	patterns, pairs map[string][]pattern

	own   map[string]bool // names of what the server lists itself, without all but letters and digits
	about string          // what the thing says of itself, in lower case
	left  int             // bytes of texts
	cut   bool
}

func (l *look) add(kind, field, text string) {
	list := &l.Facts.Signs
	if len(*list) == maxSigns {
		l.cut = true
		return
	}
	s := hook.Sign{Kind: kind, Of: l.Of, Name: clip(l.Name), Field: clip(field), Text: clip(text)}
	if !slices.Contains(*list, s) {
		*list = append(*list, s)
	}
}

// clip bounds a text of a sign.
func clip(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxText {
			return text[:i] + "…"
		}
	}
	return strings.ToValidUTF8(text, "�")
}

// list goes through what a server lists.
func (l *look) list(of, name string, v any) {
	entries, _ := v.([]any)
	l.own = map[string]bool{}
	mcp, _ := l.Event.Fields["mcp"].(map[string]any)
	names, _ := mcp["names"].([]any)
	for _, n := range names {
		said, _ := n.(string)
		l.own[letters(said)] = true
	}
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		for _, key := range []string{"name", "title", "uri", "uriTemplate"} {
			said, _ := entry[key].(string)
			l.own[letters(said)] = true
		}
		annotations, _ := entry["annotations"].(map[string]any)
		said, _ := annotations["title"].(string)
		l.own[letters(said)] = true
	}
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		said, _ := entry[name].(string)
		l.thing(of, said, entry)
	}
}

// thing goes through all texts of one thing.
func (l *look) thing(of, name string, body map[string]any) {
	l.Of, l.Name = of, name
	title, _ := body["title"].(string)
	description, _ := body["description"].(string)
	l.about = strings.ToLower(name + " " + title + " " + description)
	l.walk("", body, 0)
}

// walk goes through the texts below a field: values, and the names of members.
func (l *look) walk(field string, v any, depth int) {
	if depth > maxDepth {
		l.cut = true
		return
	}
	switch v := v.(type) {
	case string:
		l.text(field, v)
	case []any:
		for i, e := range v {
			l.walk(ended(field+"["+strconv.Itoa(i)+"]"), e, depth+1)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			below := ended(strings.TrimPrefix(field+"."+key, "."))
			l.text(below, key)
			if strings.HasSuffix(field, "roperties") {
				l.parameter(below, key, v[key])
			}
			l.walk(below, v[key], depth+1)
		}
	}
}

// ended is the name of a field, or its end where it is long: it stands before each part of
// what the field holds.
func ended(field string) string {
	const most = 512
	if len(field) <= most {
		return field
	}
	return "…" + strings.ToValidUTF8(field[len(field)-most/2:], "")
}

// text goes through one text.
func (l *look) text(field, text string) {
	if l.left -= len(text); l.left < 0 {
		l.cut = true
		return
	}
	if hides := hiding(text); hides != "" {
		l.add(hidden, field, hides)
	}
	l.speech(field, text)
}

// roots says which roots lie outside of the project.
func (l *look) roots(v any) {
	list, _ := v.([]any)
	for _, e := range list {
		root, _ := e.(map[string]any)
		l.Of = "root"
		l.Name, _ = root["uri"].(string)
		at, err := url.Parse(l.Name)
		if err != nil || at.Scheme != "file" || !l.within(at.Path) {
			l.add(outside, "uri", l.Name)
		}
	}
}

// within reports a directory of the project, behind links, too.
func (l *look) within(dir string) bool {
	if len(dir) > 2 && dir[0] == '/' && dir[2] == ':' {
		dir = dir[1:] // file:///C:/work
	}
	for _, t := range l.Absolute(l.Here(), flow.Literal(dir)) {
		if !l.World.InProject(t.Path) || t.Resolved != "" && !l.World.InProject(t.Resolved) {
			return false
		}
	}
	return dir != ""
}

// elicitation says whether a server asks the person for a password or the like.
func (l *look) elicitation(server, message string, schema any) {
	l.thing("elicitation", server, map[string]any{"message": message, "requestedSchema": schema})
	if words := l.secretWords(message, true); words != "" {
		l.add(password, "message", words)
	}
	body, _ := schema.(map[string]any)
	fields, _ := body["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		at := "requestedSchema.properties." + name
		field, _ := fields[name].(map[string]any)
		format, _ := field["format"].(string)
		if words := l.secretWords(parted(name), false); words != "" || format == "password" {
			l.add(password, at, name)
			continue
		}
		for _, key := range []string{"title", "description"} {
			said, _ := field[key].(string)
			if words := l.secretWords(said, false); words != "" {
				l.add(password, at+"."+key, words)
			}
		}
	}
}
