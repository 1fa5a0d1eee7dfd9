// Package models has language models answer by the clients of their makers.
//
// It knows what each API calls a message, a tool and an answer, and nothing of what is
// asked: package judge does. Only a program that may take its time links it, for the
// clients begin before main. Start with [Connect].
package models

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"gate/internal/handlers/judge"
	"gate/internal/setting"
)

// Limits of what goes over the line.
const (
	maxRedirects = 3
	maxRetries   = 1 // of the SDK, on 429, 5xx and broken lines
)

// Connect is a [judge.Models]: it knows providers of the types anthropic and openai.
func Connect(p setting.Provider, key string) (judge.Model, error) {
	switch p.Type {
	case "anthropic":
		return newAnthropic(p, key, newClient()), nil
	case "openai":
		return newOpenAI(p, key, newClient()), nil
	}
	return nil, fmt.Errorf("is of type %q; known are anthropic and openai", p.Type)
}

// newClient sends requests to one host, takes no more than judge.MaxBody and goes
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
		resp.Body = &limitedBody{resp.Body, judge.MaxBody}
	}
	return resp, err
}

type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, judge.ErrTooMuch
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, judge.ErrTooMuch
	}
	return n, err
}

// failure says what a provider's HTTP status means. What the
// provider wrote stands behind it, without the key.
func failure(status int, said, key string) error {
	if key != "" {
		said = strings.ReplaceAll(said, key, "[redacted]")
	}
	if said != "" {
		said = ": " + said
	}
	if status == 0 {
		return errors.New(strings.TrimPrefix(said, ": "))
	}
	return fmt.Errorf("it answered with HTTP status %d%s", status, said)
}
