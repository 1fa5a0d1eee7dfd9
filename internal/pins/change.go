package pins

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rogpeppe/go-internal/diff"

	"gate/internal/secret"
	"gate/internal/strictjson"
)

var errOther = errors.New("it changed again while you looked; look at it once more")

// take holds one definition against the list. News is what must be written.
func (l *list) take(kind Kind, d Definition, open bool) (held *Change, news bool, err error) {
	if d.Name == "" || len(d.Name) > maxName {
		return &Change{Kind: kind, Name: clip(d.Name), Is: "a name of 1 to 1024 bytes is wanted"}, false, nil
	}
	sum := digest(kind, d.Body)
	was, pinned := l.Pinned[d.Name]
	if was.Bare && (was.Digest == sum || was.Digest == digest(kind, without(d.Body, meta))) {
		was, news = keep(sum, d.Body), true
		l.Pinned[d.Name] = was
	}
	switch {
	case pinned && was.Digest == sum:
		_, held := l.Held[d.Name]
		delete(l.Held, d.Name) // it is again what it was
		return nil, held || news, nil
	case !pinned && open:
		if len(l.Pinned) == maxDefinitions {
			return nil, false, fmt.Errorf("the server lists more than %d %s", maxDefinitions, kind)
		}
		l.Pinned[d.Name] = keep(sum, d.Body)
		return nil, true, nil
	}
	is, known := l.Held[d.Name]
	if !known || is.Digest != sum {
		if !known && len(l.Held) == maxDefinitions {
			return nil, false, fmt.Errorf("more than %d %s of the server wait for a person", maxDefinitions, kind)
		}
		is, news = keep(sum, d.Body), true
		l.Held[d.Name] = is
	}
	return l.changeOf(kind, d.Name, is), news, nil
}

// without is a definition without one of its members.
func without(body map[string]any, member string) map[string]any {
	rest := maps.Clone(body)
	delete(rest, member)
	return rest
}

func keep(sum string, body map[string]any) kept {
	return kept{Digest: sum, Text: clip(secret.Redact(strictjson.Indent(body)))}
}

func (l *list) changeOf(kind Kind, name string, is kept) *Change {
	return &Change{Kind: kind, Name: name, Was: l.Pinned[name].Text, Is: is.Text, is: is.Digest}
}

// identityChanges are the fields that differ.
func (e *entry) identityChanges() []Change {
	if e.Held == nil {
		return nil
	}
	var list []Change
	both := maps.Clone(e.Identity)
	maps.Copy(both, e.Held)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if e.Identity[name] != e.Held[name] {
			list = append(list, Change{Kind: Server, Name: name, Was: e.Identity[name], Is: e.Held[name]})
		}
	}
	return list
}

// String names what changed, without what it says.
func (c Change) String() string {
	name := strictjson.Quoted(c.Name)
	what := map[Kind]string{Tools: "tool", Resources: "resource", Templates: "template of resources", Prompts: "prompt"}[c.Kind]
	switch {
	case c.Kind == Server:
		return "the server's " + c.Name + " has changed"
	case c.Kind == Instructions:
		return "what the server tells the model has changed"
	case c.Was == "":
		return "the " + what + " " + name + " is new"
	}
	return "the " + what + " " + name + " has changed"
}

// Diff shows people what changed, line by line. What the server wrote is in it as it
// wrote it, but for secrets: whoever shows it makes it visible.
func (c Change) Diff() string {
	if c.Was == c.Is { // beyond what is kept of it, or in a secret
		return "  the difference lies in what is not kept of it\n"
	}
	was, is := []byte(c.Was+"\n"), []byte(c.Is+"\n")
	if c.Was == "" {
		was = nil
	}
	if c.Is == "" {
		is = nil
	}
	return string(diff.Diff("pinned", was, "now", is))
}
