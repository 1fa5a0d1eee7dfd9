package program

import (
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/hook"
	"gate/internal/wordlist"
)

// offers judges a server of files: a directory outside the project that
// everybody may fetch is as good as sent.
func (u *use) offers() {
	dir := flow.Literal(".")
	switch {
	case u.has("directory"):
		dir, _ = u.opt("directory")
	case u.has("docroot"):
		dir, _ = u.opt("docroot")
	case u.row.Operands[0].Name == "list" && len(u.rest) > 0:
		dir = u.rest[0]
	}
	if bind, ok := u.opt("bind"); ok && peer.Parse(bind.Text(), false).Private && bind.Text() != "0.0.0.0" && bind.Text() != "::" {
		return
	}
	if strings.HasPrefix(u.name, "php") || u.name == "hhvm" {
		if address, ok := u.opt("server"); !ok || peer.Parse(address.Text(), false).Host == "localhost" || strings.HasPrefix(address.Text(), "127.") {
			return
		}
	}
	for _, t := range u.targets(dir) {
		if held := u.heldBy(t); held.Secret != "" {
			held.Coarse = true // whoever fetches it
			u.send(peer.Peer{}, "file", flow.Known(t.Path), held)
		}
		switch t.Area {
		case "home", "root", "user", "system":
			u.touch(dir, draft.Access{Kind: "read", Recursive: true})
			u.send(peer.Peer{}, "file", flow.Known(t.Path), flow.Taint{})
		}
	}
}

// ships judges the files with a secret that a service gets: one that publishes what is in
// a directory, less what git ignores, as these programs do; or one that shows a text.
func (u *use) ships() {
	for _, name := range [...]string{"body-file", "notes-file"} { // gh pr create
		for _, s := range u.withOrigin(u.opts[name]) {
			if s.Taint.Secret != "" {
				u.send(peer.Peer{}, "file", flow.Known(s.Path), s.Taint)
			}
		}
	}
	if !wordlist.Has(" vercel netlify surge now ", u.name) || len(u.verbs) > 0 && u.verbs[0] != "deploy" && len(u.strayed) == 0 {
		return
	}
	dirs := []flow.Word{flow.Literal(".")}
	if f, ok := u.opt("dir"); ok {
		dirs[0] = f
	} else if words := slices.Concat(u.strayed, u.rest); len(words) > 0 {
		dirs[0] = words[0]
	}
	for _, s := range u.withOrigin(dirs) {
		if _, tree := u.gitRepository(); s.Taint.Secret != "" && !s.Named && !u.gitIgnores(tree, strings.TrimPrefix(s.Path, tree+"/")) {
			u.send(peer.Peer{}, "file", flow.Known(s.Path), s.Taint)
		}
	}
}

// transfers judges what ftp and its kin are told on their input or command
// line: put sends a file, a bang runs a shell.
func (u *use) transfers() {
	var lines []string
	for _, f := range append([]flow.Word{flow.Literal("-")}, u.opts["batchfile"]...) {
		if text := u.textOf(f); text != nil {
			lines = append(lines, strings.Split(*text, "\n")...)
		}
	}
	for _, name := range []string{"c", "e"} {
		for _, f := range u.opts[name] {
			lines = append(lines, strings.FieldsFunc(f.Text(), func(r rune) bool { return r == ';' || r == '\n' })...)
			if len(u.rest) > 1 { // tftp HOST -c put FILE
				lines = append(lines, f.Text()+" "+flow.Join(u.rest[1:]).Text())
			}
		}
	}
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "!") {
			u.hiddenShell("command", line[1:])
			continue
		}
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "put", "mput", "send", "append", "reput", "mirror":
			for _, w := range words[1:] {
				if !strings.HasPrefix(w, "-") {
					u.upload(flow.Word{Parts: []flow.Part{{Text: w}}})
				}
			}
		}
	}
}

// relays judges what socat hands to a peer: files, or what nobody sees. Peers
// that only wait for others are no receivers, and neither is this machine.
func (u *use) relays() {
	var files []flow.Word
	to, listens, sent := peer.Peer{}, false, false
	for _, f := range u.rest {
		kind, rest, _ := strings.Cut(f.Prefix(), ":")
		switch kind = strings.ToLower(kind); {
		case strings.HasPrefix(kind, "unix") && !strings.HasSuffix(kind, "listen") && !strings.HasSuffix(kind, "recv"):
			name, _, _ := strings.Cut(rest, ",")
			u.socket(flow.Literal(name), "connect")
		case kind == "file", kind == "open", kind == "gopen":
			name, _, _ := strings.Cut(rest, ",")
			files = append(files, flow.Literal(name))
		case strings.HasSuffix(kind, "-l"), strings.HasSuffix(kind, "-listen"):
			listens = true
		case slices.ContainsFunc([]string{"tcp", "udp", "openssl", "ssl", "sctp", "socks", "proxy"}, func(p string) bool { return strings.HasPrefix(kind, p) }):
			to = peer.Parse(rest, false)
		}
	}
	for _, f := range files {
		u.touch(f, draft.Access{Kind: "read"})
		for _, t := range u.targets(f) {
			if what, _ := u.Secret(t.Path); what != "" && (listens || to.Host != "") {
				u.sendFile(to, t)
				sent = true
			}
		}
	}
	switch to.Host {
	case "", "localhost", "127.0.0.1", "::1", "host.docker.internal":
	default:
		if !listens && !sent {
			u.send(to, "unknown", nil, u.Stdin.Origins())
		}
	}
}

// detours judges the peers that curl is told to turn to instead of the one in
// the URL, and the cookies it sends from a file.
func (u *use) detours() {
	for name, at := range map[string]int{"connect-to": 2, "resolve": 2, "proxy": 0} {
		for _, f := range u.opts[name] {
			text := f.Text()
			for range at {
				_, text, _ = strings.Cut(text, ":")
			}
			if p := peer.Parse(strings.TrimPrefix(text, "+"), name == "proxy"); p.Metadata {
				u.effect(&hook.NetFetch{Host: flow.Known(p.Host), Method: u.method(), Private: p.Private, Metadata: true})
			}
		}
	}
	for _, f := range u.opts["cookie"] {
		if f.Literal() && !strings.Contains(f.Text(), "=") {
			for _, t := range u.targets(f) {
				if what, _ := u.Secret(t.Path); what != "" {
					u.sendFile(u.receivers()[0], t)
				}
			}
		}
	}
}

// localEndpoint reports a cloud's client that talks to a stand-in on this
// machine.
func (u *use) localEndpoint() bool {
	if u.name == "awslocal" {
		return true
	}
	if u.name == "mc" { // as it is installed, its server "local" is one on this machine
		return !slices.ContainsFunc(u.rest, func(f flow.Word) bool {
			return !f.Literal() || !strings.HasPrefix(f.Text(), "local/") || u.mentions(" alias ", " config ", "MC_HOST")
		}) && len(u.rest) > 0
	}
	if u.name != "aws" {
		return false
	}
	f, set := u.opt("endpoint-url")
	if !set && len(u.Via) == 0 && !u.shell.Exports() && !u.mentions("AWS_ENDPOINT_URL_", "AWS_IGNORE_", " . ", " source ", " eval ", " declare ", " typeset ") {
		f, set = u.environ("AWS_ENDPOINT_URL")
	}
	v := f.Value()
	return set && v != nil && localHost(peer.Parse(*v, true).Host)
}

// mentions reports a line with one of the texts in a variable's name or in a
// word, which stands between blanks for that, or with words of the same program
// that are not known.
func (u *use) mentions(texts ...string) bool {
	for name := range u.shell.Names() {
		for _, text := range texts {
			if strings.Contains(name, text) {
				return true
			}
		}
	}
	for _, c := range u.Commands() {
		if c.Program == nil {
			return true
		}
		all := " " + *c.Program + " "
		for name := range c.Env {
			all += name
		}
		for _, w := range c.Words {
			if w.Value != nil {
				all += " " + *w.Value + " "
			} else if *c.Program == u.name {
				return true
			}
		}
		for _, text := range texts {
			if strings.Contains(all, text) {
				return true
			}
		}
	}
	return false
}

func localHost(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.") || host == "localstack" || host == "minio" || host == "host.docker.internal"
}
