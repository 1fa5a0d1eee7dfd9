package program

import (
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/world"
	"gate/hook"
)

// find runs what -exec names, and deletes what -delete finds.
func (u *use) find() {
	s := u.search()
	s.walk(func(action string, words []flow.Word, c candidates) {
		switch action {
		case "-delete":
			for _, f := range s.found(c) {
				u.touch(f, draft.Access{Kind: "delete", How: "remove", Recursive: true, Follow: s.follow})
			}
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if len(words) > 0 {
				u.touch(words[0], draft.Access{Kind: "write", How: "overwrite"})
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			if last := len(words) - 1; last > 0 && (words[last].Text() == ";" || words[last].Text() == "+") {
				words = words[:last]
			}
			u.findExec(words, s.found(c))
		}
	})
	for _, start := range s.starts {
		u.touch(start, draft.Access{Kind: "list"})
	}
	if slices.ContainsFunc(s.starts, everywhere) {
		u.hunts(s.printed())
	}
}

// everywhere reports a start of a search below which lie the files of all people.
func everywhere(start flow.Word) bool {
	switch start.Text() {
	case "/", "/home", "/home/", "/root", "/Users":
		return true
	}
	return false
}

// hunts reports a search of the whole machine, or of all homes, for the files of
// secrets by their names: of such a list, agents read one file after the other.
func (u *use) hunts(files []flow.Word) {
	said := ""
	for _, f := range files {
		for _, t := range u.targets(f) {
			what, _ := u.Secret(t.Path)
			if what != "" && what != said && !world.Below(t.Path, u.World.Home) {
				said = what
				u.effect(&hook.SecretRead{What: "whole machine, by a search for each " + what, Grade: "config", Shown: true})
			}
		}
	}
}

// found is what find hands on: everything below a start, or, when its tests
// narrow it, some files below it, of which a pattern of names may be known.
func found(start flow.Word, names string) flow.Word {
	if names == "" {
		return start
	}
	f := flow.Word{Parts: append([]flow.Part(nil), start.Parts...)}
	f.Parts = append(f.Parts, flow.Part{Text: "/" + names, Spread: true})
	return f
}

// findExec runs words for what was found, once for all.
func (u *use) findExec(words, extra []flow.Word) {
	if len(words) == 0 || len(extra) == 0 {
		return
	}
	var filled []flow.Word
	for _, w := range words {
		if w.Text() == "{}" {
			filled = append(filled, extra...)
		} else if strings.Contains(w.Text(), "{}") && w.Literal() {
			filled = append(filled, substitute([]flow.Word{w}, "{}", extra)...)
		} else {
			filled = append(filled, w)
		}
	}
	u.inside(func() {
		inner := u.another(filled)
		inner.ID = 0
		u.command(inner)
	})
}

// located are the files of the home directory whose names the database lists.
func (u *use) located() {
	for _, f := range u.rest {
		if v := f.Value(); v != nil && strings.Trim(*v, "*/.") != "" {
			base := (*v)[strings.LastIndexByte(*v, '/')+1:]
			u.Out.Files = append(u.Out.Files, found(flow.Literal(u.World.Home), "*"+strings.Trim(base, "*")+"*"))
		}
	}
}

// fd runs the words after -x for what it finds.
func (u *use) fd() {
	words := u.Given()
	at := slices.IndexFunc(words, func(w flow.Word) bool { _, runs := fdRuns(w); return runs })
	if at < 0 {
		return
	}
	inner := words[at+1:]
	if program, _ := fdRuns(words[at]); !program.Empty() {
		words = append(words[:at:at], words[at+1:]...) // they are still of fd itself
		inner, at = []flow.Word{program}, len(words)
	}
	if end := slices.IndexFunc(inner, func(w flow.Word) bool { return w.Text() == ";" }); end >= 0 {
		inner = inner[:end]
	}
	if !slices.ContainsFunc(inner, func(f flow.Word) bool { return strings.Contains(f.Text(), "{") }) {
		inner = append(inner[:len(inner):len(inner)], flow.Literal("{}"))
	}
	u.inner = nil
	u.findExec(inner, u.fdFound(words[:at]))
}

// fdRuns reports that a word is the option behind which fd's command stands, also at
// the end of a bundle, and what of the command is in the same word.
func fdRuns(w flow.Word) (program flow.Word, runs bool) {
	name, value, _ := w.Cut("=")
	if name == "--exec" || name == "--exec-batch" {
		return value, true
	}
	letters := strings.TrimLeft(name, "HIusigFalLpq01")
	letters = strings.TrimLeft(strings.TrimPrefix(letters, "-"), "HIusigFalLpq01")
	if !strings.HasPrefix(name, "-") || letters == "" || letters[0]|0x20 != 'x' {
		return program, false
	}
	return w.From(len(name) - len(letters) + 1), true
}

// fdFound are the files that fd finds: below the directories after its pattern,
// all of them only where nothing narrows the search.
func (u *use) fdFound(words []flow.Word) []flow.Word {
	var plain []flow.Word // the pattern and the directories
	for _, f := range words {
		if slices.ContainsFunc(u.rest, func(r flow.Word) bool { return r.Text() == f.Text() }) && !strings.HasPrefix(f.Text(), "-") {
			plain = append(plain, f)
		}
	}
	s, c := search{starts: []flow.Word{flow.Literal(".")}}, candidates{{}}
	if path, ok := u.opt("search-path"); ok {
		s.starts = []flow.Word{path}
	}
	if len(plain) > 1 {
		s.starts = plain[1:]
	}
	pattern := ""
	if len(plain) > 0 {
		pattern = strings.Trim(plain[0].Text(), ".*^$+")
	}
	switch {
	case pattern != "" && plain[0].Literal() && !strings.ContainsAny(pattern, `\[](){}|+?*^$`):
		c[0].names = "*" + pattern + "*"
	case pattern != "" || u.has("extension"):
		c[0].names = someFiles
	}
	return s.found(c)
}
