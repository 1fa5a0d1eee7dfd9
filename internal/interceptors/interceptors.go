// Package interceptors hosts MCP interceptors after SEP-2624: it lists them, and has gate judge
// the messages that an invoker hands over before and after they are sent. It speaks JSON-RPC
// as an MCP server does that has nothing but interceptors.
//
// It knows no transport and no policy, and invokes no interceptors of others. Package adapters
// says what a message means. docs/standards.md says what was chosen where the standard is
// silent. Start with [Gate] and [New].
//
// docs/architecture.md has the rules that it keeps: 2, 3 and 11.
package interceptors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/internal/strictjson"
)

// Bounds on a request.
const (
	MaxBody  = 4 << 20 // bytes
	maxText  = 256     // bytes of names
	maxLimit = time.Minute
)

// Extension is the standard's name among the capabilities of a server.
const Extension = "io.modelcontextprotocol/interceptors"

// Types of interceptors.
const (
	Validation = "validation"
	Mutation   = "mutation"
)

// An Interceptor is a validator or a mutator.
type Interceptor struct {
	Name   string
	Type   string   // Validation or Mutation
	Events []string // such as "tools/call"; "*" is every one
	Phases []string // request, response
	Mode   string   // "audit": invokers go on whatever it says; "": active
	Open   bool     // invokers go on where it fails
	Judge  *Judge   // of its messages; a pair that shares one has one decision of each message
}

// Gate is gate's own pair, whose messages decide judges. The validator sees every message, and
// the mutator the calls that can be changed.
func Gate(decide Decide) []Interceptor {
	j := NewJudge(decide)
	both := []string{"request", "response"}
	return []Interceptor{
		{Name: "gate", Type: Validation, Events: []string{"*"}, Phases: both, Judge: j},
		{Name: "gate/rewrite", Type: Mutation, Events: []string{"tools/call", "resources/read", "prompts/get"}, Phases: both, Judge: j},
	}
}

// descriptor is what the list says. Defaults are left out.
func (i *Interceptor) descriptor() map[string]any {
	hooks := make([]any, len(i.Phases))
	for n, phase := range i.Phases {
		hooks[n] = map[string]any{"events": anyList(i.Events), "phase": phase}
	}
	doc := map[string]any{"name": i.Name, "type": i.Type, "hooks": hooks}
	if i.Mode != "" {
		doc["mode"] = i.Mode
	}
	if i.Open {
		doc["failOpen"] = true
	}
	return doc
}

func anyList(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

func (i *Interceptor) hooks(event, phase string) bool {
	return slices.Contains(i.Phases, phase) && i.lists(event)
}

func (i *Interceptor) lists(event string) bool {
	return slices.Contains(i.Events, "*") || slices.Contains(i.Events, event)
}

// A Host answers requests. Make it with [New].
type Host struct {
	list []Interceptor
}

// New returns a host of interceptors, which it lists in this order.
func New(list []Interceptor) *Host { return &Host{list: list} }

// An rpcError is an answer that is an error, which invokers take for no.
type rpcError struct {
	code    int
	message string
	data    map[string]any
}

func (e *rpcError) Error() string { return e.message }

// Codes of JSON-RPC and of the standard.
const (
	badRequest = -32600
	noMethod   = -32601
	badParams  = -32602
	crashed    = -32603
	tooLate    = -32000
)

// Answer answers one request. It returns nil for a notification, which has no answer.
func (h *Host) Answer(ctx context.Context, body []byte) []byte {
	doc, err := strictjson.Object(body, strictjson.Limits{Bytes: MaxBody})
	if err != nil {
		return reply(nil, nil, &rpcError{code: badRequest, message: "no request of JSON-RPC: " + err.Error()})
	}
	id, asked := doc["id"]
	method, _ := doc["method"].(string)
	if err := wellFormed(doc); err != nil {
		return reply(nil, nil, &rpcError{code: badRequest, message: err.Error()})
	}
	if !asked {
		return nil
	}
	params, _ := doc["params"].(map[string]any)
	if params == nil {
		params = map[string]any{}
	}
	result, err := h.call(ctx, method, params)
	return reply(id, result, err)
}

// wellFormed refuses what is not a request.
func wellFormed(doc map[string]any) error {
	for name := range doc {
		if !slices.Contains([]string{"jsonrpc", "id", "method", "params"}, name) {
			return fmt.Errorf("there is no member %s in a request", strictjson.Quoted(name))
		}
	}
	if doc["jsonrpc"] != "2.0" {
		return errors.New(`jsonrpc: "2.0" is wanted`)
	}
	if s, ok := doc["method"].(string); !ok || s == "" || len(s) > maxText {
		return errors.New("method: a short text is wanted")
	}
	if params, given := doc["params"]; given {
		if _, ok := params.(map[string]any); !ok {
			return fmt.Errorf("params: %s where an object is wanted", strictjson.TypeName(params))
		}
	}
	switch id := doc["id"].(type) {
	case string:
		if len(id) > maxText {
			return errors.New("id: it is too long")
		}
	case json.Number:
	default:
		if _, given := doc["id"]; given {
			return errors.New("id: a text or a number is wanted")
		}
	}
	return nil
}

// call answers a method.
func (h *Host) call(ctx context.Context, method string, params map[string]any) (map[string]any, error) {
	switch method {
	case "initialize":
		return h.initialize(params), nil
	case "ping":
		return map[string]any{}, nil
	case "interceptors/list":
		return h.listed(params)
	case "interceptor/invoke":
		return h.invoke(ctx, params)
	}
	return nil, &rpcError{code: noMethod, message: "there is no method " + strictjson.Quoted(method)}
}

// protocols are the versions of MCP in which a server answers each request by itself.
var protocols = [...]string{"2025-03-26", "2025-06-18", "2025-11-25"}

func (h *Host) initialize(params map[string]any) map[string]any {
	version, _ := params["protocolVersion"].(string)
	if !slices.Contains(protocols[:], version) {
		version = protocols[len(protocols)-1]
	}
	var events []string
	for _, i := range h.list {
		for _, e := range i.Events {
			if !slices.Contains(events, e) {
				events = append(events, e)
			}
		}
	}
	return map[string]any{
		"protocolVersion": version, "serverInfo": map[string]any{"name": "gate", "version": "1"},
		"capabilities": map[string]any{"extensions": map[string]any{Extension: map[string]any{"supportedEvents": anyList(events)}}},
	}
}

func (h *Host) listed(params map[string]any) (map[string]any, error) {
	event, err := optionalText(params, "event")
	if err != nil {
		return nil, err
	}
	list := []any{}
	for i := range h.list {
		if event == "" || h.list[i].lists(event) {
			list = append(list, h.list[i].descriptor())
		}
	}
	return map[string]any{"interceptors": list}, nil
}

func invalid(format string, args ...any) error {
	return &rpcError{code: badParams, message: fmt.Sprintf(format, args...)}
}

func optionalText(doc map[string]any, name string) (string, error) {
	v, given := doc[name]
	s, ok := v.(string)
	if given && v != nil && !ok || len(s) > maxText {
		return "", invalid("%s: a short text is wanted", name)
	}
	return s, nil
}

// invoke has one message judged.
func (h *Host) invoke(ctx context.Context, params map[string]any) (map[string]any, error) {
	m, err := readMessage(params)
	if err != nil {
		return nil, err
	}
	name, err := optionalText(params, "name")
	if err != nil {
		return nil, err
	}
	n := slices.IndexFunc(h.list, func(i Interceptor) bool { return i.Name == name })
	if n < 0 || !h.list[n].hooks(m.event, m.phase) {
		return nil, invalid("no interceptor %s hooks the %s of %s", strictjson.Quoted(name), m.phase, strictjson.Quoted(m.event))
	}
	i := &h.list[n]
	bound := ctx
	if m.limit > 0 {
		var cancel context.CancelFunc
		bound, cancel = context.WithTimeout(ctx, m.limit)
		defer cancel()
	}
	from := time.Now()
	verdict, err := i.Judge.judge(bound, m, i.Type == Mutation)
	if bound.Err() != nil && m.limit > 0 {
		return nil, &rpcError{tooLate, "there is no decision in time", map[string]any{
			"interceptor": i.Name, "phase": m.phase, "timeoutMs": json.Number(fmt.Sprint(m.limit.Milliseconds())),
		}}
	}
	if err != nil {
		return nil, err
	}
	if why, failed := verdict["fault"].(string); failed {
		return nil, &rpcError{crashed, "gate could not decide", map[string]any{"interceptor": i.Name, "reason": why}}
	}
	took := json.Number(fmt.Sprint(time.Since(from).Milliseconds()))
	return i.result(m, verdict, took)
}

// result takes from a verdict what the interceptor's type has.
func (i *Interceptor) result(m *message, verdict map[string]any, took json.Number) (map[string]any, error) {
	doc := map[string]any{"interceptor": i.Name, "type": i.Type, "phase": m.phase, "durationMs": took, "info": verdict["info"]}
	members := []string{"valid", "severity", "messages", "suggestions"}
	if i.Type == Mutation {
		members = []string{"modified", "payload"}
		if verdict["denied"] == true && m.phase == "response" {
			// Validators have spoken before, so nobody else withholds it.
			return nil, &rpcError{crashed, "the result is withheld", map[string]any{"interceptor": i.Name, "reason": firstMessage(verdict)}}
		}
	}
	for _, name := range members {
		if v, given := verdict[name]; given {
			doc[name] = v
		}
	}
	return doc, nil
}

func firstMessage(verdict map[string]any) string {
	var lines []string
	list, _ := verdict["messages"].([]any)
	for _, v := range list {
		doc, _ := v.(map[string]any)
		line, _ := doc["message"].(string)
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// reply writes an answer.
func reply(id any, result map[string]any, err error) []byte {
	doc := map[string]any{"jsonrpc": "2.0", "id": id}
	var wrong *rpcError
	switch {
	case errors.As(err, &wrong):
		inner := map[string]any{"code": json.Number(fmt.Sprint(wrong.code)), "message": strictjson.Visible(wrong.message)}
		if wrong.data != nil {
			inner["data"] = wrong.data
		}
		doc["error"] = inner
	case err != nil:
		doc["error"] = map[string]any{"code": json.Number(fmt.Sprint(crashed)), "message": strictjson.Visible(err.Error())}
	default:
		doc["result"] = result
	}
	return strictjson.Append(nil, doc)
}
