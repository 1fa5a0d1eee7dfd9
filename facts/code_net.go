package facts

import "strings"

// specialNet performs the calls that reach over the network.
func (p *codeParser) specialNet(name, rest string, u *codeUse) (codeValue, bool) {
	first, second, _ := strings.Cut(rest, " ")
	c := codeCall{name: u.name, offset: u.offset}
	switch name {
	case "fetch", "urlopen", "request", "readurl":
		return p.request(name, first, second, u), true
	case "connect":
		return p.connect(p.selected(rest, u), u), true
	case "post":
		c.does = "send"
		p.leak(c, u.args.flags())
		p.record(c, []codeValue{p.arg(first, u)})
		return codeFlagged(fromNetwork), true
	case "url":
		if body, ok := u.args.at(codeSelector(second)); ok {
			p.leak(c, body.all())
			c.does = "send"
			p.record(c, []codeValue{p.arg(first, u)})
		}
		return p.arg(first, u), true
	case "connectto", "listen":
		p.peer(name, p.arg(first, u), u)
		return codeFlagged(fromNetwork), true
	case "socketconnect":
		if u.on.flags&fromNetwork != 0 {
			return p.connect(p.selected("*", u), u), true
		}
	case "maybeurl":
		if url := p.arg(second, u); strings.Contains(url.text, "://") {
			c.does = first
			p.record(c, []codeValue{url})
			return codeFlagged(fromNetwork), true
		}
	case "curlopt":
		p.curlOption(u)
	default:
		return codeValue{}, false
	}
	return u.origin(), true
}

// request reports a request to a server: fetch, or send when it carries
// something.
func (p *codeParser) request(kind, first, second string, u *codeUse) codeValue {
	url := p.arg(first, u)
	c := codeCall{name: u.name, does: "fetch", offset: u.offset}
	var flags codeFlags
	switch kind {
	case "readurl":
		if !strings.Contains(url.text, "://") || strings.HasPrefix(url.text, "file://") {
			c.does = "read"
			if strings.HasPrefix(url.text, "|") {
				c.does = "shell"
				url.text = strings.TrimSpace(url.text[1:])
			}
			if strings.HasPrefix(url.text, "php://") {
				return codeValue{}
			}
			p.record(c, []codeValue{p.each(url, codeFold("file"))})
			return codeFlagged(url.all() & (fromNetwork | fromDecoder))
		}
	case "request":
		url = p.arg(second, u)
		if m := p.arg(first, u); m.kind == codeKnown && sendingMethod(m.text) {
			c.does = "send"
		}
	}
	for _, name := range []string{"method", "type"} {
		if m, ok := u.args.option(name); ok && m.kind == codeKnown && sendingMethod(m.text) {
			c.does = "send"
		}
	}
	if kind == "urlopen" {
		if body, ok := u.args.at(codeSelector(second)); ok {
			c.does, flags = "send", body.all()
		}
	}
	for _, name := range []string{"data", "body", "json", "files", "form"} {
		if body, ok := u.args.option(name); ok {
			c.does = "send"
			flags |= body.all()
		}
	}
	p.leak(c, flags)
	p.record(c, []codeValue{url})
	return codeFlagged(fromNetwork)
}

func sendingMethod(m string) bool {
	switch strings.ToUpper(m) {
	case "POST", "PUT", "PATCH", "DELETE":
		return true
	}
	return false
}

// connect reports a connection to a host and a port. Node gives the port
// first, or an object.
func (p *codeParser) connect(args []codeValue, u *codeUse) codeValue {
	host, port := codeValue{}, codeValue{}
	if len(args) > 0 {
		host = args[0]
	}
	if len(args) > 1 {
		port = args[1]
	}
	if host.flags&isNumber != 0 {
		host, port = port, host
		if host.kind != codeKnown {
			host = codeString("localhost")
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
		return codeValue{}
	}
	if host.kind == codeMap {
		host = codeValue{}
	}
	p.record(codeCall{name: u.name, does: "connect", offset: u.offset}, []codeValue{host, port})
	return codeFlagged(fromNetwork)
}

// peer reports a socket that connects or listens: its address is a pair.
// Databases have methods of the same name.
func (p *codeParser) peer(how string, address codeValue, u *codeUse) {
	c := codeCall{name: u.name, does: "connect", offset: u.offset}
	if how == "listen" {
		c.does = "listen"
	}
	switch {
	case address.kind == codeList && len(address.items) == 2:
		p.record(c, address.items)
	case u.on.flags&fromNetwork != 0 && address.kind != codeName:
		p.record(c, []codeValue{address, {}})
	}
}

// curlOption reports what curl_setopt of PHP says about a request.
func (p *codeParser) curlOption(u *codeUse) {
	option, value := p.arg("1", u), p.arg("2", u)
	c := codeCall{name: u.name, offset: u.offset}
	switch strings.ToUpper(option.text) {
	case "CURLOPT_URL":
		c.does = "fetch"
		p.record(c, []codeValue{value})
	case "CURLOPT_POSTFIELDS", "CURLOPT_INFILE":
		c.does = "send"
		p.leak(c, value.all())
		p.record(c, []codeValue{{}})
	}
}
