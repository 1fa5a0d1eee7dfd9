package seen

import (
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/wordlist"
)

// maxWords is how many words of a prompt are kept.
const maxWords = 512

// wordsOf calls f for the words of a text, in lower case: letters and digits in a row.
func wordsOf(text string, most int, f func(string)) {
	for _, w := range strings.FieldsFunc(strings.ToLower(ahead(text, maxText)), func(r rune) bool { return r < '0' || r > '9' && r < 'a' || r > 'z' && r < 0x80 }) {
		if len(w) < 2 {
			continue
		}
		if most--; most < 0 {
			return
		}
		f(w)
	}
}

// servicesOf calls f for the services that a prompt wants used, in lower case: names with a
// capital after a word such as "with" or "via".
func servicesOf(text string, f func(string)) {
	most, used := maxServices, false
	for _, w := range strings.FieldsFunc(ahead(text, maxText), func(r rune) bool { return strings.ContainsRune(" \t\n", r) }) {
		name := strings.TrimRight(strings.TrimLeft(w, "(\""), ".,;:!?)\"")
		if lower := strings.ToLower(name); used && len(name) >= leastService && name[0] >= 'A' && name[0] <= 'Z' && strings.Trim(lower, "abcdefghijklmnopqrstuvwxyz0123456789") == "" && strings.ToUpper(name) != name {
			if most--; most < 0 {
				return
			}
			f(lower)
		}
		used = wordlist.Has(" with via using through mit mittels avec con usando ", strings.ToLower(w))
	}
}

// Limits of the services of a prompt: their number, and the length of a name.
const (
	maxServices  = 16
	leastService = 5
)

// maxText is how much of a prompt or an address has words that are kept, in bytes.
const maxText = 16 << 10

// maxQuery is how long a text is that the agent looks for something by, in bytes.
const maxQuery = 256

// chosen is what a call says by itself: the words of the address that it reads and of what
// it looks for, and the packages that it installs. The agent chose them, or a person let it.
func (s *Seen) chosen(ev *hook.Event, facts *hook.Facts, from source) note {
	n := note{source: sourcePerson}
	if ev.Name.Canonical() != hook.PostToolUse {
		return n
	}
	var l lexer
	if from == sourceWeb || from == sourceNet || from == sourceServer {
		texts("", any(ev.ToolInput()), func(_, text string) {
			_, address, ok := strings.Cut(text, "://")
			switch {
			case ok:
				l.opened(address)
			case from != sourceNet && len(text) <= maxQuery:
				wordsOf(text, maxWords, func(w string) { l.add(kindWord, inQuery+w) })
			}
		})
	}
	names := installed(facts)
	for _, name := range names {
		l.add(kindWord, installedWord+name)
	}
	if len(names) > 0 {
		if kept, err := s.read(); err == nil && slices.ContainsFunc(names, kept.asked) {
			l.add(kindWord, installedAsked)
		}
	}
	n.tokens = l.tokens
	return n
}

// opened adds the words of an address that the agent opened, without its scheme.
func (l *lexer) opened(address string) {
	address, _, _ = strings.Cut(address, " ")
	host, rest, _ := strings.Cut(address, "/")
	l.add(kindWord, inAddress+strings.ReplaceAll(hostOf(host), ".", "")) // nexte.st
	place := inPath
	if wordlist.Has(forges+registries+indexes, hostOf(host)) { // there a path names who owns what
		place = inAddress
	}
	wordsOf(host, maxWords, func(w string) { l.add(kindWord, inAddress+w) })
	wordsOf(rest, maxWords, func(w string) { l.add(kindWord, place+w) })
	_, label := siteOf(hostOf(host))
	l.add(kindWord, ofSite+plainOf(label))
	rest, _, _ = strings.Cut(rest, "?")
	for _, part := range strings.Split(ahead(rest, maxQuery), "/") {
		if part = plainOf(part); len(part) > 2 {
			l.add(kindWord, ofSite+part)
		}
	}
}

// indexes are hosts whose pages are of packages, by their names.
const indexes = " npmjs.com pypi.org crates.io docs.rs lib.rs hub.docker.com rubygems.org packagist.org pkg.go.dev hex.pm pub.dev marketplace.visualstudio.com artifacthub.io registry.terraform.io galaxy.ansible.com formulae.brew.sh swiftpackageindex.com search.maven.org central.sonatype.com nuget.org jsr.io deno.land anaconda.org cocoapods.org plugins.gradle.org "

// installedWord stands before a package that a call installed. No word has a space.
const installedWord = "installed "

// saidWord stands before a package that people named in what they wrote to each other.
const saidWord = "said "

// installedAsked says that a package was installed which somebody asked for.
const installedAsked = "installed as asked"

// Brings reports that the session installed a package that somebody asked for. It brings
// programs of names that nobody here can know.
func (s *Seen) Brings() bool {
	kept, err := s.open()
	return err == nil && kept.named([]string{inPrompt}, installedAsked)
}

// installed are the names of the packages that a call installs.
func installed(facts *hook.Facts) (list []string) {
	if facts == nil {
		return nil
	}
	for i := range facts.Effects {
		if e, ok := facts.Effects[i].Is.(*hook.PackageInstall); ok {
			for _, p := range e.Packages {
				if name := PackageOf(text(p)); name != "" {
					list = append(list, name)
				}
			}
		}
	}
	return list
}

// PackageOf is the name of a package as [Hit.Text] has it, for a word of a line or of an
// effect: without version and extras, in lower case. It is "" for options, paths and addresses.
func PackageOf(word string) string { return packageOf(word) }

// plain are words in names of packages that say nothing of whose they are.
const plain = " cli tool tools create init app core lib js ts node py python npm go golang rust rs cargo plugin server client cmd pkg src latest com org io dev net "

// asks are where somebody asks for a package.
var asks = []string{inPrompt, inAddress, inPath}

// asked reports a package of which a prompt, or the address of a page that the agent chose,
// has the name: each word of it that says something, or the scope. One that was installed
// before is no news.
func (c *content) asked(name string) bool {
	whole := strings.NewReplacer("-", "", "_", "", ".", "").Replace(name)
	if c.named([]string{installedWord}, name) || c.named(asks, whole) {
		return true
	}
	if scope, rest, ok := strings.Cut(strings.TrimPrefix(name, "@"), "/"); ok {
		if name[0] == '@' || strings.Count(name, "/") == 1 { // a tap of Homebrew has an owner, too
			if c.owns(scope) {
				return true
			}
		} else if last := rest[strings.LastIndexByte(rest, '/')+1:]; len(last) == 2 && last[0] == 'v' { // a module's version
			rest = strings.TrimSuffix(rest, "/"+last)
		}
		name = rest[strings.LastIndexByte(rest, '/')+1:]
	}
	told := false
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_./@:", r) }) {
		if strings.Contains(plain, " "+w+" ") {
			continue
		}
		if !c.named(asks, prefixes(w)...) {
			return false
		}
		told = true
	}
	return told
}

// prefixes are a word and those that it may be made of: tailwindcss of tailwind. A long
// word is of none.
func prefixes(word string) []string {
	list := []string{word}
	for n := len(word) - 1; n >= 4 && len(word) <= maxWord; n-- {
		list = append(list, word[:n])
	}
	return list
}

// maxWord is how long a word is that others may begin, in bytes.
const maxWord = 64

// named reports that one of some words was kept of one of some places.
func (c *content) named(places []string, words ...string) bool {
	if c.key == nil {
		return false
	}
	if c.words == nil {
		c.words = c.ofPersons()
	}
	for _, place := range places {
		for _, w := range words {
			if c.words[c.key.of(kindWord, place+w)] {
				return true
			}
		}
	}
	return false
}

// ofPersons are the tokens of prompts and of what the agent chose: many packages ask for
// them in turn, and the records are gone through once.
func (c *content) ofPersons() map[digest]bool {
	all := map[digest]bool{}
	for k := range c.records {
		if r := &c.records[k]; r.source == sourcePerson {
			for t := r.tokens; len(t) > 0; t = t[entrySize:] {
				all[digest(t[1:entrySize])] = true
			}
		}
	}
	return all
}
