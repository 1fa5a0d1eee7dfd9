package seen

import (
	"slices"
	"strings"

	"gate/internal/wordlist"
)

// ofCode stands before a repository that a text names. No word has a blank.
const ofCode = "code "

// forges are hosts where anybody puts up a repository, as HOST/OWNER/NAME.
const forges = " github.com gitlab.com bitbucket.org codeberg.org gitea.com git.sr.ht huggingface.co "

// registries are hosts where anybody puts up an image, as HOST/OWNER/NAME.
const registries = " docker.io index.docker.io registry-1.docker.io ghcr.io quay.io registry.gitlab.com gcr.io public.ecr.aws mcr.microsoft.com lscr.io registry.hub.docker.com ttl.sh codeberg.org "

// Repositories are the repositories on forges that a text names, each once and in order, as
// HOST/OWNER/NAME in lower case. An action of a workflow (OWNER/NAME@REF) is one of GitHub.
func Repositories(text string) (list []string) {
	l := lexer{code: true}
	l.repositories(text)
	for _, t := range l.tokens {
		if name := strings.TrimPrefix(t.text, ofCode); !strings.HasPrefix(name, anyForge) {
			list = append(list, name)
		}
	}
	return list
}

// repositories adds the repositories that a text names.
func (l *lexer) repositories(s string) {
	if !l.code {
		return
	}
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '/')
		if i < 0 {
			return
		}
		i += at
		at = i + 1
		host := strings.ToLower(nameBefore(s[:i]))
		if host == "" {
			continue
		}
		if wordlist.Has(forges, hostOf(host)) {
			owner, rest := nameAfter(s[at:])
			if owner != "" && strings.HasPrefix(rest, "/") {
				l.repository(hostOf(host), owner, rest[1:])
			}
			continue
		}
		name, rest := nameAfter(s[at:])
		if wordlist.Has(registries, host) && strings.HasPrefix(rest, "/") {
			if last, _ := nameAfter(rest[1:]); last != "" && l.bare < maxBare {
				l.bare++
				l.add(kindWord, ofCode+anyForge+"/"+strings.ToLower(name+"/"+strings.TrimRight(last, ".")))
			}
			continue
		}
		before := i - len(host) - 1
		l.anywhere(s, before, host, name, rest)
		if before > 2 && s[before-2:before+1] == "://" { // github://owner/name
			before -= 2
		}
		if before > 0 && s[before] == ':' { // git@github.com:owner/name
			if forge := forgeOf(nameBefore(s[:before])); forge != "" {
				l.repository(forge, host, name)
			}
			continue
		}
		if name != "" && strings.HasPrefix(rest, "@") && (before < 0 || parts[s[before]] == gap) && len(rest) > 1 && parts[rest[1]] != gap {
			l.repository("github.com", host, name)
		}
	}
}

// forgeOf is a forge by its host, or by the name that tools know it by; "" for none.
func forgeOf(name string) string {
	name = strings.ToLower(name)
	if wordlist.Has(forges, name) {
		return name
	}
	_, rest, ok := strings.Cut(shortForges, " "+name+"=")
	if !ok || name == "" {
		return ""
	}
	host, _, _ := strings.Cut(rest, " ")
	return host
}

// shortForges are the names by which tools know forges.
const shortForges = " github=github.com gh=github.com gitlab=gitlab.com gl=gitlab.com bitbucket=bitbucket.org bb=bitbucket.org codeberg=codeberg.org cb=codeberg.org sourcehut=git.sr.ht srht=git.sr.ht hf=huggingface.co huggingface=huggingface.co "

// anyForge stands for the forge of a name that a text has without one, as OWNER/NAME.
const anyForge = "*"

// mediaTypes are the first words of names such as text/css, which name no repository.
const mediaTypes = " application audio font image message model multipart text video "

// maxBare is how many of those names one output has: more are names of files.
const maxBare = 256

// anywhere adds a word OWNER/NAME. Most are names of files: it is looked up only where a program
// takes such names for code.
func (l *lexer) anywhere(s string, before int, owner, name, rest string) {
	name = strings.TrimRight(name, ".")
	if last, end := nameAfter(strings.TrimPrefix(rest, "/")); rest != "" && rest[0] == '/' && wordlist.Has(" aws azurerm azuread google kubernetes helm null local random oci alicloud digitalocean hcloud github ", last) {
		rest = end // a module of a registry: OWNER/NAME/PROVIDER
	}
	if name == "" || l.bare == maxBare || wordlist.Has(mediaTypes, owner) || before >= 0 && parts[s[before]] != gap || rest != "" && parts[rest[0]] != gap && rest[0] != ':' {
		return
	}
	l.bare++
	l.add(kindWord, ofCode+anyForge+"/"+owner+"/"+strings.ToLower(name))
}

// Bare are the words OWNER/NAME of a text, in lower case.
func Bare(text string) (list []string) {
	l := lexer{code: true}
	l.repositories(text)
	for _, t := range l.tokens {
		if name, ok := strings.CutPrefix(t.text, ofCode+anyForge+"/"); ok {
			list = append(list, name)
		}
	}
	return list
}

func (l *lexer) repository(host, owner, rest string) {
	if name, _ := nameAfter(rest); name != "" {
		l.add(kindWord, ofCode+strings.ToLower(host+"/"+owner+"/"+strings.TrimSuffix(strings.TrimRight(name, "."), ".git")))
	}
}

// nameBefore and nameAfter are the name of a host, an owner or a repository at the end or the
// beginning of a text, "" for none.
func nameBefore(s string) string {
	from := len(s)
	for from > 0 && len(s)-from < maxFileName && inName(s[from-1]) {
		from--
	}
	return strings.TrimLeft(s[from:], "-._")
}

func nameAfter(s string) (name, rest string) {
	end := 0
	for end < len(s) && end < maxFileName && inName(s[end]) {
		end++
	}
	return s[:end], s[end:]
}

func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}

// OnlyCode is the hit of a repository, as [Repositories] has it, that only untrusted text
// named; nil for another one. Nor is it one whose owner or name a prompt, or the address of a
// page that the agent chose, has. If instead is set, it takes the place of another one: then
// its owner alone counts.
func (s *Seen) OnlyCode(repository string, instead bool) *Hit {
	kept, err := s.open()
	if err != nil || kept.key == nil {
		return nil
	}
	parts := strings.Split(repository, "/")
	if len(parts) != 3 || kept.owns(parts[1]) || !instead && kept.namesAll(parts[2]) {
		return nil
	}
	l := lexer{kept: true}
	l.add(kindWord, ofCode+repository)
	l.add(kindWord, ofCode+anyForge+"/"+parts[1]+"/"+parts[2])
	hits := kept.brought(&l)
	if len(hits) == 0 {
		return nil
	}
	hits[0].Host = repository
	return &hits[0]
}

// owners are where somebody names whose code they want. The path of a page is none: whoever wrote
// the page chose its words.
var owners = []string{inPrompt, inAddress}

// owns reports an owner of packages or repositories whom a prompt, or the address of a page that
// the agent chose, names: as a whole, less what stands around such names, or each word.
func (c *content) owns(owner string) bool {
	whole := strings.NewReplacer("-", "", "_", "", ".", "").Replace(owner)
	forms := []string{whole}
	for _, part := range around {
		if name := strings.TrimPrefix(strings.TrimSuffix(whole, part), part); name != whole && len(name) > 2 {
			forms = append(forms, name)
		}
	}
	if c.named(owners, forms...) {
		return true
	}
	words := wordsIn(owner)
	return len(words) > 1 && !slices.ContainsFunc(words, func(w string) bool { return !c.named(owners, w) })
}

func wordsIn(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
}

// namesAll reports a name of which a prompt, or the address of a page that the agent chose, has
// each word, or all as one.
func (c *content) namesAll(name string) bool {
	if !strings.Contains(plain, " "+name+" ") && c.named(owners, strings.NewReplacer("-", "", "_", "", ".", "").Replace(name)) {
		return true
	}
	told := false
	for _, w := range wordsIn(name) {
		if !c.named(owners, w) && !strings.Contains(plain, " "+w+" ") {
			return false
		}
		told = told || !strings.Contains(plain, " "+w+" ")
	}
	return told
}
