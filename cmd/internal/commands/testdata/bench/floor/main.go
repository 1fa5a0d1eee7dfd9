// Command floor is what a thin client would do at least: read an event, open
// a socket, write an answer. The benchmark of cmd/internal/commands measures gate against
// it.
package main

import (
	"encoding/json"
	"io"
	"net"
	"os"
)

func main() {
	data, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(2)
	}
	var event map[string]any
	if err := json.Unmarshal(data, &event); err != nil {
		os.Exit(2)
	}
	if c, err := net.Dial("unix", "/nonexistent/gate.sock"); err == nil {
		c.Close()
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"event": event["hook_event_name"]}); err != nil {
		os.Exit(2)
	}
}
