// Package mcptool describes one call of one tool, as a hook hands it to the client of
// MCP servers.
//
// It holds values and knows no protocol, so that programs which ask no server need
// not link a client. Start with a [Client], such as that of
// engine/mcpclient.
package mcptool

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
)

// A Client opens a session with a server. It offers servers nothing: no files, no
// model, nobody to ask. It is safe for concurrent use.
type Client func(context.Context, Way) (Session, error)

// A Way leads to a server: the streams of its program, or an address.
type Way struct {
	In  io.WriteCloser // standard input of its program
	Out io.ReadCloser  // standard output of its program; nil: it has an address

	URL  string
	HTTP *http.Client // by which it is asked

	Most    int    // bytes of one message
	Version string // of gate, as servers are told
}

// A Session is one talk with a server.
type Session interface {
	// Call has a tool answer. An error that is a [Refusal] is the server's own.
	Call(ctx context.Context, tool string, arguments json.RawMessage) (Result, error)
	Close() error
}

// A Result is what a tool said.
type Result struct {
	Texts      []string
	Other      string // the name of a kind of content that is no text; "" without one
	Structured any    // nil: there is none
	Failed     bool   // the tool says that it failed
}

// A Refusal is what a server says in place of a result.
type Refusal string

func (r Refusal) Error() string { return string(r) }
