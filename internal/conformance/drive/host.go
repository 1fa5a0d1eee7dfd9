// Package drive drives a coding agent's own client, and says what it does with the answers
// of hooks: whether a denial stops a call, what a hook that fails or is late means, whether
// a question reaches a person.
//
// It is a kit for makers of agents. It writes a configuration of hooks into a throwaway home
// and project, stands in for the model with a script, starts the client, and looks at what
// really happened: files that a call would have written are there or not. It knows no client:
// a [Host] describes one, and [Clients] has descriptions. It is no sandbox; the client runs as
// its maker built it. Start with [Read] or [Client], then [Kit.Try].
//
// The package also reads and writes what came of it for many clients, see [ReadRecords].
package drive

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gate/adapters"
	"gate/internal/strictjson"
)

//go:embed clients
var clientFiles embed.FS

// A Host describes a client: how it is started, where its hooks are configured, and in
// which words it speaks with them. Texts may have {home}, {project}, {model} (the address of
// the scripted model), {prompt} and {root} (a directory of this run).
type Host struct {
	Agent   string // gate's name of the agent, or the maker's own
	Client  string // for people
	Package string // of npm, "" for none
	Version struct {
		Args  []string // prints the version
		Match string   // a regular expression; its first group is the version
	}

	// Run starts the client with a prompt and nobody to answer questions. An argument
	// {flags} stands for those of the mode.
	Run struct {
		Args []string
		Env  map[string]string
	}

	// Files are written before each run, below {home} and {project}. A value that is no
	// text is written as JSON; in it the text "{hooks}" stands for the whole configuration
	// of hooks by event. "{gate plugin}" is gate's plugin for OpenCode.
	Files map[string]any

	// Entry is one hook of an event, with {command}, a line for a shell, and {seconds} or
	// {milliseconds}, the time that it has.
	Entry any

	// Events are the client's words for call, result, prompt, start, end and turn: before
	// and after a call, a prompt, the session's start and end, the end of a turn. One that
	// is missing is an event that the client does not have.
	Events map[string]string

	// Tools are calls by what they do: shell runs {line}, write writes {file}. Parallel
	// calls are two of the shell's in one turn.
	Tools map[string]toolCallOf

	// Answers are what a hook before a call prints: deny and ask with {reason}, allow,
	// rewrite with {line}, and none for no opinion. One that is missing is a word that the
	// client does not have; a missing none is no output.
	Answers map[string]any

	// Modes are the client's modes of permission, and Mode is the one that is tried where
	// none is asked for.
	Modes map[string]Mode
	Mode  string

	// Person is how somebody answers a question; nil: nobody can, in this client.
	Person *Person
}

// A Mode is how the client is told what needs a question.
type Mode struct {
	Args []string
	Open []string // further ones with which the kit's calls need no question

	Entry any // in the place of Host.Entry, where a client can be told to be stricter
}

// A Person talks to the client by its input and output, line by line.
type Person struct {
	Args []string // in the place of Run.Args
	Say  []Line
}

// A Line is what is said to the client when a line of its output matches On; "" is its start.
// Send may have {1}, {2} …, the groups of On. Where Yes and No stand, the line is a question
// to the person. After End the input is closed.
type Line struct {
	On, Send, Yes, No string
	End               bool
}

type toolCallOf struct {
	Name string
	Args map[string]any
	Text string // of a free-form call, in the place of Args
}

// Clients are the names of the clients that a description comes with.
func Clients() []string {
	list, _ := clientFiles.ReadDir("clients")
	var names []string
	for _, e := range list {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}

// Text is a description as it stands in the package, to begin one's own with.
func Text(name string) ([]byte, error) {
	if !slices.Contains(Clients(), name) {
		return nil, fmt.Errorf("there is no description of %s; there are: %s", strictjson.Quoted(name), strings.Join(Clients(), ", "))
	}
	return clientFiles.ReadFile("clients/" + name + ".json")
}

// Client is the description of a client that the package knows.
func Client(name string) (Host, error) {
	data, err := Text(name)
	if err != nil {
		return Host{}, err
	}
	return Read(data)
}

// Read reads a description. Fields that it does not know are an error.
func Read(data []byte) (Host, error) {
	var h Host
	doc, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		return h, err
	}
	in := json.NewDecoder(strings.NewReader(string(strictjson.Append(nil, doc))))
	in.DisallowUnknownFields()
	in.UseNumber()
	if err := in.Decode(&h); err != nil {
		return h, err
	}
	return h, h.check()
}

// check says what a description lacks.
func (h *Host) check() error {
	for name, missing := range map[string]bool{
		"Agent": h.Agent == "", "Run.Args": len(h.Run.Args) == 0, "Files": len(h.Files) == 0,
		"Events.call": h.Events["call"] == "", "Tools.shell": h.Tools["shell"].Name == "", "Answers.deny": h.Answers["deny"] == nil,
	} {
		if missing {
			return fmt.Errorf("the description has no %s", name)
		}
	}
	if _, known := h.Modes[h.Mode]; !known {
		return fmt.Errorf("the description has no mode %s, which Mode names", strictjson.Quoted(h.Mode))
	}
	for event := range h.Events {
		if !slices.Contains(eventNames(), event) {
			return fmt.Errorf("the description has the event %s; there are: %s", strictjson.Quoted(event), strings.Join(eventNames(), ", "))
		}
	}
	for path := range h.Files {
		rest, ok := cutPlace(path)
		if !ok || !filepath.IsLocal(filepath.FromSlash(rest)) {
			return fmt.Errorf("the description has the file %s, which is not below {home} or {project}", strictjson.Quoted(path))
		}
	}
	list := []string{h.Version.Match}
	if h.Person != nil {
		for _, l := range h.Person.Say {
			list = append(list, l.On)
		}
	}
	for _, text := range list {
		if _, err := regexp.Compile(text); err != nil {
			return err
		}
	}
	return nil
}

// cutPlace is the path below {home} or {project}.
func cutPlace(path string) (string, bool) {
	if rest, ok := strings.CutPrefix(path, "{home}/"); ok {
		return rest, true
	}
	return strings.CutPrefix(path, "{project}/")
}

// eventNames are the words of Events.
func eventNames() []string { return []string{"call", "end", "prompt", "result", "start", "turn"} }

// ModeNames are the modes of a client.
func (h *Host) ModeNames() []string { return slices.Sorted(maps.Keys(h.Modes)) }

// ErrNoVersion is the error of a client that does not say its version.
var ErrNoVersion = errors.New("the client does not say its version")

// fill puts values into the places of a tree. A text that is a place and nothing more
// becomes the value itself.
func fill(v any, values map[string]any) any {
	switch v := v.(type) {
	case string:
		if whole, ok := values[v]; ok {
			return whole
		}
		for place, value := range values {
			if text, ok := value.(string); ok {
				v = strings.ReplaceAll(v, place, text)
			}
		}
		return v
	case map[string]any:
		out := map[string]any{}
		for name, inner := range v {
			out[name] = fill(inner, values)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = fill(inner, values)
		}
		return out
	}
	return v
}

// fillAll is fill of a list of texts.
func fillAll(list []string, values map[string]any) []string {
	out := make([]string, len(list))
	for i, text := range list {
		out[i], _ = fill(text, values).(string)
	}
	return out
}

// plugin is gate's plugin for OpenCode, which starts a command.
func plugin(command []string, wait limit) string {
	return string(adapters.OpenCodePlugin(command, wait.duration()))
}
