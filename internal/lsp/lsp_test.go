package lsp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"gate/hook"
	"gate/internal/lsp"
	"gate/internal/policycheck"
	"gate/internal/policytest"
	"gate/internal/sources"
	"gate/policies"
	"gate/scopes"
)

// options are those of a check of a directory with policies.
func options(files fs.FS, place bool) policycheck.Options {
	own, lib := sources.Library(hook.User)
	return policycheck.Options{Files: files, Place: place, Lib: lib, Others: []scopes.Source{own}}
}

// machine checks each file with its directory, which is a place of gate's where it has
// settings.
func machine(t testing.TB) lsp.Machine {
	library := t.TempDir()
	return lsp.Machine{
		Open: func(file string) (*lsp.Target, error) {
			dir := filepath.Dir(file)
			info, err := os.Stat(dir)
			if err != nil || !info.IsDir() {
				return nil, fmt.Errorf("%s: no directory", dir)
			}
			found, _ := filepath.Glob(filepath.Join(dir, "settings.*"))
			return &lsp.Target{
				Named: dir, Dir: dir, Check: options(os.DirFS(dir), len(found) > 0), Close: func() {},
				Holds: func(string) bool { return true }, View: func(files fs.FS) fs.FS { return files },
			}, nil
		},
		Tests: func(file string) (*lsp.Tests, error) {
			own, lib := sources.Library(hook.User)
			dir := filepath.Dir(file)
			return &lsp.Tests{Dir: dir, Close: func() {}, Options: policytest.Options{
				Files: os.DirFS(dir), Library: own, Lib: lib, Snapshot: policies.Snapshot(),
				Source: scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User},
			}}, nil
		},
		Library: func(name string) (string, error) {
			text, err := fs.ReadFile(policies.FS(), name)
			path := filepath.Join(library, filepath.FromSlash(name))
			if err == nil {
				err = os.MkdirAll(filepath.Dir(path), 0o755)
			}
			if err == nil {
				err = os.WriteFile(path, text, 0o444)
			}
			return path, err
		},
	}
}

// An editor drives a server as one does.
type editor struct {
	t        testing.TB
	in       io.WriteCloser
	out      *bufio.Reader
	answers  chan message
	held     []message // that were read while another one was waited for
	ended    chan error
	requests int
}

type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int
		Message string
	} `json:"error"`
}

// patience is how long a test waits for what must come.
const patience = time.Minute

func start(t testing.TB) *editor {
	t.Helper()
	e := startRaw(t, lsp.Options{Version: "test", Machine: machine(t)})
	e.ask("initialize", map[string]any{"capabilities": map[string]any{}})
	e.tell("initialized", map[string]any{})
	return e
}

func startRaw(t testing.TB, o lsp.Options) *editor {
	inRead, in := io.Pipe()
	outRead, out := io.Pipe()
	e := &editor{t: t, in: in, out: bufio.NewReader(outRead), answers: make(chan message, 10_000), ended: make(chan error, 1)}
	go func() {
		err := lsp.Serve(context.Background(), inRead, out, o)
		out.Close()
		e.ended <- err
	}()
	go e.read()
	t.Cleanup(func() {
		in.Close()
		outRead.Close()
	})
	return e
}

func (e *editor) read() {
	defer close(e.answers)
	for {
		length := 0
		for {
			line, err := e.out.ReadString('\n')
			if err != nil {
				return
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				length, _ = strconv.Atoi(value)
			}
		}
		text := make([]byte, length)
		if _, err := io.ReadFull(e.out, text); err != nil {
			return
		}
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			e.t.Errorf("%v in %s", err, text)
			return
		}
		e.answers <- m
	}
}

func (e *editor) raw(text string) { _, _ = io.WriteString(e.in, text) }

func (e *editor) send(v any) {
	e.t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		e.t.Fatal(err)
	}
	e.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text))
}

func (e *editor) tell(method string, params any) {
	e.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// wait returns the first message that is wanted.
func (e *editor) wait(what string, wanted func(message) bool) message {
	e.t.Helper()
	for i, m := range e.held {
		if wanted(m) {
			e.held = append(e.held[:i], e.held[i+1:]...)
			return m
		}
	}
	late := time.After(patience)
	for {
		select {
		case m, ok := <-e.answers:
			switch {
			case !ok:
				e.t.Fatalf("the server is gone: no %s", what)
			case wanted(m):
				return m
			}
			e.held = append(e.held, m)
		case <-late:
			e.t.Fatalf("no %s", what)
		}
	}
}

// asked sends a request and returns whatever is answered.
func (e *editor) asked(method string, params any) message {
	e.t.Helper()
	e.requests++
	id := e.requests
	e.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return e.wait("answer to "+method, func(m message) bool { return m.Method == "" && m.ID != nil && *m.ID == id })
}

// ask is asked for what must be answered.
func (e *editor) ask(method string, params any) json.RawMessage {
	e.t.Helper()
	m := e.asked(method, params)
	if m.Error != nil {
		e.t.Fatalf("%s: %d %s", method, m.Error.Code, m.Error.Message)
	}
	return m.Result
}

// uri names a file.
func uri(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

func (e *editor) open(path, text string, version int) {
	e.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri(path), "languageId": "rego", "version": version, "text": text}})
}

// replace puts a whole text in the place of the old one.
func (e *editor) replace(path, text string, version int) {
	e.edit(path, version, map[string]any{"text": text})
}

func (e *editor) edit(path string, version int, changes ...any) {
	e.tell("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri(path), "version": version}, "contentChanges": changes})
}

type diagnostics struct {
	URI         string
	Version     *int
	Diagnostics []struct {
		Range    struct{ Start, End struct{ Line, Character int } }
		Severity int
		Code     string
		Source   string
		Message  string
	}
}

// diagnosed waits for what is said about a version of a file.
func (e *editor) diagnosed(path string, version int) diagnostics {
	e.t.Helper()
	var d diagnostics
	e.wait(fmt.Sprintf("diagnostics of %s, version %d", filepath.Base(path), version), func(m message) bool {
		d = diagnostics{}
		return m.Method == "textDocument/publishDiagnostics" && json.Unmarshal(m.Params, &d) == nil && d.URI == uri(path) && d.Version != nil && *d.Version == version
	})
	return d
}

// shown are diagnostics as findings are written, without their files.
func (d diagnostics) shown() (list []string) {
	for _, x := range d.Diagnostics {
		list = append(list, fmt.Sprintf("%d: %d %s: %s", x.Range.Start.Line+1, x.Severity, x.Code, x.Message))
	}
	return list
}

const policy = `# METADATA
# title: Push
# description: Nobody pushes.
# custom:
#   gate:
#     events: [PreToolUse]
package acme.push

deny contains {"reason": sprintf("é 😀 %v", [push.forc])} if {
	some push in input.facts.effects
	push.kind == "git.push"
}
`

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestTyped holds that what is wrong follows the text, and that positions count units of
// UTF-16.
func TestTyped(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "push.rego", strings.ReplaceAll(policy, "forc]", "force]"))
	e := start(t)
	e.open(path, policy, 1)
	d := e.diagnosed(path, 1)
	if len(d.Diagnostics) != 1 || d.Diagnostics[0].Code != "field" {
		t.Fatalf("%+v", d)
	}
	line := strings.Split(policy, "\n")[8]
	at := len([]rune(line[:strings.Index(line, "push.forc")])) + 1 // the smiley takes two units
	if r := d.Diagnostics[0].Range; r.Start.Line != 8 || r.Start.Character != at || r.End.Character != at+len("push.forc") {
		t.Errorf("%+v, want character %d", r, at)
	}
	end := map[string]any{"line": 8, "character": at + len("push.forc")}
	e.edit(path, 2, map[string]any{"range": map[string]any{"start": end, "end": end}, "text": "e"})
	if d := e.diagnosed(path, 2); len(d.Diagnostics) != 0 {
		t.Errorf("%v", d.shown())
	}
	e.edit(path, 3, map[string]any{"range": map[string]any{"start": end, "end": map[string]any{"line": 8, "character": 99_999}}, "text": "\n"})
	if d := e.diagnosed(path, 3); len(d.Diagnostics) == 0 {
		t.Error("half a rule is fine")
	}
}

// spot is where a text first stands in another one, as the protocol has it.
func spot(text, part string) map[string]any {
	before, _, _ := strings.Cut(text, part)
	line := before[strings.LastIndexByte(before, '\n')+1:]
	units := 0
	for _, r := range line {
		units += len(utf16.Encode([]rune{r}))
	}
	return map[string]any{"line": strings.Count(before, "\n"), "character": units}
}

func about(path string, at map[string]any) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": uri(path)}, "position": at}
}

// TestWords holds hover, completion, definition, symbols and formatting to one text.
func TestWords(t *testing.T) {
	dir := t.TempDir()
	text := strings.ReplaceAll(policy, "some push in input.facts.effects\n\tpush.kind == \"git.push\"", "some  push in data.gate.lib.effects(\"git.push\")")
	path := write(t, dir, "push.rego", "")
	e := start(t)
	e.open(path, text, 1)
	hover := string(e.ask("textDocument/hover", about(path, spot(text, "git.push"))))
	if !strings.Contains(hover, "sends commits to a remote") {
		t.Errorf("hover: %s", hover)
	}
	completion := string(e.ask("textDocument/completion", about(path, spot(text, "forc]"))))
	if !strings.Contains(completion, `"label":"force"`) || !strings.Contains(completion, `"newText":"force"`) {
		t.Errorf("completion: %s", completion)
	}
	input := strings.Replace(text, "push.forc]", "input.tool_input.]", 1)
	e.replace(path, input, 2)
	completion = string(e.ask("textDocument/completion", about(path, spot(input, "])}"))))
	dot := spot(input, ".])}")["character"]
	if want := fmt.Sprintf(`"textEdit":{"range":{"start":{"line":8,"character":%d},"end":{"line":8,"character":%d}},"newText":"[\"-A\"]"},"filterText":".-A"`, dot, dot.(int)+1); !strings.Contains(completion, want) {
		t.Errorf("what is no name is to stand in brackets: no %s in %s", want, completion)
	}
	e.replace(path, text, 3)
	var places []struct {
		URI   string
		Range struct{ Start struct{ Line int } }
	}
	if err := json.Unmarshal(e.ask("textDocument/definition", about(path, spot(text, "effects("))), &places); err != nil || len(places) != 1 {
		t.Fatalf("%v %v", places, err)
	}
	u, err := url.Parse(places[0].URI)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(u.Path)
	if err != nil || !strings.HasPrefix(strings.Split(string(file), "\n")[places[0].Range.Start.Line], "effects(kind)") {
		t.Errorf("%+v: %v", places, err)
	}
	symbols := string(e.ask("textDocument/documentSymbol", about(path, spot(text, "package"))))
	if !strings.Contains(symbols, `"acme.push"`) || !strings.Contains(symbols, `"deny"`) {
		t.Errorf("symbols: %s", symbols)
	}
	var edits []struct{ NewText string }
	if err := json.Unmarshal(e.ask("textDocument/formatting", about(path, spot(text, "package"))), &edits); err != nil || len(edits) != 1 ||
		edits[0].NewText != strings.Replace(text, "some  push", "some push", 1) {
		t.Errorf("formatting: %v %v", edits, err)
	}
}

const pushTest = `package acme.push_test

import data.acme.push

test_pushes if count(push.deny) == 1 with input as gate.event("git push -f")

test_never if count(push.deny) == 1 with input as gate.event("git status")
`

const pushCases = `cases:
  - name: pushes are rejected
    bash: git push -f
    expect: {effect: deny}
  - name: looking is rejected
    bash: git status
    expect: {effect: deny}
`

// TestRuns holds that tests, cases and lines run by what the editor has, and nothing else does.
func TestRuns(t *testing.T) {
	dir := t.TempDir()
	e := start(t)
	path := write(t, dir, "push.rego", "package acme.other\n")
	e.open(path, strings.ReplaceAll(policy, "forc]", "force]"), 1)
	tests, cases := filepath.Join(dir, "push_test.rego"), filepath.Join(dir, "push_cases.yaml")
	e.open(tests, pushTest, 1)
	e.open(cases, pushCases, 1)
	if d := e.diagnosed(cases, 1); len(d.Diagnostics) > 0 {
		t.Error(d.shown())
	}
	type lens struct {
		Range   struct{ Start struct{ Line int } }
		Command struct {
			Title, Command string
			Arguments      []any
		}
	}
	for _, c := range []struct {
		path  string
		lines []int
		want  []string
	}{
		{tests, []int{4, 6, 4, 6}, []string{"passed: acme.push_test.test_pushes", "failed: acme.push_test.test_never", "deny", "git status\npass"}},
		{cases, []int{1, 4}, []string{"passed: pushes are rejected", "failed: looking is rejected"}},
	} {
		var list []lens
		if err := json.Unmarshal(e.ask("textDocument/codeLens", about(c.path, map[string]any{"line": 0, "character": 0})), &list); err != nil || len(list) != len(c.want) {
			t.Fatalf("%s: %+v %v", c.path, list, err)
		}
		for i, l := range list {
			if l.Range.Start.Line != c.lines[i] {
				t.Errorf("%s stands on line %d, want %d", l.Command.Title, l.Range.Start.Line, c.lines[i])
			}
			var r struct{ Message string }
			if err := json.Unmarshal(e.ask("workspace/executeCommand", map[string]any{"command": l.Command.Command, "arguments": l.Command.Arguments}), &r); err != nil || !strings.Contains(r.Message, c.want[i]) {
				t.Errorf("%v: %s, want %s (%v)", l.Command.Arguments, r.Message, c.want[i], err)
			}
		}
	}
	var tried struct{ Message string }
	params := map[string]any{"command": "gate.try", "arguments": []any{uri(path), "git push -f origin main"}}
	if err := json.Unmarshal(e.ask("workspace/executeCommand", params), &tried); err != nil || !strings.Contains(tried.Message, "deny: gate.git.push: ") ||
		!strings.Contains(tried.Message, "\nwithout gate's own policies: deny\ndeny: acme.push: ") {
		t.Errorf("gate's own policies come first: %s (%v)", tried.Message, err)
	}
	for _, params := range []map[string]any{
		{"command": "gate.shell", "arguments": []any{uri(tests), "touch x"}},
		{"command": "gate.test", "arguments": []any{uri(tests)}},
		{"command": "gate.test", "arguments": []any{uri(tests), "acme.push_test.test_none"}},
		{"command": "gate.try", "arguments": []any{uri(filepath.Join(dir, "none.rego")), "true"}},
	} {
		if m := e.asked("workspace/executeCommand", params); m.Error == nil {
			t.Errorf("%v: %s", params, m.Result)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("files were left: %v %v", entries, err)
	}
}
