package program

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/glob"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/wordlist"
)

// shows reports whether what the program reads goes to its output.
func (u *use) shows() bool {
	switch u.row.Output {
	case "copy", "filter", "encode", "decode", "":
		return !u.keysOnly() && !((u.row.Special == "copy" || u.name == "copy-item") && u.staysSecret())
	}
	return false
}

// staysSecret reports a copy that stays with the person, in the project or in a
// checkout beside it, and is known by its name to be as secret as what it is made
// from: cp .env.local .env, cp .env ../other/.env.
func (u *use) staysSecret() bool {
	if len(u.rest) != 2 || u.at().Remote || len(u.Via) > 0 || !u.rest[0].Literal() || !u.rest[1].Literal() {
		return false
	}
	from, into := u.rest[0], u.destination(u.rest[0], u.rest[1])
	for _, f := range []flow.Word{from, into} {
		for _, t := range u.targets(f) {
			if _, grade := u.Secret(t.Path); t.Path == "" || t.Glob || grade != "config" || !u.ownCheckout(t) {
				return false
			}
		}
	}
	return true
}

// ownCheckout reports a file in the project, or in a directory beside it. One that a
// server or a service for sharing hands out is none.
func (u *use) ownCheckout(t draft.Target) bool {
	for _, p := range []string{t.Path, cmp.Or(t.Resolved, t.Path)} {
		beside := path.Dir(u.World.Project)
		switch {
		case world.Below(p, u.World.Project):
			beside = u.World.Project
		case u.World.Home == "" || !world.Below(beside, u.World.Home) || path.Dir(p) == beside:
			return false
		}
		for dir := range strings.SplitSeq(strings.TrimPrefix(path.Dir(p), beside), "/") {
			if isHandedOut(dir) {
				return false
			}
		}
		if !world.Below(p, beside) {
			return false
		}
	}
	return true
}

// isHandedOut reports the name of a directory from which others get what lies there: what
// a server hands out, what is released, and what a service keeps on its own machines.
func isHandedOut(dir string) bool {
	dir = strings.ToLower(dir)
	return wordlist.Within(dir, handedOut) || wordlist.Has(" box mega ftp sftp samba smb nfs media downloads publish outbox ", dir) || strings.HasPrefix(dir, ".")
}

// handedOut are words in such names.
const handedOut = "public static dist build www htdocs docroot webroot html site assets upload share sample example template pages release artifact export " +
	"webdav sync dropbox onedrive drive icloud nextcloud owncloud seafile pcloud resilio tresorit jottacloud koofr"

// lazy compiles an expression when it is first asked for.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// The ways to print the names of NAME=value lines without their values. A pattern of
// which only what matches is printed begins where a line does, or as a family of
// variables does, or ends at the sign: [A-Za-z]* alone finds values, too.
var (
	sedNames      = lazy(`^s([/|#,])=\.[*+]\$?[/|#,][^&\\/|#,]*[/|#,]g?$`)
	sedGroups     = lazy(`^s([/|#,])\^(export )?\\?\((\[\^=\]|\[[A-Za-z_0-9-]+\])(\*|\\?\+)\\?\)=\.[*+]\$?[/|#,]\\1[^&\\/|#,]*[/|#,]p$`)
	awkNames      = lazy(`^(!?/[^/{}]*/|NF)? *\{ *print *\(? *\$1 *\)? *;? *\}$`)
	grepNames     = lazy(`^\^(export |\(export \)\?)?((\[\^=\]|\[[A-Za-z_0-9-]*\]|\\w|[A-Z_])(\*|\\?\+)?)+=?$|^\[[A-Z_-]+\](\*|\\?\+)=$|^\^?([A-Z][A-Z0-9]*_)+(\[([A-Z0-9_-]+|[a-z_-]+)\](\*|\\?\+))?=?$`)
	grepAhead     = `(?==)`                          // what -P looks ahead for, and does not print
	wideRange     = lazy(`\[[^\]]*[0-9-]-[A-Za-z_]`) // over the signs between digits and letters: [0-z]
	keyLines      = lazy(`^\^((\[\^:\]|\[[A-Za-z_0-9-]*\]|\\w)(\*|\\?\+)?)+:$`)
	settingLines  = lazy(`^\^([A-Za-z_]\w*|\([A-Za-z_]\w*(?:\|[A-Za-z_]\w*)*\))=$`)
	settingSecret = lazy(`(?i)pass|pwd|key|auth|cred|secret|token|dsn|ur[il]|conn|webhook|cert|salt|hash|sign|pin|cookie|session|login|account|id$`)
	jqTells       = lazy(`\b(debug|stderr|error|halt_error|inputs?)\b`)
	jqNames       = lazy(`^[\w. |\[\]]*(\b(keys|keys_unsorted|length)(\[\]\??)?|\bto_entries *(\[\] *\|? *|\| *\.\[\] *\|? *)\.key|\bto_entries *\| *map\( *\.key *\)(\[\])?)( *\| *(\.\[\]|sort|join\("[^"\\]*"\)|@csv|@tsv))*$`)
)

// keysOnly reports that of a document only the keys are printed.
func (u *use) keysOnly() bool {
	switch u.name {
	case "jq", "gojq", "jaq", "yq", "gyq":
		return len(u.rest) > 0 && u.rest[0].Literal() && jqNames().MatchString(strings.TrimSpace(u.rest[0].Text())) && !jqTells().MatchString(u.rest[0].Text())
	}
	return false
}

// keeps reports that a secret does not come out with what is printed of it: of
// lines NAME=value the names, of a document the keys. A private key has neither.
func (u *use) keeps(what string) bool {
	if u.keysOnly() || len(u.reads) > 0 && !slices.ContainsFunc(u.reads, func(f flow.Word) bool { return !u.sparesFile(f) }) {
		return true
	}
	if what == "encrypted variables" {
		return u.marksKeys()
	}
	return (what == "environment" || what == "environment file") && u.namesOnly() && !slices.ContainsFunc(u.reads, u.strays)
}

// marksKeys reports that of lines NAME: value the names are printed, and lines without a
// name, as those of a private key are, not at all.
func (u *use) marksKeys() bool {
	switch u.name {
	case "cut", "gcut":
		d, _ := u.opt("delimiter")
		f, _ := u.opt("fields")
		return d.Text() == ":" && f.Text() == "1" && u.has("s") && !u.has("complement")
	case "grep", "egrep", "ggrep", "rg":
		return len(u.rest) == 1 && len(u.opts["regexp"]) == 0 && u.onlyMatches() && (u.has("o") || u.has("only-matching")) && keyLines().MatchString(u.rest[0].Text()) && !wideRange().MatchString(u.rest[0].Text()) && u.rest[0].Literal()
	}
	return false
}

// namesOnly reports that of lines NAME=value only the names are printed.
func (u *use) namesOnly() bool {
	var program flow.Word
	if len(u.rest) > 0 {
		program = u.rest[0]
	}
	switch u.name {
	case "cut", "gcut":
		d, _ := u.opt("delimiter")
		f, _ := u.opt("fields")
		return d.Text() == "=" && f.Text() == "1" && !u.has("complement")
	case "sed", "gsed":
		if e := u.opts["expression"]; len(e) == 1 {
			program = e[0]
		} else if len(e) > 1 || u.has("file") {
			return false
		}
		return program.Literal() && (sedNames().MatchString(program.Text()) || u.groupsNames(program.Text()))
	case "awk", "gawk", "mawk", "nawk":
		f, _ := u.opt("field-separator")
		return f.Text() == "=" && program.Literal() && awkNames().MatchString(strings.TrimSpace(program.Text()))
	case "grep", "egrep", "ggrep", "rg":
		if e := u.opts["regexp"]; len(e) == 1 {
			program = e[0]
		} else if len(e) > 1 || u.has("file") {
			return false
		}
		if !u.onlyMatches() {
			return false
		}
		if u.has("only-matching") || u.has("o") {
			anyCase := u.has("i") || u.has("ignore-case")
			pattern := program.Text()
			if u.has("P") || u.has("perl-regexp") {
				pattern = strings.TrimSuffix(pattern, grepAhead)
			}
			return program.Literal() && grepNames().MatchString(pattern) && !wideRange().MatchString(pattern) && (!anyCase || strings.HasPrefix(pattern, "^"))
		}
		return program.Literal() && u.onlySettings(program.Text())
	}
	return false
}

// groupsNames reports a script of sed -n that prints the name alone of each line of a
// variable, and no other line: s/^\([A-Z_]*\)=.*/\1/p.
func (u *use) groupsNames(script string) bool {
	for name := range u.opts {
		if !wordlist.Has(" silent quiet regexp-extended expression ", name) {
			return false
		}
	}
	return (u.has("silent") || u.has("quiet")) && sedGroups().MatchString(script) && !wideRange().MatchString(script)
}

// onlySettings reports a search for lines of variables by their whole names,
// none of which promises a secret: grep -E '^(PORT|HOST)=' .env.
func (u *use) onlySettings(pattern string) bool {
	found := settingLines().FindStringSubmatch(pattern)
	return found != nil && (!strings.ContainsAny(pattern, "|(") || u.extended()) && harmlessSetting(strings.Trim(found[1], "()"))
}

// searched judges the files that a search picks by patterns of names.
func (u *use) searched() {
	if slices.ContainsFunc([]string{"count", "quiet", "files-with-matches", "files-without-match", "files"}, u.has) {
		return
	}
	starts := []flow.Word{flow.Literal(".")}
	if len(u.rest) > 1 {
		starts = u.rest[1:]
	}
	for _, name := range []string{"include", "glob", "iglob", "file-search-regex"} {
		for _, f := range u.opts[name] {
			pattern := strings.TrimPrefix(f.Text(), "**/")
			if name == "file-search-regex" {
				pattern = strings.Trim(strings.ReplaceAll(pattern, `\`, ""), "^$")
			}
			if pattern == "" || pattern[0] == '!' || glob.Broad(pattern) {
				continue
			}
			for _, s := range starts {
				dir := flow.Word{Parts: append(append([]flow.Part(nil), s.Parts...), flow.Part{Text: "/", Quoted: true}, flow.Part{Text: pattern})}
				u.touch(dir, draft.Access{Kind: "read", Shown: true})
			}
		}
	}
}

// gitShows judges the secrets that git prints of what it keeps: git show
// HEAD:.env, git diff .env.
func (u *use) gitShows() {
	if len(u.verbs) == 0 {
		return
	}
	named := u.rest
	if !u.gitPrints() {
		if u.verbs[0] != "show" {
			return
		}
		// git prints a file (HEAD:x) whatever is asked for of commits, and :/x is a commit.
		named = slices.DeleteFunc(slices.Clone(named), func(f flow.Word) bool {
			return !strings.Contains(f.Prefix(), ":") || strings.HasPrefix(f.Prefix(), ":/")
		})
	}
	if u.verbs[0] == "grep" && !u.has("e") && !u.has("f") && len(named) > 0 {
		named = named[1:]
	}
	for _, f := range append(append([]flow.Word(nil), named...), u.opts["L"]...) {
		text := f.Prefix()
		if i := strings.LastIndexByte(text, ':'); i >= 0 {
			text = text[i+1:]
		}
		if !strings.ContainsAny(text, "./_") {
			continue // a revision
		}
		for _, t := range u.targets(flow.Word{Parts: []flow.Part{{Text: text}}}) {
			if what, grade := u.Secret(t.Path); what != "" {
				u.effect(&hook.SecretRead{Path: new(t.Path), What: what, Grade: grade, Shown: true})
				u.Out.Taint.Secret = what
			}
		}
	}
}

// gitPrints reports that a verb of git prints content, and not only names and
// numbers.
func (u *use) gitPrints() bool {
	for _, name := range []string{"stat", "name-only", "name-status", "numstat", "shortstat", "summary", "quiet", "no-patch", "s", "check", "l", "count", "t", "e"} {
		if u.has(name) && !(u.verbs[0] == "grep" && name == "e") {
			return false
		}
	}
	switch u.verbs[0] {
	case "log", "whatchanged", "shortlog", "reflog":
		return u.has("p") || u.has("patch") || u.has("u") || u.has("L")
	}
	return true
}
