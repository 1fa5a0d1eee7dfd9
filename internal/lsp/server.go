package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// A server is one editor's.
type server struct {
	ctx     context.Context
	options Options
	client  *jsonrpc2.Conn
	work    sync.WaitGroup // what has not been answered yet
	turns   chan struct{}  // how many may be answered at once
	exited  chan struct{}  // closed on exit

	mu      sync.Mutex
	state   state
	plain   bool // hover as plain text
	open    map[string]*document
	lost    map[string]bool                    // documents whose edits could not be made
	running map[jsonrpc2.ID]context.CancelFunc // requests by their id
	targets map[string]*watched                // by what is checked
	of      map[string]*watched                // by the file of an open document
	asks    bool                               // the editor has a command that asks for a line

	telling sync.Mutex
	shown   map[string]map[string][]diagnostic // what the editor shows, by file and by who says it
}

type state uint8

const (
	fresh state = iota
	ready
	ending
	gone
)

// maxAtOnce bounds the requests that are answered at once. Others wait.
const maxAtOnce = 4

func newServer(ctx context.Context, o Options) *server {
	return &server{
		ctx: ctx, options: o, turns: make(chan struct{}, maxAtOnce), exited: make(chan struct{}),
		open: map[string]*document{}, lost: map[string]bool{}, running: map[jsonrpc2.ID]context.CancelFunc{},
		targets: map[string]*watched{}, of: map[string]*watched{}, shown: map[string]map[string][]diagnostic{},
	}
}

// leftOpen reports an exit without a shutdown.
func (s *server) leftOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == gone
}

// A request is a method that is answered; its document is as it was when it was asked.
type request func(s *server, ctx context.Context, params json.RawMessage) (any, error)

// requests are the methods that are answered, each beside others.
func requests() map[string]request {
	return map[string]request{
		"textDocument/hover":          (*server).hover,
		"textDocument/completion":     (*server).completion,
		"textDocument/definition":     (*server).definition,
		"textDocument/codeLens":       (*server).codeLens,
		"textDocument/documentSymbol": (*server).symbols,
		"textDocument/formatting":     (*server).formatting,
		"workspace/executeCommand":    (*server).execute,
	}
}

// Handle takes a message. Edits are made in their order; what takes time is answered
// beside others.
func (s *server) Handle(_ context.Context, conn *jsonrpc2.Conn, r *jsonrpc2.Request) {
	var params json.RawMessage
	if r.Params != nil {
		params = *r.Params
	}
	if s.client == nil {
		s.client = conn // messages come one after the other, and nothing runs before the first
	}
	if r.Notif {
		if err := s.told(r.Method, params); err != nil {
			s.say(severityWarning, "%s: %v", r.Method, err)
		}
		return
	}
	s.mu.Lock()
	at := s.state
	s.mu.Unlock()
	switch answer, known := requests()[r.Method]; {
	case r.Method == "initialize":
		s.reply(r.ID, func() (any, error) { return s.initialize(params) })
	case at == fresh:
		s.refuse(r.ID, codeNotReady, "initialize comes first")
	case at != ready:
		s.refuse(r.ID, codeInvalid, "after shutdown nothing but exit is answered")
	case r.Method == "shutdown":
		s.mu.Lock()
		s.state = ending
		s.mu.Unlock()
		s.reply(r.ID, func() (any, error) { return nil, nil })
	case !known:
		s.refuse(r.ID, codeNoMethod, "gate has no method "+r.Method)
	default:
		s.beside(r.ID, answer, s.snapshot(params), params)
	}
}

type snapshotKey struct{}

// snapshot returns a context with the document that parameters are about, as it is now.
func (s *server) snapshot(params json.RawMessage) context.Context {
	var p documentParams
	if json.Unmarshal(params, &p) != nil {
		return s.ctx
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.open[p.Document.URI]; d != nil && !s.lost[p.Document.URI] {
		return context.WithValue(s.ctx, snapshotKey{}, d)
	}
	return s.ctx
}

// document returns the document that a request is about, and where in it.
func (s *server) document(ctx context.Context, params json.RawMessage) (*document, int, error) {
	var p documentParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, 0, invalid(err)
	}
	d, _ := ctx.Value(snapshotKey{}).(*document)
	if d == nil {
		return nil, 0, invalid(fmt.Errorf("%s is not open", p.Document.URI))
	}
	at, err := d.offset(p.Position)
	if err != nil {
		return nil, 0, invalid(err)
	}
	return d, at, nil
}

// invalid is an error about parameters.
func invalid(err error) error { return &jsonrpc2.Error{Code: codeParams, Message: err.Error()} }

// failed is an error about a request that was understood.
func failed(format string, args ...any) error {
	return &jsonrpc2.Error{Code: codeFailed, Message: fmt.Sprintf(format, args...)}
}

// beside answers a request beside others.
func (s *server) beside(id jsonrpc2.ID, answer request, ctx context.Context, params json.RawMessage) {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.running[id] = cancel
	s.mu.Unlock()
	s.work.Go(func() {
		defer func() {
			s.mu.Lock()
			delete(s.running, id)
			s.mu.Unlock()
			cancel()
		}()
		select {
		case s.turns <- struct{}{}:
			defer func() { <-s.turns }()
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			s.refuse(id, codeCancelled, "cancelled")
			return
		}
		s.reply(id, func() (any, error) { return answer(s, ctx, params) })
	})
}

// reply sends what answer returns. A fault of ours is an answer, too.
func (s *server) reply(id jsonrpc2.ID, answer func() (any, error)) {
	result, err := guarded(answer)
	var own *jsonrpc2.Error
	switch {
	case err == nil:
		_ = s.client.Reply(s.ctx, id, result) // to whoever is gone nothing can be said
	case errors.Is(err, context.Canceled):
		s.refuse(id, codeCancelled, "cancelled")
	case errors.As(err, &own):
		_ = s.client.ReplyWithError(s.ctx, id, own)
	default:
		s.refuse(id, codeFailed, err.Error())
	}
}

// guarded calls a function. A panic in it is an error.
func guarded(call func() (any, error)) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			stack := make([]byte, 4<<10)
			err = &jsonrpc2.Error{Code: codeInternal, Message: fmt.Sprintf("gate failed: %v\n%s", r, stack[:runtime.Stack(stack, false)])}
		}
	}()
	return call()
}

func (s *server) refuse(id jsonrpc2.ID, code int64, message string) {
	_ = s.client.ReplyWithError(s.ctx, id, &jsonrpc2.Error{Code: code, Message: message})
}

// say writes into the editor's log of servers.
func (s *server) say(kind int, format string, args ...any) {
	_ = s.client.Notify(s.ctx, "window/logMessage", messageParams{kind, "gate: " + fmt.Sprintf(format, args...)})
}

// show has the editor show a message to the person.
func (s *server) show(kind int, message string) {
	_ = s.client.Notify(s.ctx, "window/showMessage", messageParams{kind, message})
}

// initialize says what the server can.
func (s *server) initialize(params json.RawMessage) (any, error) {
	var p initializeParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, invalid(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != fresh {
		return nil, &jsonrpc2.Error{Code: codeInvalid, Message: "initialize comes once"}
	}
	s.state = ready
	if formats := p.Capabilities.Document.Hover.Formats; len(formats) > 0 {
		s.plain = formats[0] == "plaintext"
	}
	s.asks = p.Options.TryLine
	return map[string]any{
		"serverInfo": map[string]any{"name": "gate", "version": s.options.Version},
		"capabilities": map[string]any{
			"positionEncoding":           "utf-16",
			"textDocumentSync":           map[string]any{"openClose": true, "change": 2, "save": true},
			"hoverProvider":              true,
			"completionProvider":         map[string]any{"triggerCharacters": []string{".", "\"", "["}},
			"definitionProvider":         true,
			"codeLensProvider":           map[string]any{"resolveProvider": false},
			"documentSymbolProvider":     true,
			"documentFormattingProvider": true,
			"executeCommandProvider":     map[string]any{"commands": []string{testCommand, tryCommand}},
		},
	}, nil
}

// told takes a notification. Unknown ones mean nothing to us, as the protocol allows.
func (s *server) told(method string, params json.RawMessage) error {
	switch method {
	case "exit":
		s.exit()
	case "$/cancelRequest":
		return s.cancel(params)
	case "textDocument/didOpen":
		return s.didOpen(params)
	case "textDocument/didChange":
		return s.didChange(params)
	case "textDocument/didClose":
		return s.didClose(params)
	case "textDocument/didSave", "workspace/didChangeWatchedFiles", "workspace/didChangeConfiguration":
		s.recheckAll()
	}
	return nil
}

func (s *server) exit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != ending {
		s.state = gone
	}
	select {
	case <-s.exited:
	default:
		close(s.exited)
	}
}

func (s *server) cancel(params json.RawMessage) error {
	var p struct {
		ID jsonrpc2.ID `json:"id"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cancel := s.running[p.ID]; cancel != nil {
		cancel()
	}
	return nil
}

// maxOpen bounds the documents that are open at once.
const maxOpen = 1000

func (s *server) didOpen(params json.RawMessage) error {
	var p openParams
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	path, err := pathOf(p.Document.URI)
	if err != nil {
		return nil // such as an unsaved text: it has no place, so that nothing is known about it
	}
	if len(p.Document.Text) > maxText {
		return errLarge
	}
	s.mu.Lock()
	if s.state != ready {
		s.mu.Unlock()
		return errors.New("initialize comes first")
	}
	if len(s.open) >= maxOpen && s.open[p.Document.URI] == nil {
		s.mu.Unlock()
		return fmt.Errorf("more than %d documents are open", maxOpen)
	}
	s.open[p.Document.URI] = newDocument(p.Document.URI, path, p.Document.Version, p.Document.Text)
	delete(s.lost, p.Document.URI)
	s.mu.Unlock()
	s.recheck(path)
	return nil
}

func (s *server) didChange(params json.RawMessage) error {
	var p changeParams
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	s.mu.Lock()
	d := s.open[p.Document.URI]
	if d == nil {
		s.mu.Unlock()
		return nil
	}
	if len(p.Changes) > 0 && p.Changes[0].Range == nil {
		delete(s.lost, d.uri)
	}
	if s.lost[d.uri] {
		s.mu.Unlock()
		return nil
	}
	now, err := d.edited(p.Document.Version, p.Changes)
	s.open[d.uri] = now
	if err != nil {
		s.lost[d.uri] = true
	}
	s.mu.Unlock()
	if err != nil {
		s.withdraw(d.path)
		s.show(severityError, fmt.Sprintf("gate lost track of %s (%v): close it and open it again", filepath.Base(d.path), err))
		return err
	}
	s.forget(d.path, "tests")
	s.recheck(d.path)
	return nil
}

func (s *server) didClose(params json.RawMessage) error {
	var p documentParams
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	s.mu.Lock()
	d := s.open[p.Document.URI]
	delete(s.open, p.Document.URI)
	delete(s.lost, p.Document.URI)
	if d != nil {
		delete(s.of, d.path)
	}
	s.mu.Unlock()
	if d != nil {
		s.closed(d.path)
	}
	return nil
}

// pathOf is the file that a URI names.
func pathOf(uri string) (string, error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return "", err
	case u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Path == "":
		return "", fmt.Errorf("%s is no file of this machine", uri)
	case strings.ContainsRune(u.Path, 0):
		return "", errors.New("a name with a NUL in it")
	}
	path := u.Path
	if len(path) > 2 && path[0] == '/' && path[2] == ':' { // file:///c:/…
		path = path[1:]
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) {
		return "", fmt.Errorf("%s is no file of this machine", uri)
	}
	return filepath.Clean(path), nil
}

// uriOf names a file.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
