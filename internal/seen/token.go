package seen

import (
	"strings"

	"gate/hook"
	"gate/internal/wordlist"
)

// A lexer takes tokens out of texts, each once: hosts, addresses, e-mail addresses, and of
// command lines themselves and the packages that they install.
type lexer struct {
	tokens []token
	have   map[token]bool
	except map[token]bool // these are not added; nil: none
	files  bool           // names that are more likely those of files are hosts, too

	code   bool            // repositories, keys and names of users, too
	kept   bool            // what [sourceKept] brought is a hit, too
	listed bool            // keys are those of somebody whom the call asked for
	bare   int             // how many names of [anyForge] it has
	bases  bool            // addresses without their query, too
	runs   bool            // command lines of the call run
	to     map[token]bool  // those to whom a call sends
	always map[token]bool  // of them, those that get each mail from then on
	filled map[token]token // addresses that a call fills in; see [filled]
}

func (l *lexer) add(k kind, text string) {
	t := token{k, text}
	if text == "" || l.have[t] || l.except[t] {
		return
	}
	if l.have == nil {
		l.have = map[token]bool{}
	}
	l.have[t] = true
	l.tokens = append(l.tokens, t)
}

// text adds the tokens of a text.
func (l *lexer) text(s string) {
	l.around(s, ".")
	l.around(s, "://")
	l.repositories(s)
	if l.code {
		l.users(s)
		l.accounts(s)
		if !l.listed {
			l.keys(s)
		}
	}
	l.lines(s)
}

// around adds the words of a text that have a mark.
func (l *lexer) around(s, mark string) {
	for done := 0; ; {
		at := strings.Index(s[done:], mark)
		if at < 0 {
			return
		}
		begin, end := done+at, done+at
		for begin > done && parts[s[begin-1]] != gap {
			begin--
		}
		for end < len(s) && parts[s[end]] != gap {
			end++
		}
		l.word(s[begin:end], end < len(s) && s[end] == '(')
		done = end
	}
}

// word adds the host that a word is or has.
func (l *lexer) word(w string, call bool) {
	if i := strings.Index(w, "://"); i > 0 {
		l.address(w, i)
		return
	}
	w = strings.Trim(w, "[]*_!?.:#$")
	if i := strings.IndexByte(w, '='); i >= 0 { // --registry=host, user@host
		w = w[i+1:]
	}
	if i := strings.IndexByte(w, '@'); i > 0 {
		host, _, _ := strings.Cut(w[i+1:], ":")
		host, _, _ = strings.Cut(host, "/")
		if host = hostOf(host); isHost(host) {
			l.add(kindMail, strings.ToLower(w[:i])+"@"+host)
			l.add(kindHost, host)
		}
		return
	}
	host, rest, path := strings.Cut(w, "/")
	name, _, port := strings.Cut(host, ":")
	if name = hostOf(name); !isHost(name) || call || !path && !port && !l.files && isFile(name) {
		return
	}
	l.add(kindHost, name)
	if path && rest != "" {
		l.place(addressOf(w, len(host)))
	}
}

// address adds the address that a word has, and its host.
func (l *lexer) address(w string, at int) {
	rest := w[at+len("://"):]
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority := rest[:end]
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.HasSuffix(authority, "]") {
		authority = authority[:i]
	}
	host := hostOf(strings.Trim(authority, "*_!?[]"))
	if host == "" {
		return
	}
	l.add(kindHost, host)
	if end < len(rest) && strings.Trim(rest[end:], "/") != "" {
		l.place(addressOf(rest, end))
	}
}

// place adds an address, and what it is without its query.
func (l *lexer) place(address string) {
	l.add(kindAddress, address)
	if base, _, ok := strings.Cut(address, "?"); ok && l.bases {
		l.add(kindAddress, base)
	}
}

// addressOf is the address that a text begins with, of which the first bytes are the
// authority: without the fragment, and without what follows an address in a sentence.
func addressOf(w string, authority int) string {
	host, rest := w[:authority], w[authority:]
	host, _, fragment := strings.Cut(host, "#") // app.example:8080#/login
	if fragment {
		rest = ""
	}
	rest, _, _ = strings.Cut(rest, "#")
	host = host[strings.LastIndexByte(host, '@')+1:]
	return hostOf(host) + strings.TrimRight(rest, ".:!?*_]")
}

// hostOf is how a host is kept.
func hostOf(host string) string {
	return strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(host), "."), "www.")
}

// isHost reports that a word can be the name of a host, or an IPv4 address.
func isHost(s string) bool {
	if len(s) < 4 || len(s) > 253 {
		return false
	}
	labels, size, digits, last := 1, 0, 0, byte('.')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.':
			if size == 0 || last == '-' {
				return false
			}
			labels, size, digits = labels+1, 0, 0
		case c >= '0' && c <= '9':
			size, digits = size+1, digits+1
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' && size > 0 || c >= 0x80:
			size++
		default:
			return false
		}
		last = s[i]
	}
	if digits == size { // the last label is a number
		return labels == 4 && strings.Trim(s, "0123456789.") == ""
	}
	return labels > 1 && size > 1 && last != '-' && (digits == 0 || !isVersion(s))
}

// isVersion reports a name whose last label has digits, which no domain of the network has, and
// whose first one is a number: v5.6.1-patched.
func isVersion(s string) bool {
	first, rest, _ := strings.Cut(strings.TrimPrefix(s, "v"), ".")
	return strings.Trim(first, "0123456789") == "" && !strings.HasPrefix(rest[strings.LastIndexByte(rest, '.')+1:], "xn--")
}

// isFile reports a name that is more likely a file's, or a name in a program.
func isFile(name string) bool {
	ext := name[strings.LastIndexByte(name, '.')+1:]
	return strings.Contains(" go py js ts tsx jsx mjs cjs rs rb java class jar c h cc cpp hpp cs md txt rst json yaml yml toml lock sh bash zsh ps1 html htm css scss less xml svg png jpg jpeg gif pdf csv tsv log ini cfg conf "+
		"sql proto php pl pm kt kts swift lua mod sum gz tgz bz2 xz tar exe dll so dylib bin min env bak tmp orig vue svelte gradle properties tf tfvars rego ipynb wasm ", " "+ext+" ")
}

// lines adds the command lines of a text: what a person or an agent would type.
func (l *lexer) lines(s string) {
	begin, verb := 0, ""
	for i := range len(s) {
		if !separates[s[i]] {
			continue
		}
		part := s[begin:i]
		if l.line(part); s[i] == '`' {
			if verb != "" {
				l.praised(verb, part)
			}
			part = strings.TrimRight(part, " ")
			verb = part[strings.LastIndexByte(part, ' ')+1:]
		} else {
			verb = ""
		}
		begin = i + 1
	}
	l.line(s[begin:])
}

// praised adds a package that a sentence tells to install, whatever the program. As those names may
// be anything, they have a sign between their words.
func (l *lexer) praised(verb, name string) {
	if !l.code || !wordlist.Has(" install add use uses using adding installing installs try need needs require requires prefer package library module gem crate plugin dependency called to with ", strings.ToLower(verb)) {
		return
	}
	if name = strings.Trim(name, `"'()[]{}*_.,:;!?`); strings.Contains(name, "-") && !strings.ContainsAny(name, " ./{}<>=$") && name[0] >= 'a' && name[0] <= 'z' {
		l.add(kindPackage, packageOf(name))
	}
}

// separates has the bytes between command lines, and between them and the text of a page.
var separates = [256]bool{'\n': true, '`': true, '<': true, '>': true, ';': true, '|': true, '&': true}

// maxCommand is how long a command line is that is looked for.
const maxCommand = 2048

// line adds one command line, and what it installs.
func (l *lexer) line(s string) {
	s = strings.TrimLeft(s, " \t$#*-+0123456789.)")
	if len(s) < 6 || len(s) > maxCommand {
		return
	}
	if s[0] < 'a' || s[0] > 'z' {
		l.sentence(s)
		return
	}
	first, _, more := strings.Cut(strings.TrimRight(s, " \t\r"), " ")
	if more && first == "sudo" {
		first, _, more = strings.Cut(strings.TrimLeft(s[len("sudo "):], " "), " ")
		s = strings.TrimLeft(s[len("sudo "):], " ")
	}
	if !more || !strings.Contains(programs, " "+first+" ") {
		l.sentence(s)
		return
	}
	words := strings.Fields(s)
	for i, w := range words {
		words[i] = strings.Trim(w, `"'\`)
	}
	if line := strings.Join(words, " "); len(line) >= leastLength {
		l.add(kindCommand, line)
	}
	l.packages(words)
	if len(words) > 3 { // npm error: repair it with "npx x"
		l.sentence(s)
	}
}

// programs are those that texts tell people to type lines of.
const programs = " curl wget pip pip3 pipx uv uvx poetry conda npm npx pnpm pnpx yarn bun bunx deno cargo go gem bundle composer brew apt apt-get dnf yum apk pacman snap port nix choco scoop winget docker podman kubectl helm " +
	"bash sh zsh python python3 node ruby perl php git gh ssh scp rsync nc chmod chown rm cp mv dd make cmake export source eval sudo env systemctl crontab echo cat tee base64 openssl tar unzip powershell pwsh iwr irm "

// installers say which word of a program's line precedes names of packages.
const installers = " pip:install pip3:install pipx:install pipx:run uv:add uv:install uv:run poetry:add conda:install npm:install npm:i npm:add npm:exec npm:init npm:create pnpm:add pnpm:install pnpm:i pnpm:dlx yarn:add yarn:dlx bun:add bun:install bun:i " +
	"cargo:install cargo:add go:install go:get go:run bun:x dotnet:package deno:add deno:install code:--install-extension codium:--install-extension cursor:--install-extension helm:install gem:install bundle:add composer:require brew:install brew:tap apt:install apt-get:install dnf:install yum:install apk:add pacman:-S snap:install choco:install scoop:install winget:install "

// sentence adds the packages that a line installs which stands in the middle of one.
func (l *lexer) sentence(s string) {
	words := strings.Fields(s)
	for i := range words {
		first := strings.Trim(words[i], `"'(`)
		if i+1 < len(words) {
			l.praised(first, words[i+1])
		}
		if i == 0 || !strings.Contains(installing, " "+first+" ") {
			continue
		}
		line := []string{first}
		for _, w := range words[i+1 : min(len(words), i+10)] {
			bare := strings.TrimLeft(strings.TrimRight(w, `"'().,:!?`), `"'(`)
			line = append(line, bare)
			if len(bare) != len(w) {
				break
			}
		}
		l.packages(line)
	}
}

// installing are the programs that have [installers], and those that fetch what they run.
const installing = " npx bunx pnpx uvx pip pip3 pipx uv poetry conda npm pnpm yarn bun cargo go gem bundle composer dotnet deno python python3 code codium cursor brew "

// names adds each word of a text that looks like the name of a package. Text that speaks to
// agents may leave the line to them.
func (l *lexer) names(s string) {
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\r\n`\"'()<>,;", r) }) {
		w = strings.TrimRight(w, ".:!?")
		if strings.ContainsAny(w, "-@/_") && !strings.Contains(w, "://") {
			l.add(kindPackage, packageOf(w))
		}
	}
}

// packages adds the packages that a line installs.
func (l *lexer) packages(words []string) {
	from := len(words)
	if p := words[0]; p == "npx" || p == "bunx" || p == "pnpx" || p == "uvx" {
		from = 1
	}
	for i := 1; i < len(words) && i < 4 && from == len(words); i++ {
		if strings.Contains(installers, " "+words[0]+":"+words[i]+" ") {
			from = i + 1
		}
		if words[i] == "-m" && i+2 < len(words) && words[i+1] == "pip" && words[i+2] == "install" {
			from = i + 3
		}
	}
	for _, w := range words[min(from, len(words)):] {
		if name := packageOf(w); name != "" {
			l.add(kindPackage, name)
			if i := strings.LastIndexByte(name, '/'); words[0] == "brew" && strings.Count(name, "/") == 2 { // a tap and its formula
				l.add(kindPackage, name[:i])
				l.add(kindPackage, name[i+1:])
			}
		}
	}
}

// packageOf is the name of a package as it is kept: without version and extras. It is ""
// for options, paths and addresses.
func packageOf(w string) string {
	if w == "" || w[0] == '-' || w[0] == '.' || w[0] == '/' || strings.Contains(w, "://") {
		return ""
	}
	if i := strings.IndexAny(w[1:], "@=<>~!["); i >= 0 {
		w = w[:1+i]
	}
	if len(w) < 2 || len(w) > maxPackage {
		return ""
	}
	return strings.ToLower(w)
}

// maxPackage is how long the name of a package is at most: npm allows 214 bytes, and a
// module of Go has the path of its repository.
const maxPackage = 1 << 10

// person is what a prompt names.
func person(ev *hook.Event) note {
	l := lexer{files: true, bases: true, code: true}
	l.text(ev.Text("prompt"))
	wordsOf(ev.Text("prompt"), maxWords, func(w string) { l.add(kindWord, w) })
	servicesOf(ev.Text("prompt"), func(w string) { l.add(kindWord, service+w) })
	return note{source: sourcePerson, tokens: l.tokens}
}

// A HostAt is a host in a text, and where it begins.
type HostAt struct {
	Host string
	At   int
}

// Hosts are the hosts of a line in their order, each once: those of addresses, and those
// that look like no file. Each has a dot.
func Hosts(line string) (list []HostAt) {
	var l lexer
	l.around(line, ".")
	lower := strings.ToLower(line)
	for _, t := range l.tokens {
		if at := strings.Index(lower, t.text); t.kind == kindHost && at >= 0 {
			list = append(list, HostAt{t.text, at})
		}
	}
	return list
}
