package adapters

import (
	"errors"
	"fmt"

	"gate/hook"
	"gate/internal/strictjson"
)

// parse reads one event in canonical names, the one that is expected unless that
// is "". With an error comes an event that has at most its Name.
func parse(agent string, data []byte, expected string, strict bool) (hook.Event, error) {
	ev := hook.Event{Agent: agent, Name: hook.Name(expected)}
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: MaxEvent})
	if err != nil {
		if errors.Is(err, strictjson.ErrEmpty) {
			err = errors.New("no event on standard input")
		}
		return ev, fmt.Errorf("event: %w", err)
	}
	name, _ := doc["hook_event_name"].(string)
	if name != "" {
		ev.Name = hook.Name(name)
	}
	if want := hook.Name(expected).Canonical(); want != "" && name != "" && ev.Name.Canonical() != want {
		return ev, anotherEvent(name, expected)
	}
	if meant := ev.Name.Meant(); meant != "" && strict {
		return hook.Event{Agent: agent, Name: meant}, fmt.Errorf("event: %s is a misspelt %s", quote(name), quote(string(meant)))
	}
	if err := check(doc, strict); err != nil {
		if name == "" {
			return ev, fmt.Errorf("event: %w", err)
		}
		return ev, fmt.Errorf("event %s: %w", quote(name), err)
	}
	ev.Fields = doc
	return ev, nil
}

// session is what the beginning of an event in canonical names tells of its session.
func session(agent string, data []byte, expected string) hook.Event {
	doc := strictjson.Beginning(data)
	name := expected
	if said, _ := doc["hook_event_name"].(string); name == "" {
		name = said
	}
	ev := hook.Event{Agent: agent, Name: hook.Name(name).Canonical()}
	if id, _ := doc["session_id"].(string); id != "" {
		ev.Fields = map[string]any{"session_id": id}
	}
	return ev
}

// anotherEvent is the error of a hook that gets an event it is not there for.
func anotherEvent(is, want string) error {
	return fmt.Errorf("event: it is %s, but this hook was installed for %s", quote(is), quote(want))
}
