package commands

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

// serveWebhooks is a server of webhooks for scripts: webhookserver HOOKS REQUESTS.
// It puts its own address in the place of $URL in the file HOOKS, and what it was
// asked into REQUESTS. It has no ls; the rest of its answers goes by the path.
func serveWebhooks() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	hooks, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte(strings.ReplaceAll(string(hooks), "$URL", "http://"+l.Addr().String())), 0o600)
	}
	requests, err2 := os.OpenFile(os.Args[2], os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil || err2 != nil {
		fmt.Fprintln(os.Stderr, err, err2)
		os.Exit(1)
	}
	http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(requests, "%s %s %s\n", r.Method, r.URL, r.Header.Get("Authorization"))
		switch {
		case r.URL.Path == "/slow":
			<-r.Context().Done()
		case r.URL.Path == "/broken":
			http.Error(w, "out of order", http.StatusInternalServerError)
		case strings.Contains(string(body), `"command":"ls"`):
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"decision": "block", "reason": "no ls here"}`)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
}
