package conformance

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"gate/internal/acs"
	"gate/internal/strictjson"
)

//go:embed testdata/mcp-interceptors
var interceptorFiles embed.FS

// A Host is a host of MCP interceptors to be asked.
type Host struct {
	// Send hands a request of JSON-RPC over and returns the whole answer.
	Send func(ctx context.Context, body []byte) ([]byte, error)

	// Register has the host offer these interceptors and no others, in this order. nil:
	// nobody can.
	Register func([]Registration) error
}

// A Registration is an interceptor of a fixture. Behavior is the suite's word for what it does.
type Registration struct {
	Name, Type, Behavior, Mode string
	Events, Phases             []string
	FailOpen                   bool
}

// Interceptors runs the fixtures of SEP-2624. Those that need interceptors that the host does
// not offer cannot be driven from outside; whether a secret may flow from one server to
// another is asked of the interceptors that it does offer.
func Interceptors(ctx context.Context, h Host) ([]Finding, error) {
	var list []Finding
	err := fs.WalkDir(interceptorFiles, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := interceptorFiles.ReadFile(file)
		if err != nil {
			return err
		}
		doc, err := strictjson.Object(data, strictjson.Limits{})
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		list = append(list, h.fixture(ctx, doc))
		return nil
	})
	return list, err
}

// fixture plays one fixture's steps.
func (h Host) fixture(ctx context.Context, doc map[string]any) Finding {
	f := Finding{ID: text(doc, "id"), About: text(doc, "requirement"), Outcome: Held}
	list := registrations(doc)
	switch {
	case h.Register != nil:
		if err := h.Register(list); err != nil {
			f.Outcome, f.Why = NotDriven, err.Error()
			return f
		}
	case !fromOutside(f.ID, list):
		f.Outcome, f.Why = NotDriven, "the host would have to offer the fixture's own interceptors"
		return f
	}
	run := &chain{host: h, volatile: doc["volatile"].([]any), servers: map[string]string{}}
	steps, _ := doc["steps"].([]any)
	for i, v := range steps {
		if err := run.step(ctx, v.(map[string]any)); err != nil {
			f.Outcome, f.Why = Differs, fmt.Sprintf("step %d: %v", i+1, err)
			break
		}
	}
	return f
}

// fromOutside reports a fixture that asks any host the same.
func fromOutside(id string, list []Registration) bool {
	return id == "protocol/invoke-unknown-name" || len(list) == 1 && list[0].Behavior == "cross-boundary-guard"
}

func registrations(doc map[string]any) (list []Registration) {
	all, _ := doc["interceptors"].([]any)
	for _, v := range all {
		one, _ := v.(map[string]any)
		r := Registration{Name: text(one, "name"), Type: text(one, "type"), Behavior: text(one, "behavior"), Mode: text(one, "mode"), FailOpen: one["failOpen"] == true}
		events, _ := one["events"].([]any)
		for _, e := range events {
			r.Events = append(r.Events, e.(string))
		}
		if r.Phases = []string{text(one, "phases")}; r.Phases[0] == "both" {
			r.Phases = []string{"request", "response"}
		}
		list = append(list, r)
	}
	return list
}

// A chain is an invoker with the state of one fixture.
type chain struct {
	host     Host
	volatile []any
	servers  map[string]string // of the last request of a session
}

// A failure is an error that a host answers.
type failure struct {
	code    string
	message string
}

func (f *failure) Error() string { return "error " + f.code + ": " + f.message }

// ask sends a request and returns its result.
func (c *chain) ask(ctx context.Context, method string, params map[string]any) (map[string]any, error) {
	said, err := c.host.Send(ctx, strictjson.Append(nil, map[string]any{"jsonrpc": "2.0", "id": "1", "method": method, "params": params}))
	if err != nil {
		return nil, err
	}
	doc, err := strictjson.Object(said, strictjson.Limits{})
	if err != nil {
		return nil, fmt.Errorf("the answer is no JSON object: %w", err)
	}
	if wrong, ok := doc["error"].(map[string]any); ok {
		code, _ := wrong["code"].(json.Number)
		return nil, &failure{code.String(), text(wrong, "message")}
	}
	result, ok := doc["result"].(map[string]any)
	if !ok || doc["id"] != "1" {
		return nil, errors.New("the answer has no result, or another id")
	}
	return result, nil
}

func (c *chain) step(ctx context.Context, step map[string]any) error {
	want, _ := step["expect"].(map[string]any)
	switch text(step, "op") {
	case "list":
		params := map[string]any{}
		if event := text(step, "event"); event != "" {
			params["event"] = event
		}
		result, err := c.ask(ctx, "interceptors/list", params)
		return c.compare(want, result, err)
	case "invoke":
		params, _ := step["params"].(map[string]any)
		result, err := c.ask(ctx, "interceptor/invoke", params)
		return c.compare(want, result, err)
	}
	payload, err := c.apply(ctx, step)
	return decided(want, payload, err)
}

// compare holds a result against the canonical form of a fixture.
func (c *chain) compare(want, got map[string]any, err error) error {
	if code, given := want["errorCode"].(json.Number); given {
		var wrong *failure
		if errors.As(err, &wrong) && wrong.code == code.String() {
			return nil
		}
		return fmt.Errorf("%v, and error %s is wanted", cmp.Or[any](err, "a result"), code)
	}
	if err != nil {
		return err
	}
	said, err := acs.Canonical(c.scrub(got))
	if err == nil && string(said) != text(want, "canonical") {
		err = fmt.Errorf("%s, and %s is wanted", said, text(want, "canonical"))
	}
	return err
}

// scrub leaves out what may differ from run to run.
func (c *chain) scrub(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, inner := range v {
			if !slices.Contains(c.volatile, any(name)) {
				out[name] = c.scrub(inner)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = c.scrub(inner)
		}
		return out
	}
	return v
}

// decided holds what a chain came to against a fixture. A chain that is blocked has an error.
func decided(want map[string]any, payload any, err error) error {
	var no *blocked
	if err != nil && !errors.As(err, &no) {
		return err
	}
	if wanted := text(want, "decision"); (wanted == "allow") != (err == nil) {
		return fmt.Errorf("%v where %s is wanted", cmp.Or[any](err, "it is let through"), wanted)
	}
	if err != nil {
		return nil
	}
	final, err := acs.Canonical(payload)
	if err != nil {
		return err
	}
	if wanted := text(want, "finalPayloadCanonical"); wanted != "" && wanted != string(final) {
		return fmt.Errorf("the payload is %s, and %s is wanted", final, wanted)
	}
	for _, name := range []string{"forbids", "requires"} {
		list, _ := want[name].([]any)
		for _, part := range list {
			if strings.Contains(string(final), part.(string)) == (name == "forbids") {
				return fmt.Errorf("the payload %s %q", name, part)
			}
		}
	}
	return nil
}

// blocked is why a chain ends.
type blocked struct{ why string }

func (b *blocked) Error() string { return "it is blocked: " + b.why }

// apply runs the interceptors that hook a message, as an invoker does: mutators first before a
// request is sent, validators first when a response arrives.
func (c *chain) apply(ctx context.Context, step map[string]any) (any, error) {
	event, phase := text(step, "event"), text(step, "phase")
	listed, err := c.ask(ctx, "interceptors/list", map[string]any{"event": event})
	if err != nil {
		return nil, err
	}
	params := map[string]any{"event": event, "phase": phase, "payload": step["payload"]}
	if about, _ := step["context"].(map[string]any); about != nil {
		params["context"] = about
		params["config"] = map[string]any{"server": c.server(text(about, "sessionId"), phase, step["payload"])}
	}
	order := []string{"mutation", "validation"}
	if phase == "response" {
		slices.Reverse(order)
	}
	for _, kind := range order {
		for _, i := range hooking(listed, kind, event, phase) {
			if err := c.run(ctx, i, kind, params); err != nil {
				return nil, err
			}
		}
	}
	return params["payload"], nil
}

// run invokes one interceptor of a chain, whose payload it may change.
func (c *chain) run(ctx context.Context, i map[string]any, kind string, params map[string]any) error {
	params["name"] = i["name"]
	result, err := c.ask(ctx, "interceptor/invoke", params)
	var wrong *failure
	audits := i["mode"] == "audit"
	switch {
	case errors.As(err, &wrong) && (i["failOpen"] == true || audits):
		return nil
	case errors.As(err, &wrong):
		return &blocked{err.Error()}
	case err != nil:
		return err
	case audits:
		return nil
	case kind == "mutation" && result["modified"] == true:
		params["payload"] = result["payload"]
	case kind == "validation" && result["valid"] != true && (result["severity"] == nil || result["severity"] == "error"):
		return &blocked{string(strictjson.Append(nil, result["messages"]))}
	}
	return nil
}

// hooking are the interceptors of a kind that hook a message, mutators in the order of their
// priority.
func hooking(listed map[string]any, kind, event, phase string) (list []map[string]any) {
	all, _ := listed["interceptors"].([]any)
	for _, v := range all {
		i, _ := v.(map[string]any)
		hooks, _ := i["hooks"].([]any)
		if i["type"] == kind && slices.ContainsFunc(hooks, func(v any) bool {
			h, _ := v.(map[string]any)
			events, _ := h["events"].([]any)
			return h["phase"] == phase && (slices.Contains(events, any(event)) || slices.Contains(events, any("*")) || slices.Contains(events, any("*/"+phase)))
		}) {
			list = append(list, i)
		}
	}
	if kind == "mutation" {
		slices.SortStableFunc(list, func(a, b map[string]any) int {
			return cmp.Or(cmp.Compare(priority(a, phase), priority(b, phase)), strings.Compare(text(a, "name"), text(b, "name")))
		})
	}
	return list
}

// priority is a mutator's hint, low ones first.
func priority(i map[string]any, phase string) float64 {
	v := i["priorityHint"]
	if each, ok := v.(map[string]any); ok {
		v = each[phase]
	}
	n, _ := v.(json.Number)
	f, _ := n.Float64()
	return f
}

// server is the server of a message's tool, by the suite's own table. A response belongs to
// the last request of its session.
func (c *chain) server(session, phase string, payload any) string {
	if phase == "response" {
		return c.servers[session]
	}
	doc, _ := payload.(map[string]any)
	name := text(doc, "name")
	for server, tools := range map[string]string{
		"filesystem": "read_file write_file move_file list_directory search_files", "sqlite": "read_query write_query list_tables describe_table",
		"git": "git_log git_show git_diff_unstaged", "shell": "execute_command",
	} {
		if slices.Contains(strings.Fields(tools), name) {
			c.servers[session] = server
			return server
		}
	}
	c.servers[session] = name
	return name
}
