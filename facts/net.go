package facts

import (
	"slices"
	"strings"

	"gate/facts/peer"
	"gate/facts/wordlist"
	"gate/hook"
	"gate/secret"
)

// peer records a network peer and what is fetched from it.
func (u *use) peer(role string, f field) {
	texts, known := f.variants()
	if !known {
		if h, ok := knownHost(f); ok {
			texts = []string{h}
		} else {
			u.walker.out.Hosts = append(u.walker.out.Hosts, hook.Host{Command: u.id, Access: "connect"})
			u.netEffect(peer.Peer{}, f)
			return
		}
	}
	for _, text := range texts {
		p := peer.Parse(text, role == "url")
		if p.Host == "" && strings.HasPrefix(text, "file:") {
			u.reads = append(u.reads, literalField(text))
			u.usePath(u.s, u.id, literalField(text), access{kind: "read", shown: true})
			continue
		}
		kind := "fetch"
		if role == "host" {
			kind = "connect"
		}
		u.walker.out.Hosts = append(u.walker.out.Hosts, hook.Host{Command: u.id, Host: strOrNil(p.Host), URL: strOrNil(p.URL), Access: kind})
		u.netEffect(p, f)
	}
}

func strOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// knownHost returns the host of a URL whose path alone is not known.
func knownHost(f field) (string, bool) {
	prefix := f.prefix()
	_, rest, ok := strings.Cut(prefix, "://")
	if !ok {
		return "", false
	}
	host, _, whole := strings.Cut(rest, "/")
	return prefix[:len(prefix)-len(rest)] + host, whole && host != ""
}

// netEffect says what goes to or comes from a peer: a secret in the URL is
// sent, whatever the method.
func (u *use) netEffect(p peer.Peer, f field) {
	what := f.taint().secret
	if f.isAddress() {
		what = "" // it goes to whom it is for
	}
	fetches := u.row.Output == "fetch" || u.row.Special == "net"
	if what == "" && fetches {
		what = secret.Sent(f.text(), p.Host)
	}
	if what != "" {
		u.send(p, "text", nil, what)
		return
	}
	if !fetches {
		return
	}
	var to *string
	if o, ok := u.opt("output"); ok {
		to = o.value()
	}
	u.effect(u.id, &hook.NetFetch{
		Host: strOrNil(p.Host), URL: strOrNil(p.URL), Method: u.method(), To: to, Private: p.Private, Metadata: p.Metadata,
	})
	u.destroys(p)
	u.rememberDownload(p)
}

// isAddress reports that the address itself stands in a variable, whose name says
// so: curl "$SLACK_WEBHOOK_URL".
func (f field) isAddress() bool {
	if len(f.parts) == 0 || f.parts[0].hole == nil {
		return false
	}
	for _, p := range f.parts[1:] {
		if p.hole != nil {
			return false
		}
	}
	name, ok := strings.CutPrefix(f.parts[0].hole.taint.secret, "environment variable ")
	rest := f.text()
	return ok && wordlist.Has(" URL URI DSN WEBHOOK ", name[strings.LastIndexByte(name, '_')+1:]) && (rest == "" || rest[0] == '/' || rest[0] == '?')
}

// destroys says what a request makes of the service it goes to.
func (u *use) destroys(p peer.Peer) {
	method := *u.method()
	if sockets := u.opts["unix-socket"]; method != "GET" && len(sockets) > 0 && strings.HasSuffix(sockets[0].text(), "docker.sock") {
		u.effect(u.id, &hook.Container{Tool: u.name, Verb: method, Access: "write", Privileged: true, Volumes: true, Image: hook.OptionalText{There: true}})
	}
	_, index, elastic := strings.Cut(p.URL, ":9200/") // Elasticsearch, whose indices are databases
	whole := index == "_all" || strings.Contains(index, "*")
	if method == "DELETE" && elastic && (whole || !p.Private) || strings.Contains(p.URL, "/_delete_by_query") {
		u.effect(u.id, &hook.Database{
			Tool: "elasticsearch", Verb: new("delete index"), Access: "delete", Object: strOrNil(p.URL), Local: p.Private,
		})
	}
	if method == "DELETE" && !elastic && !p.Private {
		u.effect(u.id, &hook.Infrastructure{Tool: u.name, Verb: new("DELETE"), Access: "delete", Target: strOrNil(p.URL)})
	}
}

func (u *use) method() *string {
	if m := u.optText("request"); m != nil {
		return m
	}
	return new("GET")
}

// rememberDownload notes the file that a download ends in.
func (u *use) rememberDownload(p peer.Peer) {
	st := stream{some: true, taint: taint{remote: true, host: p.Host, url: p.URL}, from: u.id}
	if o, ok := u.opt("output"); ok && len(o.parts) > 0 {
		u.remember(u.s, o, st, false)
		return
	}
	if u.name == "wget" || u.has("remote-name") || u.name == "aria2c" {
		if i := strings.LastIndexByte(p.URL, '/'); i > 8 {
			name, _, _ := strings.Cut(p.URL[i+1:], "?")
			if name != "" {
				u.remember(u.s, literalField(name), st, false)
			}
		}
	}
}

func (u *use) send(p peer.Peer, source string, path *string, what string) {
	method := u.optText("request")
	if method == nil && p.URL != "" {
		method = new("POST")
	}
	u.effect(u.id, &hook.NetSend{
		Host: strOrNil(p.Host), URL: strOrNil(p.URL), Method: method, Source: source, Path: path, Secret: strOrNil(what), Private: p.Private, Metadata: p.Metadata,
	})
}

// target returns the peer that the command names, for what it sends.
func (u *use) target() peer.Peer {
	roles := u.operandRoles()
	for i, f := range u.rest {
		if roles[i].Name != "url" && roles[i].Name != "host" {
			continue
		}
		if v := f.value(); v != nil {
			return peer.Parse(*v, roles[i].Name == "url")
		}
		if h, ok := knownHost(f); ok {
			return peer.Parse(h, true)
		}
	}
	for _, a := range u.args {
		if a.option != nil && a.option.Role.Name == "url" {
			if v := a.value.value(); v != nil {
				return peer.Parse(*v, true)
			}
		}
	}
	return peer.Peer{}
}

// upload judges a file that is sent away.
func (u *use) upload(f field) {
	if f.text() == "-" && f.literal() {
		u.send(u.target(), "stdin", nil, u.stdin.secret())
		return
	}
	u.usePath(u.s, u.id, f, access{kind: "read"})
	for _, t := range u.absolute(u.s, f) {
		what, _ := u.secret(t.path)
		if st, ok := u.files[t.path]; ok && st.secret() != "" {
			what = st.secret()
		}
		u.send(u.target(), "file", strOrNil(t.path), what)
	}
}

// data judges what curl's -d, -F and -T take: text, name=value, @file, <file.
func (u *use) data(f field) {
	prefix := f.prefix()
	at := strings.IndexByte(prefix, '@')
	eq := strings.IndexByte(prefix, '=')
	switch {
	case at == 0:
		u.upload(f.from(1))
	case eq >= 0 && at == eq+1, eq >= 0 && strings.HasPrefix(prefix[eq+1:], "<"):
		file := f.from(eq + 2)
		if before, _, ok := file.cut(";"); ok && file.literal() {
			file = literalField(before)
		}
		u.upload(file)
	case eq > 0 && at > 0 && at < eq:
		u.upload(f.from(at + 1))
	case at > 0 && eq < 0 && (u.row.Special == "httpie" || slices.Contains(u.named(f), "data-urlencode") || slices.Contains(u.named(f), "url-query")): // name@file
		u.upload(f.from(at + 1))
	default:
		source, what := "text", f.taint().secret
		if what == "environment" {
			source = "environment"
		}
		if what == "" {
			what = secret.Sent(f.text(), "")
		}
		u.send(u.target(), source, nil, what)
	}
}

// named are the options whose value is f.
func (u *use) named(f field) []string {
	var names []string
	for name, values := range u.opts {
		for _, v := range values {
			if len(v.parts) > 0 && len(f.parts) > 0 && &v.parts[0] == &f.parts[0] {
				names = append(names, name)
			}
		}
	}
	return names
}

// curl judges what its other options change, and the options that it reads from
// files and from its input: curl -K -.
func (u *use) curl() {
	u.detours()
	if dir, ok := u.opt("output-dir"); ok {
		for _, f := range u.opts["output"] {
			parts := append(dir.parts[:len(dir.parts):len(dir.parts)], part{text: "/", quoted: true})
			u.usePath(u.s, u.id, field{parts: append(parts, f.parts...)}, access{kind: "write", how: "overwrite"})
		}
	}
	for _, f := range u.opts["config"] {
		switch text := u.textOf(f); {
		case text != nil:
			u.ownOptions(*text)
		case isInput(f):
			u.unknown("code", "options of "+u.name+" come from its input", u.id, f.span)
		}
	}
}

// ownOptions judges the options in a text, a line each.
func (u *use) ownOptions(text string) {
	words := []field{u.words[0]}
	for _, line := range strings.Split(text, "\n") {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, more, _ := strings.Cut(strings.TrimRight(name, "=:"), "=")
		value = strings.Trim(strings.TrimLeft(more+value, " =:"), `"`)
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}
		if !strings.HasPrefix(name, "-") {
			name = "--" + name
		}
		if name == "--config" || name == "-K" {
			continue // a file that names itself has no end
		}
		words = append(words, literalField(name))
		if value != "" {
			words = append(words, literalField(value))
		}
	}
	u.inside(func() {
		inner := *u.call
		inner.words, inner.stdin, inner.input, inner.redirects = words, stream{}, nil, nil
		inner.run()
	})
}
