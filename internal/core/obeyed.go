package core

import (
	"path"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/seen"
	"gate/internal/wordlist"
)

// The kinds of flows of what a call puts where a program obeys it.
const (
	namedHost      = "named host"
	foreignAccount = "foreign account"
	namedPackage   = "named package"
)

// obeyed adds the hosts, images, users and accounts that only untrusted text named, and that a
// call puts where something obeys them, whatever the program or the format: in a file of settings,
// in the words of a command that sets something, and in the fields of a tool that changes
// something. What people read (texts, comments, messages) is no such place, nor are tests.
func (g *Gate) obeyed(f *hook.Facts, ev *hook.Event, kept *seen.Seen) {
	left := maxReplaced
	told := map[string]bool{}
	for i := range f.Effects {
		e := &f.Effects[i]
		write, ok := e.Is.(*hook.FSWrite)
		if !ok || write.Path == nil || told[*write.Path] || left == 0 || tried(*write.Path) {
			continue
		}
		if c := commandOf(f, e.Command); c != nil && c.Program != nil && wordlist.Has(fetchers, *c.Program) {
			continue // its words say from where the file comes, not what stands in it
		}
		left--
		told[*write.Path] = true
		g.obeyedFile(f, ev, kept, e, *write.Path)
	}
	if f.Shell == nil {
		changes := slices.ContainsFunc(f.Effects, func(e hook.FactEffect) bool {
			t, ok := e.Is.(*hook.Tool)
			return ok && t.Access != "read"
		})
		if changes && !forEyes(ev.Tool()) {
			fields(f, kept, ev.Tool(), "", ev.ToolInput(), 0)
		}
		return
	}
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		if c.Program != nil && wordlist.Has(" curl wget http https httpie xh gh glab ", *c.Program) {
			posted(f, kept, c)
		} else if c.Program != nil && !onlyLooks(c) {
			obeyedWords(f, kept, c)
			g.obeyedInput(f, kept, c)
		}
	}
	g.obeyedFiles(f, ev, kept)
	g.obeyedPatches(f, kept)
}

// obeyedPatches adds what the lines name that a patch brings.
func (g *Gate) obeyedPatches(f *hook.Facts, kept *seen.Seen) {
	left := maxObeyed
	for i := range f.Paths {
		p := &f.Paths[i]
		c := commandOf(f, p.Command)
		if left == 0 || p.Path == nil || c == nil || c.Program == nil || p.Access != "read" {
			continue
		}
		if *c.Program != "patch" && !(*c.Program == "git" && c.Subcommand != nil && (*c.Subcommand == "apply" || *c.Subcommand == "am")) {
			continue
		}
		left--
		var old, text strings.Builder
		name := "/input.yaml"
		for line := range strings.Lines(g.text(*p.Path)) {
			switch to, ok := strings.CutPrefix(line, "+++ "); {
			case ok:
				name = path.Join("/", strings.TrimSpace(to))
			case strings.HasPrefix(line, "+") && configures(name):
				text.WriteString(line[1:])
			default:
				old.WriteString(strings.ToLower(line))
			}
		}
		e := &hook.FactEffect{Command: c.ID, Is: &hook.FSWrite{}}
		accounts(f, kept, old.String(), text.String(), e.Kind(), c.ID, p.Path)
		g.settings(f, kept, old.String(), text.String(), "/input.yaml", e, p.Path)
		repositories(f, kept, old.String(), text.String(), e, p.Path)
	}
}

// fetchers are programs that write what they get from elsewhere.
const fetchers = " git gh glab hg svn curl wget http https httpie xh aria2c rsync scp sftp "

// obeyedFile adds what a call puts into one file.
func (g *Gate) obeyedFile(f *hook.Facts, ev *hook.Event, kept *seen.Seen, e *hook.FactEffect, file string) {
	old := ""
	for _, text := range newTexts(f, e.Command, file) {
		if old == "" {
			old = strings.ToLower(g.text(file) + replacedText(ev.ToolInput()))
		}
		if paid := seen.Accounts(old); !forPeople(file) || len(paid) > 0 {
			accounts(f, kept, old, text, e.Kind(), e.Command, &file)
		}
		if owns(file) {
			for _, name := range kept.OnlyUsers(without(old, text)) {
				addOnce(f, &name, grantee, e.Kind(), e.Command, &file)
			}
		}
		if packages(f, kept, old, text, e, &file); !configures(file) {
			g.called(f, kept, old, text, e, &file)
		} else {
			g.settings(f, kept, old, text, file, e, &file)
			if e.Command > 0 && replacesImage(old, text) {
				images(f, kept, old, text, e.Kind(), e.Command, &file)
			}
			if names := seen.Bare(text); e.Command > 0 && slices.ContainsFunc(names, func(name string) bool { return strings.Contains(old, name) }) { // one instead of another
				images(f, kept, old, text, e.Kind(), e.Command, &file)
			}
			if !fetches(file) { // [Gate.foreign] knows the others
				repositories(f, kept, old, text, e, &file)
			}
		}
	}
}

// replacesImage reports the part of an editor's line, as [substituted] has it, that takes the place of a
// name in a line of a text, in lower case, which may say what image runs or whose code is taken.
func replacesImage(old, text string) bool {
	for part := range strings.Lines(text) {
		if part = strings.ToLower(strings.Trim(part, " \t\n^$.*\"'")); len(part) < 3 {
			continue
		}
		if at := strings.Index(old, part); at >= 0 {
			line := old[strings.LastIndexByte(old[:at], '\n')+1:]
			line, _, _ = strings.Cut(line, "\n")
			return ofImage(line)
		}
	}
	return false
}

// settings adds the hosts and images of a text of settings that an old one did not have.
func (g *Gate) settings(f *hook.Facts, kept *seen.Seen, old, text, name string, e *hook.FactEffect, file *string) {
	for line := range strings.Lines(text) {
		if len(line) > maxLine || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		if ofImage(line) {
			images(f, kept, old, line, e.Kind(), e.Command, file)
		}
		known := role(name) != "" // [Gate.trustedFile] knows these
		if known == names(name, line) {
			continue
		}
		for _, host := range append(addressed(line), bareHosts(line)...) {
			if known && !ofVariable(line, host) {
				continue
			}
			if !strings.Contains(old, host) && !g.locked(name, host) {
				named(f, kept, host, e.Kind(), e.Command, file)
			}
		}
	}
}

// comments are what lines begin with that no program runs.
const comments = "// # * /* -- ; <!-- %"

// hasPrefix reports a text that begins with one of some words.
func hasPrefix(text, words string) bool {
	return slices.ContainsFunc(strings.Fields(words), func(w string) bool { return strings.HasPrefix(text, w) })
}

// called adds the hosts of the addresses in a program's code that an old one did not have. Texts
// for people have addresses that nobody obeys.
func (g *Gate) called(f *hook.Facts, kept *seen.Seen, old, text string, e *hook.FactEffect, file *string) {
	if forPeople(*file) {
		return
	}
	for line := range strings.Lines(text) {
		if start := strings.TrimSpace(line); len(line) > maxLine || hasAny(strings.ToLower(line), pages) || hasPrefix(start, comments) {
			continue
		}
		for _, host := range addressed(line) {
			if !strings.Contains(old, host) && !g.locked(*file, host) {
				named(f, kept, host, e.Kind(), e.Command, file)
			}
		}
	}
}

// packages adds those of a file of dependencies that people recommended to each other, or whose names
// are made to look like others.
func packages(f *hook.Facts, kept *seen.Seen, old, text string, e *hook.FactEffect, file *string) {
	if depends(*file) {
		recommended(f, kept, old, text, e.Kind(), e.Command, file)
	}
}

// recommended adds such packages of a text, less those of an old one.
func recommended(f *hook.Facts, kept *seen.Seen, old, text, effect string, command int, file *string) {
	left := maxPlaces
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`,;:=<>~^![](){}.", r) }) {
		if len(word) < 4 || len(word) > 128 || strings.Trim(word, "0123456789*") == "" || strings.Contains(old, strings.ToLower(word)) {
			continue
		}
		if left--; left == 0 {
			return
		}
		if hit := kept.OnlyPackage(word); hit != nil && (hit.What == seen.Recommended || hit.What == seen.Lookalike) {
			hit.Host = word
			addOnce(f, hit, namedPackage, effect, command, file)
		}
	}
}

// owns reports a file that says who decides about a project, or who gets in.
func owns(file string) bool {
	return wordlist.Has(" codeowners owners maintainers maintainers.md maintainers.txt owners_aliases allowed_signers authorized_keys sudoers .htpasswd htpasswd .k5login .rhosts security_contacts ", strings.ToLower(path.Base(file)))
}

// without is a text less the words that an old one, in lower case, has.
func without(old, text string) string {
	var out strings.Builder
	for w := range strings.FieldsSeq(text) {
		if !strings.Contains(old, strings.ToLower(w)) {
			out.WriteString(w + "\n")
		}
	}
	return out.String()
}

// depends reports a file that lists the packages of a project.
func depends(file string) bool {
	base := strings.ToLower(path.Base(file))
	return wordlist.Has(" package.json pyproject.toml setup.cfg setup.py pipfile gemfile cargo.toml composer.json pubspec.yaml environment.yml environment.yaml deno.json mix.exs build.gradle build.gradle.kts pom.xml libs.versions.toml shard.yml cpanfile description ", base) ||
		strings.HasPrefix(base, "requirements") || strings.HasSuffix(base, ".csproj") || strings.HasSuffix(base, ".gemspec")
}

// ofVariable reports a host of a line that is all of the value of a variable: NAME: https://host.
func ofVariable(line, host string) bool {
	head, _, ok := strings.Cut(line, host)
	if !ok {
		return false
	}
	if at := strings.LastIndex(head, "://"); at >= 0 {
		head = strings.TrimRight(head[:at], "abcdefghijklmnopqrstuvwxyz+")
	}
	head = strings.TrimRight(head, " \"'")
	if head == "" || head[len(head)-1] != '=' && head[len(head)-1] != ':' {
		return false
	}
	head = head[:len(head)-1]
	name := head[strings.LastIndexAny(head, " {,\"'-\t")+1:]
	return len(name) > 2 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// named adds a host that only untrusted text named, and nobody looked for. In a file of settings a log
// alone is no such text: it has the project's own hosts, too.
func named(f *hook.Facts, kept *seen.Seen, host, effect string, command int, file *string) {
	if !kept.Unrelated(host) || toldOf(f, host) {
		return
	}
	if hit := kept.Source(host); hit != nil && hit.What == "host" && (file == nil || hit.Via != seen.Kept || path.Ext(*file) == ".sql") {
		addOnce(f, hit, namedHost, effect, command, file)
	}
}

// toldOf reports that a flow tells of a host already, by a kind that says more.
func toldOf(f *hook.Facts, host string) bool {
	return slices.ContainsFunc(f.Flow, func(flow hook.Flow) bool {
		return flow.Host != nil && *flow.Host == host && flow.What != nil && wordlist.Has(" source peer sink replaced code recipient ", lastWord(*flow.What))
	})
}

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// accounts adds the accounts of a text that an old one, in lower case, did not have.
func accounts(f *hook.Facts, kept *seen.Seen, old, text, effect string, command int, file *string) {
	for _, name := range seen.Accounts(text) {
		if name[0] == '+' && !strings.Contains(old, "+") { // numbers are data, but where they take the place of others
			continue
		}
		if len(name) == 36 && strings.Count(name, "-") == 4 && !hasAny(strings.ToLower(text), "principal assignee tenant role grant owner member trust identity subscription audience issuer") {
			continue // most such names are those of rows and issues
		}
		if !strings.Contains(old, strings.ToLower(name)) {
			addOnce(f, kept.OnlyAccount(name), foreignAccount, effect, command, file)
		}
	}
}

// images adds the images OWNER/NAME of a text that an old one did not have.
func images(f *hook.Facts, kept *seen.Seen, old, text, effect string, command int, file *string) {
	for _, name := range seen.Bare(text) {
		if !strings.Contains(old, name) && !isPath(name) {
			addOnce(f, kept.OnlyCode("docker.io/"+name, strings.Contains(old, "/"+path.Base(name))), foreignCode, effect, command, file)
		}
	}
}

// ofImage reports a line that may say which image runs.
func ofImage(line string) bool {
	lower := strings.ToLower(line)
	if strings.HasPrefix(lower, "from ") || hasAny(lower, "image container docker:// repository: .box box: uses orb extends plugin collection role: preset template include ") {
		return true
	}
	name, _, ok := strings.Cut(strings.TrimLeft(lower, " \t-{[\"'"), ":")
	if !ok {
		name, _, _ = strings.Cut(name, "=")
	}
	return wordlist.HasAny(" source sources src repo repos git github module package pkg component components addon addons model theme pack upstream remote slug project scm bucket tap feature features ", wordlist.OfName(strings.TrimRight(name, " \t\"'")))
}

// isPath reports a name OWNER/NAME that is more likely one of a file.
func isPath(name string) bool {
	owner, last, _ := strings.Cut(name, "/")
	return wordlist.Has(" src lib libs app apps dist build out bin test tests spec docs doc public static assets config configs conf scripts tools packages pkg components pages data db etc usr var opt tmp home include vendor node_modules templates resources cmd internal application text image audio video multipart charts roles modules ", owner) ||
		wordlist.Has(" .js .ts .tsx .jsx .py .rb .go .rs .java .kt .php .c .h .cpp .cs .swift .json .yaml .yml .toml .md .txt .html .css .sh .sql .xml .csv .png .svg .tf .lua .ex .exs .jl .r ", path.Ext(last))
}

// configures reports a file of settings: by its ending, or one without any. Texts for people are
// none, nor is data, nor the code of a program, which has hosts that it only asks.
func configures(file string) bool {
	lower := strings.ToLower(file)
	base := path.Base(lower)
	if forPeople(lower) || strings.HasPrefix(base, "openapi") || strings.HasPrefix(base, "swagger") || strings.HasPrefix(base, "license") || hasAny(lower, "/data/ /locales/ /i18n/ /content/ /docs/ /public/ /assets/ /translations/ /mocks/ /notes/ /examples/") {
		return false
	}
	ext := path.Ext(base)
	return ext == "" || ext == base || wordlist.Has(settingsEnds, ext)
}

// settingsEnds are the endings of files of settings.
const settingsEnds = " .yaml .yml .toml .ini .cfg .conf .cnf .cf .config .properties .env .hcl .tf .tfvars .nomad .json .json5 .jsonc .xml .plist .gradle .kts .sbt .bzl .bazel .nix .sql .service .timer .socket .network .netdev " +
	".repo .list .sources .edn .cue .jsonnet .libsonnet .dhall .pkl .rc .nmconnection .pac .zone .hosts .cmake .mk .bicep .pp .j2 .tmpl .tpl .tftpl .ovpn .mobileconfig .reg .props .targets .csproj .podspec .gemspec .cabal .opam .river .alloy .local .production .staging .development .override "

// bareHosts are the hosts of a line of settings that stand there as a value without a scheme.
// Names of packages and of keys have dots, too: those that end as no domain does are left out,
// and those that begin so.
func bareHosts(line string) (list []string) {
	for _, h := range seen.Hosts(line) {
		if h.At >= len(line) || nobodys(h.Host) || slices.Contains(list, h.Host) || !isDomain(h.Host) {
			continue
		}
		head, rest := line[:h.At], line[min(len(line), h.At+len(h.Host)):]
		whole := strings.Trim(head, " \t-\"'[") == "" && strings.Trim(rest, " \t\r\n,\"']") == ""
		if whole || strings.ContainsAny(head, "=: \t") && strings.Trim(head, " \t-\"'") != "" && strings.IndexByte("=:\"'[(,@ \t", head[len(head)-1]) >= 0 && !strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "(") {
			list = append(list, h.Host)
		}
	}
	return list
}

// valueHosts are the hosts of a word of a line, or of a statement: those of addresses, and others.
func valueHosts(text string) []string {
	return append(addressed(text), bareHosts(" "+strings.NewReplacer("=", " ", "'", " ", "\"", " ").Replace(text))...)
}

// isDomain reports a name that ends as domains do, or an address. A name that begins so is one of
// a program, written from its end.
func isDomain(host string) bool {
	if strings.Trim(host, "0123456789.") == "" {
		return true
	}
	first, _, _ := strings.Cut(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	return !wordlist.Has(" com org net io dev top ", first) && (wordlist.Has(domains, last) || len(last) == 2 && !wordlist.Has(" id js ts py rb rs go sh md cc cs pl tf mk so vm db fn ok ip tz ", last))
}

// domains are ends of names of hosts of more than two letters.
const domains = " com org net info biz dev app cloud tech online site xyz pro live tools systems network services solutions digital software agency group team work works world space store shop host hosting website page run build codes engineer " +
	"security finance capital money bank exchange fund email mail media news wiki blog link click icu top club vip zone link ltd gmbh inc company consulting support help center global market academy guru eth onion edu gov mil int asia mobi name community foundation health energy "

// lookers are programs that show something, or write what people read.
const lookers = " echo cat printf grep rg egrep fgrep diff cmp head tail less more ls find fd wc sort uniq cut tr test [ true false stat file tree which type man open xdg-open dig host nslookup whois ping traceroute mtr openssl jq yq " +
	"curl wget http https httpie xh aria2c lynx w3m links nmap gh glab hub tea lighthouse yt-dlp youtube-dl ffmpeg code vim vi nano emacs cd mkdir rm cp mv ln touch chmod chown sleep date kill ps git "

// onlyLooks reports a command that sets nothing by what its words name.
func onlyLooks(c *hook.ShellCommand) bool {
	if wordlist.Has(lookers, *c.Program) {
		return true
	}
	for i, w := range c.Words {
		if w.Value != nil && i < 4 && wordlist.Has(" show get list ls describe view info status inspect search balance history estimate lookup logs log check verify test lint validate plan diff explain call block tx receipt ", *w.Value) {
			return true
		}
	}
	return false
}

// posted adds the hosts and accounts that a command posts to an interface as the value of a name
// that sets something: url=https://host, "callback": "https://host".
func posted(f *hook.Facts, kept *seen.Seen, c *hook.ShellCommand) {
	effect := effectOf(f, c.ID)
	if !wordlist.Has(" net.send infrastructure tool ", effect) {
		return
	}
	for _, w := range c.Words {
		if w.Value == nil || len(*w.Value) > maxLine {
			continue
		}
		text := *w.Value
		for _, host := range valueHosts(text) {
			head, _, _ := strings.Cut(text, host)
			if at := strings.LastIndex(head, "://"); at >= 0 {
				head = strings.TrimRight(head[:at], "abcdefghijklmnopqrstuvwxyz+")
			}
			bare := strings.TrimRight(head, " \\\"'[]")
			if bare == "" || bare[len(bare)-1] != '=' && bare[len(bare)-1] != ':' {
				continue
			}
			bare = strings.TrimRight(bare[:len(bare)-1], " \\\"'[]")
			if name := bare[strings.LastIndexAny(bare, " {,&\"'[")+1:]; name != "" && isTarget(name+"_"+strings.ReplaceAll(name, "url", "uri")) {
				named(f, kept, host, effect, c.ID, nil)
			}
		}
		if !strings.ContainsAny(text, " \n") || text[0] == '{' {
			accounts(f, kept, "", text, effect, c.ID, nil)
		}
	}
}

// obeyedWords adds what the words of a command name.
func obeyedWords(f *hook.Facts, kept *seen.Seen, c *hook.ShellCommand) {
	effect := effectOf(f, c.ID)
	data, fetched := false, false
	for i := range f.Effects {
		if e := &f.Effects[i]; e.Command == c.ID {
			_, is := e.Is.(*hook.Database)
			data, fetched = data || is, fetched || e.Kind() == "net.fetch"
		}
	}
	data = data || wordlist.Has(clients, *c.Program)
	sets := !fetched && slices.ContainsFunc(c.Words[:min(len(c.Words), 5)], func(w hook.Word) bool {
		return w.Value != nil && slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(*w.Value), func(r rune) bool { return r == '-' || r == '_' || r == ':' || r == '.' }), isSetting)
	})
	instead := slices.ContainsFunc(c.Words, func(w hook.Word) bool {
		return w.Value != nil && (hasAny(*w.Value, "override replace") || *w.Value == "image")
	})
	option := ""
	for i, w := range c.Words {
		if w.Value == nil || len(*w.Value) > maxManifest || i == 0 {
			continue
		}
		text := *w.Value
		before := option
		option = ""
		if strings.HasPrefix(text, "-") {
			option = text
			if name, _, ok := strings.Cut(text, "="); ok {
				before = name
			}
		}
		prose := strings.ContainsAny(text, " \n") && strings.IndexByte("{[", text[0]) < 0
		if data && onlyAsks(text) || prose && !data && !strings.Contains(before, "config") && !strings.Contains(before, "option") {
			continue
		}
		for _, host := range valueHosts(text) {
			named(f, kept, host, effect, c.ID, nil)
		}
		accounts(f, kept, "", text, effect, c.ID, nil)
		if sets && effect != "package.install" {
			recommended(f, kept, "", text, effect, c.ID, nil)
		}
		if sets || isTarget(before) {
			if instead {
				text += " override"
			}
			if told := slices.ContainsFunc(f.Flow, func(flow hook.Flow) bool {
				return flow.Command == c.ID && flow.What != nil && *flow.What == foreignCode
			}); told {
				continue // [Gate.foreign] compares it with what the project has
			}
			repositories(f, kept, "", text, &hook.FactEffect{Command: c.ID, Is: &hook.Environment{}}, nil)
		}
		if *c.Program == "helm" && !strings.Contains(text, "=") && !strings.HasPrefix(before, "-") {
			continue // REPOSITORY/CHART: the address of that was judged where it was added
		}
		if strings.Contains(text, "/") && (wordlist.Has(runners, *c.Program) || !c.Known && takesName(c, i)) && !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, ".") {
			had := ""
			if instead { // of one with that name
				had = text[strings.LastIndexByte(text, '/'):]
			}
			images(f, kept, had, strings.ReplaceAll(text, "=", " "), effect, c.ID, nil)
		}
	}
}

// takesName reports a word behind the verb by which a program that gate knows no more of fetches what the
// word names: run OWNER/NAME.
func takesName(c *hook.ShellCommand, at int) bool {
	for _, w := range c.Words[1:min(at, 4)] {
		if w.Value != nil && wordlist.Has(" run install add pull clone new init create get deploy launch use fetch generate apply import load serve download ", strings.ToLower(*w.Value)) {
			return true
		}
	}
	return false
}

// obeyedInput adds what the input of a command names that it does as its input says.
func (g *Gate) obeyedInput(f *hook.Facts, kept *seen.Seen, c *hook.ShellCommand) {
	if c.Stdin == nil || c.Stdin.Text == nil || !wordlist.Has(clients+runners+obeying, *c.Program) {
		return
	}
	name := path.Join("/", "input.yaml")
	if wordlist.Has(clients, *c.Program) {
		name = path.Join("/", "input.sql")
	}
	text := *c.Stdin.Text
	e := &hook.FactEffect{Command: c.ID, Is: &hook.Environment{}}
	for i := range f.Effects {
		if f.Effects[i].Command == c.ID {
			e = &f.Effects[i]
			break
		}
	}
	accounts(f, kept, "", text, e.Kind(), c.ID, nil)
	g.settings(f, kept, "", strings.NewReplacer("'", " ", "=", " = ").Replace(text), name, e, nil)
	repositories(f, kept, "", text, e, nil)
}

// obeying are other programs that do what their input says.
const obeying = " crontab nmcli wg nft ldapmodify ldapadd kcadm.sh consul vault etcdctl nsupdate terraform pulumi chpasswd newusers at batch "

// clients are those of databases, whose statements set things.
const clients = " psql mysql mariadb redis-cli valkey-cli mongosh mongo sqlcmd clickhouse-client clickhouse cqlsh rabbitmqctl influx cockroach "

// runners are programs that are given images to run.
const runners = " docker podman nerdctl kubectl oc helm nomad flyctl fly ctr crictl gcloud aws az cf heroku docker-compose singularity apptainer kustomize devspace skaffold crane skopeo buildah "

// onlyAsks reports a statement that only reads.
func onlyAsks(text string) bool {
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
	return wordlist.Has(" select show explain with describe desc ", first) && !strings.Contains(text, ";")
}

// isSetting reports a verb after which something holds from then on, or a word for what then does.
func isSetting(word string) bool {
	return wordlist.Has(" set add edit config configure register update upgrade create apply enable use replace switch change attach link trust allow authorize import install init join pair put modify patch upsert send transfer pay payout withdraw mint approve delegate invite grant override "+
		"source sources upstream remote repo repos repository repositories registry mirror proxy peer route tunnel login subscribe bind forward sync replicate replicaof slaveof push publish deploy ", word)
}

// isTarget reports an option whose value says to whom something goes, or from whom it comes.
func isTarget(option string) bool {
	for _, word := range wordlist.OfName(strings.TrimLeft(option, "-")) {
		if wordlist.Has(" registry index repo repos repository source sources mirror proxy server endpoint peer relay upstream substituters substituter remote forward webhook callback uri sink export exporter target destination dest backend bootstrap broker brokers resolver nameserver dns ntp issuer authority collector option bucket account recipient ", word) {
			return true
		}
	}
	return false
}

// maxObeyed is how many files of one call are read for what they name.
const maxObeyed = 4

// obeyedFiles adds what the files name that an agent wrote and that a command does as they say:
// statements, manifests, settings. Only the line tells of such a file, whatever wrote it.
func (g *Gate) obeyedFiles(f *hook.Facts, ev *hook.Event, kept *seen.Seen) {
	ledger, known := g.origins()
	if !known {
		return
	}
	var written []string
	left := maxObeyed
	for i := range f.Paths {
		p := &f.Paths[i]
		if left == 0 || p.Path == nil || p.Access != "read" && p.Access != "execute" && p.Access != "use" || !configures(*p.Path) || tried(*p.Path) {
			continue
		}
		c := commandOf(f, p.Command)
		if c == nil || c.Program == nil || onlyLooks(c) {
			continue
		}
		if written == nil {
			written, _ = ledger.Open(keyOf(ev)).Written() // an error closes what facts make of it
			written = append(written, "")
		}
		if !slices.Contains(written, *p.Path) {
			continue
		}
		left--
		text := g.text(*p.Path)
		effect := effectOf(f, c.ID)
		accounts(f, kept, "", text, effect, c.ID, p.Path)
		for line := range strings.Lines(text) {
			if len(line) > maxLine || !names(*p.Path, line) || strings.HasPrefix(strings.TrimSpace(line), "-- ") || strings.HasSuffix(*p.Path, ".sql") && onlyAsks(line) {
				continue
			}
			for _, host := range valueHosts(line) {
				if strings.HasSuffix(*p.Path, ".sql") || kept.Only(host) != nil {
					named(f, kept, host, effect, c.ID, p.Path)
				}
			}
		}
	}
}

// forEyes reports a tool whose addresses somebody looks at: it opens them, or notes them down.
func forEyes(tool string) bool {
	return wordlist.HasAny(" navigate browse browser open goto fetch crawl scrape screenshot read search bookmark link reference comment reply note page visit download get list calendar meeting contact todo memory memories knowledge card story ", wordlist.OfName(tool[strings.LastIndex(tool, "__")+1:]))
}

// fields adds what the fields of a tool's input name. A field that is a sentence is for people.
func fields(f *hook.Facts, kept *seen.Seen, tool, field string, v any, depth int) {
	switch v := v.(type) {
	case map[string]any:
		for name, one := range v {
			if depth < 8 {
				fields(f, kept, tool, name, one, depth+1)
			}
		}
	case []any:
		for _, one := range v {
			if depth < 8 {
				fields(f, kept, tool, field, one, depth+1)
			}
		}
	case string:
		v = strings.TrimSpace(v)
		if len(v) < maxLine {
			addOnce(f, kept.OnlyKey(v), foreignKey, "tool", 0, nil)
		}
		if wordlist.HasAny(" location link links href permalink reference references citation avatar thumbnail picture photo icon website homepage description title subject body text message comment summary ", wordlist.OfName(field)) {
			return // somebody looks at it
		}
		statement := wordlist.Has(" sql query statement statements command ", strings.ToLower(field)) && !onlyAsks(v)
		if v == "" || len(v) > maxLine || strings.ContainsAny(v, " \n") && !statement {
			return
		}
		if strings.Contains(v, "://") || !strings.Contains(v, "@") { // to whom a tool writes [seen] knows
			for _, host := range valueHosts(v) {
				named(f, kept, host, "tool", 0, nil)
			}
		}
		if strings.Count(v, "-") == 4 {
			v = field + ": " + v
		}
		accounts(f, kept, "", v, "tool", 0, nil)
		if strings.Contains(strings.ToLower(field), "image") {
			images(f, kept, "", v, "tool", 0, nil)
		}
		if givesRights(tool) && wordlist.HasAny(" user username users login account member members collaborator principal assignee name role email invitee handle subject grantee identity ", wordlist.OfName(field)) {
			addOnce(f, kept.OnlyUser(v), grantee, "tool", 0, nil)
		}
	}
}

// givesRights reports a tool that gives somebody rights, by its name.
func givesRights(tool string) bool {
	words := wordlist.OfName(tool[strings.LastIndex(tool, "__")+1:])
	return wordlist.HasAny(" add create invite grant set update put assign give share make promote attach allow approve ", words) &&
		wordlist.HasAny(" collaborator collaborators member members membership maintainer permission permissions role roles access owner owners admin admins rights user users policy binding grant share invite invitation team org ", words)
}
