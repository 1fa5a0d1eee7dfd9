package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"gate/internal/confine/profile"
	"strconv"
	"strings"
)

// mostHead is how long a request may be without its body, in bytes.
const mostHead = 32 << 10

// A request is what a program asks of the proxy.
type request struct {
	tunnel bool // CONNECT: bytes in both directions
	host   Host
	head   []byte // of a request that is handed on: its head as the server gets it
	body   int64  // how many bytes follow it
}

// endOfHead is the length of the head at the beginning of some bytes; 0 if it has not
// ended yet.
func endOfHead(b []byte) int {
	if i := bytes.Index(b, []byte("\r\n\r\n")); i >= 0 {
		return i + 4
	}
	return 0
}

// parseRequest reads the head of a request, to its empty line. It takes what RFC 9112
// says a sender must write, and nothing that servers read in several ways. So folded
// lines, lines without a carriage return and bodies of unknown length are refused.
func parseRequest(head []byte) (r request, err error) {
	text, ok := strings.CutSuffix(string(head), "\r\n\r\n")
	if !ok || len(head) > mostHead {
		return r, errors.New("the request has no end")
	}
	lines := strings.Split(text, "\r\n")
	for _, line := range lines {
		if strings.IndexFunc(line, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) >= 0 {
			return r, errors.New("the request has a control character")
		}
	}
	method, rest, _ := strings.Cut(lines[0], " ")
	target, version, _ := strings.Cut(rest, " ")
	if !isToken(method) || version != "HTTP/1.1" && version != "HTTP/1.0" {
		return r, errors.New("the request is none of HTTP/1.1")
	}
	r.body, err = bodyOf(lines[1:])
	if err != nil {
		return r, err
	}
	if method == "CONNECT" {
		r.tunnel = true
		r.host, err = profile.ParseHost(target)
		if err == nil && r.body != 0 {
			err = errors.New("a CONNECT has no body")
		}
		return r, err
	}
	authority, path, err := absolute(target)
	if err != nil {
		return r, err
	}
	if r.host, err = profile.ParseHost(authority); err != nil {
		return r, err
	}
	r.head = handedOn(method, path, r.host, lines[1:])
	return r, nil
}

// absolute takes a target apart that names a server: http://host[:port]/path?query.
func absolute(target string) (authority, path string, err error) {
	if len(target) < 7 || !strings.EqualFold(target[:7], "http://") {
		return "", "", errors.New("the request names no server: a proxy takes CONNECT and http://")
	}
	rest := target[7:]
	authority, path = rest, "/"
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if strings.Contains(path, "#") {
		return "", "", errors.New("the request's target has a fragment, which no server gets")
	}
	if path[0] == '?' {
		path = "/" + path
	}
	if strings.LastIndexByte(authority, ':') <= strings.LastIndexByte(authority, ']') {
		authority += ":80"
	}
	return authority, path, nil
}

// bodyOf reads the length of the body, and judges every field's form.
func bodyOf(lines []string) (length int64, err error) {
	length = -1
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if !ok || !isToken(name) {
			return 0, errors.New("the request has a field without a name")
		}
		switch strings.ToLower(name) {
		case "transfer-encoding":
			return 0, errors.New("the request has a body of unknown length")
		case "content-length":
			value = strings.Trim(value, " \t")
			n, err := strconv.ParseUint(value, 10, 63)
			if err != nil || length >= 0 || value[0] == '+' {
				return 0, errors.New("the request has no single length")
			}
			length = int64(n)
		}
	}
	return max(length, 0), nil
}

// hops are fields that are between a program and its proxy, and those that the proxy
// writes itself.
const hops = " connection proxy-connection keep-alive proxy-authorization proxy-authenticate te trailer upgrade http2-settings host "

// handedOn writes a head for the server. It says which server is meant, whatever the
// program's own Host says, and that no second request follows.
func handedOn(method, path string, h Host, lines []string) []byte {
	drop := hops
	for _, line := range lines {
		if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "connection") {
			for field := range strings.SplitSeq(strings.ToLower(value), ",") {
				if field = strings.Trim(field, " \t"); field != "content-length" { // without it the body would be another request
					drop += field + " "
				}
			}
		}
	}
	var b bytes.Buffer
	host := h.String()
	if h.Port == 80 {
		host = strings.TrimSuffix(host, ":80")
	}
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", method, path, host)
	for _, line := range lines {
		if name, _, _ := strings.Cut(line, ":"); !strings.Contains(drop, " "+strings.ToLower(name)+" ") {
			b.WriteString(line + "\r\n")
		}
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// isToken reports a word of HTTP: a method, or the name of a field.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}
