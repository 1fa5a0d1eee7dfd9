package adapters

import (
	"errors"
	"fmt"

	"gate/hook"
	"gate/strictjson"
)

// parse reads one event in canonical names. With an error comes an event that
// has at most its Name.
func parse(agent string, data []byte, strict bool) (hook.Event, error) {
	ev := hook.Event{Agent: agent}
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: MaxEvent})
	if err != nil {
		if errors.Is(err, strictjson.ErrEmpty) {
			err = errors.New("no event on standard input")
		}
		return ev, fmt.Errorf("event: %w", err)
	}
	name, _ := doc["hook_event_name"].(string)
	ev.Name = hook.Name(name)
	if err := check(doc, strict); err != nil {
		if name == "" {
			return ev, fmt.Errorf("event: %w", err)
		}
		return ev, fmt.Errorf("event %s: %w", quote(name), err)
	}
	ev.Fields = doc
	return ev, nil
}
