package commands

import (
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"gate/internal/fleet"
)

// serveCollector is a collector of a fleet for scripts, as small as can be: collector FILE
// DIR. It puts its own address in the place of $URL in FILE. In DIR/records are the records
// that came, and in DIR/statuses the statuses, a line each; DIR/requests has a line for
// each request with its answer. DIR/key is the key of the machine. A line "PATH ANSWER" of
// DIR/answers is taken for the next request to a path: ANSWER is a status, "lost" for one
// that takes it and answers 502, or "html" for a page of a proxy.
func serveCollector() {
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
	http.Serve(l, &fakeCollector{dir: os.Args[2]})
}

type fakeCollector struct {
	mu  sync.Mutex
	dir string
	seq int64 // of the last status

	before int64 // seq before the last request
}

func (c *fakeCollector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	path := strings.TrimPrefix(r.URL.Path, "/base")
	status, text := c.answer(path, r.Header, body)
	switch word := c.next(path); word {
	case "":
	case "html":
		status, text = http.StatusOK, "<html>sign in</html>"
	case "lost":
		status, text = http.StatusBadGateway, ""
	default:
		status, _ = strconv.Atoi(word)
		text = "not now"
	}
	c.add("requests", fmt.Sprintf("%s %d", path, status))
	w.WriteHeader(status)
	io.WriteString(w, text)
}

// next takes the next answer for a path; "": the usual one. Other answers than "lost" come
// from a collector that took nothing, so that what was taken is given back.
func (c *fakeCollector) next(path string) string {
	name := filepath.Join(c.dir, "answers")
	data, _ := os.ReadFile(name)
	lines := strings.SplitAfter(string(data), "\n")
	for i, line := range lines {
		if of, answer, ok := strings.Cut(strings.TrimSpace(line), " "); ok && of == path {
			os.WriteFile(name, []byte(strings.Join(append(lines[:i:i], lines[i+1:]...), "")), 0o600)
			if answer != "lost" {
				c.restore()
			}
			return answer
		}
	}
	return ""
}

func (c *fakeCollector) add(name, line string) {
	f, err := os.OpenFile(filepath.Join(c.dir, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err == nil {
		f.WriteString(line + "\n")
		f.Close()
	}
}

// restore takes back what the last request added.
func (c *fakeCollector) restore() {
	c.seq = c.before
	for _, name := range []string{"records", "statuses", "key"} {
		if data, err := os.ReadFile(filepath.Join(c.dir, name+".before")); err == nil {
			os.WriteFile(filepath.Join(c.dir, name), data, 0o600)
		} else {
			os.Remove(filepath.Join(c.dir, name))
		}
	}
}

// answer takes a request.
func (c *fakeCollector) answer(path string, h http.Header, body []byte) (status int, text string) {
	c.before = c.seq
	for _, name := range []string{"records", "statuses", "key"} {
		before := filepath.Join(c.dir, name+".before")
		os.Remove(before)
		if data, err := os.ReadFile(filepath.Join(c.dir, name)); err == nil {
			os.WriteFile(before, data, 0o600)
		}
	}
	if path == fleet.EnrollPath {
		return c.enroll(body)
	}
	machine, key, ok := strings.Cut(strings.TrimSpace(c.read("key")), " ")
	public, err := fleet.ParseKey(key)
	if !ok || err != nil {
		return http.StatusUnauthorized, "no machine is known"
	}
	signed, err := fleet.SignedBy(h)
	if err == nil {
		err = signed.Check(ed25519.PublicKey(public), http.MethodPost, path, body)
	}
	if err != nil || signed.Machine != machine {
		return http.StatusUnauthorized, fmt.Sprint(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err == nil {
		body, err = io.ReadAll(z)
	}
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	switch path {
	case fleet.LogsPath:
		return c.logs(body)
	case fleet.StatusPath:
		return c.status(body)
	}
	return http.StatusNotFound, path
}

func (c *fakeCollector) read(name string) string {
	data, _ := os.ReadFile(filepath.Join(c.dir, name))
	return string(data)
}

func (c *fakeCollector) enroll(body []byte) (int, string) {
	e, err := fleet.ParseEnrollment(body)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	if e.Token != "good" {
		return http.StatusForbidden, "no such token"
	}
	own := e.Machine + " " + e.Key + "\n"
	if has := c.read("key"); has != "" && has != own {
		return http.StatusConflict, "another key"
	}
	c.add("enrolled", string(body))
	os.WriteFile(filepath.Join(c.dir, "key"), []byte(own), 0o600)
	return http.StatusOK, `{"machine":"` + e.Machine + `"}`
}

// logs takes a batch, unless a record of it has a word of DIR/refused.
func (c *fakeCollector) logs(body []byte) (int, string) {
	var batch []json.RawMessage
	if err := json.Unmarshal(body, &batch); err != nil {
		return http.StatusBadRequest, err.Error()
	}
	refused := strings.TrimSpace(c.read("refused"))
	for _, record := range batch {
		if _, err := fleet.ParseSent(record); err != nil {
			return http.StatusBadRequest, err.Error()
		}
		if refused != "" && strings.Contains(string(record), refused) {
			return http.StatusBadRequest, "a record has " + refused
		}
	}
	for _, record := range batch {
		c.add("records", string(record))
	}
	return http.StatusOK, fmt.Sprintf(`{"taken":%d,"again":0,"findings":0}`, len(batch))
}

func (c *fakeCollector) status(body []byte) (int, string) {
	s, err := fleet.ParseStatus(body)
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	if s.Gate.Seq <= c.seq {
		return http.StatusConflict, fmt.Sprintf(`{"seq":%d}`, c.seq)
	}
	c.seq = s.Gate.Seq
	c.add("statuses", string(body))
	return http.StatusOK, `{}`
}
