package install

import (
	"fmt"
	"net/url"
	"slices"
)

// claudeHandlers are the handler types, each with the fields that it cannot do
// without.
var claudeHandlers = map[string][]string{
	"command": {"command"}, "http": {"url"}, "mcp_tool": {"server", "tool"}, "prompt": {"prompt"}, "agent": {"prompt"},
}

// claudeFields are the fields of a handler that the client holds against a
// type: " a string, t a boolean. Observed with 2.1.329, as is that any fault
// voids the file.
var claudeFields = [...]struct {
	name string
	kind byte
}{
	{"command", '"'}, {"url", '"'}, {"server", '"'}, {"tool", '"'}, {"prompt", '"'}, {"model", '"'},
	{"if", '"'}, {"statusMessage", '"'}, {"shell", '"'}, {"onFailure", '"'}, {"async", 't'}, {"asyncRewake", 't'}, {"once", 't'},
}

// claudeWords are the fields that know some words only.
var claudeWords = map[string][]string{"shell": {"bash", "powershell"}, "onFailure": {"block", "continue"}}

// invalidHandler says why the client's schema refuses a handler, "" if it does
// not.
func (claude) invalidHandler(d *document, h *node) string {
	if !h.is('{') {
		return "a hook is " + h.typeName() + " where an object is wanted"
	}
	kind := h.member("type")
	needed, known := claudeHandlers[kind.text()]
	if !known {
		return "a hook has a type that the client does not know"
	}
	for _, name := range needed {
		if h.member(name) == nil {
			return fmt.Sprintf("a hook of the type %s has no %q", kind.str, name)
		}
	}
	for _, f := range claudeFields {
		n := h.member(f.name)
		words, limited := claudeWords[f.name]
		switch {
		case n == nil:
		case f.kind == '"' && !n.is('"'):
			return fmt.Sprintf("%q of a hook is %s where a string is wanted", f.name, n.typeName())
		case f.kind == 't' && !n.is('t') && !n.is('f'):
			return fmt.Sprintf("%q of a hook is %s where a boolean is wanted", f.name, n.typeName())
		case limited && !slices.Contains(words, n.str):
			return fmt.Sprintf("%q of a hook is neither %q nor %q", f.name, words[0], words[1])
		}
	}
	if address := h.member("url"); kind.str == "http" {
		if u, err := url.Parse(address.str); err != nil || u.Scheme == "" || u.Host == "" {
			return "the url of a hook is none"
		}
	}
	if t := h.member("timeout"); t != nil {
		if seconds, ok := d.number(t); !ok || seconds <= 0 {
			return "the timeout of a hook is no number above zero"
		}
	}
	if args := h.member("args"); args != nil {
		if _, ok := args.strings(); !ok {
			return "\"args\" of a hook is no list of strings"
		}
	}
	return ""
}
