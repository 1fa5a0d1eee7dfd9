package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"gate/engine"
	"gate/hook"
	"gate/internal/handlers/mcptool"
	"gate/internal/moment"
	"gate/internal/outgoing"
	"gate/internal/setting"
	"gate/internal/strictjson"
)

// maxTalk bounds what an MCP server may say in one run, in bytes.
const maxTalk = 4 * maxOutput

// mcpTool calls a tool of an MCP server that settings name; what the tool says
// is the answer.
func (h *Handlers) mcpTool(ctx context.Context, by *hook.Hook, ev *hook.Event) engine.Answer {
	name, _ := by.Config["server"].(string)
	tool, _ := by.Config["tool"].(string)
	if h.MCP == nil {
		return failed(hook.FaultLoad, "%s cannot ask %s: this program has no client of MCP servers", by.ID, name)
	}
	server, err := setting.FindMCPServer(h.MCPServers, name, by.Authority)
	if err != nil {
		return failed(hook.FaultLoad, "%s: %w", by.ID, err)
	}
	arguments, err := toolInput(by, ev)
	if err != nil {
		return failed(hook.FaultEval, "%s cannot ask %s: %w", by.ID, name, err)
	}
	t, err := h.reach(ctx, server)
	if err != nil {
		return failed(hook.FaultEval, "%s cannot ask %s: %w", by.ID, name, err)
	}
	result, err := h.callTool(ctx, t, tool, arguments)
	how := t.end(err != nil)
	if err != nil {
		return t.failure(ctx, by, name, err, how)
	}
	return toolAnswer(by, ev, tool, result)
}

// toolInput is what a tool is given: the hook's template, or the whole event.
func toolInput(by *hook.Hook, ev *hook.Event) ([]byte, error) {
	doc := ev.Document()
	if err := strictjson.Check(doc); err != nil {
		return nil, fmt.Errorf("the event: %w", err)
	}
	template, ok := by.Config["input"]
	var input any = map[string]any{"event": doc}
	if ok {
		input = template
	}
	if ok && by.Dialect != moment.Zeph { // whose inputs are no templates
		var err error
		if input, err = outgoing.FillTemplate(template, doc); err != nil {
			return nil, err
		}
	}
	return strictjson.Append(nil, input), nil
}

// callTool opens a session and calls the one tool.
func (h *Handlers) callTool(ctx context.Context, t *talk, tool string, arguments json.RawMessage) (mcptool.Result, error) {
	session, err := h.MCP(ctx, t.way)
	if err != nil {
		return mcptool.Result{}, err
	}
	t.close = session.Close
	return session.Call(ctx, tool, arguments)
}

// failure is the answer where a server gave none. how tells how its program
// ended, where it has one.
func (t *talk) failure(ctx context.Context, by *hook.Hook, name string, err error, how *result) engine.Answer {
	var refusal mcptool.Refusal
	switch {
	case ctx.Err() != nil:
		return unreached(ctx, by, &url.URL{Host: name}, err)
	case how != nil && how.Overdue: // its supervisor's clock was the first
		return unreached(ctx, by, &url.URL{Host: name}, context.DeadlineExceeded)
	case t.tooMuch.Load():
		return failed(hook.FaultOutput, "%s: %s said more than %d KiB", by.ID, name, maxTalk>>10)
	case t.status.Load() >= http.StatusMultipleChoices:
		return failed(hook.FaultEval, "%s: %s answered with status %d", by.ID, name, t.status.Load())
	case errors.As(err, &refusal):
		return failed(hook.FaultEval, "%s: %s refuses: %s", by.ID, name, oneLine(string(refusal)))
	case how == nil:
		return unreached(ctx, by, &url.URL{Host: name}, err)
	}
	if fault := programFault(by, name, how); fault != nil {
		return engine.Answer{Fault: fault}
	}
	if hungUp(err) {
		return failed(hook.FaultEval, "%s: %s hung up before it answered", by.ID, name)
	}
	return failed(hook.FaultOutput, "%s: %s does not speak MCP: %s", by.ID, name, oneLine(err.Error()))
}

// hungUp reports a connection that ended before there was an answer, whoever of
// the two noticed it first. The SDK keeps only the words of such an error.
func hungUp(err error) bool {
	for _, end := range []error{io.EOF, os.ErrClosed, syscall.EPIPE} {
		if strings.HasSuffix(err.Error(), end.Error()) {
			return true
		}
	}
	return false
}

// programFault says what became of a server's program, nil if that explains
// nothing.
func programFault(by *hook.Hook, name string, how *result) *hook.Fault {
	kind, what := hook.FaultEval, ""
	switch {
	case how.Err != "":
		what = "cannot be run: " + how.Err
	case how.TooMuch != "":
		kind, what = hook.FaultOutput, fmt.Sprintf("wrote more than %d KiB to %s", maxOutput>>10, how.TooMuch)
	case how.Beyond != nil:
		kind, what = how.Beyond.Kind, how.Beyond.What
	case how.Signal != "":
		what = "was ended by a signal (" + how.Signal + ")"
	case how.Status != 0:
		what = fmt.Sprintf("ended with status %d", how.Status)
	default:
		return nil
	}
	if last := lastLine(strings.TrimSpace(strings.ToValidUTF8(string(how.Stderr), "\ufffd"))); last != "" && how.Err == "" {
		what += ": " + last
	}
	return hook.Faultf(kind, "%s: the program of %s %s", by.ID, name, what)
}

// toolAnswer reads what a tool says: its texts, or the structured content that
// stands beside them. Of zeph's hooks only the success counts.
func toolAnswer(by *hook.Hook, ev *hook.Event, tool string, result mcptool.Result) engine.Answer {
	said := []byte(strings.Join(result.Texts, "\n"))
	var a engine.Answer
	switch {
	case len(said) > maxOutput:
		return failed(hook.FaultOutput, "%s: the tool %s said more than %d KiB", by.ID, tool, maxOutput>>10)
	case by.Dialect == moment.Zeph:
	case result.Structured != nil:
		a = structuredAnswer(by, ev, result.Structured, said)
	case result.Other != "":
		a = readAnswer(by, ev, said)
		a.Fault = hook.Faultf(hook.FaultOutput, "%s: the tool %s answered with %s where text is wanted", by.ID, tool, result.Other)
	default:
		a = readAnswer(by, ev, said)
	}
	if result.Failed {
		a.Fault = hook.Faultf(hook.FaultEval, "%s: the tool %s failed%s", by.ID, tool, excerpt(said))
	}
	return a
}

// structuredAnswer reads structured content. The text beside it must be talk,
// or the same once more.
func structuredAnswer(by *hook.Hook, ev *hook.Event, structured any, said []byte) engine.Answer {
	data, err := json.Marshal(structured)
	if err != nil {
		return failed(hook.FaultOutput, "%s answered with what is no answer: %w", by.ID, err)
	}
	a := readAnswer(by, ev, data)
	if plain, _ := isPlain(said); plain {
		return a
	}
	one, err := strictjson.Decode(data, strictjson.Limits{Bytes: maxOutput})
	two, err2 := strictjson.Decode(said, strictjson.Limits{Bytes: maxOutput})
	if err != nil || err2 != nil || !bytes.Equal(strictjson.Append(nil, one), strictjson.Append(nil, two)) {
		a.Fault = hook.Faultf(hook.FaultOutput, "%s answered with text that is not its structured content", by.ID)
		a.Verdict.Reasons = append(a.Verdict.Reasons, readAnswer(by, ev, said).Verdict.Reasons...)
	}
	return a
}
