package facts

import (
	"slices"
	"strings"
)

// find runs what -exec names, and deletes what -delete finds.
func (u *use) find() {
	s := u.search()
	s.walk(func(action string, words []field, c candidates) {
		switch action {
		case "-delete":
			for _, f := range s.found(c) {
				u.usePath(u.s, u.id, f, access{kind: "delete", how: "remove", recursive: true, follow: s.follow})
			}
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if len(words) > 0 {
				u.usePath(u.s, u.id, words[0], access{kind: "write", how: "overwrite"})
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			if last := len(words) - 1; last > 0 && (words[last].text() == ";" || words[last].text() == "+") {
				words = words[:last]
			}
			u.findExec(words, s.found(c))
		}
	})
	for _, start := range s.starts {
		u.usePath(u.s, u.id, start, access{kind: "list"})
	}
}

// found is what find hands on: everything below a start, or, when its tests
// narrow it, some files below it, of which a pattern of names may be known.
func found(start field, names string) field {
	if names == "" {
		return start
	}
	f := field{parts: append([]part(nil), start.parts...)}
	f.parts = append(f.parts, part{text: "/" + names, spread: true})
	return f
}

// findExec runs words for what was found, once for all.
func (u *use) findExec(words, extra []field) {
	if len(words) == 0 || len(extra) == 0 {
		return
	}
	u.inside(func() {
		inner := *u.call
		inner.words = nil
		for _, w := range words {
			if w.text() == "{}" {
				inner.words = append(inner.words, extra...)
			} else if strings.Contains(w.text(), "{}") && w.literal() {
				inner.words = append(inner.words, substitute([]field{w}, "{}", extra)...)
			} else {
				inner.words = append(inner.words, w)
			}
		}
		inner.redirects, inner.stdin, inner.input = nil, stream{}, nil
		inner.id = 0
		if len(inner.words) > 0 {
			inner.run()
		}
	})
}

// fd runs the words after -x for what it finds.
func (u *use) fd() {
	words := u.given()
	at := slices.IndexFunc(words, func(w field) bool {
		return slices.Contains([]string{"-x", "--exec", "-X", "--exec-batch"}, w.text())
	})
	if at < 0 {
		return
	}
	inner := words[at+1:]
	if end := slices.IndexFunc(inner, func(w field) bool { return w.text() == ";" }); end >= 0 {
		inner = inner[:end]
	}
	if !slices.ContainsFunc(inner, func(f field) bool { return strings.Contains(f.text(), "{") }) {
		inner = append(inner[:len(inner):len(inner)], literalField("{}"))
	}
	u.inner = nil
	u.findExec(inner, u.fdFound(words[:at]))
}

// fdFound are the files that fd finds: below the directories after its pattern,
// all of them only where nothing narrows the search.
func (u *use) fdFound(words []field) []field {
	var plain []field // the pattern and the directories
	for _, f := range words {
		if slices.ContainsFunc(u.rest, func(r field) bool { return r.text() == f.text() }) && !strings.HasPrefix(f.text(), "-") {
			plain = append(plain, f)
		}
	}
	s, c := search{starts: []field{literalField(".")}}, candidates{{}}
	if path, ok := u.opt("search-path"); ok {
		s.starts = []field{path}
	}
	if len(plain) > 1 {
		s.starts = plain[1:]
	}
	if u.has("extension") || len(plain) > 0 && strings.Trim(plain[0].text(), ".*^$+") != "" {
		c[0].names = someFiles
	}
	return s.found(c)
}
