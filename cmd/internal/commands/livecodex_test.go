package commands

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// serveCodex is as much of Codex's app-server as is asked: it lists the hooks that
// stand in the file of CODEX_LIST.
func serveCodex() {
	list, err := os.ReadFile(os.Getenv("CODEX_LIST"))
	if err != nil || len(os.Args) != 2 || os.Args[1] != "app-server" {
		os.Exit(1)
	}
	ready := false
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var m struct {
			ID     int
			Method string
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			os.Exit(1)
		}
		switch {
		case m.Method == "initialize":
			fmt.Printf("{\"id\":%d,\"result\":{\"userAgent\":\"fake\"}}\n{\"method\":\"account/updated\",\"params\":{}}\n", m.ID)
		case m.Method == "initialized":
			ready = true
		case m.Method == "hooks/list" && ready:
			fmt.Printf("{\"id\":%d,\"result\":{\"data\":[{\"hooks\":%s}]}}\n", m.ID, strings.ReplaceAll(string(list), "\n", " "))
		default:
			fmt.Printf("{\"id\":%d,\"error\":{\"code\":-32600,\"message\":\"%s?\"}}\n", m.ID, m.Method)
		}
	}
}
