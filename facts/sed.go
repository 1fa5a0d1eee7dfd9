package facts

import "strings"

// sed runs what its e command and flag name, and edits in place with -i.
func (u *use) sed() {
	files := u.rest
	scripts := append(append([]field(nil), u.opts["expression"]...), u.opts["file"]...)
	if len(scripts) == 0 && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	kind := access{kind: "read", shown: u.shows(), names: u.namesOnly()}
	if u.has("in-place") {
		kind = access{kind: "write", how: "edit"}
	}
	for _, f := range files {
		if kind.kind == "read" {
			u.reads = append(u.reads, f)
		}
		u.usePath(u.s, u.id, f, kind)
	}
	for _, f := range scripts {
		u.sedScript(f)
	}
}

func (u *use) sedScript(f field) {
	text := f.value()
	if text == nil {
		return
	}
	for _, line := range strings.FieldsFunc(*text, func(r rune) bool { return r == '\n' || r == ';' }) {
		line = strings.TrimSpace(line)
		bare := strings.TrimLeft(line, "0123456789,$!~+ ")
		switch {
		case strings.HasPrefix(bare, "e ") || bare == "e":
			u.effect("exec.hidden", u.id, map[string]any{"program": "sed", "option": "e", "value": bare})
			u.inside(func() { u.shellText(literalField(strings.TrimPrefix(bare, "e")), stream{}) })
		case strings.HasPrefix(bare, "w ") || strings.HasPrefix(bare, "W "):
			u.usePath(u.s, u.id, literalField(strings.TrimSpace(bare[1:])), access{kind: "write", how: "overwrite"})
		case strings.HasPrefix(bare, "r "):
			u.usePath(u.s, u.id, literalField(strings.TrimSpace(bare[1:])), access{kind: "read", shown: true})
		case len(bare) > 2 && bare[0] == 's' && !isWordByte(bare[1]):
			parts := strings.Split(bare[2:], string(bare[1]))
			if len(parts) >= 3 && strings.Contains(strings.SplitN(parts[2], " ", 2)[0], "e") && len(parts[2]) < 6 {
				u.effect("exec.hidden", u.id, map[string]any{"program": "sed", "option": "s///e", "value": parts[1]})
				u.inside(func() { u.shellText(literalField(parts[1]), stream{}) })
			}
		}
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// awkInPlace judges gawk -i inplace, which writes the files that it reads.
func (u *use) awkInPlace() {
	files := u.rest
	if !u.has("file") && !u.has("source") && !u.has("exec") && len(files) > 0 {
		files = files[1:]
	}
	for _, f := range u.opts["include"] {
		if f.text() != "inplace" {
			continue
		}
		for _, file := range files {
			u.usePath(u.s, u.id, file, access{kind: "write", how: "edit"})
		}
	}
}
