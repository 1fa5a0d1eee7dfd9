package code

import (
	"slices"
	"strings"

	"gate/internal/wordlist"
)

// client follows a library through which code reaches a service: what its calls
// give keeps the name, and the last word of the name says what is done there. It
// reports whether u is a call of one.
func (p *parser) client(u use) (value, bool) {
	library, rest := clientLibrary(u.name)
	if library == "" || u.method {
		return value{}, false
	}
	method := rest[strings.LastIndexByte(rest, '.')+1:]
	result := named(u.name)
	switch library {
	case "git", "simple-git":
		if strings.Contains(rest, ".git.") || method == "reset" || library == "simple-git" && rest != "" {
			p.gitClient(method, &u)
		}
		return result, true
	case "sh": // each name is a program
		p.record(Call{Name: u.name, Does: "argv", Offset: u.offset}, append([]value{textValue(method)}, p.selected("*", &u)...))
		return value{}, true
	}
	words := wordlist.OfName(method)
	switch {
	case slices.Contains([]string{"get_secret_value", "get_session_token", "create_access_key", "access_secret_version", "get_secret"}, method),
		method == "GetSecretValueCommand":
		result.flags |= fromSecret
	case !slices.ContainsFunc(words, clientRemoves) || clientSpares(library, rest, words):
	case slices.Contains([]string{"knex", "sequelize"}, library):
		p.emit(Call{Name: u.name, Does: "sql", Offset: u.offset}, []value{textValue("truncate")})
	default:
		p.emit(Call{Name: u.name, Does: "remove", Offset: u.offset}, []value{textValue(library), textValue(method)})
	}
	return result, true
}

// clientLibrary cuts the library from a name; "" if it is none that is followed.
func clientLibrary(name string) (library, rest string) {
	if i := strings.Index(name, "sequelize."); i >= 0 { // by whatever module it comes
		name = name[i:]
	}
	library, rest, _ = strings.Cut(name, ".")
	if i := strings.IndexByte(library, '/'); i > 0 {
		library = library[:i]
	}
	const libraries = " boto3 botocore kubernetes docker github gitlab elasticsearch opensearchpy googleapiclient stripe git simple-git sh" +
		" @aws-sdk aws-sdk @octokit octokit dockerode @kubernetes @google-cloud @azure azure firebase-admin firebase_admin @elastic knex sequelize "
	if !wordlist.Has(libraries, library) {
		return "", ""
	}
	return library, rest
}

func clientRemoves(word string) bool {
	return wordlist.Has(" delete terminate destroy remove purge prune drop truncate del ", word)
}

// clientSpares reports what goes in the course of work: a message that is done
// with, a row, a container.
func clientSpares(library, rest string, words []string) bool {
	switch {
	case slices.ContainsFunc(words, func(w string) bool {
		return wordlist.Has(" message messages item tag tags label labels comment reaction ", w)
	}):
		return true
	case library == "docker" || library == "dockerode":
		return !strings.Contains(rest, "olume") && !strings.Contains(rest, "prune") && !strings.Contains(rest, "system")
	case library == "knex":
		return strings.Contains(rest, "where")
	}
	return false
}

// gitClient gives a call that does what a command of git does the words of one.
func (p *parser) gitClient(verb string, u *use) {
	words := []value{textValue("git"), textValue(strings.ReplaceAll(verb, "_", "-"))}
	for _, option := range []string{"force", "hard", "mirror", "delete", "working_tree"} {
		if v, ok := u.args.option(option); ok && v.truth() {
			words = append(words, textValue("--"+strings.Replace(option, "working_tree", "hard", 1)))
		}
	}
	p.record(Call{Name: u.name, Does: "argv", Offset: u.offset}, append(words, p.selected("*", u)...))
}
