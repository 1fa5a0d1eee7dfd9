package facts

import (
	"slices"
	"strings"
)

// find runs what -exec names, and deletes what -delete finds.
func (u *use) find() {
	words := u.given()
	var starts []field
	i := 0
	for ; i < len(words); i++ {
		t := words[i].text()
		if t == "-H" || t == "-L" || t == "-P" || strings.HasPrefix(t, "-O") {
			continue
		}
		if strings.HasPrefix(t, "-") || t == "(" || t == "!" {
			break
		}
		starts = append(starts, words[i])
	}
	if len(starts) == 0 {
		starts = []field{literalField(".")}
	}
	follow := u.has("L")
	for _, w := range words {
		follow = follow || w.text() == "-L"
	}
	narrow, not, inner := "", false, 0
	only := field{} // the one path that -path names
	for ; i < len(words); i++ {
		t := words[i].text()
		negated := not
		not = t == "!" || t == "-not"
		switch t {
		case "(":
			inner++
		case ")":
			inner--
		case "-o", "-or", ",":
			if inner == 0 { // what follows is another search
				narrow, only = "", field{}
			}
		case "-name", "-iname":
			if i+1 < len(words) && !broad(words[i+1].text()) && !negated {
				narrow = words[i+1].text()
			}
			i++
		case "-path", "-ipath", "-regex", "-iregex", "-wholename", "-newer", "-mtime", "-mmin", "-size", "-user", "-perm", "-atime", "-ctime", "-cmin", "-amin", "-inum":
			if i+1 < len(words) && !broad(words[i+1].text()) && !negated {
				if narrow == "" {
					narrow = "found*"
				}
				if p := words[i+1]; (t == "-path" || t == "-wholename") && (strings.HasPrefix(p.text(), "./") || strings.HasPrefix(p.text(), "/")) && !hasGlob(p.text()) {
					only = p
				}
			}
			i++
		case "-empty":
			narrow = "found*"
		case "-type", "-maxdepth", "-mindepth", "-printf", "-group", "-xtype", "-fstype", "-links":
			i++
		case "-delete":
			if len(only.parts) > 0 {
				u.usePath(u.s, u.id, only, access{kind: "delete", how: "remove", recursive: true, follow: true})
				continue
			}
			for _, s := range starts {
				u.usePath(u.s, u.id, found(s, narrow), access{kind: "delete", how: "remove", recursive: true, follow: true})
			}
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(words) {
				u.usePath(u.s, u.id, words[i+1], access{kind: "write", how: "overwrite"})
			}
			i++
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(words) && words[end].text() != ";" && (words[end].text() != "+" || words[end-1].text() != "{}") {
				end++
			}
			if len(only.parts) > 0 {
				u.findExec(words[i+1:end], []field{only}, "")
			} else {
				u.findExec(words[i+1:end], starts, narrow)
			}
			i = end
		}
	}
	for _, s := range starts {
		u.usePath(u.s, u.id, s, access{kind: "list"})
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

func (u *use) findExec(words, starts []field, narrow string) {
	if len(words) == 0 {
		return
	}
	var extra []field
	for _, s := range starts {
		extra = append(extra, found(s, narrow))
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
	for i, w := range words {
		switch w.text() {
		case "-x", "--exec", "-X", "--exec-batch":
			inner := words[i+1:]
			for j, e := range inner {
				if e.text() == ";" {
					inner = inner[:j]
					break
				}
			}
			starts, narrow := []field{literalField(".")}, ""
			if u.has("extension") {
				narrow = "found*"
			}
			var plain []field // the pattern and the directories
			for _, f := range words[:i] {
				if slices.ContainsFunc(u.rest, func(r field) bool { return r.text() == f.text() }) && !strings.HasPrefix(f.text(), "-") {
					plain = append(plain, f)
				}
			}
			if len(plain) > 1 {
				starts = plain[1:]
			}
			if len(plain) > 0 && strings.Trim(plain[0].text(), ".*^$+") != "" {
				narrow = "found*"
			}
			if !slices.ContainsFunc(inner, func(f field) bool { return strings.Contains(f.text(), "{") }) {
				inner = append(inner[:len(inner):len(inner)], literalField("{}"))
			}
			u.inner = nil
			u.findExec(inner, starts, narrow)
			return
		}
	}
}
