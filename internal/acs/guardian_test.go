package acs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gate/internal/moment"
	"gate/internal/strictjson"
)

// A desk is a Guardian with a clock and a decision of the test's own.
type desk struct {
	t   *testing.T
	g   *Guardian
	o   Options
	mu  sync.Mutex
	now time.Time
	n   int

	last     map[string]any // the step that was judged last
	attended bool
	says     string // the answer to every step
}

const session1 = "5c3f1b8e-9a0d-4c2e-8f4b-2d6a7e9c1b30"

var key1, key2 = Key{ID: "k1", Secret: bytes.Repeat([]byte("1"), 32)}, Key{ID: "k2", Secret: bytes.Repeat([]byte("2"), 32), Asks: true, Fixed: true, Agents: []string{"claude-code:*"}}

func newDesk(t *testing.T, dir string) *desk {
	t.Helper()
	d := &desk{t: t, now: time.Date(2026, 9, 9, 12, 0, 0, 0, time.UTC), says: `{"decision":"allow"}`}
	d.o = Options{Keys: []Key{key1, key2}, Dir: dir, Now: func() time.Time { return d.now }, Decide: func(_ context.Context, step []byte, attended bool) []byte {
		doc, err := strictjson.Object(step, strictjson.Limits{})
		if err != nil {
			panic(err)
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.last, d.attended = doc, attended
		if d.says == "panic" {
			panic("a mistake")
		}
		return []byte(d.says)
	}}
	d.open()
	return d
}

func (d *desk) open() {
	d.t.Helper()
	var err error
	if d.g, err = Open(d.t.Context(), d.o); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { d.g.Close() })
}

// id is a request id that was never used.
func (d *desk) id() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	return fmt.Sprintf("00000000-0000-4000-8000-%012d", d.n)
}

// envelope is a request that holds, but for its signature.
func (d *desk) envelope(method string, payload map[string]any) map[string]any {
	id := d.id()
	return map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": map[string]any{
		"acs_version": "0.1.0", "request_id": id, "timestamp": d.now.Format(time.RFC3339),
		"metadata": map[string]any{"agent_id": "claude-code:1", "session_id": session1, "turn_id": "t-1"}, "payload": payload,
	}}
}

func signed(envelope map[string]any, k Key) map[string]any {
	params := envelope["params"].(map[string]any)
	metadata, _ := params["metadata"].(map[string]any)
	delete(params, "signature")
	secret, err := SessionKey(k.Secret, textOf(metadata, "session_id"))
	if err == nil {
		err = Sign(secret, k.ID, envelope, Params)
	}
	if err != nil {
		panic(err)
	}
	return envelope
}

// ask signs and sends, and returns the decision or the code of the error.
func (d *desk) ask(envelope map[string]any) (result map[string]any, code int) {
	d.t.Helper()
	return d.raw(strictjson.Append(nil, signed(envelope, key1)))
}

func (d *desk) raw(body []byte) (result map[string]any, code int) {
	d.t.Helper()
	doc, err := strictjson.Object(d.g.Answer(d.t.Context(), body), strictjson.Limits{})
	if err != nil || doc["jsonrpc"] != "2.0" {
		d.t.Fatalf("no answer of JSON-RPC: %v, %v", doc, err)
	}
	if failure, failed := doc["error"].(map[string]any); failed {
		number, _ := failure["code"].(json.Number)
		value, _ := number.Int64()
		return nil, int(value)
	}
	result, _ = doc["result"].(map[string]any)
	return result, 0
}

func helloPayload() map[string]any {
	var methods []any
	for method := range payloads() {
		methods = append(methods, method)
	}
	slices.SortFunc(methods, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	return map[string]any{
		"acs_versions_supported": []any{"0.1.0"}, "transports_supported": []any{"http"}, "provenance_producer": "none",
		"methods_implemented": append(methods, "steps/sessionStart", "steps/sessionEnd", "protocols/MCP/*", "agbom/snapshot", "steps/own"),
		"profiles_supported":  []any{"acs-core", "acs-crypto", "acs-audit"}, "wrapped_protocols": []any{map[string]any{"protocol": "MCP", "version": "2025-06-18"}},
	}
}

func (d *desk) greet() map[string]any {
	d.t.Helper()
	result, code := d.ask(d.envelope(hello, helloPayload()))
	if code != 0 {
		d.t.Fatalf("hello: error %d", code)
	}
	return result
}

func (d *desk) call(tool string) map[string]any {
	return d.envelope("steps/toolCallRequest", map[string]any{
		"tool": map[string]any{"name": tool}, "arguments": map[string]any{"command": map[string]any{"value": "ls"}},
	})
}

func (d *desk) want(what string, result map[string]any, code int, decision string, wantCode int) {
	d.t.Helper()
	if textOf(result, "decision") != decision || code != wantCode {
		d.t.Errorf("%s: %v, error %d; want %q, error %d", what, result, code, decision, wantCode)
	}
}

// TestAlike has calls of tools whose names look alike: each is judged, and so are those that
// come after them in the turn.
func TestAlike(t *testing.T) {
	d := newDesk(t, "")
	d.greet()
	for _, tool := range []string{"Bash", "bash", "Bash\u200b", "Read"} {
		result, code := d.ask(d.call(tool))
		d.want(fmt.Sprintf("%q", tool), result, code, "allow", 0)
	}
	about, _ := d.last[moment.Guardian].(map[string]any)
	turn, _ := about[moment.GuardianTurn].(map[string]any)
	if got := fmt.Sprint(turn["calls"]); got != "map[Bash:3 Read:1]" {
		t.Errorf("counted: %s", got)
	}
}

// TestHello says what gate does, and nothing that it does not.
func TestHello(t *testing.T) {
	d := newDesk(t, "")
	result := d.greet()
	methods := strictjson.Texts(result["methods_evaluated"])
	if !slices.Contains(methods, "steps/toolCallRequest") || !slices.Contains(methods, "protocols/MCP/*") || slices.Contains(methods, "agbom/snapshot") || slices.Contains(methods, "steps/own") {
		t.Errorf("methods: %v", methods)
	}
	if got := fmt.Sprint(result["profiles_accepted"]); got != "[acs-core acs-audit]" {
		t.Errorf("profiles: %s", got)
	}
	if old, _ := result["payload"].(map[string]any); old["negotiated_version"] != "0.1.0" || result["decision"] != nil {
		t.Errorf("clients of an older text find no hello: %v", result)
	}
	for name, change := range map[string]func(map[string]any){
		"another hello":     func(p map[string]any) { p["max_payload_size_bytes"] = 5 },
		"no methods":        func(p map[string]any) { delete(p, "methods_implemented") },
		"another transport": func(p map[string]any) { p["transports_supported"] = []any{"stdio"} },
		"no producer":       func(p map[string]any) { p["provenance_producer"] = "some" },
	} {
		payload := helloPayload()
		change(payload)
		if result, code := d.ask(d.envelope(hello, payload)); code == 0 {
			t.Errorf("%s: %v", name, result)
		}
	}
	if _, code := d.ask(d.envelope(hello, helloPayload())); code != 0 {
		t.Errorf("the same hello again: error %d", code)
	}
}

// TestOrder holds what a session may send, and in which order.
func TestOrder(t *testing.T) {
	d := newDesk(t, "")
	result, code := d.ask(d.call("x"))
	d.want("without a hello", result, code, "", CodeNotNegotiated)
	d.greet()
	result, code = d.ask(d.envelope("steps/sessionStart", map[string]any{"intent": map[string]any{"scope_mode": "strict", "parsed": []any{
		"x", map[string]any{"tool": "y", "operation": "read"},
	}}}))
	d.want("start", result, code, "allow", 0)
	result, code = d.ask(d.call("x"))
	d.want("within the intent", result, code, "allow", 0)
	result, code = d.ask(d.call("y"))
	d.want("another operation", result, code, "deny", 0)
	more := d.call("y")
	more["params"].(map[string]any)["payload"].(map[string]any)["operation"] = "read"
	result, code = d.ask(more)
	d.want("the operation", result, code, "allow", 0)
	result, code = d.ask(d.envelope("steps/agentTrigger", map[string]any{"trigger_type": "external_event", "intent": map[string]any{"scope_mode": "open"}}))
	d.want("another intent", result, code, "allow", 0)
	result, code = d.ask(d.call("z"))
	d.want("outside of the first intent", result, code, "deny", 0)
	if turn := d.last["guardian"].(map[string]any)["turn"]; fmt.Sprint(turn) != "map[calls:map[x:1 y:2] id:t-1]" {
		t.Errorf("counted: %v", turn)
	}
	result, code = d.ask(d.envelope("agbom/snapshot", map[string]any{}))
	d.want("a method that gate does not judge", result, code, "", CodeNotNegotiated)
	result, code = d.ask(d.envelope("wrapped:mcp-1999-01-01/tools/list", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
	d.want("a version of MCP that nobody said", result, code, "", CodeNotNegotiated)
	end := d.envelope("steps/sessionEnd", map[string]any{"reason": "completed", "final_chain_hash": strings.Repeat("a", 64)})
	result, code = d.ask(end)
	d.want("an end on another head", result, code, "", CodeChain)
	result, code = d.ask(d.envelope("steps/sessionEnd", map[string]any{"reason": "completed"}))
	d.want("the end", result, code, "allow", 0)
	result, code = d.ask(d.call("x"))
	d.want("after the end", result, code, "", CodeSessionRefused)
	result, code = d.raw(strictjson.Append(nil, end))
	d.want("a replay after the end", result, code, "", CodeReplay)
}

// TestBound holds that a session belongs to the key and the agent of its hello.
func TestBound(t *testing.T) {
	d := newDesk(t, "")
	d.greet()
	result, code := d.raw(strictjson.Append(nil, signed(d.call("x"), key2)))
	d.want("another key", result, code, "deny", 0)
	other := d.call("x")
	other["params"].(map[string]any)["metadata"].(map[string]any)["agent_id"] = "claude-code:2"
	result, code = d.ask(other)
	d.want("another agent", result, code, "deny", 0)
	if !slices.Contains(strictjson.Texts(result["reason_codes"]), "agent_id_not_bound") {
		t.Errorf("another agent: %v", result)
	}
	lie := signed(d.call("x"), key2)
	lie["params"].(map[string]any)["signature"].(map[string]any)["key_id"] = "k1"
	result, code = d.raw(strictjson.Append(nil, lie))
	d.want("one key's signature under the name of another", result, code, "", CodeSignature)
}

// TestSubstitutes holds that what gate answers goes with the method, the client and the
// standard, and is a denial otherwise.
func TestSubstitutes(t *testing.T) {
	for says, want := range map[string]string{
		`{"decision":"deny","reasoning":"so it is"}`: "deny", `{"decision":"deny"}`: "deny", `{"decision":"ALLOW"}`: "deny", ``: "deny", `panic`: "deny", `[]`: "deny",
		`{"decision":"modify","reasoning":"r","modifications":{"parameter_overrides":{"a":1}}}`:                           "modify",
		`{"decision":"modify","reasoning":"r"}`:                                                                           "deny",
		`{"decision":"modify","reasoning":"r","modifications":{}}`:                                                        "deny",
		`{"decision":"modify","reasoning":"r","modifications":{"parameter_overrides":{"a":1},"modified_content":"both"}}`: "deny",
		`{"decision":"allow","ask_details":{"question":"q"}}`:                                                             "deny",
		`{"decision":"defer","reasoning":"r","defer_details":{"timeout_decision":"deny"}}`:                                "defer",
	} {
		d := newDesk(t, "")
		d.greet()
		d.says = says
		result, code := d.ask(d.call("x"))
		d.want(says, result, code, want, 0)
		if result["chain_hash"] == nil || result["signature"] == nil || want != "allow" && textOf(result, "reasoning") == "" {
			t.Errorf("%s: %v", says, result)
		}
		d.says = `{"decision":"ask","reasoning":"r","ask_details":{"question":"q"}}`
		result, code = d.ask(d.envelope("steps/userMessage", map[string]any{"content": []any{map[string]any{"type": "text", "value": "x"}}}))
		d.want("a question where there is none", result, code, "deny", 0)
	}
	d := newDesk(t, "")
	d.greet()
	d.says = `{"decision":"defer","reasoning":"r","defer_details":{"timeout_decision":"deny"}}`
	for range maxDeferrals {
		result, code := d.ask(d.call("x"))
		d.want("a deferral", result, code, "defer", 0)
	}
	result, code := d.ask(d.call("x"))
	d.want("one too many", result, code, "deny", 0)
}

// TestClient holds that what is known of a key's clients reaches the decision.
func TestClient(t *testing.T) {
	d := newDesk(t, "")
	send := func(envelope map[string]any) (map[string]any, int) {
		return d.raw(strictjson.Append(nil, signed(envelope, key2)))
	}
	if _, code := send(d.envelope(hello, helloPayload())); code != 0 {
		t.Fatalf("hello: error %d", code)
	}
	if _, code := send(d.call("x")); code != 0 || !d.attended || d.last["guardian"].(map[string]any)["fixed"] != true {
		t.Errorf("error %d, attended %v, %v", code, d.attended, d.last["guardian"])
	}
	stranger := d.envelope(hello, helloPayload())
	metadata := stranger["params"].(map[string]any)["metadata"].(map[string]any)
	metadata["agent_id"], metadata["session_id"] = "codex:1", "5c3f1b8e-9a0d-4c2e-8f4b-2d6a7e9c1b31"
	result, code := send(stranger)
	d.want("an agent that the key is not for", result, code, "", CodeSessionRefused)
	d.o.Keys[1].Agents = []string{"codex:*"} // the one that has said hello is none of these
	result, code = send(d.call("x"))
	d.want("an agent that the key is not for any more", result, code, "deny", 0)
}

// TestResults gives results their calls, also those of wrapped messages, whose ids count
// once while they wait.
func TestResults(t *testing.T) {
	d := newDesk(t, "")
	d.greet()
	call := d.call("Bash")
	d.ask(call)
	d.ask(d.envelope("steps/toolCallResult", map[string]any{
		"tool": map[string]any{"name": "Bash"}, "exit_status": "success", "outputs": []any{map[string]any{"value": "x"}}, "request_id_ref": call["id"],
	}))
	if got := fmt.Sprint(d.last["guardian"]); !strings.Contains(got, "input:map[command:ls] tool:Bash") {
		t.Errorf("the call of a result: %s", got)
	}
	wrapped := func(id any) (map[string]any, int) {
		return d.ask(d.envelope("protocols/MCP/tools/call", map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": map[string]any{"name": "x"}}))
	}
	result, code := wrapped(json.Number("7"))
	d.want("a wrapped call", result, code, "allow", 0)
	result, code = wrapped("7")
	d.want("the same id while it waits", result, code, "deny", 0)
	result, code = d.ask(d.envelope("protocols/MCP/tools/call", map[string]any{"jsonrpc": "2.0", "id": 7, "result": map[string]any{"content": []any{}}}))
	d.want("its answer", result, code, "allow", 0)
	if got := fmt.Sprint(d.last["guardian"]); !strings.Contains(got, "tool:x") {
		t.Errorf("the call of a wrapped answer: %s", got)
	}
	d.says = `{"decision":"deny","reasoning":"no"}`
	wrapped("7")
	d.says = `{"decision":"allow"}`
	result, code = wrapped("7")
	d.want("the id of a call that was denied", result, code, "allow", 0)
}

// TestRestart holds that a session goes on where it was, and that a replay is one also then.
func TestRestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "acs")
	d := newDesk(t, dir)
	d.greet()
	call := signed(d.call("x"), key1)
	first, _ := d.raw(strictjson.Append(nil, call))
	if _, err := Open(t.Context(), d.o); err == nil {
		t.Error("two Guardians keep their sessions in one directory")
	}
	d.g.Close()
	names, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(names) != 1 {
		t.Fatalf("files: %v", names)
	}
	f, _ := os.OpenFile(names[0], os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString(`{"kind":"id","id":"half`) // whoever wrote it was killed
	f.Close()
	d.open()
	result, code := d.raw(strictjson.Append(nil, call))
	d.want("a replay after a restart", result, code, "", CodeReplay)
	next := d.call("x")
	next["params"].(map[string]any)["metadata"].(map[string]any)["session_state"] = map[string]any{"chain_hash": first["chain_hash"]}
	result, code = d.ask(next)
	d.want("the next step, on the old head", result, code, "allow", 0)
	if got := fmt.Sprint(d.last["guardian"].(map[string]any)["turn"]); got != "map[calls:map[x:2] id:t-1]" {
		t.Errorf("counted: %s", got)
	}
	d.g.Close()
	d.now = d.now.Add(idleLife + time.Second)
	d.open()
	if names, _ := filepath.Glob(filepath.Join(dir, "*.jsonl")); len(names) != 0 {
		t.Errorf("an old session is kept: %v", names)
	}
	result, code = d.raw(strictjson.Append(nil, call))
	d.want("a replay when the session is forgotten", result, code, "", CodeNotNegotiated)
	d.g.Close()
	os.WriteFile(filepath.Join(dir, fileOf(session1)), []byte("{\"kind\":\"other\"}\n"), 0o600)
	if _, err := Open(t.Context(), d.o); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a file that is none of a session: %v", err)
	}
}

// TestChain holds the entries that are kept: each with the hash of its request, on top of
// the one before it, and the head that was published is the last one's.
func TestChain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "acs")
	d := newDesk(t, dir)
	d.greet()
	var heads []string
	for range 3 {
		result, _ := d.ask(d.call("x"))
		heads = append(heads, textOf(result, "chain_hash"))
	}
	data, err := os.ReadFile(filepath.Join(dir, fileOf(session1)))
	if err != nil {
		t.Fatal(err)
	}
	before := ""
	for line := range bytes.Lines(data) {
		doc, err := strictjson.Object(line, strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		entry, ok := doc["entry"].(map[string]any)
		if !ok {
			continue
		}
		hash, err := EntryHash(entry, before)
		if err != nil || hash != entry["entry_hash"] || textOf(entry, "previous_hash") != before || len(textOf(entry, "request_hash")) != 64 || hash != heads[0] {
			t.Errorf("entry %v on top of %s: %s, %v", entry, before, hash, err)
		}
		before, heads = hash, heads[1:]
	}
	if len(heads) != 0 {
		t.Errorf("%d steps have no entry", len(heads))
	}
}

// TestFull holds that a full store refuses new sessions and drops none that lives.
func TestFull(t *testing.T) {
	d := newDesk(t, "")
	d.greet()
	d.g.remembered.Store(maxRemembered)
	other := d.envelope(hello, helloPayload())
	other["params"].(map[string]any)["metadata"].(map[string]any)["session_id"] = "5c3f1b8e-9a0d-4c2e-8f4b-2d6a7e9c1b31"
	result, code := d.ask(other)
	d.want("a new session", result, code, "", CodeSessionRefused)
	result, code = d.ask(d.call("x"))
	d.want("one that lives", result, code, "allow", 0)
}

// TestManyAtOnce has clients of many sessions, and one session's many steps, at once.
func TestManyAtOnce(t *testing.T) {
	d := newDesk(t, filepath.Join(t.TempDir(), "acs"))
	d.greet()
	var all sync.WaitGroup
	heads := make(chan string, 400)
	for i := range 20 {
		all.Go(func() {
			for range 20 {
				envelope := d.call("x")
				if i%2 == 1 {
					envelope = d.envelope(hello, helloPayload())
					envelope["params"].(map[string]any)["metadata"].(map[string]any)["session_id"] = fmt.Sprintf("5c3f1b8e-9a0d-4c2e-8f4b-%012d", i)
				}
				body := strictjson.Append(nil, signed(envelope, key1))
				doc, err := strictjson.Object(d.g.Answer(t.Context(), body), strictjson.Limits{})
				result, _ := doc["result"].(map[string]any)
				if err != nil || result == nil {
					t.Errorf("%v, %v", doc, err)
				}
				if head := textOf(result, "chain_hash"); head != "" {
					heads <- head
				}
			}
		})
	}
	all.Wait()
	close(heads)
	seen := map[string]bool{}
	for head := range heads {
		seen[head] = true
	}
	if len(seen) != 200 {
		t.Errorf("%d heads of 200 steps", len(seen))
	}
}

// TestTrace writes events of the classes that the standard's mapping has, two where it is no
// allow. A writer that fails changes no decision, and the loss is told.
func TestTrace(t *testing.T) {
	var out bytes.Buffer
	var broken atomic.Bool
	d := newDesk(t, "")
	d.o.Trace = NewTracer(writer(func(p []byte) (int, error) {
		if broken.Load() {
			return 0, os.ErrClosed
		}
		return out.Write(p)
	}))
	d.open()
	payload := helloPayload()
	payload["profiles_supported"] = []any{"acs-trace"}
	if result, _ := d.ask(d.envelope(hello, payload)); fmt.Sprint(result["profiles_accepted"]) != "[acs-trace]" {
		t.Errorf("hello: %v", result)
	}
	d.ask(d.envelope("steps/sessionStart", map[string]any{}))
	d.says = `{"decision":"deny","reasoning":"no","policy_data":{"gate":{"decision":"abc123"}}}`
	call := d.call("x")
	call["params"].(map[string]any)["payload"].(map[string]any)["arguments"].(map[string]any)["command"].(map[string]any)["provenance"] = map[string]any{"origin": "retrieved"}
	result, code := d.ask(call)
	d.want("a denial", result, code, "deny", 0)
	d.o.Trace.Close()
	want := []string{"3002 300201 1 ", "1007 100799 1 ", "2004 200401 4 abc123"}
	for line := range bytes.Lines(out.Bytes()) {
		doc, err := strictjson.Object(line, strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		about, _ := doc["finding_info"].(map[string]any)
		if got := fmt.Sprintf("%v %v %v %s", doc["class_uid"], doc["type_uid"], doc["severity_id"], textOf(about, "uid")); len(want) == 0 || got != want[0] {
			t.Errorf("%s, want %v", got, want)
			break
		}
		want = want[1:]
		for _, name := range []string{"activity_id", "category_uid", "time", "metadata"} {
			if doc[name] == nil {
				t.Errorf("%s is missing in %s", name, line)
			}
		}
		if origin := strings.Contains(string(line), `"acs_provenance_origin"`); origin == (doc["class_uid"] == json.Number("3002")) {
			t.Errorf("origin %v in %s", origin, line)
		}
	}
	if len(want) > 0 {
		t.Errorf("%v are missing", want)
	}

	out.Reset()
	broken.Store(true)
	d.o.Trace = NewTracer(writer(func(p []byte) (int, error) {
		if broken.Load() {
			return 0, os.ErrClosed
		}
		return out.Write(p)
	}))
	d.says = `{"decision":"allow"}`
	d.open()
	d.greet()
	result, code = d.ask(d.call("x"))
	d.want("a step that nobody is told of", result, code, "allow", 0)
	for d.g.o.Trace.lost.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	broken.Store(false)
	d.ask(d.call("x"))
	d.o.Trace.Close()
	if !strings.Contains(out.String(), `"lost":1`) {
		t.Errorf("%s", out.String())
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
