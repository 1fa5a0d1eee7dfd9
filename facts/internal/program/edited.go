package program

import (
	"path"
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/sed"
	"gate/internal/strictjson"
)

// edits notes text that the program puts into files of which the rest is not known,
// and into what it prints.
func (u *use) edits(files []flow.Word, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	u.Adds(u.ID, text)
	for _, f := range files {
		for _, t := range u.targets(f) {
			if t.Path != "" {
				u.Piece(t.Path, text)
			}
		}
	}
}

// inserted is the text that a script of sed adds: of a, i and c their lines, of s what
// it puts in place where that is more than a word.
func inserted(script string) string {
	var b strings.Builder
	s := sed.New(script)
	for c, ok := s.Next(); ok; c, ok = s.Next() {
		text := c.Value.Text
		switch {
		case c.Name == 's' && !c.Runs && strings.ContainsAny(strings.TrimSpace(text), " \t\n"):
			text = replacement.Replace(text)
		case c.Name == 'a' || c.Name == 'i' || c.Name == 'c':
			text = added.Replace(text)
		default:
			continue
		}
		b.WriteString(strings.TrimLeft(text, ";&| ") + "\n")
	}
	return b.String()
}

// What sed makes of backslashes in the text that it adds, and of & in what it puts in
// place.
var (
	added       = strings.NewReplacer(`\t`, "\t", `\n`, "\n", `\\`, `\`, "\\\n", "\n", `\`, "")
	replacement = strings.NewReplacer(`\t`, "\t", `\n`, "\n", `\\`, `\`, `\&`, "&", "&", "", "\\\n", "\n", `\1`, "", `\2`, "", `\3`, "", `\`, "")
)

// edit judges the programs of jq and its like, and of languages that edit files in
// place: the texts in them go into what they write.
func (u *use) edit() {
	program, files := "", u.rest
	switch {
	case u.name == "awk" || u.name == "gawk" || u.name == "mawk" || u.name == "nawk":
		u.awkInPlace()
		if len(files) > 0 && !u.has("file") {
			program = quotedTexts(files[0].Text())
		}
		if len(u.opts["include"]) == 0 {
			files = nil
		}
	case len(u.verbs) > 0 && u.verbs[0] == "put": // dasel
		if len(files) > 0 {
			program = files[0].Text() + `="` + flow.Text(u.optText("value")) + `"`
		}
		files = u.opts["file"]
	case len(u.verbs) > 0: // npm pkg set
		var b strings.Builder
		for _, f := range u.rest {
			name, value, _ := f.Cut("=")
			b.WriteString(name + `="` + value.Text() + "\"\n")
		}
		program, files = b.String(), []flow.Word{flow.Literal("package.json")}
	case len(files) > 0:
		program = u.withArguments(files[0].Text())
		if files = files[1:]; !u.has("in-place") && !u.has("inplace") {
			files = nil
		}
		if !strings.ContainsAny(program, `"'`) {
			return
		}
	}
	u.edits(files, program)
}

// withArguments is a program of jq with the texts of --arg in the place of the names.
func (u *use) withArguments(program string) string {
	given := u.Given()
	for i := 0; i+2 < len(given); i++ {
		if given[i].Text() == "--arg" {
			program = strings.ReplaceAll(program, "$"+given[i+1].Text(), `"`+given[i+2].Text()+`"`)
		}
	}
	return program
}

var quotedText = lazy(`"((?:[^"\\]|\\.)*)"`)

// quotedTexts are the texts in quotes, each on a line.
func quotedTexts(code string) string {
	var b strings.Builder
	for _, found := range quotedText().FindAllStringSubmatch(code, -1) {
		b.WriteString(unquote(found[1]) + "\n")
	}
	return b.String()
}

// editsInPlace judges perl -i and ruby -i, whose s/// is like sed's.
func (u *use) editsInPlace(code flow.Word) {
	if !u.has("i") {
		return
	}
	u.edits(u.rest, inserted(code.Text())+quotedTexts(code.Text()))
}

// writesTexts notes that the texts of the program may be what it writes into a file.
func (u *use) writesTexts(args []flow.Word) {
	for _, f := range args {
		if path.Base(f.Text()) == "package.json" {
			u.edits([]flow.Word{f}, u.text)
		}
	}
}

var scriptPair = lazy(`["']?([\w:.-]+)["']?\]?\s*(?::|[|+]?=)\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)')`)

// scriptsIn are the scripts of some names in package.json, as a whole or in what is
// known of a change to it: a part of the text, or the program that makes it.
func scriptsIn(text string, names []string) (lines []string) {
	project, err := strictjson.Object([]byte(text), strictjson.Limits{})
	if err != nil {
		for _, found := range scriptPair().FindAllStringSubmatch(text, -1) {
			name := strings.TrimPrefix(path.Ext("."+found[1]), ".")
			if slices.Contains(names, name) {
				lines = append(lines, unquote(found[2]+found[3]))
			}
		}
		return lines
	}
	scripts, _ := project["scripts"].(map[string]any)
	for _, name := range names {
		switch script := scripts[name].(type) {
		case string:
			lines = append(lines, ofComposer(script))
		case []any: // of composer
			for _, one := range script {
				if line, ok := one.(string); ok {
					lines = append(lines, ofComposer(line))
				}
			}
		}
	}
	return lines
}

// ofComposer is a script without the mark of composer for its own PHP and settings.
func ofComposer(script string) string {
	if rest, ok := strings.CutPrefix(script, "@php "); ok {
		return "php " + rest
	}
	return strings.TrimPrefix(script, "@putenv ")
}

// runsPieces judges what is known of changes to a script that is run.
func (u *use) runsPieces(language string, file string) {
	text, ok := u.Pieces[file]
	if !ok || u.at().Remote {
		return
	}
	u.shell.Enter("changes to "+file, func() {
		u.surely(func() {
			defer u.shell.Fork()()
			if language != "" && language != "bash" {
				u.bare().code(language, flow.Literal(text), "file")
				return
			}
			u.shell.Text(flow.Literal(text), flow.Stream{})
		})
	})
}

// handsOn gives what becomes of a file what is known of its changes, and that it is a
// link.
func (u *use) handsOn(from, to flow.Word) {
	if len(u.Pieces) == 0 && len(u.Links) == 0 {
		return
	}
	for _, f := range u.targets(from) {
		text, changed := u.Pieces[f.Path]
		origin, linked := u.Links[f.Path]
		for _, t := range u.targets(to) {
			if t.Path == "" || t.Path == f.Path {
				continue
			}
			if changed {
				u.Piece(t.Path, strings.TrimSuffix(text, "\n"))
			}
			if linked && (u.name == "mv" || u.name == "gmv") {
				u.Links[t.Path] = origin
			}
		}
	}
}

// namedValues are the texts that a document has under the names which the words say.
func namedValues(text string, words []flow.Word) (lines []string) {
	for _, found := range scriptPair().FindAllStringSubmatch(text, -1) {
		if slices.ContainsFunc(words, func(f flow.Word) bool { return f.Text() == found[1] }) {
			lines = append(lines, unquote(found[2]+found[3]))
		}
	}
	return lines
}
