package lsp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"gate/internal/lsp"
)

// frame puts a header before a message.
func frame(text string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text) }

// TestBadBytes holds how a server ends that is sent what is no protocol: soon, with a
// sentence.
func TestBadBytes(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"Content-Length: 99999999999999\r\n\r\n{}", "at most 16777216 are read"},
		{"Content-Length: 99999999999999999999999999\r\n\r\n{}", "is no length"},
		{"Content-Length: -1\r\n\r\n{}", "is no length"},
		{"Content-Length: 0x10\r\n\r\n{}", "is no length"},
		{"Content-Length: 20\r\n\r\n{}", "the input ends within a message"},
		{"Content-Length: 2\r\n", "the input ends within a header"},
		{"GET / HTTP/1.1\r\n\r\n", "is no header"},
		{"\x00\x00\x00\r\n\r\n", "is no header"},
		{"X: " + strings.Repeat("a", 1<<20), "a header of more than 4096 bytes"},
		{strings.Repeat("X: y\r\n", 1<<16), "a header of more than 4096 bytes"},
		{"", ""},
	} {
		var out bytes.Buffer
		err := lsp.Serve(context.Background(), strings.NewReader(c.in), &out, lsp.Options{Machine: machine(t)})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%.60q: %v, want %q", c.in, err, c.want)
		}
	}
}

// TestBadMessages holds that a message that is none is answered, and that the next one is
// read.
func TestBadMessages(t *testing.T) {
	for _, c := range []struct {
		text string
		code int // 0: no answer
	}{
		{`{`, -32700}, {`nul`, -32700}, {`[]`, -32700}, {`[{"jsonrpc":"2.0","id":1,"method":"shutdown"}]`, -32700}, {`"x"`, -32700},
		{`{}`, -32700}, {`{"jsonrpc":"2.0","id":1,"id":2,"method":"shutdown"}`, -32700}, {"\xff\xfe", -32700}, {"{\"method\":\"a\x00b\"}", -32700},
		{strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), -32700},
		{strings.Repeat("[", 1_000_000), -32700},
		{`{"jsonrpc":"2.0","id":7,"method":"workspace/symbol","params":{}}`, -32601},
		{`{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("x", 10_000) + `"}`, -32601},
		{`{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}`, -32600},
		{`{"jsonrpc":"2.0","id":7,"method":"textDocument/hover","params":[1,2]}`, -32602},
		{`{"jsonrpc":"2.0","id":7,"method":"textDocument/hover","params":null}`, -32602},
		{`{"jsonrpc":"2.0","id":7,"method":"textDocument/hover"}`, -32602},
		{`{"jsonrpc":"2.0","id":7,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///none.rego"},"position":{"line":0,"character":0}}}`, -32602},
		{`{"jsonrpc":"2.0","id":7,"method":"textDocument/hover","params":{"textDocument":{"uri":"x"},"position":{"line":1e99,"character":0}}}`, -32602},
		{`{"jsonrpc":"2.0","id":7,"method":"workspace/executeCommand","params":{"command":"gate.test","arguments":[{},[]]}}`, -32602},
		{`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":"x"}`, 0},
		{`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"contentChanges":{}}}`, 0},
		{`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{}}}`, 0},
		{`{"jsonrpc":"2.0","id":99,"result":null}`, 0},
		{`{"jsonrpc":"2.0","method":"none/such","params":[]}`, 0},
	} {
		e := start(t)
		e.raw(frame(c.text))
		if c.code != 0 {
			m := e.wait("answer", func(m message) bool { return m.Error != nil })
			if m.Error.Code != c.code {
				t.Errorf("%.80s: %+v, want %d", c.text, m.Error, c.code)
			}
		}
		e.ask("shutdown", nil)
		e.tell("exit", nil)
		if err := <-e.ended; err != nil {
			t.Errorf("%.80s: %v", c.text, err)
		}
	}
}

// TestOrder holds what is answered before initialize and after shutdown, and an exit without one.
func TestOrder(t *testing.T) {
	e := startRaw(t, lsp.Options{Machine: machine(t)})
	if m := e.asked("textDocument/hover", map[string]any{}); m.Error == nil || m.Error.Code != -32002 {
		t.Errorf("%+v", m.Error)
	}
	e.ask("initialize", map[string]any{})
	e.ask("shutdown", nil)
	if m := e.asked("textDocument/hover", map[string]any{}); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("%+v", m.Error)
	}
	e = start(t)
	e.tell("exit", nil)
	if err := <-e.ended; err != lsp.ErrAbrupt {
		t.Errorf("%v", err)
	}
}

// TestBadDocuments holds that documents without a place, or out of reach, are passed over.
func TestBadDocuments(t *testing.T) {
	dir := t.TempDir()
	for _, uri := range []string{
		"untitled:Untitled-1", "http://example.com/push.rego", "file://elsewhere/push.rego", "gate-library:/lib.rego", "", "%", "file:push.rego",
		"file:///%00.rego", "file:///" + strings.Repeat("a/", 5000) + "x.rego", "file:///none/such/x.rego", "file:///proc/self/mem", "file:///dev/zero/x.rego",
		"file:///../../../../etc/x.rego", "file://" + dir,
	} {
		e := start(t)
		e.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 1, "text": policy}})
		e.tell("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 2}, "contentChanges": []any{map[string]any{"text": "package x"}}})
		for _, method := range []string{"textDocument/hover", "textDocument/completion", "textDocument/formatting"} {
			e.asked(method, map[string]any{"textDocument": map[string]any{"uri": uri}, "position": map[string]any{"line": 0, "character": 0}})
		}
		e.tell("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri}})
		e.ask("shutdown", nil)
	}
}

// TestBadEdits holds that an edit that cannot be made is said, that nothing is claimed
// about the document then, and that a whole text mends it.
func TestBadEdits(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "push.rego", policy)
	at := func(line, character int) map[string]any { return map[string]any{"line": line, "character": character} }
	for _, r := range []map[string]any{
		{"start": at(0, 0), "end": at(999, 0)}, {"start": at(-1, 0), "end": at(0, 0)}, {"start": at(0, -7), "end": at(0, 0)},
		{"start": at(5, 0), "end": at(1, 0)}, {"start": at(1<<40, 0), "end": at(1<<41, 0)},
	} {
		e := start(t)
		e.open(path, policy, 1)
		e.diagnosed(path, 1)
		e.edit(path, 2, map[string]any{"range": r, "text": "x"})
		e.wait("message", func(m message) bool {
			return m.Method == "window/showMessage" && strings.Contains(string(m.Params), "lost track of push.rego")
		})
		if m := e.asked("textDocument/hover", about(path, at(0, 0))); m.Error == nil {
			t.Errorf("%v: answered %s", r, m.Result)
		}
		e.replace(path, policy, 3)
		if d := e.diagnosed(path, 3); len(d.Diagnostics) != 1 {
			t.Errorf("%v: %v", r, d.shown())
		}
	}
	e := start(t)
	e.open(path, policy, 1)
	e.diagnosed(path, 1)
	e.edit(path, 2, map[string]any{"text": strings.Repeat("x", 5<<20)})
	e.wait("message", func(m message) bool { return strings.Contains(string(m.Params), "larger than gate reads") })
	text := "package x\n\x00\nbad"
	e.replace(path, text, 3)
	if d := e.diagnosed(path, 3); len(d.Diagnostics) == 0 {
		t.Error("NUL bytes are fine")
	}
}

// TestNewest holds that of many edits in a row the last one is checked, and that a
// request that is cancelled is answered.
func TestNewest(t *testing.T) {
	path := write(t, t.TempDir(), "push.rego", policy)
	e := start(t)
	e.open(path, policy, 0)
	for version := 1; version <= 200; version++ {
		e.replace(path, policy+strings.Repeat("# x\n", version), version)
	}
	e.send(map[string]any{"jsonrpc": "2.0", "id": 5000, "method": "textDocument/hover", "params": about(path, spot(policy, "package"))})
	e.tell("$/cancelRequest", map[string]any{"id": 5000})
	e.wait("answer", func(m message) bool { return m.ID != nil && *m.ID == 5000 })
	if d := e.diagnosed(path, 200); len(d.Diagnostics) != 2 { // and that it is not formatted
		t.Errorf("%v", d.shown())
	}
}

// TestPlace holds that settings get what gate check says, and that a file that is
// nobody's gets nothing.
func TestPlace(t *testing.T) {
	dir := t.TempDir()
	settings := write(t, dir, "settings.yaml", "policies: {}\n")
	write(t, dir, filepath.Join("policies", "push.rego"), strings.ReplaceAll(policy, "forc]", "force]"))
	e := start(t)
	e.open(settings, "policies:\n  acme.psuh: off\n", 1)
	if d := e.diagnosed(settings, 1); len(d.Diagnostics) != 1 || !strings.Contains(d.Diagnostics[0].Message, `did you mean "acme.push"`) || d.Diagnostics[0].Range.Start.Line != 1 {
		t.Errorf("%v", d.shown())
	}
	cases := filepath.Join(dir, "policies", "push_cases.yaml")
	e.open(cases, "cases:\n  - bahs: git push\n", 1)
	if d := e.diagnosed(cases, 1); len(d.Diagnostics) == 0 || d.Diagnostics[0].Range.Start.Line != 1 {
		t.Errorf("%v", d.shown())
	}
	other := filepath.Join(t.TempDir(), "package.json")
	e.open(other, "{", 1)
	e.ask("shutdown", nil)
	for _, m := range e.held {
		if strings.Contains(string(m.Params), "package.json") {
			t.Errorf("%s", m.Params)
		}
	}
}

// FuzzMessages feeds the reader of messages: it ends, and says nothing that is no message.
func FuzzMessages(f *testing.F) {
	hello := frame(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	f.Add([]byte(hello))
	f.Add([]byte(hello + frame(`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///x/y.rego","version":1,"text":"package x"}}}`) +
		frame(`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///x/y.rego","version":2},"contentChanges":[{"range":{"start":{"line":0,"character":2},"end":{"line":0,"character":9}},"text":"é"}]}}`) +
		frame(`{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///x/y.rego"},"position":{"line":0,"character":3}}}`)))
	f.Add([]byte("Content-Length: 2\r\nContent-Type: x\r\n\r\n{}"))
	f.Add([]byte("content-length:2\n\n[]"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		m := lsp.Machine{
			Open:    func(string) (*lsp.Target, error) { return nil, io.EOF },
			Tests:   func(string) (*lsp.Tests, error) { return nil, io.EOF },
			Library: func(string) (string, error) { return "", io.EOF },
		}
		_ = lsp.Serve(context.Background(), bytes.NewReader(in), &out, lsp.Options{Machine: m}) // what is wrong with them is told, or ends it
		for rest := out.String(); rest != ""; {
			var length int
			header, after, ok := strings.Cut(rest, "\r\n\r\n")
			if _, err := fmt.Sscanf(header, "Content-Length: %d", &length); err != nil || !ok || len(after) < length || !json.Valid([]byte(after[:length])) {
				t.Fatalf("%q is no message", rest)
			}
			rest = after[length:]
		}
	})
}

// BenchmarkAnswers measures what an editor waits for, in a policy of the library with all
// that stands beside it.
func BenchmarkAnswers(b *testing.B) {
	list := subjects(b)
	s := list[0]
	for _, x := range list {
		if strings.HasSuffix(x.name, "git/push/push.rego") {
			s = x
		}
	}
	dir := b.TempDir()
	for name, file := range s.files {
		write(b, dir, name, string(file.Data))
	}
	m := machine(b)
	m.Open = s.opens(dir)
	e := startRaw(b, lsp.Options{Machine: m})
	e.ask("initialize", map[string]any{})
	path, text := filepath.Join(dir, filepath.FromSlash(s.name)), string(s.files[s.name].Data)
	e.open(path, text, 1)
	e.diagnosed(path, 1)
	for _, method := range []string{"hover", "completion", "definition", "codeLens", "documentSymbol", "formatting"} {
		b.Run(method, func(b *testing.B) {
			var took []float64
			for b.Loop() {
				at := boundary(text, len(took)*97%len(text))
				start := b.Elapsed()
				e.ask("textDocument/"+method, about(path, place(text, at)))
				took = append(took, float64((b.Elapsed()-start).Microseconds())/1000)
			}
			b.ReportMetric(percentile(took, 95), "p95-ms")
		})
	}
	b.Run("edit", func(b *testing.B) {
		version := 1
		var took []float64
		for b.Loop() {
			version++
			start := b.Elapsed()
			e.replace(path, text+strings.Repeat("\n", version%2), version)
			e.diagnosed(path, version)
			took = append(took, float64((b.Elapsed()-start).Microseconds())/1000)
		}
		b.ReportMetric(percentile(took, 95), "p95-ms")
	})
}
