package facts

import (
	"strings"

	"gate/hook"
)

// special returns the function a row names for what a table cannot say.
func special(name string) func(*use) {
	switch name {
	case "git.push":
		return (*use).gitPush
	case "git.checkout":
		return (*use).gitCheckout
	case "git.config":
		return (*use).gitConfig
	case "git":
		return (*use).gitGlobal
	case "find":
		return (*use).find
	case "xargs":
		return (*use).xargs
	case "parallel":
		return (*use).parallel
	case "dd":
		return (*use).dd
	case "kubernetes":
		return (*use).kubernetes
	case "sed":
		return (*use).sed
	case "rsync":
		return (*use).rsync
	case "tee":
		return (*use).tee
	case "remote":
		return (*use).remoteShell
	case "container":
		return (*use).container
	case "netcat":
		return (*use).netcat
	case "copy":
		return (*use).copies
	case "redis":
		return (*use).redis
	case "mongo":
		return (*use).mongo
	case "sqlstdin":
		return (*use).sqlStdin
	case "scp":
		return (*use).scp
	case "crontab":
		return (*use).crontab
	case "tar":
		return (*use).tar
	case "setarch":
		return (*use).setarch
	case "flock", "script":
		return (*use).shellOption
	case "screen":
		return (*use).screen
	case "fd":
		return (*use).fd
	case "make":
		return (*use).make
	}
	return nil
}

// xargs adds its input to the words of the command it runs.
func (u *use) xargs() {
	extra := []field{holeField(&hole{why: "a word from standard input", empty: false, many: true, taint: u.stdin.taint})}
	if t := u.stdin.text; t != nil {
		extra = nil
		sep := func(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == 0 }
		if u.has("null") {
			sep = func(r rune) bool { return r == 0 }
		}
		for _, w := range strings.FieldsFunc(*t, sep) {
			extra = append(extra, literalField(strings.Trim(w, `'"`)))
		}
	}
	for _, name := range []string{"replace", "I", "J"} {
		if r, ok := u.opt(name); ok {
			u.inner = substitute(u.inner, orDefaultText(r, "{}"), extra)
			u.call.stdin = stream{}
			return
		}
	}
	if len(u.inner) == 0 {
		u.inner = []field{literalField("echo")}
	}
	u.inner = append(append([]field(nil), u.inner...), extra...)
	u.call.stdin = stream{}
}

func orDefaultText(f field, d string) string {
	if t := f.text(); t != "" {
		return t
	}
	return d
}

// substitute puts the extra words where the mark stands in the words.
func substitute(words []field, mark string, extra []field) []field {
	var out []field
	for _, w := range words {
		text := w.value()
		if text == nil || !strings.Contains(*text, mark) {
			out = append(out, w)
			continue
		}
		for _, e := range extra {
			if v := e.value(); v != nil {
				out = append(out, literalField(strings.ReplaceAll(*text, mark, *v)))
				continue
			}
			before, after, _ := strings.Cut(*text, mark)
			f := field{parts: []part{{text: before, quoted: true}}}
			f.parts = append(f.parts, e.parts...)
			f.parts = append(f.parts, part{text: after, quoted: true})
			out = append(out, f)
		}
	}
	return out
}

// parallel runs its words with the arguments after ::: or from its input.
func (u *use) parallel() {
	words := u.inner
	var extra []field
	for i, w := range words {
		if t := w.text(); t == ":::" || t == "::::" || t == ":::+" {
			if t != "::::" {
				extra = words[i+1:]
			}
			words = words[:i]
			break
		}
	}
	if extra == nil && u.stdin.text != nil {
		for _, l := range strings.Split(strings.TrimRight(*u.stdin.text, "\n"), "\n") {
			extra = append(extra, literalField(l))
		}
	}
	if extra == nil {
		extra = []field{holeField(&hole{why: "a word from standard input", many: true})}
	}
	if len(words) == 0 {
		u.inner = nil
		u.inside(func() {
			for _, e := range extra {
				u.shellText(e, stream{})
			}
		})
		return
	}
	marked := false
	for _, w := range words {
		marked = marked || strings.Contains(w.text(), "{")
	}
	if !marked {
		words = append(append([]field(nil), words...), literalField("{}"))
	}
	u.inner = nil
	u.inside(func() {
		for _, e := range extra {
			u.shellText(join(substitute(words, "{}", []field{e})), stream{})
		}
	})
}

// find runs what -exec names, and deletes what -delete finds.
func (u *use) find() {
	words := u.args2()
	var starts []field
	i := 0
	for ; i < len(words); i++ {
		t := words[i].text()
		if t == "-H" || t == "-L" || t == "-P" || strings.HasPrefix(t, "-O") {
			continue
		}
		if strings.HasPrefix(t, "-") || t == "(" || t == "!" {
			break
		}
		starts = append(starts, words[i])
	}
	if len(starts) == 0 {
		starts = []field{literalField(".")}
	}
	follow := u.has("L")
	for _, w := range words {
		follow = follow || w.text() == "-L"
	}
	narrow := false
	for ; i < len(words); i++ {
		switch t := words[i].text(); t {
		case "-name", "-iname", "-path", "-ipath", "-regex", "-iregex", "-wholename", "-newer", "-mtime", "-mmin", "-size", "-user", "-perm", "-atime", "-ctime", "-cmin", "-amin", "-inum":
			narrow = narrow || i+1 < len(words) && !broad(words[i+1].text())
			i++
		case "-empty":
			narrow = true
		case "-type", "-maxdepth", "-mindepth", "-printf", "-group", "-xtype", "-fstype", "-links":
			i++
		case "-delete":
			for _, s := range starts {
				u.usePath(u.s, u.id, found(s, narrow), access{kind: "delete", how: "remove", recursive: true, follow: true})
			}
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			if i+1 < len(words) {
				u.usePath(u.s, u.id, words[i+1], access{kind: "write", how: "overwrite"})
			}
			i++
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(words) && words[end].text() != ";" && (words[end].text() != "+" || words[end-1].text() != "{}") {
				end++
			}
			u.findExec(words[i+1:end], starts, narrow)
			i = end
		}
	}
	for _, s := range starts {
		u.usePath(u.s, u.id, s, access{kind: "list"})
	}
}

// found is what find hands on: everything below a start, or, when its tests
// narrow it, some files below it.
func found(start field, narrow bool) field {
	if !narrow {
		return start
	}
	f := field{parts: append([]part(nil), start.parts...)}
	f.parts = append(f.parts, part{text: "/found*", quoted: false})
	return f
}

func (u *use) findExec(words, starts []field, narrow bool) {
	if len(words) == 0 {
		return
	}
	var extra []field
	for _, s := range starts {
		extra = append(extra, found(s, narrow))
	}
	u.inside(func() {
		inner := *u.call
		inner.words = nil
		for _, w := range words {
			if w.text() == "{}" {
				inner.words = append(inner.words, extra...)
			} else if strings.Contains(w.text(), "{}") && w.literal() {
				inner.words = append(inner.words, substitute([]field{w}, "{}", extra)...)
			} else {
				inner.words = append(inner.words, w)
			}
		}
		inner.redirects, inner.stdin, inner.input = nil, stream{}, nil
		inner.id = 0
		if len(inner.words) > 0 {
			inner.run()
		}
	})
}

// dd names its files as if= and of=.
func (u *use) dd() {
	for _, f := range u.rest {
		name, value, ok := f.cut("=")
		switch {
		case ok && name == "if":
			u.reads = append(u.reads, value)
			u.usePath(u.s, u.id, value, access{kind: "read", shown: true})
		case ok && name == "of":
			u.usePath(u.s, u.id, value, access{kind: "write", how: "overwrite"})
		}
	}
}

// sed runs what its e command and flag name, and edits in place with -i.
func (u *use) sed() {
	files := u.rest
	scripts := append(append([]field(nil), u.opts["expression"]...), u.opts["file"]...)
	if len(scripts) == 0 && len(files) > 0 {
		scripts, files = files[:1], files[1:]
	}
	kind := access{kind: "read", shown: !u.has("quiet") || true}
	if u.has("in-place") {
		kind = access{kind: "write", how: "edit"}
	}
	for _, f := range files {
		if kind.kind == "read" {
			u.reads = append(u.reads, f)
		}
		u.usePath(u.s, u.id, f, kind)
	}
	for _, f := range scripts {
		u.sedScript(f)
	}
}

func (u *use) sedScript(f field) {
	text := f.value()
	if text == nil {
		return
	}
	for _, line := range strings.FieldsFunc(*text, func(r rune) bool { return r == '\n' || r == ';' }) {
		line = strings.TrimSpace(line)
		bare := strings.TrimLeft(line, "0123456789,$!~+ ")
		switch {
		case strings.HasPrefix(bare, "e ") || bare == "e":
			u.effect("exec.hidden", u.id, map[string]any{"program": "sed", "option": "e", "value": bare})
			u.inside(func() { u.shellText(literalField(strings.TrimPrefix(bare, "e")), stream{}) })
		case strings.HasPrefix(bare, "w ") || strings.HasPrefix(bare, "W "):
			u.usePath(u.s, u.id, literalField(strings.TrimSpace(bare[1:])), access{kind: "write", how: "overwrite"})
		case strings.HasPrefix(bare, "r "):
			u.usePath(u.s, u.id, literalField(strings.TrimSpace(bare[1:])), access{kind: "read", shown: true})
		case len(bare) > 2 && bare[0] == 's' && !isWordByte(bare[1]):
			parts := strings.Split(bare[2:], string(bare[1]))
			if len(parts) >= 3 && strings.Contains(strings.SplitN(parts[2], " ", 2)[0], "e") && len(parts[2]) < 6 {
				u.effect("exec.hidden", u.id, map[string]any{"program": "sed", "option": "s///e", "value": parts[1]})
				u.inside(func() { u.shellText(literalField(parts[1]), stream{}) })
			}
		}
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// rsync copies to or from a peer, and --delete empties what the source lacks.
func (u *use) rsync() {
	if len(u.rest) == 0 {
		return
	}
	last := len(u.rest) - 1
	for i, f := range u.rest {
		remote, ok := remotePath(f)
		switch {
		case ok && i == last:
			u.sendFiles(u.rest[:last], remote)
		case ok:
			u.peer("host", literalField(remote))
		case i == last && u.deletes():
			u.usePath(u.s, u.id, f, access{kind: "delete", how: "sync", recursive: true})
		case i == last && last > 0:
			u.usePath(u.s, u.id, f, access{kind: "write", how: "overwrite", recursive: true})
		default:
			u.usePath(u.s, u.id, f, access{kind: "read", recursive: true})
		}
	}
	if u.has("remove-source-files") {
		for _, f := range u.rest[:last] {
			u.usePath(u.s, u.id, f, access{kind: "delete", how: "move"})
		}
	}
}

func (u *use) deletes() bool {
	for name := range u.opts {
		if strings.HasPrefix(name, "delete") || name == "del" {
			return !u.has("dry-run")
		}
	}
	return false
}

// remotePath recognises host:path and URLs; a drive letter is no host.
func remotePath(f field) (string, bool) {
	text := f.prefix()
	i := strings.IndexByte(text, ':')
	if i <= 1 || strings.ContainsAny(text[:i], "/") {
		return "", false
	}
	return text, true
}

func (u *use) sendFiles(files []field, to string) {
	p := parsePeer(to, false)
	u.walker.out.Hosts = append(u.walker.out.Hosts, hook.Host{Command: u.id, Host: strOrNil(p.host), Access: "send"})
	for _, f := range files {
		if _, ok := remotePath(f); ok {
			continue
		}
		u.usePath(u.s, u.id, f, access{kind: "read", recursive: u.recurse})
		for _, t := range u.absolute(u.s, f) {
			what, _ := u.secret(t.path)
			u.send(p, "file", orNil(t.path), what)
		}
	}
}

// scp is a copy in which either side may be elsewhere.
func (u *use) scp() {
	if len(u.rest) < 2 {
		return
	}
	last := len(u.rest) - 1
	if remote, ok := remotePath(u.rest[last]); ok {
		u.sendFiles(u.rest[:last], remote)
		return
	}
	for _, f := range u.rest[:last] {
		if remote, ok := remotePath(f); ok {
			u.peer("host", literalField(remote))
		} else {
			u.usePath(u.s, u.id, f, access{kind: "read"})
		}
	}
	u.usePath(u.s, u.id, u.rest[last], access{kind: "write", how: "overwrite"})
}

// tee writes its input to files and passes it on.
func (u *use) tee() {
	how := "overwrite"
	if u.has("append") {
		how = "append"
	}
	for _, f := range u.rest {
		u.outputTo(u.s, u.id, f, how, u.stdin)
	}
	u.reads = nil
}

// copies remembers what cp, mv, ln and install put where, so that a file that
// is copied and then run is followed.
func (u *use) copies() {
	if len(u.rest) < 2 {
		return
	}
	from, to := u.rest[:len(u.rest)-1], u.rest[len(u.rest)-1]
	for _, f := range from {
		st := u.fileStream(u.s, f)
		if v := f.value(); v != nil && st.text == nil {
			if text, err := u.scriptText(f); err == nil {
				st.text = &text
			}
		}
		if st.text != nil || st.taint != (taint{}) {
			u.remember(u.s, to, st, false)
		}
	}
}

func (u *use) scriptText(f field) (string, error) {
	for _, t := range u.absolute(u.s, f) {
		if t.path != "" {
			return u.world.read(t.path, maxScript)
		}
	}
	return "", errNoFiles
}

// remoteShell runs the words after the host on another machine.
func (u *use) remoteShell() {
	if len(u.rest) > 0 {
		u.peer("host", u.rest[0])
	}
}

// netcat connects or listens; with -e it hands out a shell.
func (u *use) netcat() {
	shell := u.has("exec") || u.has("sh-exec")
	if shell {
		how := "reverse"
		if u.has("listen") {
			how = "bind"
		}
		var host any
		if len(u.rest) > 0 {
			host = textOrNil(u.rest[0])
		}
		u.effect("exec.shell", u.id, map[string]any{"how": how, "host": host})
	}
	if u.has("listen") {
		u.effect("net.listen", u.id, map[string]any{"port": nil, "shell": shell})
		return
	}
	if len(u.rest) > 0 && !u.has("zero") {
		u.peer("host", u.rest[0])
		if u.stdin.some && u.stdin.from > 0 || u.call.input != nil {
			p := peer{}
			if v := u.rest[0].value(); v != nil {
				p = parsePeer(*v, false)
			}
			u.send(p, "stdin", nil, u.stdin.taint.secret)
		}
		u.call.out.taint.remote = true
		u.call.out.taint.host = u.rest[0].text()
	}
}

func (u *use) redis() {
	var words []string
	for _, f := range u.rest {
		words = append(words, f.text())
	}
	if st, ok := inspectRedis(words); ok {
		u.effect("database", u.id, map[string]any{"tool": u.name, "verb": st.verb, "access": st.access, "where": st.where, "object": orNil(st.object), "local": false})
	}
}

func (u *use) mongo() {
	for _, f := range u.opts["eval"] {
		for _, st := range inspectMongo(f.text()) {
			u.effect("database", u.id, map[string]any{"tool": u.name, "verb": st.verb, "access": st.access, "where": st.where, "object": orNil(st.object), "local": false})
		}
	}
	if u.stdin.text != nil {
		for _, st := range inspectMongo(*u.stdin.text) {
			u.effect("database", u.id, map[string]any{"tool": u.name, "verb": st.verb, "access": st.access, "where": st.where, "object": orNil(st.object), "local": false})
		}
	}
}

// sqlStdin judges statements that come through a pipe or heredoc.
func (u *use) sqlStdin() {
	if u.stdin.text != nil {
		u.sql(literalField(*u.stdin.text))
	}
}

// crontab installs a table from a file or its input.
func (u *use) crontab() {
	switch {
	case u.has("l"):
	case u.has("r"):
		u.effect("persistence", u.id, map[string]any{"path": nil, "what": "cron", "verb": "delete"})
	case u.has("e") || len(u.rest) > 0 || u.stdin.some:
		u.effect("persistence", u.id, map[string]any{"path": nil, "what": "cron", "verb": "write"})
	}
}

// tar reads its old-style first word and tells archives from members.
func (u *use) tar() {
	letters := ""
	rest := u.rest
	if len(rest) > 0 && !strings.HasPrefix(u.args2()[0].text(), "-") {
		letters, rest = rest[0].text(), rest[1:]
		if strings.Contains(letters, "f") && len(rest) > 0 {
			u.opts["file"], rest = append(u.opts["file"], rest[0]), rest[1:]
		}
	}
	is := func(letter, long string) bool { return strings.Contains(letters, letter) || u.has(long) }
	archive, named := u.opt("file")
	switch {
	case is("c", "create") || is("r", "append") || is("u", "update"):
		if named {
			u.role(role{name: "write"}, archive)
		}
		secret := ""
		for _, f := range rest {
			u.usePath(u.s, u.id, f, access{kind: "read", recursive: true})
			for _, t := range u.absolute(u.s, f) {
				if what, _ := u.secret(t.path); what != "" {
					secret = what
				}
				if strings.HasSuffix(t.path, "/.ssh") || strings.HasSuffix(t.path, "/.aws") || strings.HasSuffix(t.path, "/.gnupg") || strings.HasSuffix(t.path, "/.kube") {
					secret = "directory of secrets"
				}
			}
		}
		u.call.out.taint.secret = secret
		if named && secret != "" {
			u.remember(u.s, archive, stream{some: true, taint: taint{secret: secret}}, false)
		}
	case is("x", "extract"):
		if named {
			u.role(role{name: "use"}, archive)
		}
		if dir, ok := u.opt("directory"); ok {
			u.usePath(u.s, u.id, dir, access{kind: "write", how: "create", recursive: true})
		}
	}
}
