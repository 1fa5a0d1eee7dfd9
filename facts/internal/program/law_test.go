package program_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"gate/facts"
	"gate/facts/internal/program"
	"gate/facts/internal/shell"
	"gate/hook"
	"gate/internal/catalogue"
	"gate/internal/strictjson"
	"gate/internal/wordlist"
)

// saying are the roles that say of a word that it is no file, or that nothing is done
// with what is in it.
const saying = " text list cd shell command words assign code sql url host data package process proxy "

// grammar are words with a row that the shell itself reads before a program is
// looked for. So it does for all of builtins, which have functions of their own.
const grammar = " time coproc "

// TestNoWeakerThanUnknown holds that a program in the catalogue is never judged more
// weakly than one that is not: a word that names a secret, a start-up file or a
// guard's file has the effects that the same words have behind zzunknown, or names
// its path at least, unless the role of the word says what happens to it.
func TestNoWeakerThanUnknown(t *testing.T) {
	reader := facts.New(facts.World{Home: "/home/dev", User: "dev", OS: "linux", Project: "/home/dev/project"})
	unknown := map[string]*hook.Facts{}
	lines, failed := 0, 0
	for _, f := range forms(t) {
		for _, file := range []string{"~/.aws/credentials", ".env", "~/.bashrc", ".claude/settings.json"} {
			words := strings.ReplaceAll(f.words, "FILE", file)
			if unknown[words] == nil {
				unknown[words] = factsOf(reader, "zzunknown "+words)
			}
			lines++
			if lack := weaker(factsOf(reader, f.program+" "+words), unknown[words]); lack != "" {
				if failed++; failed < 20 {
					t.Errorf("%s %s: of an unknown program there is %s", f.program, words, lack)
				}
			}
		}
	}
	if lines < 50000 {
		t.Errorf("%d lines; most of them are lost", lines)
	}
}

// TestCodeBeforeVersion holds that a question for the version hides nothing: behind
// python3 -c it is an argument of the code.
func TestCodeBeforeVersion(t *testing.T) {
	reader := facts.New(facts.World{Home: "/home/dev", User: "dev", OS: "linux", Project: "/home/dev/project"})
	for _, line := range []string{
		`python3 -c 'import shutil; shutil.rmtree("/srv")' --version`,
		`node -e 'require("fs").rmSync("/srv")' --help`,
		`sudo -- perl -e 'unlink "/srv"' --version`,
	} {
		deletes := func(e hook.FactEffect) bool { return e.Kind() == "fs.delete" }
		if f := factsOf(reader, line); !slices.ContainsFunc(f.Effects, deletes) {
			t.Errorf("%s: nothing is deleted", line)
		}
	}
	if f := factsOf(reader, "python3 --version"); len(f.Effects) != 0 || f.Opaque {
		t.Errorf("python3 --version: %v", hook.Tree(f))
	}
}

// A form is words behind a program, of which FILE is to count.
type form struct{ program, words string }

// forms are operands and options of every program and verb of the catalogue. Names
// that share a row share its options.
func forms(t *testing.T) []form {
	data, err := os.ReadFile("../../../internal/catalogue/catalogue.compact")
	if err != nil {
		t.Fatal(err)
	}
	var out []form
	rows := catalogue.New(nil)
	for line := range strings.Lines(string(data)) {
		names, text, _ := strings.Cut(line, " {")
		written, err := strictjson.Object([]byte("{"+text), strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		options := written["options"]
		for name := range strings.SplitSeq(names, ",") {
			row, ok := rows.Lookup(name)
			if !ok {
				t.Fatalf("%s has no row", name)
			}
			if shell.Builtin(name) || wordlist.Has(grammar, name) {
				continue
			}
			spec, _ := options.(string)
			out = append(out, operandForms(name, row)...)
			out = append(out, optionForms(name, row, spec)...)
			options = nil
		}
	}
	return out
}

func operandForms(name string, row *catalogue.Row) []form {
	var out []form
	for before := range 4 {
		role := program.Spread(row.Operands, before+1)[before].Name
		switch {
		case row.Special == "copy" && before > 1: // the directory that the others go into
		case row.Verbs, !wordlist.Has(saying, role):
			out = append(out, form{name, strings.Repeat("aa ", before) + "FILE"})
		}
	}
	return out
}

func optionForms(name string, row *catalogue.Row, spec string) []form {
	if row.Style == "raw" || row.Style == "keyvalue" {
		return nil // they are operands
	}
	out := []form{{name, "--zz-new=FILE"}, {name, "-" + freeLetter(row) + "=FILE"}}
	for group := range strings.FieldsSeq(spec) {
		names, role, takes := strings.Cut(group, "=")
		role, _, _ = strings.Cut(strings.Trim(role, "=]"), ":")
		names, attached := strings.CutSuffix(names, "[")
		for option := range strings.SplitSeq(names, ",") {
			if slash, ok := strings.CutPrefix(option, "/"); ok { // an unknown program takes /x for a path
				option = "-" + slash
			}
			long := strings.HasPrefix(option, "--")
			switch {
			case !takes && long, takes && attached && long && !wordlist.Has(saying, role):
				out = append(out, form{name, option + "=FILE"})
			case !takes, wordlist.Has(saying, role):
			case attached:
				out = append(out, form{name, option + "FILE"})
			case strings.Contains(group, "=="):
				out = append(out, form{name, option + " aa FILE"})
			default:
				out = append(out, form{name, option + " FILE"})
			}
		}
	}
	return out
}

// freeLetter is a letter that is no option of a row.
func freeLetter(row *catalogue.Row) string {
	for letter := range strings.SplitSeq("zqyjkZQYJK", "") {
		if row.Options.Named("-"+letter) == nil {
			return letter
		}
	}
	return "0"
}

// weaker says what facts have too little of; "" for nothing.
func weaker(is, than *hook.Facts) string {
	for _, p := range than.Paths {
		named := slices.ContainsFunc(is.Effects, func(e hook.FactEffect) bool { return e.Kind() != "" && namesPath(&e, *p.Path) })
		listed := slices.ContainsFunc(is.Paths, func(o hook.Path) bool { return o.Path != nil && *o.Path == *p.Path })
		switch {
		case len(than.Effects) > 0 && !named:
			return than.Effects[0].Kind()
		case !named && !listed:
			return "the path"
		}
	}
	return ""
}

// namesPath reports an effect on a file.
func namesPath(e *hook.FactEffect, path string) bool {
	for name, at := range hook.Members(e) {
		if text, ok := hook.FactText(at); ok && text != nil && name != "kind" && *text == path {
			return true
		}
	}
	return false
}

func factsOf(r *facts.Reader, line string) *hook.Facts {
	return r.Of(&hook.Event{Name: hook.PreToolUse, Agent: "claude", Fields: map[string]any{
		"cwd": "/home/dev/project", "tool_name": "Bash", "tool_input": map[string]any{"command": line},
	}})
}
