package commands

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"gate/internal/hostfs"
	"gate/internal/mcpproxy"
	"gate/internal/strictjson"
)

// An mcpServer is a server that gate mcp stands before: a command line, or an address.
type mcpServer struct {
	name    string   // in the names of tools; "" is what it calls itself
	args    []string // its command line, as it is started
	url     string
	headers []string // 'NAME: VALUE', as they are sent
	env     []string // NAME=VALUE, beside gate's own
	dir     string   // "" is gate's own

	// The same as it was written, for people: values of variables may be secrets.
	writtenArgs, writtenHeaders []string
	writtenURL                  string
	urlKey                      string // where the address was written
}

// start starts the server, or prepares to talk to it. meet is told its public key.
func (s mcpServer) start(p process, meet func(key string) error) (mcpproxy.Server, error) {
	if s.url == "" {
		cmd := exec.Command(s.program(), s.args[1:]...)
		cmd.Env, cmd.Stderr, cmd.Dir = slices.Concat(p.env, s.env), p.stderr, s.dir
		started, err := mcpproxy.Start(cmd)
		if err != nil {
			return nil, fmt.Errorf("the server cannot be started: %w", err)
		}
		return started, nil
	}
	header := http.Header{}
	for _, h := range s.headers {
		name, value, _ := strings.Cut(h, ":")
		header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	remote, err := mcpproxy.Dial(s.url, header, meet)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.urlKey, err)
	}
	return remote, nil
}

// program is the file of the server's program as it is looked up: one with a directory is
// found from the server's own.
func (s mcpServer) program() string {
	if s.dir != "" && strings.ContainsAny(s.args[0], `/\`) && !filepath.IsAbs(s.args[0]) {
		return filepath.Join(s.dir, s.args[0])
	}
	return s.args[0]
}

// flagged is the server that the command line names.
func (f mcpFlags) flagged(p process, args []string) (mcpServer, error) {
	s := mcpServer{name: f.name, args: args, writtenArgs: args, url: f.url, writtenURL: f.url, urlKey: "--url", writtenHeaders: f.headers}
	for _, h := range f.headers {
		name, value, ok := strings.Cut(h, ":")
		var missing []string
		value = os.Expand(strings.TrimSpace(value), func(key string) string {
			v, set := p.lookupEnv(key)
			if !set {
				missing = append(missing, key)
			}
			return v
		})
		switch {
		case !ok || strings.TrimSpace(name) == "":
			return s, usageError("--header must be 'NAME: VALUE'") // without it: it may be a secret
		case len(missing) > 0:
			return s, fmt.Errorf("--header %s: the environment has no %s", quoted(name), quoted(missing[0]))
		}
		s.headers = append(s.headers, name+":"+value)
	}
	return s, nil
}

// maxServersFile bounds a file of servers: some clients keep much else in it.
const maxServersFile = 16 << 20

// configured are the servers of a file that clients have theirs in, in its order; names
// choose some of them, in their own order. What of the file does nothing goes to tell.
func (p process) configured(file string, names []string, tell func(string)) ([]mcpServer, error) {
	list, err := p.serversIn(file, names, tell)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, hostfs.Reason(err))
	}
	return list, nil
}

func (p process) serversIn(file string, names []string, tell func(string)) ([]mcpServer, error) {
	f, err := hostfs.Regular(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := hostfs.ReadAll(f, maxServersFile)
	if err != nil {
		return nil, err
	}
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: maxServersFile, Keys: 1 << 20})
	if err != nil {
		return nil, err
	}
	key := "mcpServers"
	if doc[key] == nil && doc["servers"] != nil { // as Visual Studio Code has them
		key = "servers"
	}
	entries, ok := doc[key].(map[string]any)
	if !ok || len(entries) == 0 {
		return nil, errors.New(`it has no servers under "mcpServers"`)
	}
	chosen := names
	if len(names) == 0 {
		for _, name := range keysOf(data, key) {
			if body, _ := entries[name].(map[string]any); body["disabled"] != true {
				chosen = append(chosen, name)
			}
		}
	}
	if len(chosen) == 0 {
		return nil, errors.New("all its servers are disabled")
	}
	var list []mcpServer
	for i, name := range chosen {
		body, ok := entries[name].(map[string]any)
		switch {
		case entries[name] == nil:
			return nil, fmt.Errorf("it has no server %s%s", quoted(name), didYouMean(name, slices.Sorted(maps.Keys(entries)), strings.Clone))
		case !ok:
			return nil, fmt.Errorf("%s: an object is wanted", quoted(name))
		case slices.Contains(chosen[:i], name):
			return nil, fmt.Errorf("the server %s is named twice", quoted(name))
		}
		s, err := p.readServer(name, body, tell)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", quoted(name), err)
		}
		list = append(list, s)
	}
	return list, mcpproxy.Apart(chosen)
}

// keysOf are the keys of an object that stands under a key, in their order. The document has
// been read before.
func keysOf(data []byte, under string) (keys []string) {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	dec.ReadToken()
	for dec.PeekKind() == '"' {
		key, err := dec.ReadToken()
		if err != nil {
			return nil
		}
		if key.String() != under {
			dec.SkipValue()
			continue
		}
		dec.ReadToken()
		for dec.PeekKind() == '"' {
			if key, err = dec.ReadToken(); err != nil {
				return keys
			}
			keys = append(keys, key.String())
			dec.SkipValue()
		}
		return keys
	}
	return nil
}

// readServer reads one server of a file.
func (p process) readServer(name string, body map[string]any, tell func(string)) (s mcpServer, err error) {
	s.name, s.urlKey = name, "url"
	fill := func(text string) string {
		filled, ferr := p.fillVariables(text)
		if ferr != nil && err == nil {
			err = ferr
		}
		return filled
	}
	var kind string
	wrong := func(key, want string) { err = errors.Join(err, fmt.Errorf("%s: %s is wanted", key, want)) }
	for _, key := range slices.Sorted(maps.Keys(body)) {
		value := body[key]
		text, isText := value.(string)
		switch key {
		case "command", "url", "type", "transport", "cwd":
			if !isText {
				wrong(key, "a text")
			}
		case "args", "env", "headers", "disabled":
		default:
			tell(fmt.Sprintf("the MCP server %s: %s is not read", quoted(name), quoted(key)))
		}
		switch key {
		case "command":
			s.args, s.writtenArgs = append([]string{fill(text)}, s.args...), append([]string{text}, s.writtenArgs...)
		case "args":
			list, ok := value.([]any)
			words := strictjson.Texts(value)
			if !ok || len(words) != len(list) {
				wrong(key, "a list of texts")
			}
			for _, w := range words {
				s.args, s.writtenArgs = append(s.args, fill(w)), append(s.writtenArgs, w)
			}
		case "env":
			for _, pair := range pairs(value, func() { wrong(key, "an object of texts") }) {
				s.env = append(s.env, pair[0]+"="+fill(pair[1]))
			}
		case "headers":
			for _, pair := range pairs(value, func() { wrong(key, "an object of texts") }) {
				s.headers, s.writtenHeaders = append(s.headers, pair[0]+": "+fill(pair[1])), append(s.writtenHeaders, pair[0]+": "+pair[1])
			}
		case "url":
			s.url, s.writtenURL = fill(text), text
		case "cwd":
			s.dir = fill(text)
		case "type", "transport":
			kind = text
		}
	}
	command, _ := body["command"].(string)
	switch {
	case err != nil:
	case (command == "") == (s.url == ""):
		err = errors.New("a command or a url is wanted, and not both")
	case s.url != "" && (len(s.args)+len(s.env) > 0 || s.dir != ""):
		err = errors.New("args, env and cwd go with a command")
	case s.url == "" && len(s.headers) > 0:
		err = errors.New("headers go with a url")
	case kind == "sse":
		err = errors.New("gate speaks streamable HTTP with servers, not the older HTTP with SSE")
	case kind != "" && (s.url == "") != (kind == "stdio"):
		err = fmt.Errorf("type: %s does not go with the rest", quoted(kind))
	}
	return s, err
}

// pairs are the members of an object of texts, by their names.
func pairs(v any, wrong func()) (list [][2]string) {
	body, ok := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(body)) {
		text, is := body[name].(string)
		ok = ok && is && name != "" && !strings.ContainsAny(name, "=:\r\n")
		list = append(list, [2]string{name, text})
	}
	if !ok {
		wrong()
	}
	return list
}

// fillVariables puts values of the environment in the place of ${NAME}, ${env:NAME} and
// ${NAME:-DEFAULT}, as clients do.
func (p process) fillVariables(text string) (string, error) {
	var err error
	variable := regexp.MustCompile(`\$\{(env:)?([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}|\$\{[^}]*\}`)
	filled := variable.ReplaceAllStringFunc(text, func(at string) string {
		part := variable.FindStringSubmatch(at)
		value, set := p.lookupEnv(part[2])
		switch {
		case part[2] == "":
			err = fmt.Errorf("gate does not know %s: it knows ${NAME} and ${NAME:-DEFAULT} of the environment", quoted(at))
		case !set && part[3] == "":
			err = fmt.Errorf("the environment has no %s", quoted(part[2]))
		case value == "" && part[3] != "":
			return part[3][2:]
		}
		return value
	})
	return filled, err
}
