package program

import (
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/sed"
	"gate/hook"
)

// sed runs what its e command and flag name, reads and writes the files that its
// script names, and edits in place with -i.
func (u *use) sed() {
	files := u.rest
	var script []flow.Word
	script = append(script, u.opts["expression"]...)
	for _, f := range u.opts["file"] {
		script = append(script, u.sedFile(f))
	}
	if len(script) == 0 && len(files) > 0 {
		script, files = files[:1], files[1:]
	}
	for _, f := range files {
		if u.has("in-place") {
			u.touch(f, draft.Access{Kind: "write", How: "edit"})
			continue
		}
		u.reads = append(u.reads, f)
		u.touch(f, u.printsOf(f))
	}
	if !u.has("sandbox") { // which refuses the commands that follow
		u.sedScript(script)
	}
	if !u.has("in-place") {
		files = nil
	}
	for _, f := range script {
		text, _ := sedText(f)
		u.edits(files, strings.ReplaceAll(inserted(text), string(sed.Hole), ""))
	}
}

// sedFile is the script in a file: from the input, written in this line, or
// readable.
func (u *use) sedFile(f flow.Word) flow.Word {
	if text := u.textOf(f); text != nil {
		return flow.Literal(*text)
	}
	if t := u.Stdin.Taint; isInput(f) {
		u.unknownCode("sed", t, "stdin", "it comes from a pipe")
	} else if t := u.content(f).Taint; t.Remote || t.Hidden {
		u.unknownCode("sed", t, "file", "the file was written by a program")
	}
	return flow.Word{}
}

// textOf is what a file holds that a program takes its orders from: its input,
// a file written in this line, or one that is readable and small; nil where that
// is not known.
func (u *use) textOf(f flow.Word) *string {
	if isInput(f) {
		return u.Stdin.Text
	}
	if st := u.content(f); st.Text != nil {
		return st.Text
	}
	if text, err := u.scriptText(f); err == nil {
		return &text
	}
	return nil
}

// sedScript judges the commands of a script that reach beyond its text. Its
// pieces count as lines of one script.
func (u *use) sedScript(pieces []flow.Word) {
	var whole flow.Word
	for _, f := range pieces {
		whole.Parts = append(append(whole.Parts, f.Parts...), flow.Part{Text: "\n", Quoted: true})
	}
	text, holes := sedText(whole)
	script := sed.New(text)
	for c, ok := script.Next(); ok; c, ok = script.Next() {
		file := sedField(c.File, holes)
		switch c.Name {
		case 'e', 's':
			if c.Runs {
				u.sedRuns(c.Name, sedField(c.Value, holes))
			}
		case 'r', 'R':
			u.touch(file, draft.Access{Kind: "read", Shown: true})
		}
		if (c.Name == 'w' || c.Name == 'W' || c.Name == 's') && len(file.Parts) > 0 {
			u.touch(file, draft.Access{Kind: "write", How: "overwrite"})
		}
	}
}

func (u *use) sedRuns(command byte, line flow.Word) {
	runs := &hook.ExecHidden{Program: "sed", Option: "e"}
	if command == 's' {
		runs.Option = "s///e"
	}
	if len(line.Parts) > 0 { // otherwise what runs are the lines that sed reads
		runs.Value = line.Value()
	}
	u.effect(runs)
	u.inside(func() { u.shell.Text(line, flow.Stream{}) })
}

// sedText is the text of a script, with sed.Hole for each part of it that is not
// known, and these parts. A NUL byte of its own is one, too.
func sedText(f flow.Word) (text string, holes []flow.Part) {
	var b strings.Builder
	for _, p := range f.Parts {
		if p.Hole != nil {
			holes = append(holes, p)
			p.Text = string(sed.Hole)
		} else if strings.IndexByte(p.Text, sed.Hole) >= 0 {
			for range strings.Count(p.Text, string(sed.Hole)) {
				holes = append(holes, flow.Part{Text: string(sed.Hole), Quoted: true})
			}
		}
		b.WriteString(p.Text)
	}
	return b.String(), holes
}

// sedField puts the holes of a script back into a piece of it.
func sedField(t sed.Text, holes []flow.Part) flow.Word {
	var f flow.Word
	for i, known := range strings.Split(t.Text, string(sed.Hole)) {
		if i > 0 {
			f.Parts = append(f.Parts, holes[t.Holes+i-1])
		}
		if known != "" {
			f.Parts = append(f.Parts, flow.Part{Text: known, Quoted: true})
		}
	}
	return f
}

// awkInPlace judges gawk -i inplace, which writes the files that it reads.
func (u *use) awkInPlace() {
	files := u.rest
	if !u.has("file") && !u.has("source") && !u.has("exec") && len(files) > 0 {
		files = files[1:]
	}
	for _, f := range u.opts["include"] {
		if f.Text() != "inplace" {
			continue
		}
		for _, file := range files {
			u.touch(file, draft.Access{Kind: "write", How: "edit"})
		}
	}
}
