package program

import (
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/internal/catalogue"
	"gate/internal/wordlist"
)

// optionRows are programs and the variables in which they look for options of their
// own. What stands there is judged as if it stood on the line.
const optionRows = `tar gtar bsdtar | TAR_OPTIONS
grep egrep fgrep ggrep | GREP_OPTIONS
zip | ZIPOPT ZIP
unzip | UNZIPOPT UNZIP
less | LESS
pytest py.test | PYTEST_ADDOPTS
mvn mvnw | MAVEN_ARGS
fzf sk | FZF_DEFAULT_OPTS SKIM_DEFAULT_OPTIONS
xz | XZ_OPT XZ_DEFAULTS
gzip | GZIP
bat batcat | BAT_OPTS
terraform tofu opentofu terragrunt | TF_CLI_ARGS
`

// fromEnvironment returns the words of a program with the options that it finds in its
// environment: behind the others, or before them where options end at an operand.
func (u *use) fromEnvironment(row *catalogue.Row) []flow.Word {
	if !strings.Contains(optionRows, row.Name) { // most programs, at no cost
		return u.Words
	}
	some := len(u.Env) > 0
	for range u.shell.Names() {
		some = true
		break
	}
	if !some {
		return u.Words
	}
	for line := range strings.Lines(optionRows) {
		programs, variables, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " | ")
		if !wordlist.Has(" "+programs+" ", row.Name) {
			continue
		}
		words := u.Words
		for name := range strings.FieldsSeq(variables) {
			value, ok := u.environ(name)
			if _, ambient := u.World.Env(name); !ok || ambient && value.Empty() {
				continue
			}
			more, err := u.shell.Cut(value)
			switch {
			case err != nil || len(more) == 0:
			case row.Stop:
				words = slices.Concat(words[:1], more, words[1:])
			default:
				words = slices.Concat(words, more)
			}
		}
		return words
	}
	return u.Words
}
