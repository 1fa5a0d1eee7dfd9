package core

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/secret"
	"gate/internal/seen"
	"gate/internal/wordlist"
)

// These are the limits of what a call reads of what it hands to others, beside those of [Gate.sent].
const (
	maxValueFiles = 8  // files of secrets whose values are looked for
	maxValues     = 64 // of those
	leastValue    = 10 // bytes of a value
)

// handsAway adds what a command hands to others by a file or a directory of its line: values of the
// project's own files of secrets that a build has put into what it makes, and rows about people. Any
// program counts that sends, publishes or deploys, by its effects, its name or its words.
func (g *Gate) handsAway(f *hook.Facts, ev *hook.Event, kept *seen.Seen) {
	if f == nil || f.Shell == nil {
		return
	}
	left := maxSentFiles
	var values []string
	known := false
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		if c.Program == nil || c.Dir == nil || left <= 0 {
			continue
		}
		out := handsOut(f, c)
		host := foreignPeer(f, kept, c)
		if out == "" && host == "" {
			continue
		}
		if !known {
			values, known = g.secretValues(*c.Dir, path.Clean(ev.Text("cwd"))), true
		}
		targets := g.handedFiles(f, c)
		if out == "publishes" && !slices.ContainsFunc(targets, g.isDir) {
			targets = append(targets, g.builtDirs(*c.Dir)...)
		}
		found, looked := false, 0
		look := func(name string) bool {
			left--
			looked++
			text := g.textOf(name, maxSentFile)
			what, certain := "", true
			if g.Reader.Secret(name) == "" && slices.Contains(targets, name) && host != "" && out == "" {
				what, certain = g.inside(name, host)
			}
			if what != "" {
				found = true
				f.Flow = append(f.Flow, hook.Flow{Effect: "net.send", Command: c.ID, Origin: seen.Secret, What: &what, Path: &name, Via: []string{}, How: "file", Coarse: !certain})
			} else if what := valueIn(text, values, out != ""); what != "" {
				found = true
				f.Flow = append(f.Flow, hook.Flow{Effect: "net.send", Command: c.ID, Origin: seen.Secret, What: &what, Path: &name, Via: []string{}, How: "file"})
			} else if what := g.compiledIn(kept, name, *c.Dir); what != "" && out != "" && slices.Contains(targets, name) {
				found = true
				f.Flow = append(f.Flow, hook.Flow{Effect: "net.send", Command: c.ID, Origin: seen.Secret, What: &what, Path: &name, Via: []string{}, How: "file"})
			} else if !tried(name) && ofData(name) && (seen.HasPeople(text) || seen.ListsPeople(text)) {
				found = true
				what := seen.People
				f.Flow = append(f.Flow, hook.Flow{Effect: "net.send", Command: c.ID, Origin: seen.Secret, What: &what, Path: &name, Via: []string{}, How: "file"})
			}
			return !found && left > 0
		}
		for _, name := range targets {
			if left <= 0 || found {
				break
			}
			if g.isDir(name) {
				g.listed(name, "", look)
			} else {
				look(name)
			}
		}
		if file := ""; out == "publishes" && !found && (looked == 0 || builds(f)) {
			if file = g.inliner(ev, *c.Dir); file != "" {
				what := "values of the environment that a build puts into what it makes"
				f.Flow = append(f.Flow, hook.Flow{Effect: "net.send", Command: c.ID, Origin: seen.Secret, What: &what, Path: &file, Via: []string{}, How: "file", Coarse: true})
			}
		}
	}
}

// maxCompiled is how much of a program is looked through for what was compiled into it, in bytes.
const maxCompiled = 4 << 20

// compiledIn is the kind of a secret that stands in a program or an image of one: a value that the
// agent was shown, or one that a header or a module for secrets gives a name. "" is none.
func (g *Gate) compiledIn(kept *seen.Seen, name, dir string) string {
	text := g.textOf(name, maxCompiled)
	if !strings.HasPrefix(text, "\x7fELF") && strings.IndexByte(text[:min(len(text), 512)], 0) < 0 && !wordlist.Has(codeEnds, strings.ToLower(path.Ext(name))) {
		return ""
	}
	if kept != nil {
		if what := kept.Has(text); what != "" {
			return what
		}
	}
	left := maxValueFiles
	for _, place := range strings.Fields(". src include main app app/src lib config firmware firmware/src") {
		for _, entry := range g.namesOf(path.Join(dir, place)) {
			base := strings.ToLower(strings.TrimLeft(entry, "_."))
			if left == 0 || !hasAny(base, "secret credential private wifi password") || path.Ext(base) == ".md" {
				continue
			}
			left--
			for line := range strings.Lines(g.text(path.Join(dir, place, entry))) {
				name, value := namedText(line)
				if secret.Promises(name) && !public(name, value) && !secret.Harmless(value) && strings.Contains(text, value) {
					return looksSecret
				}
			}
		}
	}
	return ""
}

// namedText is the first text of a line of a program and the name that it has: #define NAME "text",
// NAME[] = "text". Texts of fewer than 10 bytes are none.
func namedText(line string) (name, value string) {
	head, rest, _ := strings.Cut(line, `"`)
	value, _, closed := strings.Cut(rest, `"`)
	if !closed || len(value) < 10 || len(line) > maxLine {
		return "", ""
	}
	isName := func(r rune) bool {
		return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	if end := strings.IndexAny(head, ":=["); end >= 0 { // what follows is a type
		head = head[:end]
	}
	head = strings.TrimRightFunc(head, func(r rune) bool { return !isName(r) })
	return head[strings.LastIndexFunc(head, func(r rune) bool { return !isName(r) })+1:], value
}

// handsOut says how a command hands out what it is given: "publishes" for one that makes a directory
// public, "sends" for another, "" for none.
func handsOut(f *hook.Facts, c *hook.ShellCommand) string {
	if wordlist.Has(" git make cargo npm yarn pnpm docker podman kubectl helm terraform pip ", *c.Program) {
		return ""
	}
	how := ""
	for i := range f.Effects {
		e := &f.Effects[i]
		if e.Command != c.ID {
			continue
		}
		switch is := e.Is.(type) {
		case *hook.NetSend:
			if is.Private {
				return ""
			}
			how = "sends"
		case *hook.PackagePublish:
			how = "sends"
		case *hook.Infrastructure:
			if is.Verb != nil && strings.Contains(*is.Verb, "deploy") {
				return "publishes"
			}
		}
	}
	for i, w := range c.Words {
		if w.Value == nil || i > 3 || strings.HasPrefix(*w.Value, "-") || len(*w.Value) > maxHead {
			continue
		}
		word := strings.ToLower(path.Base(*w.Value))
		if at := strings.LastIndexByte(word, '@'); at > 0 { // a version
			word = word[:at]
		}
		if i == 0 || !c.Known || wordlist.Has(" npx bunx pnpx uvx pipx dlx ", *c.Program) || how != "" {
			if wordlist.Has(publishers, word) {
				return "publishes"
			}
		}
		if !c.Known || how != "" {
			if parts := wordlist.OfName(strings.NewReplacer(":", "_", "-", "_", ".", "_").Replace(word)); wordlist.HasAny(" deploy publish pages site ", parts) {
				return "publishes"
			} else if wordlist.HasAny(" upload push sync share send submit artifact artifacts produce producer pub import ingest put post transfer export ", parts) {
				how = "sends"
			}
		}
	}
	return how
}

// publishers are programs that make a directory public as pages.
const publishers = " surge gh-pages netlify netlify-cli ntl vercel vc now wrangler firebase firebase-tools neocities tiiny tiiny-host deployctl amplify swa @azure/static-web-apps-cli fleek ipfs-deploy ipfs-car here-now static-web-apps-cli render-cli deta pagedrop kinsta bunny statically angular-cli-ghpages push-dir gitlab-pages "

// foreignPeer is the peer of another network that the words of a command name as theirs, "" for
// none: for a program that gate knows no more of. One that a prompt names is the person's choice.
func foreignPeer(f *hook.Facts, kept *seen.Seen, c *hook.ShellCommand) string {
	if wordlist.Has(lookers+clients+" ssh nc ncat npm pip docker kubectl helm ping terraform ", *c.Program) {
		return ""
	}
	for i, w := range c.Words {
		if w.Value == nil || i == 0 || len(*w.Value) > maxLine || strings.ContainsAny(*w.Value, "\n{") {
			continue
		}
		for _, part := range strings.FieldsFunc(*w.Value, func(r rune) bool { return strings.ContainsRune(",=;'\"", r) }) {
			if at := strings.Index(part, "://"); at >= 0 {
				part = part[at+3:]
			}
			part = part[strings.LastIndexByte(part, '@')+1:]
			if end := strings.IndexAny(part, "/:?"); end >= 0 {
				part = part[:end]
			}
			if hosts := seen.Hosts(part); len(hosts) == 1 && hosts[0].Host == strings.ToLower(part) && isDomain(part) && !near(part) && !nobodys(part) && (kept == nil || !kept.Asked(part)) {
				return part
			}
		}
	}
	return ""
}

// handedFiles are the files and directories that the words of a command name, and its input.
func (g *Gate) handedFiles(f *hook.Facts, c *hook.ShellCommand) (list []string) {
	add := func(name string) {
		if name == "" || len(name) > maxLine || strings.ContainsAny(name, " \n*?") || strings.Contains(name, "://") || name == "." {
			return
		}
		if full := absolute(*c.Dir, name); len(list) < maxRuns && !slices.Contains(list, full) && (g.isDir(full) || g.textOf(full, maxSentFile) != "") {
			list = append(list, full)
		}
	}
	for i, w := range c.Words {
		if w.Value == nil || i == 0 {
			continue
		}
		add(*w.Value)
		if _, value, ok := strings.Cut(*w.Value, "="); ok {
			add(strings.TrimPrefix(value, "@"))
		}
		if at := strings.IndexByte(*w.Value, '@'); at >= 0 {
			add((*w.Value)[at+1:])
		}
	}
	for i := range f.Paths {
		if p := &f.Paths[i]; p.Command == c.ID && p.Path != nil && (p.Access == "read" || p.Access == "list" || p.Access == "use") && !p.Glob {
			add(*p.Path)
		}
	}
	if c.Stdin != nil && c.Stdin.Path != nil {
		add(*c.Stdin.Path)
	}
	if c.Stdin != nil && c.Stdin.Command > 0 {
		if before := commandOf(f, c.Stdin.Command); before != nil && before.Dir != nil && before.Program != nil && wordlist.Has(" cat jq head tail sed awk cut gzip base64 tr split ", *before.Program) {
			for i := range f.Paths {
				if p := &f.Paths[i]; p.Command == before.ID && p.Path != nil && p.Access == "read" && !p.Glob {
					add(*p.Path)
				}
			}
		}
	}
	return list
}

// builtDirs are the directories, as seen from one, into which tools build what is published.
func (g *Gate) builtDirs(dir string) (list []string) {
	for _, name := range strings.Fields("dist build out public _site site .output/public www docs/.vitepress/dist docs/_build/html docs/build storybook-static target/site .next/static") {
		if full := path.Join(dir, name); g.isDir(full) {
			list = append(list, full)
		}
	}
	return list
}

// secretValues are the values that promise a secret in the files of secrets of some directories, with
// their kinds before them. What a name says to be public is none.
func (g *Gate) secretValues(dirs ...string) (list []string) {
	left := maxValueFiles
	for i, dir := range dirs {
		if slices.Contains(dirs[:i], dir) {
			continue
		}
		for _, entry := range g.namesOf(dir) {
			name := path.Join(dir, entry)
			what := g.Reader.Secret(name)
			if what == "" || left == 0 {
				continue
			}
			left--
			for _, line := range strings.Split(g.text(name), "\n") {
				key, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
				if !ok {
					key, value, _ = strings.Cut(line, ":")
				}
				value = strings.Trim(strings.TrimSpace(value), `"',`)
				if len(value) >= leastValue && len(list) < maxValues && !secret.Harmless(value) && secret.Promises(strings.TrimSpace(key)) && !public(key, value) && !strings.ContainsAny(value, " ${") {
					list = append(list, what+"\x00"+value)
				}
			}
		}
	}
	return list
}

// public reports a value that a page may have, by its name or its form.
func public(name, value string) bool {
	words := wordlist.OfName(strings.TrimSpace(name))
	if wordlist.HasAny(" secret private password passwd ", words) {
		return false
	}
	return wordlist.HasAny(" public publishable anon vite next nuxt react gatsby expo vue ng client measurement site sitekey ", words) ||
		strings.HasPrefix(value, "pk_") || strings.HasPrefix(value, "pk.") || strings.HasPrefix(value, "AIza")
}

// valueIn is the kind of the first of some values that a text has, "" for none.
func valueIn(text string, values []string, sends bool) string {
	if text == "" || !sends {
		return ""
	}
	for _, v := range values {
		if what, value, _ := strings.Cut(v, "\x00"); strings.Contains(text, value) {
			return what
		}
	}
	return ""
}

// ofData reports a file of data, by its name.
func ofData(name string) bool {
	return !strings.HasSuffix(name, "/") && wordlist.Has(" .csv .tsv .psv .json .jsonl .ndjson .txt .xml .parquet .dat .out .log .avro .arrow .orc .xls .xlsx .sql .yaml .yml .vcf .ldif .db .md .html ", strings.ToLower(path.Ext(name)))
}

// builds reports a call one of whose commands builds.
func builds(f *hook.Facts) bool {
	for i := range f.Shell.Commands {
		for n, w := range f.Shell.Commands[i].Words {
			if n < 4 && w.Value != nil && wordlist.HasAny(" build generate export bundle ", wordlist.OfName(*w.Value)) {
				return true
			}
		}
	}
	return false
}

// maxInliners is how many files that agents wrote are looked at for what a build puts into its output.
const maxInliners = 16

// inliner is a file by which a build puts secrets of the environment into what it makes, "" for none:
// settings that an agent wrote, or a file of secrets with names that mean both.
func (g *Gate) inliner(ev *hook.Event, dir string) string {
	if ledger, known := g.origins(); known {
		written, _ := ledger.Open(keyOf(ev)).Written()
		for _, file := range written[:min(len(written), maxInliners)] {
			if wordlist.Has(" .js .ts .mjs .cjs .mts .json .toml .sh .yaml .yml ", path.Ext(file)) || path.Base(file) == "Makefile" {
				text := g.text(file)
				if inlinesAll(text) || slices.ContainsFunc(inlined(text), func(name string) bool { return secret.Promises(name) && !public(name, "") }) {
					return file
				}
			}
		}
	}
	for _, name := range strings.Fields(".env .env.local .env.production .env.production.local") {
		file := path.Join(dir, name)
		for _, line := range strings.Split(g.text(file), "\n") {
			key, _, ok := strings.Cut(line, "=")
			words := wordlist.OfName(strings.TrimSpace(key))
			if ok && len(words) > 1 && wordlist.HasAny(" vite next nuxt react gatsby expo vue public ", words[:2]) && wordlist.HasAny(" secret private password ", words) {
				return file
			}
		}
	}
	return ""
}

// inlinesAll reports settings that put the whole environment into pages.
func inlinesAll(text string) bool {
	plain := strings.NewReplacer(" ", "", "\n", "", "\t", "", `"`, "'").Replace(text)
	return hasAny(plain, "envPrefix:'' envPrefix:['' JSON.stringify(process.env) 'process.env':process.env 'process.env':JSON.stringify(env) define:{...process.env env:{...process.env env:process.env, env:process.env} --define:process.env= Object.keys(process.env) Object.entries(process.env)") ||
		strings.Contains(plain, "loadEnv(") && strings.Contains(plain, ",'')")
}

// inlined are the variables of the environment that settings put into pages by their names.
func inlined(text string) (names []string) {
	for _, mark := range [...]string{"JSON.stringify(process.env.", "JSON.stringify(env.", "--define:"} {
		for _, rest := range strings.Split(text, mark)[1:] {
			if end := strings.IndexAny(rest, ")= \n"); end > 0 && len(names) < maxValues {
				names = append(names, rest[strings.LastIndexByte(rest[:end], '.')+1:end])
			}
		}
	}
	return names
}

// namesOf are the names in a directory, of at most 512.
func (g *Gate) namesOf(dir string) (names []string) {
	if g.Files == nil {
		names, _ = hostNames(dir)
	} else if files, ok := g.Files.(interface {
		ReadDir(string, int) ([]fs.DirEntry, error)
	}); ok {
		entries, _ := files.ReadDir(dir, maxEntries)
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names
}
