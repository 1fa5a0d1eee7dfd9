package mcpproxy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"sync"

	"github.com/yosida95/uritemplate/v3"

	"gate/internal/pins"
	"gate/internal/strictjson"
)

// Bounds of a list of all servers: bytes of one answer to the client, and parts of a
// server's list that are asked for at once. The rest has a cursor.
const (
	maxAnswer = MaxMessage / 2
	maxParts  = 100
	maxURI    = 4 << 10
	maxURIs   = 20_000 // whose servers are known
)

// resources are what is known of whose a resource is: the first server's that lists it.
// The hub's mu guards it.
type resources struct {
	fresh     bool // no server has said that its list changed
	owners    map[string]*peer
	templates []template
	finding   sync.Mutex // held while the hub asks for lists by itself
}

type template struct {
	text string
	of   *peer
}

// A share is what one server adds to a list: its entries as they go to the client, what
// names them, and where its list goes on.
type share struct {
	of      *peer
	entries [][]byte
	names   []string
	cursor  string
	whole   bool // it begins at the list's beginning
}

// capabilityOf is the capability of servers that have a list.
func capabilityOf(kind pins.Kind) string {
	if kind == pins.Templates {
		return "resources"
	}
	return string(kind)
}

// list answers a request for a list with those of all servers, one after the other.
func (h *hub) list(m *message, l listing) {
	cursors, err := h.cursorsIn(m, l)
	if err != nil {
		h.fail(m, codeParams, err.Error())
		return
	}
	shares, failed := h.gather(m.method, l, cursors)
	if failed != nil && len(shares) == 0 {
		h.fail(m, codeEnded, failed.Error())
		return
	}
	h.mark(l, shares)
	text, rest := []byte("["), map[string]any{}
	for _, s := range shares {
		for i, e := range s.entries {
			if l.kind == pins.Resources || l.kind == pins.Templates {
				if other := h.first(l, s.names[i]); other != nil && other != s.of {
					s.of.tellf("it lists %s, which %s lists, too; that is read from %s, and this was left out of the list", strictjson.Quoted(clip(s.names[i])), other.quoted(), other.quoted())
					continue
				}
			}
			if len(text) > 1 {
				text = append(text, ',')
			}
			text = append(text, e...)
		}
		if s.cursor != "" {
			rest[s.of.name] = s.cursor
		}
	}
	result := append(fmt.Appendf(nil, `{"%s":`, l.key), append(text, ']')...)
	if len(rest) > 0 {
		result = append(result, `,"nextCursor":`...)
		result = strictjson.Append(result, base64.RawURLEncoding.EncodeToString(strictjson.Append(nil, rest)))
	}
	result = append(result, '}')
	h.client.send(append(append(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":`, m.id.of(m.raw)), result...), '}'))
}

// cursorsIn are the servers whose lists are asked for, and where each begins: "" is its
// beginning.
func (h *hub) cursorsIn(m *message, l listing) (map[*peer]string, error) {
	at, err := find(m.raw, m.params, "cursor")
	if err != nil {
		return nil, fmt.Errorf("params: %w", err)
	}
	from := map[*peer]string{}
	ready := h.ready(capabilityOf(l.kind))
	if at == (span{}) || string(at.of(m.raw)) == "null" {
		for _, s := range ready {
			from[s] = ""
		}
		return from, nil
	}
	said, err := text(at.of(m.raw))
	var raw []byte
	if err == nil {
		raw, err = base64.RawURLEncoding.DecodeString(said)
	}
	var doc map[string]any
	if err == nil {
		doc, err = strictjson.Object(raw, limits)
	}
	if err != nil {
		return nil, fmt.Errorf("params.cursor is none of gate's")
	}
	for _, s := range ready {
		if cursor, _ := doc[s.name].(string); cursor != "" {
			from[s] = cursor
		}
	}
	return from, nil
}

// gather has servers list at the same time. failed is why one of them did not; it has no
// share.
func (h *hub) gather(method string, l listing, from map[*peer]string) (shares []*share, failed error) {
	ctx, cancel := context.WithTimeout(h.ctx, startTime)
	defer cancel()
	got := make([]*share, len(h.members))
	errs := make([]error, len(h.members))
	var all sync.WaitGroup
	for i, m := range h.members {
		if cursor, asked := from[m]; asked {
			all.Go(func() { got[i], errs[i] = m.lists(ctx, method, l, cursor, maxAnswer/len(from)) })
		}
	}
	all.Wait()
	for i, s := range got {
		switch {
		case errs[i] != nil:
			failed = cmp.Or(failed, errs[i])
			h.members[i].tellf("%s: %v; the list was made without it", method, errs[i])
		case s != nil:
			shares = append(shares, s)
		}
	}
	return shares, failed
}

// lists asks one server for a list from a cursor on, to its end or until it is most bytes.
func (m *peer) lists(ctx context.Context, method string, l listing, cursor string, most int) (*share, error) {
	s := &share{of: m, whole: cursor == ""}
	for range maxParts {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		answer, err := m.request(ctx, method, strictjson.Append(nil, params))
		if err != nil {
			return nil, err
		}
		raw := answer.result.of(answer.raw)
		page, err := readPage(l, raw)
		if err != nil {
			return nil, err
		}
		for i, at := range page.parts {
			entry, name, err := m.entry(l, page.entries[i], at.of(raw))
			if err != nil {
				m.tellf("an entry of %s was left out: %v", method, err)
				continue
			}
			s.entries, s.names = append(s.entries, entry), append(s.names, name)
			most -= len(entry)
		}
		if cursor, s.cursor = page.cursor, page.cursor; cursor == "" || most <= 0 {
			break
		}
	}
	return s, nil
}

// entry is an entry of a list as it goes to the client: tools and prompts under longer names.
func (m *peer) entry(l listing, v any, raw []byte) (entry []byte, name string, err error) {
	d, err := definition(l, v)
	if err != nil {
		return nil, "", err
	}
	if l.kind != pins.Tools && l.kind != pins.Prompts {
		return raw, d.Name, nil
	}
	_, at, err := findText(raw, span{0, len(raw)}, l.name)
	if err != nil {
		return nil, "", err
	}
	name = m.prefix + d.Name
	return splice(raw, at, strictjson.Append(nil, name)), name, nil
}

// mark notes whose resources are, as their lists say it.
func (h *hub) mark(l listing, shares []*share) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch l.kind {
	case pins.Resources:
		if h.owners == nil {
			h.owners = map[string]*peer{}
		}
		for _, s := range shares {
			for uri, m := range h.owners {
				if m.out != "" || m == s.of && s.whole {
					delete(h.owners, uri)
				}
			}
		}
		for _, s := range shares {
			for _, uri := range s.names {
				if was := h.owners[uri]; len(uri) <= maxURI && (was == nil && len(h.owners) < maxURIs || was != nil && h.before(s.of, was)) {
					h.owners[uri] = s.of
				}
			}
		}
	case pins.Templates:
		for _, s := range shares {
			var rest []template
			for _, t := range h.templates {
				if t.of.out == "" && (t.of != s.of || !s.whole) {
					rest = append(rest, t)
				}
			}
			h.templates = rest
			for _, text := range s.names {
				if len(text) <= maxURI && len(h.templates) < maxURIs {
					h.templates = append(h.templates, template{text, s.of})
				}
			}
		}
	}
}

// before reports that a server was named before another one.
func (h *hub) before(one, other *peer) bool {
	for _, m := range h.members {
		if m == one || m == other {
			return m == one
		}
	}
	return false
}

// first is the server that a resource or template of that name is read from, nil if none is
// known.
func (h *hub) first(l listing, name string) (first *peer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.kind == pins.Resources {
		return h.owners[name]
	}
	for _, t := range h.templates {
		if t.text == name && (first == nil || h.before(t.of, first)) {
			first = t.of
		}
	}
	return first
}

// ownerOf is the server that lists a resource, nil if none does.
func (h *hub) ownerOf(uri string) *peer {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m := h.owners[uri]; m != nil && m.out == "" {
		return m
	}
	return nil
}

// byAddress hands on what uses a resource, or its template, by its address. A server that
// lists it gets it; otherwise the one with a template that fits; otherwise the one that told
// the address in a result; otherwise the only one that has resources.
func (h *hub) byAddress(m *message, in span) {
	uri, _, err := findText(m.raw, in, "uri")
	if err != nil {
		h.fail(m, codeParams, "params: "+err.Error())
		return
	}
	if to := h.ownerOf(uri); to != nil {
		h.forward(to, m, m.raw)
		return
	}
	own := *m
	own.raw = bytes.Clone(m.raw)
	h.work.Go(func() {
		h.findResources()
		if to := h.reader(uri); to != nil {
			h.forward(to, &own, own.raw)
			return
		}
		h.fail(&own, codeResource, fmt.Sprintf("no server lists %s, and more than one has resources", strictjson.Quoted(clip(uri))))
	})
}

// findResources has the servers list their resources, where that is not known.
func (h *hub) findResources() {
	h.finding.Lock()
	defer h.finding.Unlock()
	h.mu.Lock()
	fresh := h.fresh
	h.fresh = true // unless a server says meanwhile that its list changed
	h.mu.Unlock()
	if fresh {
		return
	}
	from := map[*peer]string{}
	for _, s := range h.ready("resources") {
		from[s] = ""
	}
	for _, method := range []string{"resources/list", "resources/templates/list"} {
		l, _ := listings(method)
		shares, _ := h.gather(method, l, from)
		h.mark(l, shares)
	}
}

// reader is the server that a resource is read from, nil if that is not known.
func (h *hub) reader(uri string) (reader *peer) {
	if to := h.ownerOf(uri); to != nil {
		return to
	}
	ready := h.ready("resources")
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.templates {
		if t.of.out == "" && (reader == nil || h.before(t.of, reader)) && fitsTemplate(t.text, uri) {
			reader = t.of
		}
	}
	if reader != nil {
		return reader
	}
	if to := h.links[uri]; to != nil && to.out == "" {
		return to
	}
	if len(ready) == 1 {
		return ready[0]
	}
	return nil
}

// fitsTemplate reports an address that a template of RFC 6570 stands for, or the template
// itself.
func fitsTemplate(text, uri string) bool {
	if text == uri {
		return true
	}
	t, err := uritemplate.New(text)
	return err == nil && len(uri) <= maxURI && t.Regexp().MatchString(uri)
}
