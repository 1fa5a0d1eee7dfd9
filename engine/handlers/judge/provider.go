package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"gate/scopes"
)

// A model is a language model behind one of the two APIs.
type model interface {
	// answer has it answer the last message. A toolbox lets it use tools.
	answer(context.Context, string, []message, *toolbox) (reply, error)

	// id tells it from others.
	id() string
}

// A message is one of a conversation: a text, uses of tools or their results.
type message struct {
	assistant bool
	text      string
	calls     []toolCall
	results   []toolResult
}

// A toolbox holds the tools of a turn. In the last one they are shut: the model
// sees them, because it has used them, and must answer.
type toolbox struct {
	tools []tool
	shut  bool
}

// A toolCall is a tool that the model wants to use, its input as it wrote it.
type toolCall struct {
	id, name string
	input    string
}

// A toolResult is what it is told.
type toolResult struct {
	id, text string
	failed   bool
}

// A reply is one answer of a model.
type reply struct {
	text          string
	calls         []toolCall
	cut           bool // it reached the longest answer
	input, output int64
}

// Limits of what goes over the line.
const (
	maxBody      = 1 << 20 // bytes of an answer with everything around it
	maxRedirects = 3
	maxRetries   = 1 // of the SDK, on 429, 5xx and broken lines
)

// model makes the client of a provider, which connects when it is asked.
func (j *Judge) model(name string, p scopes.Provider) (model, error) {
	key := ""
	if p.KeyEnv != "" {
		set := false
		if j.Getenv != nil {
			key, set = j.Getenv(p.KeyEnv)
		}
		if !set || key == "" {
			return nil, fmt.Errorf("the key of provider %s is missing: the environment variable %s is not set", name, p.KeyEnv)
		}
	}
	if strings.ContainsAny(key, "\r\n") {
		return nil, fmt.Errorf("the key of provider %s has more than one line", name)
	}
	tokens := int64(cmp.Or(p.MaxTokens, scopes.DefaultMaxTokens))
	client := newClient()
	switch p.Type {
	case "anthropic":
		return newAnthropic(p, key, tokens, client), nil
	case "openai":
		return newOpenAI(p, key, tokens, client), nil
	}
	return nil, fmt.Errorf("provider %s is of type %q; known are anthropic and openai", name, p.Type)
}

// newClient sends requests to one host, takes no more than maxBody and goes
// nowhere else.
func newClient() *http.Client {
	t := &http.Transport{
		DisableKeepAlives:      true, // a process asks once, or rarely
		MaxResponseHeaderBytes: 64 << 10,
		// No proxy: the environment is the agent's, and could name anybody.
	}
	return &http.Client{Transport: bodyLimit{t}, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		first := via[0].URL
		switch {
		case r.URL.Host != first.Host || r.URL.Scheme != first.Scheme:
			return fmt.Errorf("%s redirects to another host", first.Host)
		case len(via) > maxRedirects:
			return fmt.Errorf("%s redirects again and again", first.Host)
		}
		return nil
	}}
}

// A bodyLimit limits the bodies of answers, whatever they are packed in.
type bodyLimit struct{ next http.RoundTripper }

func (b bodyLimit) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = &limitedBody{resp.Body, maxBody}
	}
	return resp, err
}

type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooMuch
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, errTooMuch
	}
	return n, err
}

// failure says in one line what a provider's HTTP status means. What the
// provider wrote stands behind it, without the key.
func failure(status int, said, key string) error {
	if key != "" {
		said = strings.ReplaceAll(said, key, "[redacted]")
	}
	if said = oneLine(said); said != "" {
		said = ": " + said
	}
	if status == 0 {
		return errors.New(strings.TrimPrefix(said, ": "))
	}
	return fmt.Errorf("it answered with HTTP status %d%s", status, said)
}
