package commands

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/adapters"
	"gate/hook"
	"gate/internal/core"
	"gate/internal/hostfs"
	"gate/internal/moment"
	"gate/internal/places"
	"gate/internal/policytest"
	"gate/internal/strictjson"
)

// args are the arguments of a command about a call: what the call is, and none where
// --event says it.
func (f *callFlags) args(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		const most = 2 // a tool's input and what came of it
		switch {
		case f.about == "":
			return oneArg(what)(cmd, args)
		case len(args) > most:
			return usageError("unexpected argument " + quoted(args[most]))
		}
		return nil
	}
}

// asked makes the event that a person asks about.
func (f *callFlags) asked(p process, args []string) (hook.Event, error) {
	if f.about == "" {
		return f.event(args[0])
	}
	dir, err := f.dir()
	if err != nil {
		return hook.Event{}, err
	}
	var fields map[string]any
	agent := ""
	if m, known := momentNamed(f.about); known {
		fields, err = f.fieldsOf(m, args)
	} else {
		fields, agent, err = f.happening(p, args)
	}
	if err != nil {
		return hook.Event{}, err
	}
	ev := hook.Event{Agent: cmp.Or(agent, "claude"), Fields: map[string]any{
		"hook_event_name": string(hook.PreToolUse), "session_id": "gate-try",
	}}
	for key, v := range fields {
		ev.Fields[key] = v
	}
	cwd, _ := fields["cwd"].(string)
	if !path.IsAbs(cwd) {
		cwd = path.Join(filepath.ToSlash(dir), cwd)
	}
	ev.Fields["cwd"] = cwd
	ev.Name = hook.Name(ev.Text("hook_event_name")).Canonical()
	ev.Parts, ev.Gate = adapters.Parts(&ev), core.Now(places.AccountName(), true)
	return ev, lacking(&ev)
}

// momentNamed finds an event by its name.
func momentNamed(name string) (moment.Moment, bool) {
	m := hook.Name(name).Moment()
	return m, slices.Contains(eventNames(), string(m.Name))
}

func eventNames() []string {
	var names []string
	for _, m := range moment.Every() {
		names = append(names, string(m.Name))
	}
	return names
}

// fieldsOf makes the fields of a named event of arguments: the tool's input, and the field
// that policies of this event mostly look at, such as the prompt. JSON stands for itself.
func (f *callFlags) fieldsOf(m moment.Moment, args []string) (map[string]any, error) {
	fields := map[string]any{"hook_event_name": string(m.Name)}
	has := func(name string) bool {
		return slices.ContainsFunc(m.Fields, func(f moment.Field) bool { return f.Name == name })
	}
	field := cmp.Or(m.Example, m.Matches)
	if has("tool_input") {
		if len(args) == 0 {
			return nil, usageError("--event " + f.about + " needs the line, or the input of --tool")
		}
		input, err := toolInput(f.tool, args[0])
		if err != nil {
			return nil, err
		}
		fields["tool_name"], fields["tool_input"] = f.tool, input
		args = args[1:]
		if field == "tool_input" || field == "tool_name" {
			field = ""
		}
	}
	switch {
	case len(args) == 0:
		return fields, nil
	case len(args) > 1 || field == "" && has("tool_input"):
		return nil, usageError("unexpected argument " + quoted(args[len(args)-1]))
	}
	if object, err := strictjson.Object([]byte(args[0]), strictjson.Limits{}); err == nil && !has("tool_input") {
		for key, v := range object {
			fields[key] = v
		}
		return fields, nil
	}
	if field == "" {
		return nil, usageError("--event " + f.about + ` takes its fields as JSON, such as '{"` + m.Fields[0].Name + `": …}'`)
	}
	fields[field] = args[0]
	if object, err := strictjson.Object([]byte(args[0]), strictjson.Limits{}); err == nil {
		fields[field] = object
	} else if field == "tool_response" && f.tool == "Bash" {
		fields[field] = map[string]any{"stdout": args[0], "stderr": ""}
	}
	return fields, nil
}

// happening reads an event from a file, from standard input or out of the flag itself, as an
// event case or as an agent says it.
func (f *callFlags) happening(p process, args []string) (fields map[string]any, agent string, err error) {
	name, data, err := f.read(p)
	switch {
	case err != nil:
		return nil, "", err
	case len(args) > 0:
		return nil, "", usageError("unexpected argument " + quoted(args[0]) + ": --event says what happens")
	}
	if doc, err := strictjson.Object(data, strictjson.Limits{Bytes: adapters.MaxEvent}); err == nil && doc["hook_event_name"] != nil {
		return doc, "", nil
	}
	c, err := policytest.ParseEvent(name, data)
	if err != nil && name == inFlag {
		err = errors.New(strings.ReplaceAll(err.Error(), inFlag+":1: ", "--event: "))
	}
	return c.Event, c.Agent, err
}

// inFlag is the name under which what the flag itself says is read.
const inFlag = "--event.yaml"

// read returns what --event points at, and the name under which its mistakes are told.
func (f *callFlags) read(p process) (name string, data []byte, err error) {
	if f.about == "-" {
		data, err = hostfs.ReadAll(p.stdin, adapters.MaxEvent)
		return "standard input.yaml", data, err
	}
	data, err = hostfs.Files{}.ReadFile(f.about, adapters.MaxEvent)
	isFile := slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(f.about))
	switch {
	case err == nil && isFile:
		return f.about, data, nil
	case err == nil:
		return "", nil, fmt.Errorf("--event %s: name a file that ends in .json or .yaml", f.about)
	case !errors.Is(err, fs.ErrNotExist) && isFile, isFile && !strings.ContainsAny(f.about, ": {"):
		return "", nil, hostfs.At(f.about, err)
	case strings.ContainsAny(f.about, ":{"):
		return inFlag, []byte(f.about), nil
	}
	return "", nil, usageError("there is no event " + quoted(f.about) + didYouMean(f.about, eventNames(), strings.Clone))
}

// lacking says which field an event needs and does not have.
func lacking(ev *hook.Event) error {
	m, known := momentNamed(string(ev.Name))
	if !known {
		return usageError("there is no event " + quoted(string(ev.Name)) + didYouMean(string(ev.Name), eventNames(), strings.Clone))
	}
	for _, field := range m.Fields {
		if _, there := ev.Fields[field.Name]; !there && field.Need == moment.Must {
			return usageError("--event: " + string(m.Name) + " needs " + field.Name)
		}
	}
	return nil
}

// parseWritten reads an event as an agent says it, out of a file that a person may have
// written: of what the agent always sends, the name of its transcript may be missing.
func parseWritten(a adapters.Adapter, data []byte) (hook.Event, error) {
	const transcript = "transcript_path"
	if doc, err := strictjson.Object(data, strictjson.Limits{Bytes: adapters.MaxEvent}); err == nil && a.Name() == "claude" && doc["hook_event_name"] != nil {
		if _, there := doc[transcript]; !there {
			doc[transcript] = ""
			data = strictjson.Append(nil, doc)
		}
	}
	return a.Parse(data, "")
}
