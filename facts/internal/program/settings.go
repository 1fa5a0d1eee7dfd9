package program

import (
	"regexp"
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/internal/secret"
	"gate/internal/wordlist"
)

// printsOf is the access of a program that reads a file and may print it.
func (u *use) printsOf(f flow.Word) draft.Access {
	return draft.Access{Kind: "read", Shown: u.shows() && !u.sparesFile(f), Names: u.namesOnly() && !u.strays(f), Recursive: u.recurse}
}

// sparesFile reports that of a file with settings, as it is now, no secret is printed:
// names alone, or lines that hold none.
func (u *use) sparesFile(f flow.Word) bool {
	text, ok := u.settings(f)
	switch {
	case !ok:
		return false
	case u.namesOnly():
		return !strayLines(text)
	}
	return u.finds(text)
}

// strays reports a file of settings with lines that are none, so that a program that
// prints names prints them whole: the lines of a private key.
func (u *use) strays(f flow.Word) bool {
	if (u.name == "cut" || u.name == "gcut") && u.has("s") {
		return false
	}
	text, ok := u.settings(f)
	return ok && strayLines(text)
}

// settings is the text of a file of NAME=value lines that the line has not changed.
func (u *use) settings(f flow.Word) (text string, ok bool) {
	targets := u.targets(f)
	if len(targets) != 1 || u.at().Remote {
		return "", false
	}
	name := targets[0].Path
	what, _ := u.Secret(name)
	if _, changed := u.Files[name]; changed || what != "environment file" && !strings.HasSuffix(name, ".tfvars") || strings.HasSuffix(name, "/.envrc") {
		return "", false // .envrc is a script
	}
	text, err := u.World.Read(name, maxScript)
	return text, err == nil
}

// strayLines reports a line that is no setting, and not a comment, a name or a bracket either.
func strayLines(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		comment := strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//")
		switch {
		case strings.Contains(line, "="), comment && len(secret.Find(line)) == 0, strings.Trim(line, "[]{}(), ") == "":
		case strings.HasPrefix(line, "export ") && strings.Count(line, " ") == 1:
		default:
			return true
		}
	}
	return false
}

var plainSearch = lazy(`^\^?(\w+|\(?\w+(\|\w+)+\)?)=?$`)

// finds reports a search for words that finds settings in a text, and none of them may
// be a secret, by its name or its value: grep PRICE .env.
func (u *use) finds(text string) bool {
	pattern, ok := u.soughtSettings()
	if !ok || !plainSearch().MatchString(pattern) || strings.ContainsAny(pattern, "|(") && !u.extended() || u.has("F") && strings.ContainsAny(pattern, "^|(") {
		return false
	}
	sought, err := regexp.Compile("(?i)" + pattern)
	if err != nil || !harmlessSetting(strings.Trim(pattern, "^=()")) {
		return false
	}
	found := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !sought.MatchString(line) {
			continue
		}
		name, _, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if !ok || !harmlessSetting(strings.TrimSpace(name)) || len(secret.Find(line)) > 0 {
			return false
		}
		found = true
	}
	return found
}

// soughtSettings is the one pattern of a search that prints the lines that match, and
// nothing more.
func (u *use) soughtSettings() (string, bool) {
	if !wordlist.Has(" grep egrep fgrep ggrep rg ", u.name) || !u.onlyMatches() || len(u.rest) == 0 {
		return "", false
	}
	program := u.rest[0]
	if e := u.opts["regexp"]; len(e) == 1 {
		program = e[0]
	} else if len(e) > 1 {
		return "", false
	}
	return program.Text(), program.Literal()
}

// onlyMatches reports that a search has no option by which it prints more than the
// lines that match: -v, -z, -A, --passthru.
func (u *use) onlyMatches() bool {
	const harmless = " regexp E P F G extended-regexp perl-regexp basic-regexp fixed-strings i ignore-case n line-number h H no-filename with-filename N no-line-number m max-count w x s q r recursive color colour o only-matching "
	for name := range u.opts {
		if !wordlist.Has(harmless, name) {
			return false
		}
	}
	return true
}

// extended reports a search in whose patterns bars and parentheses mean something.
func (u *use) extended() bool {
	return u.name == "egrep" || u.name == "rg" || u.has("E") || u.has("P") || u.has("extended-regexp") || u.has("perl-regexp")
}

// harmlessSetting reports words, with bars between them, none of which promises a secret.
func harmlessSetting(names string) bool {
	return !slices.ContainsFunc(strings.Split(names, "|"), func(name string) bool {
		return secret.Variable(name) || settingSecret().MatchString(name)
	})
}
