package facts

// sed runs what its e command and flag name, reads and writes the files that its
// script names, and edits in place with -i.
func (u *use) sed() {
	files := u.rest
	var script []field
	script = append(script, u.opts["expression"]...)
	for _, f := range u.opts["file"] {
		script = append(script, u.sedFile(f))
	}
	if len(script) == 0 && len(files) > 0 {
		script, files = files[:1], files[1:]
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
	if !u.has("sandbox") { // which refuses the commands that follow
		u.sedScript(script)
	}
}

// sedFile is the script in a file: from the input, written in this line, or
// readable.
func (u *use) sedFile(f field) field {
	if text := u.textOf(f); text != nil {
		return literalField(*text)
	}
	if t := u.stdin.taint; isInput(f) {
		u.unknownCode("sed", t, "stdin", "it comes from a pipe")
	} else if t := u.fileStream(u.s, f).taint; t.remote || t.hidden {
		u.unknownCode("sed", t, "file", "the file was written by a program")
	}
	return field{}
}

// textOf is what a file holds that a program takes its orders from: its input,
// a file written in this line, or one that is readable and small; nil where that
// is not known.
func (u *use) textOf(f field) *string {
	if isInput(f) {
		return u.stdin.text
	}
	if st := u.fileStream(u.s, f); st.text != nil {
		return st.text
	}
	if text, err := u.scriptText(f); err == nil {
		return &text
	}
	return nil
}

// sedScript judges the commands of a script that reach beyond its text. Its
// pieces count as lines of one script.
func (u *use) sedScript(pieces []field) {
	var whole field
	for _, f := range pieces {
		whole.parts = append(append(whole.parts, f.parts...), part{text: "\n", quoted: true})
	}
	s := newSedScript(whole)
	for s.command() {
		switch s.name {
		case 'e', 's':
			if s.runs {
				u.sedRuns(s)
			}
		case 'r', 'R':
			u.usePath(u.s, u.id, s.file, access{kind: "read", shown: true})
		}
		if (s.name == 'w' || s.name == 'W' || s.name == 's') && len(s.file.parts) > 0 {
			u.usePath(u.s, u.id, s.file, access{kind: "write", how: "overwrite"})
		}
	}
}

func (u *use) sedRuns(s *sedScript) {
	attrs := map[string]any{"program": "sed", "option": "e", "value": nil}
	if s.name == 's' {
		attrs["option"] = "s///e"
	}
	if len(s.value.parts) > 0 { // else what runs are the lines that sed reads
		attrs["value"] = textOrNil(s.value)
	}
	u.effect("exec.hidden", u.id, attrs)
	u.inside(func() { u.shellText(s.value, stream{}) })
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
