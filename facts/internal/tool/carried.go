package tool

import (
	"maps"
	"path"
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/wordlist"
)

// carried looks for files that guard the agent, and for those that run by themselves,
// in the whole input of a tool without a row. Where text comes with the file and the
// tool's name does not say that it only reads, a person decides: whatever the fields are
// called, the tool may put the one into the other.
func (c Call) carried(name string, input map[string]any) {
	if onlyReads(name[strings.LastIndex(name, "__")+2:]) || c.said() {
		return
	}
	var load cargo
	load.add(input, 0)
	if len(load.texts) == 0 {
		return
	}
	for _, file := range load.files {
		for _, t := range c.Absolute(c.Here(), flow.Literal(file)) {
			c.mayChange(name, t)
		}
	}
}

// said reports that the input says by itself what the call does to such a file.
func (c Call) said() bool {
	return slices.ContainsFunc(c.Facts.Effects, func(e hook.FactEffect) bool {
		switch e.Is.(type) {
		case *hook.Self, *hook.Persistence:
			return true
		}
		return false
	})
}

// mayChange records a file that matters and that the tool may change.
func (c Call) mayChange(name string, t draft.Target) {
	for _, p := range []string{t.Path, t.Resolved} {
		if p == "" {
			continue
		}
		if place, ok := c.World.Find(world.Self, p); ok {
			c.Effect(0, &hook.Self{What: place.What, Verb: "write", Path: &p, Change: new(name + " gets this path and a text, and gate does not know what it does with them")})
			return
		}
		if place, ok := c.World.Find("startup", p); ok {
			c.Effect(0, &hook.Persistence{What: place.What, Verb: "carry", Path: &p})
			return
		}
	}
}

// cargo is what an input holds: texts that may name a file, and other values.
type cargo struct {
	files []string
	texts []string
}

// maxCargo bounds the texts that are looked at, and their length.
const (
	maxCargo = 200
	maxName  = 1024
)

func (l *cargo) add(v any, depth int) {
	if depth > 8 || len(l.files)+len(l.texts) > maxCargo {
		return
	}
	switch v := v.(type) {
	case string:
		if namesAFile(v) {
			l.files = append(l.files, strings.TrimPrefix(v, "file://"))
		} else if v != "" {
			l.texts = append(l.texts, v)
		}
	case []any:
		for _, e := range v {
			l.add(e, depth+1)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if namesAFile(k) { // {"files": {PATH: TEXT}}
				l.files = append(l.files, k)
			}
			l.add(v[k], depth+1)
		}
		l.join(v)
	}
}

// join makes paths of a directory and a name that stand beside each other.
func (l *cargo) join(fields map[string]any) {
	for dirField, v := range fields {
		dir, ok := v.(string)
		if !ok || !wordlist.Has(" dir directory folder root base basedir base_dir path parent workdir cwd ", strings.ToLower(dirField)) {
			continue
		}
		for nameField, v := range fields {
			name, ok := v.(string)
			if ok && nameField != dirField && len(name) < maxName && !strings.ContainsAny(name, "\n ") && wordlist.Has(" name file filename file_name basename relative relpath ", strings.ToLower(nameField)) {
				l.files = append(l.files, path.Join(dir, name))
			}
		}
	}
	slices.Sort(l.files)
	l.files = slices.Compact(l.files)
}

// namesAFile reports a text that is a path and nothing more.
func namesAFile(text string) bool {
	if text == "" || len(text) > maxName || strings.ContainsAny(text, "\n\t<>|;$`\"") {
		return false
	}
	text = strings.TrimPrefix(text, "file://")
	if text == "" || strings.Contains(text, "://") || strings.Count(text, " ") > 3 || strings.Contains(text, ", ") {
		return false
	}
	switch text[0] {
	case '/', '~', '.':
		return true
	}
	return strings.Contains(text, "/") && !strings.ContainsAny(text, " :")
}
