package facts

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"gate/facts/credential"
	"gate/hook"
)

// A peer is a host or URL taken apart.
type peer struct {
	host, url string
	private   bool // loopback or a private network
	metadata  bool // a cloud's metadata service
}

// parsePeer reads a URL, host, host:port, user@host or host:path.
func parsePeer(text string, isURL bool) peer {
	p := peer{url: text}
	rest := text
	if scheme, after, ok := strings.Cut(text, "://"); ok {
		text = scheme + "://" + strings.ReplaceAll(after, `\`, "/") // as browsers read it
		if after = text[len(scheme)+3:]; strings.EqualFold(scheme[strings.LastIndexByte(scheme, ':')+1:], "file") {
			return peer{url: text}
		}
		rest = after
		if u, err := url.Parse(text); err == nil && u.Hostname() != "" {
			rest = u.Host
		}
	} else if !isURL {
		p.url = ""
	}
	rest, _, _ = strings.Cut(rest, "/")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	p.host = strings.ToLower(strings.TrimSuffix(hostOnly(strings.Map(plainLetter, rest)), "."))
	p.private, p.metadata = reach(p.host)
	return p
}

// plainLetter is what those who look a name up make of wide and circled letters,
// digits and dots.
func plainLetter(r rune) rune {
	switch {
	case r == 0x3002 || r == 0xFF61:
		return '.'
	case 0xFF01 <= r && r <= 0xFF5E:
		return r - 0xFF01 + '!'
	case 0x2460 <= r && r <= 0x2468:
		return r - 0x2460 + '1'
	case r == 0x24EA:
		return '0'
	case 0x24B6 <= r && r <= 0x24CF:
		return r - 0x24B6 + 'a'
	case 0x24D0 <= r && r <= 0x24E9:
		return r - 0x24D0 + 'a'
	}
	return r
}

func hostOnly(s string) string {
	if strings.HasPrefix(s, "[") {
		h, _, _ := strings.Cut(s[1:], "]")
		return h
	}
	if strings.Count(s, ":") > 1 {
		return s // an address of version 6
	}
	h, _, _ := strings.Cut(s, ":")
	return h
}

var metadataHosts = []string{"169.254.169.254", "metadata.google.internal", "metadata", "100.100.100.200", "169.254.170.2", "169.254.170.23", "fd00:ec2::254", "metadata.azure.com", "metadata.azure.internal", "192.0.0.192", "instance-data", "instance-data.ec2.internal"}

// reach tells where a host lies. Addresses written as one number, in hex or in
// octal are what inet_aton makes of them.
func reach(host string) (private, metadata bool) {
	if slices.Contains(metadataHosts, host) {
		return true, true
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") {
		return true, false
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		if addr, err = looseAddr(host); err != nil {
			return false, false
		}
	}
	if b := addr.As16(); addr.Is6() && (strings.HasPrefix(addr.String(), "64:ff9b::") || addr.String() != "::1" && strings.HasPrefix(addr.StringExpanded(), "0000:0000:0000:0000:0000:0000:")) {
		addr = netip.AddrFrom4([4]byte(b[12:])) // written in one of version 6
	}
	addr = addr.Unmap()
	if slices.Contains(metadataHosts, addr.String()) {
		return true, true
	}
	return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified(), false
}

// peer records a network peer and what is fetched from it.
func (u *use) peer(role string, f field) {
	texts, known := f.variants()
	if !known {
		if h, ok := knownHost(f); ok {
			texts = []string{h}
		} else {
			u.walker.out.Hosts = append(u.walker.out.Hosts, hook.Host{Command: u.id, Access: "connect"})
			u.netEffect(peer{}, f)
			return
		}
	}
	for _, text := range texts {
		p := parsePeer(text, role == "url")
		if p.host == "" && strings.HasPrefix(text, "file:") {
			u.reads = append(u.reads, literalField(text))
			u.usePath(u.s, u.id, literalField(text), access{kind: "read", shown: true})
			continue
		}
		kind := "fetch"
		if role == "host" {
			kind = "connect"
		}
		u.walker.out.Hosts = append(u.walker.out.Hosts, hook.Host{Command: u.id, Host: strOrNil(p.host), URL: strOrNil(p.url), Access: kind})
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
func (u *use) netEffect(p peer, f field) {
	if u.row.Output != "fetch" && u.row.Special != "net" {
		if t := f.taint(); t.secret != "" {
			u.send(p, "text", nil, t.secret)
		}
		return
	}
	secret := f.taint().secret
	if secret == "" {
		secret = credential.InText(f.text())
	}
	if secret != "" {
		u.send(p, "text", nil, secret)
		return
	}
	var to any
	if o, ok := u.opt("output"); ok {
		to = textOrNil(o)
	}
	u.effect("net.fetch", u.id, map[string]any{
		"host": orNil(p.host), "url": orNil(p.url), "method": u.method(), "to": to, "private": p.private, "metadata": p.metadata,
	})
	u.destroys(p)
	u.rememberDownload(p)
}

// destroys says what a request makes of the service it goes to.
func (u *use) destroys(p peer) {
	method := u.method()
	if sockets := u.opts["unix-socket"]; method != "GET" && len(sockets) > 0 && strings.HasSuffix(sockets[0].text(), "docker.sock") {
		u.effect("container", u.id, map[string]any{"tool": u.name, "verb": method, "access": "write", "privileged": true, "mounts": []string{}, "volumes": true, "all": false, "image": nil})
	}
	_, index, elastic := strings.Cut(p.url, ":9200/") // Elasticsearch, whose indices are databases
	whole := index == "_all" || strings.Contains(index, "*")
	if method == "DELETE" && elastic && (whole || !p.private) || strings.Contains(p.url, "/_delete_by_query") {
		u.effect("database", u.id, map[string]any{
			"tool": "elasticsearch", "verb": "delete index", "access": "delete", "where": false, "object": orNil(p.url), "local": p.private,
		})
	}
	if method == "DELETE" && !elastic && !p.private {
		u.effect("infrastructure", u.id, map[string]any{"tool": u.name, "verb": "DELETE", "access": "delete", "approved": false, "target": orNil(p.url)})
	}
}

func (u *use) method() any {
	if m := u.optText("request"); m != nil {
		return m
	}
	return "GET"
}

// rememberDownload notes the file that a download ends in.
func (u *use) rememberDownload(p peer) {
	st := stream{some: true, taint: taint{remote: true, host: p.host, url: p.url}, from: u.id}
	if o, ok := u.opt("output"); ok && len(o.parts) > 0 {
		u.remember(u.s, o, st, false)
		return
	}
	if u.name == "wget" || u.has("remote-name") || u.name == "aria2c" {
		if i := strings.LastIndexByte(p.url, '/'); i > 8 {
			name, _, _ := strings.Cut(p.url[i+1:], "?")
			if name != "" {
				u.remember(u.s, literalField(name), st, false)
			}
		}
	}
}

func (u *use) send(p peer, source string, path any, secret string) {
	method := u.optText("request")
	if method == nil && p.url != "" {
		method = "POST"
	}
	u.effect("net.send", u.id, map[string]any{
		"host": orNil(p.host), "url": orNil(p.url), "method": method, "source": source, "path": path,
		"secret": orNil(secret), "private": p.private, "metadata": p.metadata,
	})
}

// target returns the peer that the command names, for what it sends.
func (u *use) target() peer {
	roles := u.operandRoles()
	for i, f := range u.rest {
		if roles[i].Name != "url" && roles[i].Name != "host" {
			continue
		}
		if v := f.value(); v != nil {
			return parsePeer(*v, roles[i].Name == "url")
		}
		if h, ok := knownHost(f); ok {
			return parsePeer(h, true)
		}
	}
	for _, a := range u.args {
		if a.option != nil && a.option.Role.Name == "url" {
			if v := a.value.value(); v != nil {
				return parsePeer(*v, true)
			}
		}
	}
	return peer{}
}

// upload judges a file that is sent away.
func (u *use) upload(f field) {
	if f.text() == "-" && f.literal() {
		u.send(u.target(), "stdin", nil, u.stdin.taint.secret)
		return
	}
	u.usePath(u.s, u.id, f, access{kind: "read"})
	for _, t := range u.absolute(u.s, f) {
		what, _ := u.secret(t.path)
		if st, ok := u.files[t.path]; ok && st.taint.secret != "" {
			what = st.taint.secret
		}
		u.send(u.target(), "file", orNil(t.path), what)
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
		source := "text"
		if f.taint().secret == "environment" {
			source = "environment"
		}
		secret := f.taint().secret
		if secret == "" {
			secret = credential.InText(f.text())
		}
		u.send(u.target(), source, nil, secret)
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
