package facts

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/bash"
	"gate/hook"
)

// setarch takes an optional architecture before its options end.
func (u *use) setarch() {
	for len(u.inner) > 0 && strings.HasPrefix(u.inner[0].text(), "-") {
		u.inner = u.inner[1:]
	}
}

// shellOption runs -c TEXT that stands among the inner words: flock FILE -c
// TEXT, script FILE -c TEXT.
func (u *use) shellOption() {
	for i, w := range u.inner {
		if t := w.text(); (t == "-c" || t == "--command") && i+1 < len(u.inner) {
			text := u.inner[i+1]
			u.inner = nil
			u.inside(func() { u.shellText(text, u.stdin) })
			return
		}
		if !strings.HasPrefix(w.text(), "-") {
			return
		}
	}
}

// splitString returns the words that env -S cuts out of its text. env cuts much
// as a shell does.
func (u *use) splitString(text field) []field {
	v := text.value()
	if v == nil || len(*v) > maxLine || bash.TooDeep(*v) {
		return []field{holeField(&hole{why: "words that env -S cuts out of an unknown text", empty: true, many: true, taint: text.taint()})}
	}
	u.nested++
	defer func() { u.nested-- }()
	var words []field
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
	for word, err := range parser.WordsSeq(strings.NewReader(*v)) {
		if err != nil {
			u.unknown("syntax", "the text of env -S does not parse: "+bash.Message(err), u.id, text.span)
			break
		}
		words = append(words, u.word(u.s, word))
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
	if x, _ := u.opt("X"); x.text() == "stuff" && len(words) > 0 {
		typed := mapText(join(words), bash.Unescape)
		u.inside(func() { u.shellText(typed, stream{}) })
	}
}

// cmake -E has names of its own for what it does with files.
func (u *use) cmake() {
	if len(u.inner) == 0 {
		return
	}
	name, option := "", ""
	switch u.inner[0].text() {
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
	words := []field{literalField(name)}
	if option != "" {
		words = append(words, literalField(option))
	}
	u.inner = append(words, u.inner[1:]...)
}

// nix run FLAKE#NAME -- ARGS runs the program of that name, as far as one knows.
func (u *use) nix() {
	if len(u.inner) == 0 {
		return
	}
	if _, name, ok := strings.Cut(u.inner[0].text(), "#"); ok && name != "" {
		u.inner = append([]field{literalField(name)}, u.inner[1:]...)
	}
	if len(u.inner) > 1 && u.inner[1].text() == "--" {
		u.inner = append(u.inner[:1:1], u.inner[2:]...)
	}
}

// make takes a shell of one's own, and makefile text from its input.
func (u *use) make() {
	for _, f := range u.rest {
		if name, value, ok := f.cut("="); ok && (name == "SHELL" || name == ".SHELLFLAGS") {
			u.effect(u.id, &hook.ExecHidden{Program: "make", Option: name, Value: value.value()})
			u.inside(func() { u.shellText(value, stream{}) })
		}
	}
	text := u.opts["eval"]
	if f, ok := u.opt("makefile"); ok && f.text() == "-" {
		if u.stdin.text == nil {
			u.unknownCode("make", u.stdin.taint, "stdin", "it comes from a pipe")
		} else {
			text = append(text, literalField(*u.stdin.text))
		}
	}
	text = append(text, u.makefiles()...)
	for _, f := range text {
		for _, line := range strings.Split(f.text(), "\n") {
			_, recipe, ok := strings.Cut(line, ";")
			if strings.HasPrefix(line, "\t") {
				recipe, ok = strings.TrimLeft(line, "\t@-+"), true
			}
			if i := strings.Index(line, "$(shell "); i >= 0 {
				recipe, ok = strings.TrimSuffix(line[i+8:], ")"), true
			}
			if ok {
				u.inside(func() { u.shellText(literalField(recipe), stream{}) })
			}
		}
	}
}

// makefiles are the texts that this line has written where make looks.
func (u *use) makefiles() []field {
	names := u.opts["makefile"]
	if len(names) == 0 {
		names = []field{literalField("GNUmakefile"), literalField("makefile"), literalField("Makefile")}
	}
	var texts []field
	for _, name := range names {
		for _, t := range u.absolute(u.s, name) {
			if st, ok := u.files[t.path]; ok && st.text != nil {
				texts = append(texts, literalField(*st.text))
			}
		}
	}
	return texts
}

// dotenv has a verb in one language's version and none in the other's.
func (u *use) dotenv() {
	for _, word := range []string{"run", "--"} {
		if len(u.inner) > 1 && u.inner[0].text() == word {
			u.inner = u.inner[1:]
		}
	}
}
