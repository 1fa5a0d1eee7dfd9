package authzen_test

import (
	"context"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/authzen"
	"gate/internal/strictjson"
)

// point answers by the name of the tool, and keeps the last event.
type point struct{ last map[string]any }

func (p *point) decide(_ context.Context, event []byte) *hook.Decision {
	p.last, _ = strictjson.Object(event, strictjson.Limits{})
	name, _ := p.last["hook_event_name"].(string)
	d := &hook.Decision{ID: "d1", Event: hook.Name(name)}
	because := func(e hook.Effect) {
		d.Effect, d.Reasons = e, []hook.Reason{{ID: "rule", Effect: e, Reason: "so it is", Hook: "acme.p"}}
	}
	switch tool, _ := p.last["tool_name"].(string); tool {
	case "denied":
		because(hook.Deny)
	case "asked":
		because(hook.Ask)
	case "allowed":
		because(hook.Allow)
	case "changed":
		d.Rewrite = map[string]any{"a": "b"}
	case "broken":
		d.Effect, d.Fault = hook.Deny, hook.Faultf(hook.FaultTimeout, "no decision in time")
	case "nothing":
		return nil
	}
	return d
}

// call is an evaluation of the call of a tool.
func call(tool, more string) string {
	return `{"subject":{"type":"agent","id":"a"},"action":{"name":"tools/call"},"resource":{"type":"tool","id":"` + tool + `"` + more + `}}`
}

// TestDecisions says gate's decisions as yes and no: only what runs as it is, is a yes.
func TestDecisions(t *testing.T) {
	p := &point{}
	for tool, want := range map[string]bool{
		"other": true, "allowed": true, "denied": false, "asked": false, "changed": false, "broken": false, "nothing": false,
	} {
		got, err := authzen.Point{Decide: p.decide}.Evaluation(t.Context(), []byte(call(tool, "")))
		if err != nil || got["decision"] != want {
			t.Errorf("%s: %v, %v", tool, got, err)
		}
		context := got["context"].(map[string]any)
		if _, says := context["reason_user"]; says == want {
			t.Errorf("%s: %v", tool, context)
		}
	}
}

// TestEvents says evaluations as gate's events. want has fields of the event, or an error.
func TestEvents(t *testing.T) {
	const ends = `"subject":{"type":"identity","id":"alice"}`
	for _, row := range []struct{ name, body, want, err string }{
		{"a call", call("Bash", `,"properties":{"arguments":{"command":"ls"}}`), `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"session_id":"authzen:agent:a"}`, ""},
		{
			"arguments in the context", `{` + ends + `,"action":{"name":"Bash"},"resource":{"type":"tool","id":"Bash"},"context":{"arguments":{"command":"ls"},"cwd":"/w","session_id":"s"}}`,
			`{"tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/w","session_id":"s"}`, "",
		},
		{"no arguments", call("x", ""), `{"tool_input":{}}`, ""},
		{"a resource", `{` + ends + `,"action":{"name":"resources/read"},"resource":{"type":"resource","id":"file:///a"}}`, `{"hook_event_name":"PreToolUse","tool_name":"mcp__authzen__resources_read","tool_input":{"uri":"file:///a"}}`, ""},
		{"a prompt", `{` + ends + `,"action":{"name":"prompts/get"},"resource":{"type":"prompt","id":"p"}}`, `{"tool_name":"mcp__authzen__prompts_get","tool_input":{"name":"p"}}`, ""},
		{"a list", `{` + ends + `,"action":{"name":"tools/list"},"resource":{"type":"mcp_server","id":"s"}}`, `{"hook_event_name":"MCPMessage","mcp":{"method":"tools/list"}}`, ""},
		{"another method", `{` + ends + `,"action":{"name":"tools/own"},"resource":{"type":"mcp_server","id":"s"}}`, `{"hook_event_name":"AccessEvaluation"}`, ""},
		{"not a call", `{` + ends + `,"action":{"name":"delete"},"resource":{"type":"tool","id":"Bash"}}`, `{"hook_event_name":"AccessEvaluation"}`, ""},

		{"an event in the place of the call", strings.TrimSuffix(call("denied", ""), "}") + `,"context":{"gate":{"event":{"hook_event_name":"Stop"}}}}`, "", "/v1/decide"},
		{"an event that is none", strings.TrimSuffix(call("denied", ""), "}") + `,"context":{"gate":{"event":"Stop"}}}`, "", "context.gate.event"},
		{"another word for gate", strings.TrimSuffix(call("x", ""), "}") + `,"context":{"gate":{"id":"d1"}}}`, `{"hook_event_name":"PreToolUse","tool_name":"x"}`, ""},
		{"two kinds of arguments", strings.TrimSuffix(call("x", `,"properties":{"arguments":{"a":1}}`), "}") + `,"context":{"arguments":{"a":2}}}`, "", "not the same"},
		{"arguments that are none", call("x", `,"properties":{"arguments":[]}`), "", "object"},
		{"properties that are none", call("x", `,"properties":7`), "", "resource.properties"},
		{"an empty id", call("", ""), "", "resource.id"},
		{"a member twice", `{"subject":{},"subject":{}}`, "", "duplicate"},
		{"two documents", call("x", "") + "{}", "", "more than one"},
		{"no object", `[]`, "", "object"},
		{"nothing", ``, "", "empty"},
	} {
		p := &point{}
		_, err := authzen.Point{Decide: p.decide}.Evaluation(t.Context(), []byte(row.body))
		if row.err != "" {
			if err == nil || !strings.Contains(err.Error(), row.err) {
				t.Errorf("%s: %v, want %s", row.name, err, row.err)
			}
			continue
		}
		want, bad := strictjson.Object([]byte(row.want), strictjson.Limits{})
		if err != nil || bad != nil {
			t.Fatalf("%s: %v, %v", row.name, err, bad)
		}
		for name, v := range want {
			if a, b := strictjson.Append(nil, p.last[name]), strictjson.Append(nil, v); string(a) != string(b) {
				t.Errorf("%s: %s is %s, want %s", row.name, name, a, b)
			}
		}
	}
}

// TestEvaluations answers several at once, in order, and stops where it is told to.
func TestEvaluations(t *testing.T) {
	item := func(tool string) string { return `{"resource":{"type":"tool","id":"` + tool + `"}}` }
	all := func(semantic string, items ...string) string {
		return `{"subject":{"type":"agent","id":"a"},"action":{"name":"tools/call"},"options":{` + semantic + `},"evaluations":[` + strings.Join(items, ",") + `]}`
	}
	for _, row := range []struct{ name, body, want string }{
		{"in order", all("", item("x"), item("denied"), item("y")), "true false true"},
		{"the first no", all(`"evaluations_semantic":"deny_on_first_deny"`, item("x"), item("denied"), item("y")), "true false"},
		{"the first yes", all(`"evaluations_semantic":"permit_on_first_permit"`, item("denied"), item("x"), item("y")), "false true"},
		{"an event that stands for all", strings.Replace(all("", item("x"), `{"resource":{"type":"tool","id":"y"},"context":{}}`), `"evaluations"`, `"context":{"gate":{"event":{"hook_event_name":"Stop"}}},"evaluations"`, 1), "false true"},
		{"a broken one", all("", item("x"), `{"resource":7}`, `8`, item("y")), "true false false true"},
		{"its own member as a whole", all("", `{"resource":{"type":"tool","id":"x"},"action":{}}`), "false"},
		{"another semantic", all(`"evaluations_semantic":"other"`, item("x")), ""},
		{"too many", all("", strings.Split(strings.Repeat(item("x")+";", authzen.MaxItems)+item("x"), ";")...), ""},
	} {
		p := &point{}
		doc, err := authzen.Point{Decide: p.decide}.Evaluations(t.Context(), []byte(row.body))
		var got []string
		list, _ := doc["evaluations"].([]any)
		for _, v := range list {
			got = append(got, string(strictjson.Append(nil, v.(map[string]any)["decision"])))
		}
		if strings.Join(got, " ") != row.want || (err != nil) != (row.want == "") {
			t.Errorf("%s: %v, %v; want %s", row.name, got, err, row.want)
		}
	}
}
