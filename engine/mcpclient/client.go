// Package mcpclient calls tools of MCP servers by the protocol's own SDK.
//
// It does not find servers, start them or judge what they say: internal/handlers does.
// Only a program that may take its time links it, for the SDK begins before main.
// Start with [Connect].
package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"gate/internal/handlers/mcptool"
)

// Connect is a [mcptool.Client].
func Connect(ctx context.Context, w mcptool.Way) (mcptool.Session, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "gate", Version: cmp.Or(w.Version, "devel")}, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	var transport mcp.Transport = &mcp.StreamableClientTransport{
		Endpoint: w.URL, HTTPClient: w.HTTP, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: w.Most,
	}
	if w.Out != nil {
		transport = &mcp.IOTransport{Reader: w.Out, Writer: w.In, MaxLineLength: w.Most}
	}
	s, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return nil, refusal(err)
	}
	return session{s}, nil
}

type session struct{ *mcp.ClientSession }

func (s session) Call(ctx context.Context, tool string, arguments json.RawMessage) (r mcptool.Result, err error) {
	said, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err == nil && said.NeedsInput() {
		err = errors.New("it asks for more, and nobody is there")
	}
	if err != nil {
		return r, refusal(err)
	}
	for _, c := range said.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			r.Texts = append(r.Texts, text.Text)
		} else {
			r.Other = strings.TrimPrefix(fmt.Sprintf("%T", c), "*mcp.")
		}
	}
	r.Structured, r.Failed = said.StructuredContent, said.IsError
	return r, nil
}

// refusal is an error, which of the server's own has the words alone.
func refusal(err error) error {
	var own *jsonrpc.Error
	if errors.As(err, &own) {
		return mcptool.Refusal(own.Message)
	}
	return err
}
