package commands

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// A served is a gate serve that a script started.
type served struct {
	cmd    *exec.Cmd
	url    string
	socket string
	stderr bytes.Buffer
}

// startServe starts "gate serve" with the directories of the script, and waits
// until it listens: answers [flag...]. Its address is $SERVE_URL. It is stopped at the end of the script.
func startServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: answers [flag...]")
	}
	s := &served{cmd: exec.Command("gate", withDirs(ts, append([]string{"serve", "--port=0"}, args...))...)}
	s.cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"))
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(s.cmd.Start())
	ts.Defer(func() {
		s.cmd.Process.Kill() // nothing, if it has ended
		s.cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	s.url = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(line)
	s.socket = filepath.Join(ts.Getenv("WORK"), "state", serveDir, serveSocket)
	ts.Setenv("SERVE_URL", s.url)
	servers.Store(ts, s)
}

// servers are those of the scripts that run.
var servers sync.Map

func serverOf(ts *testscript.TestScript) *served {
	s, ok := servers.Load(ts)
	if !ok {
		ts.Fatalf("no gate serve was started")
	}
	return s.(*served)
}

// askServe asks the server of the script, and prints the status and the answer:
// ask [token|socket|stranger] METHOD path [file [header...]]. A token is sent
// over HTTP, a stranger has none.
func askServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: ask token|socket|stranger METHOD path [file [header...]]")
	}
	s := serverOf(ts)
	var body io.Reader
	if len(args) > 3 {
		body = strings.NewReader(strings.ReplaceAll(ts.ReadFile(args[3]), "$WORK", filepath.ToSlash(ts.Getenv("WORK"))))
	}
	req, err := http.NewRequest(args[1], s.url+args[2], body)
	ts.Check(err)
	for _, h := range args[min(len(args), 4):] {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	switch args[0] {
	case "socket":
		client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
			return net.Dial("unix", s.socket)
		}
		req.URL.Scheme, req.URL.Host = "http", "localhost"
	case "token":
		token, err := os.ReadFile(filepath.Join(filepath.Dir(s.socket), serveToken))
		ts.Check(err)
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	res, err := client.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%d\n%s", res.StatusCode, data)
}

// stopServe tells the server of the script to stop, and checks that it does so
// without a mistake: stops.
func stopServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: stops")
	}
	s := serverOf(ts)
	ts.Check(s.cmd.Process.Signal(syscall.SIGTERM))
	err := s.cmd.Wait()
	fmt.Fprint(ts.Stderr(), s.stderr.String())
	ts.Check(err)
}
