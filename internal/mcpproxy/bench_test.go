package mcpproxy_test

import (
	"bufio"
	"context"
	"io"
	"testing"

	"gate/hook"
	"gate/internal/mcpproxy"
)

// BenchmarkCall measures one call through the proxy, with nothing that decides:
// what reading, judging twice and handing on costs by itself.
func BenchmarkCall(b *testing.B) {
	clientIn, client := io.Pipe()
	clientHears, clientOut := io.Pipe()
	serverIn, server := io.Pipe()
	serverHears, serverOut := io.Pipe()
	played := &played{stream: mcpproxy.Stream{In: serverIn, Out: serverOut}, done: make(chan struct{}), closeInput: func() { serverOut.Close() }}
	go mcpproxy.Run(b.Context(), mcpproxy.Stream{In: clientIn, Out: clientOut}, played, mcpproxy.Options{
		Server: "shop", Decide: func(context.Context, hook.Event) hook.Decision { return hook.Decision{} },
	})
	go func() {
		in := bufio.NewReader(serverHears)
		for {
			if _, err := in.ReadSlice('\n'); err != nil {
				return
			}
			io.WriteString(server, seen+"\n")
		}
	}()
	in := bufio.NewReader(clientHears)
	b.ReportAllocs()
	for b.Loop() {
		io.WriteString(client, harmless+"\n")
		if _, err := in.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	client.Close()
	played.end()
}
