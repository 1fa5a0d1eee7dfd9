package matcher

import (
	"strings"

	"gate/hook"
)

// Subject returns the text that matchers of an event are matched on.
// On events without any, matchers do not count and
// matched is false. missing reports that the event ought to have the text and
// does not.
func Subject(ev *hook.Event) (value string, matched, missing bool) {
	moment := ev.Name.Moment()
	field := moment.Matches
	if field == "" {
		if moment.Name != "" || ev.Tool() == "" {
			return "", false, false
		}
		field = "tool_name" // an event that gate has never heard of, about a tool
	}
	value, ok := ev.Fields[field].(string)
	if field == "file_path" {
		value = value[strings.LastIndexAny(value, `/\`)+1:]
	}
	return value, true, !ok
}
