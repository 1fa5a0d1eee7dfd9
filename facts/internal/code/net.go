package code

import (
	"slices"
	"strings"
)

// specialNet performs the calls that reach over the network.
func (p *parser) specialNet(name, rest string, u *use) (value, bool) {
	first, second, _ := strings.Cut(rest, " ")
	c := Call{Name: u.name, Offset: u.offset}
	switch name {
	case "fetch", "urlopen", "request", "readurl":
		return p.request(name, first, second, u), true
	case "connect":
		return p.connect(p.selected(rest, u), u), true
	case "post":
		c.Does = "send"
		p.leak(c, u.args.flags())
		p.record(c, []value{p.arg(first, u)})
		return flagged(fromNetwork), true
	case "url":
		if body, ok := u.args.at(cutSelector(second)); ok {
			p.leak(c, body.all())
			c.Does = "send"
			p.record(c, []value{p.arg(first, u)})
		}
		return p.arg(first, u), true
	case "connectto", "listen":
		p.peer(name, p.arg(first, u), u)
		return flagged(fromNetwork), true
	case "socketconnect":
		if u.on.flags&fromNetwork != 0 {
			return p.connect(p.selected("*", u), u), true
		}
	case "maybeurl":
		if url := p.arg(second, u); strings.Contains(url.text, "://") {
			c.Does = first
			p.record(c, []value{url})
			return flagged(fromNetwork), true
		}
	case "curlopt":
		p.curlOption(u)
	default:
		return value{}, false
	}
	return u.origin(), true
}

// request reports a request to a server: fetch, or send when it carries
// something.
func (p *parser) request(kind, first, second string, u *use) value {
	url := p.arg(first, u)
	c := Call{Name: u.name, Does: "fetch", Offset: u.offset}
	var flags valueFlags
	switch kind {
	case "readurl":
		if !strings.Contains(url.text, "://") || strings.HasPrefix(url.text, "file://") {
			c.Does = "read"
			if strings.HasPrefix(url.text, "|") {
				c.Does = "shell"
				url.text = strings.TrimSpace(url.text[1:])
			}
			if strings.HasPrefix(url.text, "php://") {
				return value{}
			}
			p.record(c, []value{p.each(url, foldOf("file"))})
			return flagged(url.all() & (fromNetwork | fromDecoder))
		}
	case "request":
		url = p.arg(second, u)
		if m := p.arg(first, u); m.kind == knownValue && sendingMethod(m.text) {
			c.Does = "send"
		}
	}
	for _, name := range []string{"method", "type"} {
		if m, ok := u.args.option(name); ok && m.kind == knownValue && sendingMethod(m.text) {
			c.Does = "send"
		}
	}
	if kind == "urlopen" {
		if body, ok := u.args.at(cutSelector(second)); ok {
			c.Does, flags = "send", body.all()
		}
	}
	for _, name := range []string{"data", "body", "json", "files", "form"} {
		if body, ok := u.args.option(name); ok {
			c.Does = "send"
			flags |= body.all()
		}
	}
	p.leak(c, flags)
	p.record(c, []value{url})
	return flagged(fromNetwork)
}

func sendingMethod(m string) bool {
	return slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, strings.ToUpper(m))
}

// connect reports a connection to a host and a port. Node gives the port
// first, or an object.
func (p *parser) connect(args []value, u *use) value {
	host, port := value{}, value{}
	if len(args) > 0 {
		host = args[0]
	}
	if len(args) > 1 {
		port = args[1]
	}
	if host.flags&isNumber != 0 {
		host, port = port, host
		if host.kind != knownValue {
			host = textValue("localhost")
		}
	}
	for _, name := range []string{"host", "PeerAddr", "PeerHost"} {
		if v, ok := u.args.option(name); ok {
			host = v
		}
	}
	for _, name := range []string{"port", "PeerPort"} {
		if v, ok := u.args.option(name); ok {
			port = v
		}
	}
	if v, ok := u.args.option("Proto"); ok && v.text == "" {
		return value{}
	}
	if host.kind == mapValue {
		host = value{}
	}
	p.record(Call{Name: u.name, Does: "connect", Offset: u.offset}, []value{host, port})
	return flagged(fromNetwork)
}

// peer reports a socket that connects or listens: its address is a pair.
// Databases have methods of the same name.
func (p *parser) peer(how string, address value, u *use) {
	c := Call{Name: u.name, Does: "connect", Offset: u.offset}
	if how == "listen" {
		c.Does = "listen"
	}
	switch {
	case address.kind == listValue && len(address.items) == 2:
		p.record(c, address.items)
	case u.on.flags&fromNetwork != 0 && address.kind != nameValue:
		p.record(c, []value{address, {}})
	}
}

// curlOption reports what curl_setopt of PHP says about a request.
func (p *parser) curlOption(u *use) {
	option, to := p.arg("1", u), p.arg("2", u)
	c := Call{Name: u.name, Offset: u.offset}
	switch strings.ToUpper(option.text) {
	case "CURLOPT_URL":
		c.Does = "fetch"
		p.record(c, []value{to})
	case "CURLOPT_POSTFIELDS", "CURLOPT_INFILE":
		c.Does = "send"
		p.leak(c, to.all())
		p.record(c, []value{{}})
	}
}
