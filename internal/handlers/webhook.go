package handlers

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gate/engine"
	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/outgoing"
	"gate/internal/reach"
	"gate/internal/strictjson"
)

// webhook sends the event to an address; what comes back is the answer.
func (h *Handlers) webhook(ctx context.Context, by *hook.Hook, ev *hook.Event) engine.Answer {
	return speaks(by).delivered(by, h.deliver(ctx, by, ev))
}

func (h *Handlers) deliver(ctx context.Context, by *hook.Hook, ev *hook.Event) engine.Answer {
	req, err := h.delivery(ctx, by, ev)
	if err != nil {
		return failed(hook.FaultEval, "%s cannot be sent: %w", by.ID, err)
	}
	client := h.client(req.URL.Scheme == "http")
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		return unreached(ctx, by, req.URL, err)
	}
	defer resp.Body.Close()
	body, err := hostfs.ReadAll(resp.Body, maxOutput)
	switch {
	case err == hostfs.TooLarge(maxOutput):
		return failed(hook.FaultOutput, "%s answered with more than %d KiB", by.ID, maxOutput>>10)
	case err != nil:
		return unreached(ctx, by, req.URL, err)
	}
	return webhookAnswer(by, ev, resp, body)
}

// delivery is the request of a webhook.
func (h *Handlers) delivery(ctx context.Context, by *hook.Hook, ev *hook.Event) (*http.Request, error) {
	body, err := speaks(by).document(h, by, ev)
	if err != nil {
		return nil, err
	}
	address, _ := by.Config["url"].(string)
	method, _ := by.Config["method"].(string)
	if err := outgoing.CheckAddress(address); err != nil {
		return nil, fmt.Errorf("its url %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, cmp.Or(method, http.MethodPost), address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	headers, _ := by.Config["headers"].(map[string]any)
	texts := map[string]string{}
	for name, v := range headers {
		texts[name], _ = v.(string)
	}
	if req.Header, err = h.header(texts, strs(by.Config["env"])); err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", h.agent())
	req.Header.Set("Webhook-Id", rand.Text())
	return req, nil
}

// client returns a client for one handler's run.
func (h *Handlers) client(local bool) *http.Client {
	return reach.Client(reach.Options{Local: local, Roots: h.Roots, Resolver: h.resolver})
}

// header fills headers in from the environment.
func (h *Handlers) header(texts map[string]string, env []string) (http.Header, error) {
	header := http.Header{}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		value, err := outgoing.FillHeader(texts[name], env, h.lookup)
		if err = cmp.Or(outgoing.CheckHeader(name, texts[name], env), err); err != nil {
			errs = append(errs, fmt.Errorf("its header %s: %w", oneLine(name), err))
			continue
		}
		header.Set(name, value)
	}
	return header, errors.Join(errs...)
}

// agent is how gate calls itself to servers.
func (h *Handlers) agent() string { return "gate/" + cmp.Or(h.Version, "devel") }

// strs are the texts of a list.
func strs(v any) (out []string) {
	list, _ := v.([]any)
	for _, e := range list {
		if s, ok := e.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// unreached is the answer of a server that was not reached, or fell silent.
func unreached(ctx context.Context, by *hook.Hook, at *url.URL, err error) engine.Answer {
	var about *url.Error
	if errors.As(err, &about) {
		err = about.Err // without the address, which may hold a secret
	}
	switch why := cmp.Or(ctx.Err(), err); {
	case errors.Is(why, context.Canceled):
		return failed(hook.FaultTimeout, "%s was cancelled: %w", by.ID, why)
	case errors.Is(why, context.DeadlineExceeded):
		return failed(hook.FaultTimeout, "%s did not answer in time: %w", by.ID, why)
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		err = errors.New("its name cannot be looked up: " + name.Err) // without the server that was asked
	}
	return failed(hook.FaultEval, "%s: nothing came from %s: %s", by.ID, oneLine(at.Host), oneLine(err.Error()))
}

// webhookAnswer reads what a server says. What is no answer is a fault, but
// what it denies all the same is kept, as of commands.
func webhookAnswer(by *hook.Hook, ev *hook.Event, resp *http.Response, body []byte) engine.Answer {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	text := kind != "" && kind != "application/json" && !strings.HasSuffix(kind, "+json")
	p, a := speaks(by), engine.Answer{}
	if len(bytes.TrimSpace(body)) > 0 {
		_, err := strictjson.Object(body, strictjson.Limits{Bytes: maxOutput})
		switch {
		case err == nil:
			a = readAnswer(by, ev, body)
		case p.pages:
			if a = readAnswer(by, ev, body); text && isPage(body) && a.Verdict.Effect() < hook.Ask {
				a = engine.Answer{}
			}
		default:
			a = unreadable(by, err)
		}
	}
	switch {
	case resp.StatusCode/100 == 3 && resp.Header.Get("Location") != "":
		a.Fault = hook.Faultf(hook.FaultEval, "%s was sent elsewhere with status %d; gate follows only 307 and 308 on the same server, three times",
			by.ID, resp.StatusCode)
	case resp.StatusCode/100 != 2:
		a.Fault = hook.Faultf(hook.FaultEval, "%s: the server answered with status %d%s", by.ID, resp.StatusCode, excerpt(body))
	case !slices.Contains([]string{"", "identity"}, resp.Header.Get("Content-Encoding")):
		a.Fault = hook.Faultf(hook.FaultOutput, "%s answered in the encoding %s, which nobody asked for", by.ID, oneLine(resp.Header.Get("Content-Encoding")))
	case len(bytes.TrimSpace(body)) > 0 && text && !p.pages:
		a.Fault = hook.Faultf(hook.FaultOutput, "%s answered with %s where JSON is wanted%s", by.ID, oneLine(kind), excerpt(body))
	}
	return a
}

// isPage reports what does not even begin as an answer does: such as the "ok" and
// the pages that chat services answer with.
func isPage(body []byte) bool { return !bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) }

// excerpt is the beginning of a stranger's text, for a message.
func excerpt(body []byte) string {
	const most = 120
	text := oneLine(string(body[:min(len(body), most)]))
	if text == "" {
		return ""
	}
	if len(body) > most {
		text += "…"
	}
	return ": " + text
}
