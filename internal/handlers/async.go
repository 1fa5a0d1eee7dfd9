package handlers

import (
	"bytes"
	"time"

	"gate/internal/strictjson"
)

// asyncLine reads the first line of an answer that nobody shall wait for:
// {"async": true, "asyncTimeout": milliseconds}.
func asyncLine(line []byte) (time.Duration, bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return 0, false
	}
	doc, err := strictjson.Object(line, strictjson.Limits{Bytes: 1 << 10})
	if err != nil || doc["async"] != true {
		return 0, false
	}
	limit := asyncLimit
	for key, v := range doc {
		switch key {
		case "async":
		case "asyncTimeout":
			d, ok := milliseconds(v)
			if !ok {
				return 0, false
			}
			limit = min(d, maxAsync)
		default:
			return 0, false
		}
	}
	return limit, true
}

// afterAsync is what a program said behind the line that let the call go on.
func afterAsync(said []byte) []byte {
	line, rest, _ := bytes.Cut(said, []byte("\n"))
	if _, ok := asyncLine(line); ok {
		return rest
	}
	return said
}
