package program

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/hook"
	"gate/internal/secret"
	"gate/internal/wordlist"
)

// peer records a network peer and what is fetched from it.
func (u *use) peer(role string, f flow.Word) {
	texts, known := f.Variants()
	if !known {
		if h, ok := knownHost(f); ok {
			texts = []string{h}
		} else {
			u.Host(hook.Host{Command: u.ID, Access: "connect"})
			u.netEffect(peer.Peer{}, f)
			return
		}
	}
	for _, text := range texts {
		p := peer.Parse(text, role == "url")
		if p.Host == "" && strings.HasPrefix(text, "file:") {
			u.reads = append(u.reads, flow.Literal(text))
			u.touch(flow.Literal(text), draft.Access{Kind: "read", Shown: true})
			continue
		}
		kind := "fetch"
		if role == "host" {
			kind = "connect"
		}
		u.Host(hook.Host{Command: u.ID, Host: flow.Known(p.Host), URL: flow.Known(p.URL), Access: kind})
		u.netEffect(p, f)
	}
}

// knownHost returns the host of a URL whose path alone is not known.
func knownHost(f flow.Word) (string, bool) {
	if address, ok := withoutUser(f); ok {
		return address, true
	}
	prefix := f.Prefix()
	_, rest, ok := strings.Cut(prefix, "://")
	if !ok {
		return "", false
	}
	host, _, whole := strings.Cut(rest, "/")
	if !whole { // http://169.254.169.254$P: what follows begins with a path, most likely
		_, whole = peer.Reach(host)
	}
	return prefix[:len(prefix)-len(rest)] + host, whole && host != ""
}

// userOnly reports an address of which only the user and the password are not known.
func userOnly(f flow.Word) bool {
	_, ok := withoutUser(f)
	return ok
}

// codeHost reports a service that hosts repositories and gives out tokens for them.
func codeHost(host string) bool {
	return wordlist.Has(" github.com gitlab.com bitbucket.org codeberg.org dev.azure.com ", host)
}

// withoutUser returns an address of which only the user and the password are not
// known, without them: https://$TOKEN@host/path.
func withoutUser(f flow.Word) (address string, ok bool) {
	scheme, rest, ok := strings.Cut(f.Prefix(), "://")
	if !ok || strings.Contains(rest, "/") {
		return "", false
	}
	for i, p := range f.Parts {
		if p.Hole != nil && !strings.HasPrefix(p.Hole.Taint.Secret, "environment variable ") && p.Hole.Taint.Secret != "" {
			return "", false
		}
		if p.Hole == nil && i > 0 {
			before, host, found := strings.Cut(p.Text, "@")
			if strings.Contains(before, "/") {
				return "", false
			}
			if found {
				tail := flow.Word{Parts: f.Parts[i+1:]}
				return scheme + "://" + host + tail.Text(), len(tail.Parts) == 0 || tail.Literal()
			}
		}
	}
	return "", false
}

// netEffect says what goes to or comes from a peer: a secret in the URL is
// sent, whatever the method.
func (u *use) netEffect(p peer.Peer, f flow.Word) {
	what := f.Taint().Secret
	if isAddress(f) || p.Host != "" && codeHost(p.Host) && userOnly(f) {
		what = "" // it goes to whom it is for
	}
	fetches := u.row.Output == "fetch" || u.row.Special == "net" || u.row.Special == "httpie"
	if what == "" && fetches {
		what = secret.Sent(f.Text(), p.Host)
	}
	if what != "" {
		u.send(p, "text", nil, flow.Taint{Secret: what, From: f.Taint().From})
		return
	}
	if u.encodes(f, fetches) {
		u.send(p, "encoded", flow.Known(f.Taint().Path), flow.Taint{})
	} else if from := f.Taint().Path; from != "" && fetches && !p.Private && inQuery(f) && u.World.Area(from) == "user" {
		u.send(p, "text", &from, flow.Taint{}) // the content of a person's own file
	}
	if !fetches {
		return
	}
	var to *string
	if o, ok := u.opt("output"); ok {
		to = o.Value()
	}
	u.effect(&hook.NetFetch{
		Host: flow.Known(p.Host), URL: flow.Known(p.URL), Method: u.method(), To: to, Private: p.Private, Metadata: p.Metadata,
	})
	u.destroys(p)
	u.rememberDownload(p)
}

// encodes reports that an address carries what was made unreadable before, or that the
// words of a program do which only looks whether a host is there (ping -p).
func (u *use) encodes(f flow.Word, fetches bool) bool {
	return !fetches && (u.outputAsLabel(f) || textAsLabels(f)) || f.Taint().Encoded || !fetches && !u.commandRole() && len(u.row.Operands) == 1 && flow.Join(u.Words).Taint().Encoded
}

// minHidden is how many bytes a text has that someone hides in a name.
const minHidden = 12

// maxName is how many bytes a name has that anybody can look up (RFC 1035).
const maxName = 254

// textAsLabels reports a name whose labels are an encoded text that people can read, before
// a domain of two labels: looking it up tells the domain's owner the text. Digests and
// identifiers decode to anything but a text.
func textAsLabels(f flow.Word) bool {
	if !f.Literal() || len(f.Text()) > maxName {
		return false
	}
	labels := strings.Split(strings.TrimSuffix(f.Text(), "."), ".")
	if len(labels) < 3 || labels[len(labels)-1] == "arpa" {
		return false
	}
	for n := len(labels) - 2; n > 0; n-- {
		name := strings.Join(labels[:n], "")
		for _, decode := range [...]func(string) ([]byte, error){
			hex.DecodeString, base64.RawURLEncoding.DecodeString, base64.RawStdEncoding.DecodeString, base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString,
		} {
			for _, spelt := range [...]string{name, strings.ToUpper(name)} {
				if text, err := decode(spelt); err == nil && len(text) >= minHidden && readable(text) {
					return true
				}
			}
		}
	}
	return false
}

// readable reports a text of printable ASCII.
func readable(text []byte) bool {
	return !slices.ContainsFunc(text, func(b byte) bool { return b < ' ' && b != '\n' && b != '\t' || b > '~' })
}

// inQuery reports an address whose part that is not known stands in its query. In its
// path stand versions and names of releases, which files of the account hold, too.
func inQuery(f flow.Word) bool {
	prefix := f.Prefix()
	return strings.Contains(prefix, "://") && strings.Contains(prefix, "?")
}

// outputAsLabel reports a name that holds what commands tell of this machine or of a
// file, and ends in a public domain of two labels or more: looking it up tells its owner
// that. The name of this machine alone is looked up every day, and so are names of
// clusters and local networks.
func (u *use) outputAsLabel(f flow.Word) bool {
	if u.ID == 0 || !slices.ContainsFunc(f.Parts, func(p flow.Part) bool { return p.Hole != nil && strings.HasPrefix(p.Hole.Why, "the output of") }) {
		return false
	}
	tail, ok := strings.CutPrefix(f.Parts[len(f.Parts)-1].Text, ".")
	if !ok || f.Parts[len(f.Parts)-1].Hole != nil || !strings.Contains(tail, ".") {
		return false
	}
	tail = strings.TrimSuffix(tail, ".")
	if wordlist.Has(" local internal lan localdomain localhost home corp intranet arpa consul ", tail[strings.LastIndexByte(tail, '.')+1:]) {
		return false
	}
	told := 0
	cmds := u.Commands()
	for i := u.ID - 2; i >= 0 && cmds[i].Depth > cmds[u.ID-1].Depth; i-- { // those of its substitutions
		switch name := flow.Text(cmds[i].Program); {
		case wordlist.Has(" cat head tail base64 base32 xxd od hexdump env printenv grep sqlite3 psql mysql ", name):
			return true
		case wordlist.Has(" whoami id logname hostname uname ", name):
			told++
		}
	}
	return told > 1
}

// isAddress reports a word whose address itself stands in a variable, whose name
// says so: curl "$SLACK_WEBHOOK_URL".
func isAddress(f flow.Word) bool {
	if len(f.Parts) == 0 || f.Parts[0].Hole == nil {
		return false
	}
	for _, p := range f.Parts[1:] {
		if p.Hole != nil {
			return false
		}
	}
	name, ok := strings.CutPrefix(f.Parts[0].Hole.Taint.Secret, "environment variable ")
	rest := f.Text()
	return ok && slices.Contains([]string{"URL", "URI", "DSN", "WEBHOOK"}, name[strings.LastIndexByte(name, '_')+1:]) && (rest == "" || rest[0] == '/' || rest[0] == '?')
}

// destroys says what a request makes of the service it goes to.
func (u *use) destroys(p peer.Peer) {
	method := *u.method()
	_, index, elastic := strings.Cut(p.URL, ":9200/") // Elasticsearch, whose indices are databases
	whole := index == "_all" || strings.Contains(index, "*")
	if method == "DELETE" && elastic && (whole || !p.Private) || strings.Contains(p.URL, "/_delete_by_query") {
		u.effect(&hook.Database{
			Tool: "elasticsearch", Verb: new("delete index"), Access: "delete", Object: flow.Known(p.URL), Local: p.Private,
		})
	}
	if method == "DELETE" && !elastic && !p.Private {
		u.effect(&hook.Infrastructure{Tool: u.name, Verb: new("DELETE"), Access: "delete", Target: flow.Known(p.URL)})
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
	st := flow.Stream{Some: true, Taint: flow.Taint{Remote: true, Host: p.Host, URL: p.URL}, From: u.ID}
	if o, ok := u.opt("output"); ok && len(o.Parts) > 0 {
		u.remember(o, st, false)
		return
	}
	if u.name == "wget" || u.has("remote-name") || u.name == "aria2c" {
		if i := strings.LastIndexByte(p.URL, '/'); i > 8 {
			name, _, _ := strings.Cut(p.URL[i+1:], "?")
			if name != "" {
				u.remember(flow.Literal(name), st, false)
			}
		}
	}
}

// send records that something goes to a peer: the text of a file, or what a taint tells of.
func (u *use) send(p peer.Peer, source string, path *string, t flow.Taint) {
	method := u.optText("request")
	if method == nil && p.URL != "" {
		method = new("POST")
	}
	if u.belongsTo(p, t) {
		t = flow.Taint{}
	}
	is := &hook.NetSend{
		Host: flow.Known(p.Host), URL: flow.Known(p.URL), Method: method, Source: source, Path: path, Secret: flow.Known(t.Secret), Private: p.Private, Metadata: p.Metadata,
	}
	if t.Coarse { // its flow says that it may go along
		is.Secret = nil
	}
	u.Carry(is, t)
	u.effect(is)
}

// belongsTo reports one value of a file of secrets that the line took over, for a peer of this machine,
// or one that the same file names.
func (u *use) belongsTo(p peer.Peer, t flow.Taint) bool {
	if t.From == "" || !strings.HasPrefix(t.Secret, "environment variable ") {
		return false
	}
	if p.Private && !p.Metadata {
		return true
	}
	text, err := u.World.Read(t.From, maxScript)
	return err == nil && p.Host != "" && namesHost(text, p.Host)
}

// namesHost reports a text that names a host as a whole, and no longer name that ends in it.
func namesHost(text, host string) bool {
	for {
		at := strings.Index(text, host)
		if at < 0 {
			return false
		}
		end := at + len(host)
		if (at == 0 || !ofName(text[at-1])) && (end == len(text) || !ofName(text[end])) {
			return true
		}
		text = text[end:]
	}
}

// ofName reports a byte of the name of a host.
func ofName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c >= 0x80
}

// receivers are the peers that the command names, for what it sends; the zero Peer where it
// names none.
func (u *use) receivers() (peers []peer.Peer) {
	add := func(f flow.Word, url bool) {
		if v := f.Value(); v != nil {
			peers = append(peers, peer.Parse(*v, url))
		} else if h, ok := knownHost(f); ok {
			peers = append(peers, peer.Parse(h, true))
		}
	}
	roles := u.operandRoles()
	for i, f := range u.rest {
		if roles[i].Name == "url" || roles[i].Name == "host" {
			add(f, roles[i].Name == "url")
		}
	}
	for _, a := range u.args {
		if a.option != nil && a.option.Role.Name == "url" {
			add(a.value, true)
		}
	}
	if peers == nil {
		return make([]peer.Peer, 1)
	}
	return peers
}

// maxSent is how many texts and files of one command are followed to its peers. Each goes
// to each of them.
const maxSent = 512

// sendAll records that something goes to each peer that the command names.
func (u *use) sendAll(source string, path *string, t flow.Taint) {
	if u.sent > maxSent {
		return
	}
	for _, p := range u.receivers() {
		if !u.sendsMore() {
			return
		}
		u.send(p, source, path, t)
	}
}

// sendsMore counts what goes to a peer, and reports whether the command may send it.
func (u *use) sendsMore() bool {
	if u.sent++; u.sent > maxSent {
		u.Limit("more texts and addresses than gate follows for one command")
		return false
	}
	return true
}

// upload judges a file that is sent away.
func (u *use) upload(f flow.Word) {
	if u.sent > maxSent {
		return
	}
	if f.Prefix() != "" && f.Prefix()[0] == '@' { // swaks --body @FILE
		f = f.From(1)
	}
	if f.Text() == "-" && f.Literal() {
		u.sendAll("stdin", flow.Known(u.Stdin.Taint.Path), u.Stdin.Origins())
		return
	}
	u.touch(f, draft.Access{Kind: "read"})
	for _, t := range u.targets(f) {
		for _, p := range u.receivers() {
			if !u.sendsMore() {
				return
			}
			u.sendFile(p, t)
		}
	}
}

// sendFile judges one file that goes to a peer, or the files of a directory or pattern.
func (u *use) sendFile(p peer.Peer, t draft.Target) {
	u.send(p, "file", flow.Known(t.Path), u.heldBy(t))
}

// heldBy is what one of the files holds that a target stands for; a secret, where any does.
func (u *use) heldBy(t draft.Target) (held flow.Taint) {
	if held = u.Holds(t.Path); held.Secret != "" {
		return held
	}
	for _, s := range u.left(u.SourcesOf(t)) {
		if held.Secret == "" || held.Coarse && !s.Taint.Coarse && s.Taint.Secret != "" {
			held = s.Taint
		}
	}
	return held
}

// data judges what curl's -d, -F and -T take: text, name=value, @file, <file.
func (u *use) data(f flow.Word) {
	prefix := f.Prefix()
	at := strings.IndexByte(prefix, '@')
	eq := strings.IndexByte(prefix, '=')
	switch {
	case at == 0:
		u.upload(f.From(1))
	case eq >= 0 && at == eq+1, eq >= 0 && strings.HasPrefix(prefix[eq+1:], "<"):
		file := f.From(eq + 2)
		if before, _, ok := file.Cut(";"); ok && file.Literal() {
			file = flow.Literal(before)
		}
		u.upload(file)
	case eq > 0 && at > 0 && at < eq:
		u.upload(f.From(at + 1))
	case at > 0 && eq < 0 && (u.row.Special == "httpie" || slices.Contains(u.named(f), "data-urlencode") || slices.Contains(u.named(f), "url-query")): // name@file
		u.upload(f.From(at + 1))
	default:
		source, t := "text", f.Taint()
		if t.Secret == "environment" {
			source = "environment"
		}
		if t.Secret == "" {
			t.Secret = secret.Sent(f.Text(), "")
		}
		u.sendAll(source, flow.Known(t.Path), t)
	}
}

// named are the options whose value is f.
func (u *use) named(f flow.Word) []string {
	var names []string
	for name, values := range u.opts {
		for _, v := range values {
			if len(v.Parts) > 0 && len(f.Parts) > 0 && &v.Parts[0] == &f.Parts[0] {
				names = append(names, name)
			}
		}
	}
	return names
}

// curl judges what its other options change, and the options that it reads from
// files and from its input: curl -K -.
func (u *use) curl() {
	for _, f := range u.opts["unix-socket"] {
		own := slices.ContainsFunc(u.targets(f), func(t draft.Target) bool { _, ok := u.World.Find("self", t.Path); return ok })
		if method := *u.method(); method != "GET" || own || u.sends() {
			u.socket(f, method)
		}
	}
	u.detours()
	u.curlNames()
	if dir, ok := u.opt("output-dir"); ok {
		for _, f := range u.opts["output"] {
			parts := append(dir.Parts[:len(dir.Parts):len(dir.Parts)], flow.Part{Text: "/", Quoted: true})
			u.touch(flow.Word{Parts: append(parts, f.Parts...)}, draft.Access{Kind: "write", How: "overwrite"})
		}
	}
	u.downloads()
	for _, f := range u.opts["config"] {
		switch text := u.textOf(f); {
		case text != nil:
			u.ownOptions(*text)
		case isInput(f):
			u.unknown("code", "options of "+u.name+" come from its input", f.Span)
		}
	}
}

// curlNames judges files whose lines curl takes into a request: headers, and variables of
// its own. What else is in a file of options goes nowhere.
func (u *use) curlNames() {
	for _, name := range [...]string{"header", "proxy-header", "variable"} {
		for _, f := range u.opts[name] {
			switch at := strings.IndexByte(f.Prefix(), '@'); {
			case at == 0:
				u.upload(f)
			case name == "variable" && at > 0:
				u.upload(f.From(at + 1))
			}
		}
	}
	for _, f := range u.opts["config"] {
		if !isInput(f) && u.textOf(f) == nil && u.heldByWord(f).Secret != "" {
			u.upload(f)
		}
	}
}

// heldByWord is [use.heldBy] for the files that a call has left a secret in.
func (u *use) heldByWord(f flow.Word) (held flow.Taint) {
	for _, t := range u.targets(f) {
		if left := u.Left(t.Path); left.Secret != "" || u.Files[t.Path].Taint.Secret != "" {
			return u.Holds(t.Path)
		}
	}
	return held
}

// wgetSetting is the option that wget -e sets: use_askpass=X is --use-askpass X.
func (u *use) wgetSetting(f flow.Word) {
	name, value, _ := f.Cut("=")
	name = "--" + strings.ReplaceAll(strings.ToLower(strings.Trim(name, " ")), "_", "-")
	if o := u.row.Options.Named(name); o != nil {
		u.args = append(u.args, argument{field: f, option: o, value: value.TrimPrefix(" ")})
	}
}

// ownOptions judges the options in a text, a line each.
func (u *use) ownOptions(text string) {
	words := []flow.Word{u.Words[0]}
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
		words = append(words, flow.Literal(name))
		if value != "" {
			words = append(words, flow.Literal(value))
		}
	}
	u.inside(func() {
		u.command(u.another(words))
	})
}
