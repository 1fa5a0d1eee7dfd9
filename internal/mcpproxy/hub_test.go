package mcpproxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gate/hook"
	"gate/internal/mcpproxy"
)

// A crowd is several servers that the test plays, behind one client that it plays, too.
type crowd struct {
	t        *testing.T
	client   io.WriteCloser
	toClient <-chan string
	servers  map[string]*actor
	done     chan error

	mu     sync.Mutex
	told   []string
	events []hook.Event
}

// An actor is one of the servers: what it hears, and what it says.
type actor struct {
	*crowd
	hears <-chan string
	says  io.Writer
	end   func()
}

func newCrowd(t *testing.T, names ...string) *crowd {
	t.Helper()
	clientIn, clientSays := io.Pipe()
	clientHears, clientOut := io.Pipe()
	c := &crowd{t: t, client: clientSays, toClient: lineChan(clientHears), servers: map[string]*actor{}, done: make(chan error, 1)}
	closers := []io.Closer{clientIn, clientSays, clientHears, clientOut}
	tell := func(text string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.told = append(c.told, text)
	}
	var members []mcpproxy.Member
	for _, name := range names {
		serverIn, serverSays := io.Pipe()
		serverHears, serverOut := io.Pipe()
		server := &played{stream: mcpproxy.Stream{In: serverIn, Out: serverOut}, done: make(chan struct{})}
		server.closeInput = func() { server.end() }
		c.servers[name] = &actor{c, lineChan(serverHears), serverSays, server.end}
		closers = append(closers, serverHears, serverSays)
		members = append(members, mcpproxy.Member{Server: server, Options: mcpproxy.Options{Server: name, Session: "s", Dir: "/home/dev", Tell: tell,
			Decide: func(_ context.Context, ev hook.Event) hook.Decision {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.events = append(c.events, ev)
				if ev.ToolInput()["at"] == "sea" {
					return deny("no")
				}
				return hook.Decision{}
			}}})
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		c.done <- mcpproxy.RunAll(ctx, mcpproxy.Stream{In: clientIn, Out: clientOut}, members, "v1", tell)
	}()
	t.Cleanup(func() {
		cancel()
		for _, in := range closers {
			in.Close()
		}
	})
	return c
}

func (c *crowd) say(lines ...string) {
	c.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(c.client, l+"\n"); err != nil {
			c.t.Fatal(err)
		}
	}
}

// next is the next line of a stream.
func (c *crowd) next(from <-chan string) string {
	c.t.Helper()
	select {
	case got, ok := <-from:
		if !ok {
			c.t.Fatal("the stream has ended")
		}
		return got
	case <-time.After(time.Minute):
		c.t.Fatal("nothing comes")
	}
	return ""
}

func (c *crowd) hears(want string) {
	c.t.Helper()
	if got := c.next(c.toClient); got != want {
		c.t.Fatalf("the client got  %s\nwant %s", brief(got), brief(want))
	}
}

// notes reports that the person was told something.
func (c *crowd) notes(want string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.told, func(s string) bool { return strings.Contains(s, want) })
}

// say has a server say lines.
func (a *actor) say(lines ...string) {
	a.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(a.says, l+"\n"); err != nil {
			a.t.Fatal(err)
		}
	}
}

// heard takes the next line that a server gets, which must be want.
func (a *actor) heard(want string) {
	a.t.Helper()
	if got := a.next(a.hears); got != want {
		a.t.Fatalf("the server got  %s\nwant %s", brief(got), brief(want))
	}
}

// answers takes the next request that a server gets and answers it. It returns the params.
func (a *actor) answers(method, result string) string {
	a.t.Helper()
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	if line := a.next(a.hears); json.Unmarshal([]byte(line), &m) != nil || m.Method != method || m.ID == nil {
		a.t.Fatalf("the server got %s, want %s", brief(line), method)
	}
	a.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
	return string(m.Params)
}

const (
	hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}`
	ready = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func selfSaid(name, version, capabilities string) string {
	return fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":%q,"version":"1"},"instructions":"use %s"}`, version, capabilities, name, name)
}

// begin has all servers begin.
func (c *crowd) begin(capabilities string) string {
	c.t.Helper()
	c.say(hello)
	for _, name := range slices.Sorted(maps.Keys(c.servers)) {
		if got := c.servers[name].answers("initialize", selfSaid(name, "2025-06-18", capabilities)); !strings.Contains(got, `"roots":{}`) {
			c.t.Errorf("%s was told %s", name, got)
		}
	}
	said := c.next(c.toClient)
	c.say(ready)
	for _, a := range c.servers {
		a.heard(ready)
	}
	return said
}

const everything = `{"tools":{},"prompts":{},"resources":{"subscribe":true},"logging":{},"completions":{}}`

// TestApart holds names of servers against each other.
func TestApart(t *testing.T) {
	for _, names := range [][]string{{"a", "b"}, {"a", "a_b"}, {"github", "gitlab", "git"}} {
		if err := mcpproxy.Apart(names); err != nil {
			t.Errorf("%v: %v", names, err)
		}
	}
	for _, names := range [][]string{{"a", "b", "a"}, {"a.b", "a b"}, {"a", "a__b"}, {"a_", "a"}, {"Git", "git"}, {""}} {
		err := mcpproxy.Apart(names)
		if err == nil || len(names) > 1 && !(strings.Contains(err.Error(), names[0]) && strings.Contains(err.Error(), names[len(names)-1])) {
			t.Errorf("%v: %v", names, err)
		}
	}
}

// TestSeveral has a client use what two servers offer as if they were one.
func TestSeveral(t *testing.T) {
	c := newCrowd(t, "one", "two")
	one, two := c.servers["one"], c.servers["two"]
	want := `{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"completions":{},"logging":{},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true}},` +
		`"instructions":"# one (tools: one__TOOL)\n\nuse one\n\n# two (tools: two__TOOL)\n\nuse two","protocolVersion":"2025-06-18","serverInfo":{"name":"gate","version":"v1"}}}`
	if got := c.begin(everything); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	one.answers("tools/list", `{"tools":[{ "description" : "x", "name":"look", "inputSchema":{"type":"object"}},{"name":"look2"}]}`)
	two.answers("tools/list", `{"tools":[{"name":"look"}]}`)
	c.hears(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{ "description" : "x", "name":"one__look", "inputSchema":{"type":"object"}},{"name":"one__look2"},{"name":"two__look"}]}}`)

	c.say(`{"jsonrpc":"2.0", "id":2,"method":"tools/call","params":{"_meta":{"a":1.0}, "name":"two__look","arguments":{"at" : "sky"}}}`)
	two.heard(`{"jsonrpc":"2.0", "id":2,"method":"tools/call","params":{"_meta":{"a":1.0}, "name":"look","arguments":{"at" : "sky"}}}`)
	two.say(`{"result": {"content":[{"type":"text","text":"blue"}]},"jsonrpc":"2.0","id":2}`)
	c.hears(`{"result": {"content":[{"type":"text","text":"blue"}]},"jsonrpc":"2.0","id":2}`)
	c.say(`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"one__look","arguments":{"at":"sea"}}}`)
	if got := c.next(c.toClient); !strings.Contains(got, `"id":"x"`) || !strings.Contains(got, "no (gate abc123)") {
		t.Errorf("got %s", got)
	}
	var tools []string
	for _, ev := range c.events {
		if ev.Name == hook.PreToolUse {
			tools = append(tools, ev.Tool())
		}
	}
	if !slices.Equal(tools, []string{"mcp__two__look", "mcp__one__look"}) {
		t.Errorf("policies saw %v", tools)
	}

	c.say(`{"jsonrpc":"2.0","id":3,"method":"prompts/list"}`)
	one.answers("prompts/list", `{"prompts":[{"name":"p"}]}`)
	two.answers("prompts/list", `{"prompts":[]}`)
	c.hears(`{"jsonrpc":"2.0","id":3,"result":{"prompts":[{"name":"one__p"}]}}`)
	c.say(`{"jsonrpc":"2.0","id":4,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"one__p"},"argument":{"name":"a","value":""}}}`)
	one.heard(`{"jsonrpc":"2.0","id":4,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}}`)
	one.say(`{"jsonrpc":"2.0","id":4,"result":{"completion":{"values":[]}}}`)
	c.hears(`{"jsonrpc":"2.0","id":4,"result":{"completion":{"values":[]}}}`)

	c.say(`{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":"debug"}}`)
	for _, a := range []*actor{one, two} {
		if got := a.answers("logging/setLevel", `{}`); got != `{"level":"debug"}` {
			t.Errorf("got %s", got)
		}
	}
	c.hears(`{"jsonrpc":"2.0","id":5,"result":{}}`)
	c.say(`{"jsonrpc":"2.0","id":6,"method":"ping"}`)
	c.hears(`{"jsonrpc":"2.0","id":6,"result":{}}`)
	two.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	c.hears(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	c.say(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	one.heard(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)
	two.heard(`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`)

	c.client.Close()
	if err := <-c.done; err != nil {
		t.Error(err)
	}
}

// TestSeveralRefuse answers what has no server that it is for.
func TestSeveralRefuse(t *testing.T) {
	c := newCrowd(t, "one", "two")
	for said, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`:      `begins with initialize`,
		`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`: `-32601`,
	} {
		c.say(said)
		if got := c.next(c.toClient); !strings.Contains(got, want) {
			t.Errorf("%s: %s", said, got)
		}
	}
	c.begin(`{"tools":{}}`)
	for said, want := range map[string]string{
		hello: `has begun already`,
		`{"jsonrpc":"2.0","id":1,"method":"x/y"}`:                                                                                    `-32601`,
		`{"jsonrpc":"2.0","id":1,"method":"Tools/call","params":{"name":"one__look"}}`:                                               `-32601`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"look"}}`:                                                    `"isError":true`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one__"}}`:                                                   `"isError":true`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one__look","name":"two__look"}}`:                            `duplicate key`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"one__look"}}`:                                               `looks like name`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`:                                                                 `name is missing`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"three__look"}}`:                                            `-32602`,
		`{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/x"}}}`:                                  `-32602`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///x"}}`:                                            `-32002`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"zzz"}}`:                                                   `-32602`,
		`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`:                                                                          `the id is null`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"x"}`:                                                                `duplicate key`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one__look","_meta":{"progressToken":1,"progressToken":2}}}`: `duplicate key`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one__look","_meta":{"progressToken":{}}}}`:                  `neither a string nor a number`,
		`[]`: `an empty batch`,
	} {
		c.say(said)
		if got := c.next(c.toClient); !strings.Contains(got, want) {
			t.Errorf("%s:\ngot  %s\nwant %s", said, got, want)
		}
	}
	c.say(`{"jsonrpc":"2.0","id":77,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/strange"}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	c.hears(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	if !c.notes("a request that is not there: 77") || !c.notes("notifications/strange") {
		t.Errorf("the person was told %q", c.told)
	}
}

// TestSeveralIDs has two servers and the client use the same ids and tokens.
func TestSeveralIDs(t *testing.T) {
	c := newCrowd(t, "one", "two")
	c.begin(everything)
	one, two := c.servers["one"], c.servers["two"]
	one.say(`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"_meta":{"progressToken":1}}}`)
	c.hears(`{"jsonrpc":"2.0","id":"gate-1","method":"sampling/createMessage","params":{"messages":[],"_meta":{"progressToken":"gate-1"}}}`)
	two.say(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"which?","requestedSchema":{}}}`)
	c.hears(`{"jsonrpc":"2.0","id":"gate-2","method":"elicitation/create","params":{"message":"two: which?","requestedSchema":{}}}`)
	c.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"gate-1","progress":1}}`)
	one.heard(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`)
	c.say(`{"jsonrpc":"2.0","id":"gate-2","result":{"action":"decline"}}`)
	two.heard(`{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`)
	one.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	c.hears(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"gate-1"}}`)

	c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one__look","_meta":{"progressToken":"t"}}}`)
	one.next(one.hears)
	c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"two__look"}}`)
	if got := c.next(c.toClient); !strings.Contains(got, "the id 1 is in use") {
		t.Errorf("got %s", got)
	}
	const progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":0.5}}`
	two.say(progress, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`)
	c.hears(`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`) // nothing of the other before it
	one.say(progress)
	c.hears(progress)
	c.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	one.heard(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	one.say(`{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`, `{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	c.hears(`{"jsonrpc":"2.0","id":"gate-3","method":"ping"}`)
}

// TestSeveralResources reads each resource from whom it is of.
func TestSeveralResources(t *testing.T) {
	c := newCrowd(t, "one", "two")
	c.begin(everything)
	one, two := c.servers["one"], c.servers["two"]
	reads := func(a *actor, uri string) {
		t.Helper()
		request := fmt.Sprintf(`{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":%q}}`, uri)
		c.say(request)
		a.heard(request)
		a.say(`{"jsonrpc":"2.0","id":9,"result":{"contents":[]}}`)
		c.hears(`{"jsonrpc":"2.0","id":9,"result":{"contents":[]}}`)
	}
	// Nothing is listed yet: gate asks.
	c.say(`{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"a://two"}}`)
	for _, a := range []*actor{one, two} {
		a.answers("resources/list", `{"resources":[{"uri":"a://both","name":"x"},{"uri":"a://`+map[*actor]string{one: "one", two: "two"}[a]+`","name":"y"}]}`)
	}
	one.answers("resources/templates/list", `{"resourceTemplates":[{"uriTemplate":"t://{x}/1","name":"x"}]}`)
	two.answers("resources/templates/list", `{"resourceTemplates":[{"uriTemplate":"t://{x}/{+y}","name":"x"}]}`)
	two.heard(`{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"a://two"}}`)
	two.say(`{"jsonrpc":"2.0","id":9,"result":{"contents":[]}}`)
	c.hears(`{"jsonrpc":"2.0","id":9,"result":{"contents":[]}}`)

	reads(one, "a://one")
	reads(one, "a://both")
	reads(one, "t://z/1")
	reads(two, "t://z/1/2")
	c.say(`{"jsonrpc":"2.0","id":1,"method":"resources/list"}`)
	one.answers("resources/list", `{"resources":[{"uri":"a://both","name":"x"}]}`)
	two.answers("resources/list", `{"resources":[{"uri":"a://both","name":"fake"},{"uri":"a://one","name":"y"}]}`)
	c.hears(`{"jsonrpc":"2.0","id":1,"result":{"resources":[{"uri":"a://both","name":"x"},{"uri":"a://one","name":"y"}]}}`)
	if !c.notes(`it lists "a://both", which "one" lists, too`) {
		t.Errorf("the person was told %q", c.told)
	}
	reads(two, "a://one") // it is not the other's any more

	const updated = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://both"}}`
	two.say(updated)
	one.say(updated)
	c.hears(updated)
	if two.say(`{"jsonrpc":"2.0","id":"p","method":"ping"}`); c.next(c.toClient) != `{"jsonrpc":"2.0","id":"gate-1","method":"ping"}` {
		t.Error("a server told of another one's resource")
	}

	// A link in a result is read from whom it came.
	c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"two__find"}}`)
	two.answers("tools/call", `{"content":[{"type":"resource_link","uri":"l://1","name":"x"},{"type":"resource_link","uri":"a://both","name":"x"}]}`)
	c.next(c.toClient)
	reads(two, "l://1")
	reads(one, "a://both")
	c.say(`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"m://unknown"}}`)
	if got := c.next(c.toClient); !strings.Contains(got, "-32002") {
		t.Errorf("got %s", got)
	}
}

// TestSeveralPages puts the parts of lists together, and goes on where they are long.
func TestSeveralPages(t *testing.T) {
	c := newCrowd(t, "one", "two")
	c.begin(`{"tools":{}}`)
	one, two := c.servers["one"], c.servers["two"]
	c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	two.answers("tools/list", `{"tools":[{"name":"a"}],"nextCursor":"x"}`)
	if got := two.answers("tools/list", `{"tools":[{"name":"b"}]}`); got != `{"cursor":"x"}` {
		t.Errorf("got %s", got)
	}
	for i := range 100 {
		one.answers("tools/list", fmt.Sprintf(`{"tools":[{"name":"t%d"}],"nextCursor":"%d"}`, i, i))
	}
	var got struct {
		Result struct {
			Tools      []struct{ Name string }
			NextCursor string
		}
	}
	if err := json.Unmarshal([]byte(c.next(c.toClient)), &got); err != nil || len(got.Result.Tools) != 102 || got.Result.NextCursor == "" {
		t.Fatalf("got %+v, %v", got, err)
	}
	c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"` + got.Result.NextCursor + `"}}`)
	if got := one.answers("tools/list", `{"tools":[{"name":"last"}]}`); got != `{"cursor":"99"}` {
		t.Errorf("got %s", got)
	}
	c.hears(`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"one__last"}]}}`)
}

// TestSeveralDie has servers end, one after the other.
func TestSeveralDie(t *testing.T) {
	c := newCrowd(t, "one", "two")
	c.begin(`{"tools":{}}`)
	one, two := c.servers["one"], c.servers["two"]
	c.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one__look"}}`)
	one.next(one.hears)
	one.end()
	c.hears(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"gate: the server ended before it answered"}}`)
	c.hears(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	if !c.notes(`the MCP server "one": the server has ended`) {
		t.Errorf("the person was told %q", c.told)
	}
	c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"one__look"}}`)
	c.hears(`{"jsonrpc":"2.0","id":2,"result":{"content":[{"text":"gate: the MCP server \"one\" has ended","type":"text"}],"isError":true}}`)
	c.say(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	two.answers("tools/list", `{"tools":[{"name":"look"}]}`)
	c.hears(`{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"two__look"}]}}`)
	go func() {
		for range c.toClient {
		}
	}()
	two.end()
	if err := <-c.done; !errors.Is(err, mcpproxy.ErrServerEnded) || !strings.Contains(err.Error(), `"two" has ended`) {
		t.Error(err)
	}
}

// TestSeveralVersions tells the client one version of the protocol.
func TestSeveralVersions(t *testing.T) {
	for _, tt := range []struct{ one, two, want, out string }{
		{"2025-06-18", "2024-11-05", "2025-06-18", ""},
		{"2025-03-26", "2024-11-05", "2025-03-26", ""},
		{"2025-06-18", "2025-11-25", "2025-06-18", "two"},
		{"2025-11-25", "2024-11-05", "2024-11-05", "one"},
		{"2025-11-25", "2026-01-01", "2025-11-25", "two"},
	} {
		c := newCrowd(t, "one", "two")
		c.say(hello)
		c.servers["one"].answers("initialize", selfSaid("one", tt.one, `{"tools":{}}`))
		c.servers["two"].answers("initialize", selfSaid("two", tt.two, `{"tools":{}}`))
		if got := c.next(c.toClient); !strings.Contains(got, `"protocolVersion":"`+tt.want+`"`) {
			t.Errorf("%v: %s", tt, got)
		}
		if tt.out != "" && !c.notes(fmt.Sprintf("the MCP server %q: it takes no part: it speaks the protocol", tt.out)) {
			t.Errorf("%v: the person was told %q", tt, c.told)
		}
	}
}

// TestSeveralLate goes on without a server that is slow, and takes it in when it comes.
func TestSeveralLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, "one", "two")
		one, two := c.servers["one"], c.servers["two"]
		began := time.Now()
		c.say(hello, ready, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`) // nobody waits for the answer
		one.answers("initialize", selfSaid("one", "2025-06-18", `{"tools":{}}`))
		if got := c.next(c.toClient); !strings.Contains(got, `"prompts"`) || strings.Contains(got, "use two") {
			t.Errorf("got %s", got)
		}
		if took := time.Since(began); took != 15*time.Second {
			t.Errorf("it took %v", took)
		}
		if !c.notes(`the MCP server "two": it has not begun within 15s`) {
			t.Errorf("the person was told %q", c.told)
		}
		one.heard(ready)
		one.answers("tools/list", `{"tools":[{"name":"look"}]}`)
		c.hears(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"one__look"}]}}`)
		c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"two__look"}}`)
		if got := c.next(c.toClient); !strings.Contains(got, "has not started yet") {
			t.Errorf("got %s", got)
		}
		two.answers("initialize", selfSaid("two", "2025-06-18", `{"tools":{}}`))
		two.heard(ready)
		c.hears(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		c.say(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
		one.answers("tools/list", `{"tools":[{"name":"look"}]}`)
		two.answers("tools/list", `{"tools":[{"name":"look"}]}`)
		c.hears(`{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"one__look"},{"name":"two__look"}]}}`)

		// A list that takes too long is made without it.
		c.say(`{"jsonrpc":"2.0","id":4,"method":"tools/list"}`)
		one.answers("tools/list", `{"tools":[{"name":"look"}]}`)
		two.next(two.hears)
		c.hears(`{"jsonrpc":"2.0","id":4,"result":{"tools":[{"name":"one__look"}]}}`)
		if !c.notes(`the MCP server "two": tools/list: no answer to tools/list within 15s`) {
			t.Errorf("the person was told %q", c.told)
		}
		if got := two.next(two.hears); !strings.Contains(got, "notifications/cancelled") {
			t.Errorf("got %s", got)
		}
		c.client.Close()
		if err := <-c.done; err != nil {
			t.Error(err)
		}
	})
}

// TestSeveralDeaf goes on with one server where another reads nothing.
func TestSeveralDeaf(t *testing.T) {
	c := newCrowd(t, "one", "two")
	c.begin(`{"tools":{}}`)
	two := c.servers["two"]
	for i := range 200 {
		c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"one__look","arguments":{"x":%q}}}`, i, strings.Repeat("x", 1<<16)))
	}
	c.say(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"two__look"}}`)
	two.answers("tools/call", `{"content":[]}`)
	c.hears(`{"jsonrpc":"2.0","id":"a","result":{"content":[]}}`)
}
