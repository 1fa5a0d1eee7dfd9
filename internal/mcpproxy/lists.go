package mcpproxy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"gate/internal/pins"
	"gate/internal/strictjson"
)

// A listing is a method that lists definitions: where they stand in its result, and
// what names each of them.
type listing struct {
	kind      pins.Kind
	key, name string
}

// listings are all of them, by their methods.
func listings(method string) (l listing, ok bool) {
	switch method {
	case "tools/list":
		return listing{pins.Tools, "tools", "name"}, true
	case "prompts/list":
		return listing{pins.Prompts, "prompts", "name"}, true
	case "resources/list":
		return listing{pins.Resources, "resources", "uri"}, true
	case "resources/templates/list":
		return listing{pins.Templates, "resourceTemplates", "uriTemplate"}, true
	}
	return listing{}, false
}

// listLimits bound a list.
var listLimits = strictjson.Limits{Bytes: MaxMessage, Keys: 1 << 20, LookAlikes: true}

// maxListed bounds the definitions of one answer.
const maxListed = 10_000

// mostPages bounds how many parts gate asks for by itself, and askTime how long it waits.
const (
	mostPages = 1000
	askTime   = 20 * time.Second
)

// listAge is how old the list of tools may be that a call is held against, where the
// server has not said that it changed. When it is older than besideAge, gate asks for it
// again while the server runs the call, and holds the result against it. A result waits
// for it no longer than besideTime.
const (
	listAge    = 30 * time.Second
	besideAge  = 2 * time.Second
	besideTime = 2 * time.Second
)

// tools are those that the server lists, as far as gate knows them now.
type tools struct {
	mu      sync.Mutex
	asking  sync.Mutex // held while gate asks for the list by itself
	since   int        // how often the server said that the list changed
	current int        // since, when the list was last read to its end; -1: never
	read    time.Time  // the same moment
	list    map[string]tool
	parts   map[string]part // that gate asked for, by their cursors
	glance  *glance         // under way
}

// A part of the list of tools: what it was, and where the list goes on. Of one with something
// withheld nothing is kept.
type part struct {
	digest [sha256.Size]byte
	next   string
}

// A tool: why it is withheld, "" if it is not, and its inputSchema, nil if it has none.
type tool struct {
	withheld string
	schema   any
}

// handList returns what the client gets for a list.
func (p *proxy) handList(r *request, m *message) []byte {
	answered, _, err := p.listed(r, m)
	if err != nil {
		p.tell(fmt.Sprintf("%s of the MCP server was not handed on: %v", r.method, err))
		return failure(r.id, codeEnded, "the server's list was not handed on: "+err.Error())
	}
	return answered
}

// listed looks at a part of a list. It returns what may be handed on of it, and where
// the list goes on.
func (p *proxy) listed(r *request, m *message) (answered []byte, cursor string, err error) {
	switch {
	case m.failed != span{} && m.result != span{}:
		return nil, "", errors.New("it is a result and an error")
	case m.failed != span{}:
		return m.raw, "", nil
	}
	l, _ := listings(r.method)
	page, err := readPage(l, m.result.of(m.raw))
	if err != nil {
		return nil, "", err
	}
	why := make([]string, len(page.entries))
	var defs []pins.Definition
	var at []int
	for i, e := range page.entries {
		d, err := definition(l, e)
		if err != nil {
			why[i] = err.Error()
			p.tell(fmt.Sprintf("an entry of %s of the MCP server is withheld: %v", r.method, err))
			continue
		}
		defs, at = append(defs, d), append(at, i)
	}
	if p.Book != nil {
		held, err := p.Book.look(p.ctx, l.kind, defs, page.cursor == "")
		if err != nil {
			return nil, "", err
		}
		for i, text := range held {
			why[at[i]] = text
		}
	}
	p.withheld(r, l, page, why)
	p.tools.note(r, l, page, why)
	return page.without(m, why), page.cursor, nil
}

// A page is one part of a list: its entries, and where the list and they stand in the result.
type page struct {
	result  map[string]any
	entries []any
	whole   span
	parts   []span
	cursor  string // of the next part, "" if there is none
}

// readPage reads the result of a list strictly.
func readPage(l listing, raw []byte) (page, error) {
	result, err := strictjson.Object(raw, listLimits)
	if err != nil {
		return page{}, err
	}
	for key := range result {
		for _, known := range []string{l.key, "nextCursor"} {
			if key != known && strictjson.Fold(key) == strictjson.Fold(known) {
				return page{}, fmt.Errorf("the key %s looks like %s", strconv.QuoteToASCII(clip(key)), known)
			}
		}
	}
	entries, ok := result[l.key].([]any)
	if !ok {
		return page{}, fmt.Errorf("%s is no list", l.key)
	}
	g := page{result: result, entries: entries}
	g.cursor, _ = result["nextCursor"].(string)
	list, err := members(raw)
	if err != nil {
		return page{}, err
	}
	for _, e := range list {
		if e.key == l.key {
			g.whole = e.value
		}
	}
	g.parts, err = elements(g.whole.of(raw), maxListed)
	for i := range g.parts {
		g.parts[i] = span{g.parts[i].start + g.whole.start, g.parts[i].end + g.whole.start}
	}
	return g, err
}

// definition is what is pinned of an entry: all of it, since some clients show their models
// _meta, too.
func definition(l listing, entry any) (pins.Definition, error) {
	body, ok := entry.(map[string]any)
	name, _ := body[l.name].(string)
	if !ok || name == "" {
		return pins.Definition{}, fmt.Errorf("it has no %s", l.name)
	}
	for key := range body {
		if key != l.name && strictjson.Fold(key) == strictjson.Fold(l.name) {
			return pins.Definition{}, fmt.Errorf("the key %s looks like %s", strconv.QuoteToASCII(clip(key)), l.name)
		}
	}
	return pins.Definition{Name: name, Body: body}, nil
}

// without leaves entries out of a list, and all else as it was.
func (g page) without(m *message, why []string) []byte {
	result := m.result.of(m.raw)
	text, left := []byte("["), 0
	for i, at := range g.parts {
		if why[i] != "" {
			left++
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(text, at.of(result)...)
	}
	if left == 0 {
		return m.raw
	}
	return splice(m.raw, span{m.result.start + g.whole.start, m.result.start + g.whole.end}, append(text, ']'))
}

// note keeps what calls are held against.
func (t *tools) note(r *request, l listing, g page, why []string) {
	if l.kind != pins.Tools {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list == nil {
		t.list, t.current = map[string]tool{}, -1
	}
	for i, e := range g.entries {
		body, _ := e.(map[string]any)
		if name, _ := body["name"].(string); name != "" {
			t.list[name] = tool{withheld: why[i], schema: body["inputSchema"]}
		}
	}
	if g.cursor == "" {
		t.current, t.read = r.since, time.Now()
	}
}

// tool returns what the server says of a tool now. It asks the server where the list
// was not read since the server said that it changed, and where the tool is withheld: a
// person may have accepted it.
func (p *proxy) tool(name string, meta map[string]any) (tool, error) {
	if known, fresh := p.tools.get(name, listAge); fresh && known.withheld == "" {
		return known, nil // while another call asks, too
	}
	p.tools.asking.Lock()
	defer p.tools.asking.Unlock()
	known, fresh := p.tools.get(name, listAge)
	if fresh && known.withheld == "" {
		return known, nil
	}
	if err := p.askTools(meta, false); err != nil {
		return tool{}, fmt.Errorf("the server does not say what its tools are: %w", err)
	}
	p.tools.mu.Lock()
	defer p.tools.mu.Unlock()
	known, listed := p.tools.list[name]
	if !listed {
		return tool{}, errors.New("the server does not list this tool")
	}
	return known, nil
}

// A glance is a list that gate asks for while the server runs calls. done is closed when it
// is there, or err says why it is not.
type glance struct {
	done chan struct{}
	err  error
}

// glance returns the list that the result of a call is held against, nil where what gate knows
// of the tool is new. first says that the caller has to ask for it with lookAgain.
func (p *proxy) glance(c *wireCall) (g *glance, first bool) {
	if p.Book == nil || c.method != methodCall {
		return nil, false
	}
	if _, fresh := p.tools.get(c.name, besideAge); fresh {
		return nil, false
	}
	p.tools.mu.Lock()
	defer p.tools.mu.Unlock()
	if p.tools.glance != nil {
		return p.tools.glance, false
	}
	p.tools.glance = &glance{done: make(chan struct{})}
	return p.tools.glance, true
}

// lookAgain has the server list its tools while it runs a call: a tool that changed in
// silence is noticed before its result is handed on.
func (p *proxy) lookAgain(g *glance, meta map[string]any) {
	p.tools.asking.Lock()
	g.err = p.askTools(meta, true)
	p.tools.asking.Unlock()
	p.tools.mu.Lock()
	p.tools.glance = nil
	p.tools.mu.Unlock()
	close(g.done)
}

// changedMeanwhile returns why the result of a call is withheld, "" if it is not. Where the
// server did not say in time what its tools are, the next call asks.
func (p *proxy) changedMeanwhile(c *call) string {
	if c.again == nil {
		return ""
	}
	t := time.NewTimer(besideTime)
	defer t.Stop()
	select {
	case <-c.again.done:
	case <-t.C:
		return ""
	}
	if c.again.err != nil {
		return ""
	}
	p.tools.mu.Lock()
	defer p.tools.mu.Unlock()
	return p.tools.list[c.name].withheld
}

func (t *tools) get(name string, age time.Duration) (known tool, fresh bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, listed := t.list[name]
	return known, listed && t.current == t.since && time.Since(t.read) < age
}

// changed notes that the server said so.
func (t *tools) changed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.since++
}

// askTools has the server list its tools for gate, to the end. brief says that a part which
// is byte for byte what it was need not be judged again.
func (p *proxy) askTools(meta map[string]any, brief bool) error {
	ctx, cancel := context.WithTimeout(p.ctx, askTime)
	defer cancel()
	cursor := ""
	for range mostPages {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		if meta != nil {
			params["_meta"] = meta
		}
		m, r, err := p.inquire(ctx, "tools/list", params)
		if err != nil {
			return err
		}
		if m.failed != (span{}) {
			doc, _ := strictjson.Object(m.failed.of(m.raw), limits)
			why, _ := doc["message"].(string)
			return errors.New(cmp.Or(clip(why), "it answers with an error"))
		}
		var next string
		if next, err = p.askedPart(r, m, cursor, brief); err != nil || next == "" {
			return err
		}
		cursor = next
	}
	return errors.New("its list has no end")
}

// askedPart looks at a part of the list that gate asked for, and returns where the list goes
// on.
func (p *proxy) askedPart(r *request, m *message, cursor string, brief bool) (next string, err error) {
	digest := sha256.Sum256(m.result.of(m.raw))
	if was, known := p.tools.was(cursor); brief && known && was.digest == digest {
		p.tools.mu.Lock()
		defer p.tools.mu.Unlock()
		if was.next == "" {
			p.tools.current, p.tools.read = r.since, time.Now()
		}
		return was.next, nil
	}
	answered, next, err := p.listed(r, m)
	p.tools.mu.Lock()
	defer p.tools.mu.Unlock()
	delete(p.tools.parts, cursor)
	if err == nil && bytes.Equal(answered, m.raw) {
		if p.tools.parts == nil {
			p.tools.parts = map[string]part{}
		}
		p.tools.parts[cursor] = part{digest, next}
	}
	return next, err
}

func (t *tools) was(cursor string) (part, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	was, known := t.parts[cursor]
	return was, known
}

// inquire sends a request of gate's own and returns its answer.
func (p *proxy) inquire(ctx context.Context, method string, params map[string]any) (*message, *request, error) {
	id := strictjson.Append(nil, "gate-"+rand.Text())
	key, err := idKey(id)
	if err != nil {
		return nil, nil, err
	}
	r := &request{id: id, key: key, method: method, own: make(chan []byte, 1), since: p.tools.count()}
	if err := p.waiting.add(r, 0); err != nil {
		return nil, nil, err
	}
	raw := strictjson.Append(nil, map[string]any{"jsonrpc": "2.0", "id": string(id[1 : len(id)-1]), "method": method, "params": params})
	if err := p.server.send(raw); err != nil {
		p.waiting.take(key)
		return nil, nil, err
	}
	select {
	case raw := <-r.own:
		m, err := scan(raw)
		return &m, r, err
	case <-ctx.Done():
		p.waiting.cancel(key)
		return nil, nil, errors.New("no answer in time")
	}
}

func (t *tools) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.since
}
