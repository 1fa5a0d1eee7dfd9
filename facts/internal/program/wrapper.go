package program

import (
	"path"
	"strings"

	"gate/facts/internal/bash"
	"gate/facts/internal/flow"
	"gate/hook"
)

// setarch takes an optional architecture before its options end.
func (u *use) setarch() {
	for len(u.inner) > 0 && strings.HasPrefix(u.inner[0].Text(), "-") {
		u.inner = u.inner[1:]
	}
}

// shellOption runs -c TEXT that stands among the inner words: flock FILE -c
// TEXT, script FILE -c TEXT.
func (u *use) shellOption() {
	for i, w := range u.inner {
		if t := w.Text(); (t == "-c" || t == "--command") && i+1 < len(u.inner) {
			text := u.inner[i+1]
			u.inner = nil
			u.inside(func() { u.shell.Text(text, u.Stdin) })
			return
		}
		if !strings.HasPrefix(w.Text(), "-") {
			return
		}
	}
}

// recorded runs a line that a record has. The gate that decided on it wrote the record, and
// this one does not know the line.
func (u *use) recorded() {
	if w, is := u.opt("call"); is {
		u.unknown("code", "a line that a record of gate's has, and not this one", w.Span)
	}
	if w, is := u.opt("sweep"); is { // launchers start it, by a plan in an open file
		u.unknown("code", "a plan of gate's that moves files away, which this line has not", w.Span)
	}
}

// splitString returns the words that env -S cuts out of its text. env cuts much
// as a shell does.
func (u *use) splitString(text flow.Word) []flow.Word {
	words, err := u.shell.Cut(envEscapes(text))
	if err != nil {
		u.unknown("syntax", "the text of env -S does not parse: "+err.Error(), text.Span)
	}
	return words
}

// screen types text into a session with -X stuff TEXT.
func (u *use) screen() {
	if !u.has("X") {
		return
	}
	words := u.inner
	u.inner = nil
	if x, _ := u.opt("X"); x.Text() == "stuff" && len(words) > 0 {
		typed := flow.Map(flow.Join(words), bash.Unescape)
		u.inside(func() { u.shell.Text(typed, flow.Stream{}) })
		u.types(typed)
	}
}

// keys judges what tmux types into another terminal. Names of keys, such as C-c and
// Enter, are no text.
func (u *use) keys() {
	var typed []flow.Word
	for _, f := range u.rest {
		if !f.Literal() || u.has("l") || !keyName().MatchString(f.Text()) {
			typed = append(typed, f)
		}
	}
	if len(typed) > 0 {
		u.types(flow.Join(typed))
	}
}

var keyName = lazy(`^(?:(?:[CMS]-|\^)+\S+|Enter|Escape|Space|Tab|BTab|BSpace|Up|Down|Left|Right|Home|End|NPage|PPage|PageUp|PageDown|F[0-9]+|DC|IC)$`)

// types notes text that is typed into another program, unless it begins as the line
// of a known program does: that is judged as a line. An answer to a question, such as
// a code that a person is to type, is none.
func (u *use) types(typed flow.Word) {
	first, _, _ := strings.Cut(strings.TrimSpace(typed.Prefix()), " ")
	if _, known := u.programs.rows.Lookup(path.Base(strings.TrimRight(first, "\r\n"))); !known || first == "yes" {
		u.effect(&hook.Process{Verb: "type", Target: new(u.name)})
	}
}

// kubectl judges the words behind minikube kubectl as kubectl's own.
func (u *use) kubectl() {
	if len(u.inner) > 0 {
		u.inner = append([]flow.Word{flow.Literal("kubectl")}, u.inner...)
	}
}

// cmake -E has names of its own for what it does with files.
func (u *use) cmake() {
	if len(u.inner) == 0 {
		return
	}
	name, option := "", ""
	switch u.inner[0].Text() {
	case "remove":
		name = "rm"
	case "remove_directory":
		name, option = "rm", "-r"
	case "copy", "copy_if_different":
		name = "cp"
	case "copy_directory":
		name, option = "cp", "-r"
	case "rename":
		name = "mv"
	case "create_symlink":
		name, option = "ln", "-s"
	case "create_hardlink":
		name = "ln"
	default:
		return
	}
	words := []flow.Word{flow.Literal(name)}
	if option != "" {
		words = append(words, flow.Literal(option))
	}
	u.inner = append(words, u.inner[1:]...)
}

// nix run FLAKE#NAME -- ARGS runs the program of that name, as far as one knows.
func (u *use) nix() {
	if len(u.inner) == 0 {
		return
	}
	if _, name, ok := strings.Cut(u.inner[0].Text(), "#"); ok && name != "" {
		u.inner = append([]flow.Word{flow.Literal(name)}, u.inner[1:]...)
	}
	if len(u.inner) > 1 && u.inner[1].Text() == "--" {
		u.inner = append(u.inner[:1:1], u.inner[2:]...)
	}
}

// make takes a shell of one's own, and makefile text from its input.
func (u *use) make() {
	for _, f := range u.rest {
		if name, value, ok := f.Cut("="); ok && (name == "SHELL" || name == ".SHELLFLAGS") {
			u.effect(&hook.ExecHidden{Program: "make", Option: name, Value: value.Value()})
			u.inside(func() { u.shell.Text(value, flow.Stream{}) })
		}
	}
	text := u.opts["eval"]
	if f, ok := u.opt("makefile"); ok && isInput(f) {
		if u.Stdin.Text == nil {
			u.unknownCode("make", u.Stdin.Taint, "stdin", "it comes from a pipe")
		} else {
			text = append(text, flow.Literal(*u.Stdin.Text))
		}
	}
	for _, f := range text {
		for _, line := range u.makeLines(f.Text(), u.sure)[0] {
			u.inside(func() { u.shell.Text(flow.Literal(line), flow.Stream{}) })
		}
	}
}

// dotenv has a verb in one language's version and none in the other's.
func (u *use) dotenv() {
	for _, word := range []string{"run", "--"} {
		if len(u.inner) > 1 && u.inner[0].Text() == word {
			u.inner = u.inner[1:]
		}
	}
}
