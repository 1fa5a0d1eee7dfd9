package commands

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// serveReceivers is a server for scripts that questions are delivered to: receiver FILE DIR.
// It puts its own address in the place of $URL in FILE. What is posted to /NAME lies in
// DIR/NAME then, with its headers in DIR/NAME.headers; DIR/count has a line for each
// request. A GET of /NAME gets the file DIR/NAME.get, /down is out of order.
func serveReceivers() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		var text []byte
		if text, err = os.ReadFile(os.Args[1]); err == nil {
			err = os.WriteFile(os.Args[1], []byte(strings.ReplaceAll(string(text), "$URL", "http://"+l.Addr().String())), 0o600)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	dir := os.Args[2]
	count, err := os.OpenFile(filepath.Join(dir, "count"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := filepath.Join(dir, filepath.Base(r.URL.Path))
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(count, "%s %s\n", r.Method, r.URL.Path)
		switch {
		case r.URL.Path == "/down":
			http.Error(w, "out of order", http.StatusInternalServerError)
		case r.Method == http.MethodGet:
			answers, _ := os.ReadFile(name + ".get")
			w.Write(answers)
		default:
			var headers strings.Builder
			r.Header.Write(&headers)
			os.WriteFile(name+".headers", []byte(headers.String()), 0o600)
			os.WriteFile(name, body, 0o600)
		}
	}))
}
