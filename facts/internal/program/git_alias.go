package program

import (
	"strings"

	"gate/facts/internal/flow"
)

// gitAliases follows a verb that git does not have to what its configuration makes
// of it: an alias does what it says, whoever wrote it down.
func (u *use) gitAliases() {
	if len(u.strayed) == 0 {
		return
	}
	verb := strings.ToLower(u.strayed[0].Text())
	for _, value := range u.gitAliasesOf(verb) {
		if !value.Literal() {
			u.unknown("program", "an alias of git stands for something unknown", u.strayed[0].Span)
			continue
		}
		u.shell.Enter(u.name+" alias "+verb, func() { u.gitAlias(value.Text()) })
	}
}

// gitAlias follows one alias.
func (u *use) gitAlias(body string) {
	if script, ok := strings.CutPrefix(body, "!"); ok {
		u.inside(func() {
			if top, ok := strings.CutSuffix(u.gitDir(), "/.git"); ok { // git goes there first
				u.at().Dirs, u.at().Under = []string{top}, ""
			}
			u.shell.Handed(script, u.strayed[1:])
		})
		return
	}
	words, ok := gitWords(body)
	if !ok {
		return // git refuses it
	}
	line := []flow.Word{flow.Literal(u.name)}
	for _, f := range u.opts["c"] { // -C has had its effect
		line = append(line, flow.Literal("-c"), f)
	}
	for _, f := range u.opts["git-dir"] {
		line = append(line, flow.Literal("--git-dir"), f)
	}
	u.inside(func() { u.shell.Handed("", append(append(line, words...), u.strayed[1:]...)) })
}

// gitAliasesOf is what an alias may stand for: what this call sets, and else what
// the files say and what the line has written into one of them, for which of them
// wins is git's to say.
func (u *use) gitAliasesOf(verb string) (values []flow.Word) {
	for _, set := range u.gitOnce() {
		if strings.EqualFold(set.Name, "alias."+verb) {
			values = append(values, set.Value)
		}
	}
	if len(values) > 0 {
		return values
	}
	if text := u.gitSettings().Last("alias." + verb); text != "" {
		values = append(values, flow.Literal(text))
	}
	if v, ok := u.shell.Variable(gitAliasVariable(verb)); ok {
		values = append(values, v.Value)
	}
	return values
}

// gitAliasVariable is where a line keeps an alias that it has written into git's
// configuration: no variable of a shell has such a name.
func gitAliasVariable(name string) string { return "git alias " + name }

// gitWords splits an alias as git does: quotes and backslashes count, nothing is
// expanded.
func gitWords(text string) ([]flow.Word, bool) {
	var words []flow.Word
	var word []byte
	var quote byte
	some := false
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || quote == 0 && strings.IndexByte(" \t\n\r", text[i]) >= 0:
			if some {
				words = append(words, flow.Literal(string(word)))
			}
			word, some = nil, false
			continue
		case quote == 0 && (text[i] == '\'' || text[i] == '"'):
			quote = text[i]
		case quote != 0 && text[i] == quote:
			quote = 0
		case text[i] == '\\' && quote != '\'':
			if i++; i == len(text) {
				return nil, false
			}
			fallthrough
		default:
			word = append(word, text[i])
		}
		some = true
	}
	return words, quote == 0
}
