package mcpproxy_test

import (
	"fmt"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/mcpproxy"
	"gate/internal/moment"
)

// bad denies every event about a message that says BAD.
func bad(ev hook.Event) hook.Decision {
	if strings.Contains(fmt.Sprint(ev.Fields["mcp"]), "BAD") {
		return deny("it is bad")
	}
	return hook.Decision{}
}

// TestLists withholds single entries of a list, and hands the rest on as it was.
func TestLists(t *testing.T) {
	for method, key := range map[string]string{"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"} {
		name := map[string]string{"tools": "name", "prompts": "name", "resources": "uri", "resourceTemplates": "uriTemplate"}[key]
		r := newRig(t, mcpproxy.Options{Server: "shop"}, bad)
		ask := `{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`
		r.clientSays(ask)
		r.hears(r.toServer, ask)
		list := func(entries ...string) string {
			return `{"jsonrpc":"2.0","id":1,"result":{"` + key + `":[` + strings.Join(entries, ",") + `], "x":1.0}}`
		}
		a, b, c := `{"`+name+`":"a", "n":1.0}`, `{"`+name+`":"b","description":"BAD"}`, `{"`+name+`":"c"}`
		r.serverSays(list(a, b, c))
		r.hears(r.toClient, list(a, c))
		if len(r.told) != 1 || !strings.Contains(r.told[0], `"b": it is bad`) {
			t.Errorf("%s: told %q", method, r.told)
		}
		if ev := r.events[0]; ev.Name != moment.MCPEvent(method, true) || ev.Text("mcp_server_name") != "shop" || !strings.Contains(fmt.Sprint(ev.Fields["mcp"]), "names:[a b c]") {
			t.Errorf("%s: %v", method, ev.Fields)
		}
		use := map[string]string{
			"tools": `"method":"tools/call","params":{"name":"b"}`, "prompts": `"method":"prompts/get","params":{"name":"b"}`,
			"resources": `"method":"resources/read","params":{"uri":"b"}`,
		}[key]
		if use == "" {
			continue
		}
		r.clientSays(`{"jsonrpc":"2.0","id":2,` + use + `}`)
		if got := r.next(r.toClient); !strings.Contains(got, "it is bad") {
			t.Errorf("%s: %s", method, got)
		}
		r.settled()
		// What is as it should be the next time passes again.
		r.clientSays(ask)
		r.hears(r.toServer, ask)
		r.serverSays(list(a, strings.Replace(b, "BAD", "good", 1)))
		r.hears(r.toClient, list(a, strings.Replace(b, "BAD", "good", 1)))
		use = `{"jsonrpc":"2.0","id":3,` + use + `}`
		r.clientSays(use)
		r.hears(r.toServer, use)
	}
}

// TestIntroduced has a server do without its instructions, or without anything.
func TestIntroduced(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`
	r := newRig(t, mcpproxy.Options{Server: "shop"}, bad)
	r.clientSays(hello)
	r.hears(r.toServer, hello)
	r.serverSays(`{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"x"},"instructions":"BAD"}}`)
	r.hears(r.toClient, `{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"x"}}}`)
	r.clientSays(harmless)
	r.hears(r.toServer, harmless)
	if len(r.told) != 1 || !strings.Contains(r.told[0], "instructions") {
		t.Errorf("told %q", r.told)
	}

	r = newRig(t, mcpproxy.Options{Server: "shop"}, bad)
	r.clientSays(hello)
	r.hears(r.toServer, hello)
	r.serverSays(`{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"BAD"},"instructions":"use it"}}`)
	if got := r.next(r.toClient); !strings.Contains(got, `"capabilities":{"tools":{}}`) || strings.Contains(got, "BAD") {
		t.Errorf("got %s", got)
	}
	r.clientSays(harmless)
	if got := r.next(r.toClient); !strings.Contains(got, "nothing of this MCP server passes: it is bad") {
		t.Errorf("got %s", got)
	}
	r.serverSays(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
	r.clientSays(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	r.hears(r.toClient, `{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}`)
}

// TestAsks has requests of the server, and the client's answers, pass or not.
func TestAsks(t *testing.T) {
	for _, c := range []struct{ method, params, result, refused string }{
		{"sampling/createMessage", `{"messages":"%s"}`, `{"content":"%s"}`, `"error":{"code":-32000,"message":"gate: it is bad (gate abc123)"}`},
		{"elicitation/create", `{"message":"%s"}`, `{"action":"accept","content":{"x":"%s"}}`, `"result":{"action":"decline"}`},
		{"roots/list", `{"x":"%s"}`, `{"roots":[{"uri":"%s"}]}`, `"error":{"code":-32000,"message":"gate: it is bad (gate abc123)"}`},
	} {
		r := newRig(t, mcpproxy.Options{Server: "shop"}, bad)
		ask := func(id int, text string) string {
			return fmt.Sprintf(`{ "jsonrpc":"2.0","id":%d,"method":"%s","params":%s}`, id, c.method, fmt.Sprintf(c.params, text))
		}
		answer := func(id int, text string) string {
			return fmt.Sprintf(`{ "jsonrpc":"2.0","id":%d,"result":%s}`, id, fmt.Sprintf(c.result, text))
		}
		r.serverSays(ask(1, "good"))
		r.hears(r.toClient, ask(1, "good"))
		r.clientSays(answer(1, "good"))
		r.hears(r.toServer, answer(1, "good"))
		r.serverSays(ask(1, "good"))
		r.hears(r.toClient, ask(1, "good"))
		r.clientSays(answer(1, "BAD"))
		r.hears(r.toServer, `{"jsonrpc":"2.0","id":1,`+c.refused+`}`)
		if c.method != "roots/list" {
			r.serverSays(ask(2, "BAD"))
			r.hears(r.toServer, `{"jsonrpc":"2.0","id":2,`+c.refused+`}`)
		}
		r.serverSays(ask(3, "good"))
		r.hears(r.toClient, ask(3, "good"))
		r.clientSays(`{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"BAD"}}`)
		r.hears(r.toServer, `{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"BAD"}}`)
		// Twice the same id, two keys of one name, and a method that only looks like it.
		r.serverSays(ask(4, "good"))
		r.hears(r.toClient, ask(4, "good"))
		for _, line := range []string{
			ask(4, "good"), strings.Replace(ask(5, "good"), c.method, strings.ToUpper(c.method), 1),
			strings.Replace(ask(6, "good"), `"params":{`, `"params":{"a":1,"a":2,`, 1),
		} {
			if c.method == "roots/list" && strings.Contains(line, `"a":2`) {
				continue // of this one nothing is read
			}
			r.serverSays(line)
			if got := r.next(r.toServer); !strings.Contains(got, `"error":{"code":-32600`) {
				t.Errorf("%s: %s", line, got)
			}
		}
		r.settled()
	}
}

// TestNotifications judges them in order, but not those that only count.
func TestNotifications(t *testing.T) {
	r := newRig(t, mcpproxy.Options{Server: "shop"}, bad)
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"BAD"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"message":"BAD"}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x", "data":"y"}}`,
	} {
		r.serverSays(line)
		r.settled()
	}
	if len(r.told) != 3 || len(r.events) != 2 {
		t.Errorf("told %q, %d events", r.told, len(r.events))
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"good"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`,
	} {
		r.serverSays(line)
		r.hears(r.toClient, line)
	}
	if len(r.events) != 3 {
		t.Errorf("%d events", len(r.events))
	}
	// In a batch, what is withheld leaves the others.
	r.serverSays(`[{"jsonrpc":"2.0","method":"a","params":{"x":"BAD"}},{"jsonrpc":"2.0","method":"b"}]`)
	r.hears(r.toClient, `{"jsonrpc":"2.0","method":"b"}`)
}

// TestManyBad bounds how often policies are asked about a list that is bad throughout.
func TestManyBad(t *testing.T) {
	for name, c := range map[string]struct {
		bad        func(i int) bool
		most, pass int // events, and how many entries must pass at least
	}{
		"every other": {func(i int) bool { return i%2 == 1 }, 600, 100},
		"all":         {func(int) bool { return true }, 600, 0},
		"ten":         {func(i int) bool { return i%400 == 399 }, 300, 3990},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, mcpproxy.Options{Server: "shop"}, bad)
			r.clientSays(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			r.next(r.toServer)
			var list []string
			for i := range 4000 {
				text := "good"
				if c.bad(i) {
					text = "BAD"
				}
				list = append(list, fmt.Sprintf(`{"name":"t%d","description":%q}`, i, text))
			}
			r.serverSays(`{"jsonrpc":"2.0","id":1,"result":{"tools":[` + strings.Join(list, ",") + `]}}`)
			got := r.next(r.toClient)
			if strings.Contains(got, "BAD") {
				t.Error("a bad entry passed")
			}
			if passed := strings.Count(got, "good"); passed < c.pass {
				t.Errorf("%d entries passed", passed)
			}
			if len(r.events) > c.most {
				t.Errorf("%d events", len(r.events))
			}
			r.clientSays(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t3999"}}`)
			if got := r.next(r.toClient); !strings.Contains(got, "it is bad") {
				t.Errorf("a call: %s", got)
			}
		})
	}
}
