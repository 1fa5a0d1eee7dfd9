package handlers

import (
	"strings"
	"time"

	"gate/internal/strictjson"
)

// maxOpening bounds the object that lets a call go on, with the blanks before it, in
// bytes.
const maxOpening = 1 << 10

// opening returns the end of the JSON object that a program's output begins with,
// which may be printed over several lines: behind the line break that follows it. It is
// 0 if there is none. over says that what the program prints next cannot change that;
// all, that it prints nothing more.
func opening(said []byte, all bool) (end int, over bool) {
	depth, text := 0, false // within braces, within a string
	for i := 0; i < len(said); i++ {
		if i == maxOpening {
			return 0, true
		}
		switch c := said[i]; {
		case text && c == '\\':
			i++
		case c == '"' && depth > 0:
			text = !text
		case text:
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return lineEnd(said, i+1, all)
			}
		case depth == 0 && !strings.ContainsRune(" \t\r\n", rune(c)):
			return 0, true
		}
	}
	return 0, all
}

// lineEnd returns the beginning of the next line, if nothing else stands on this one.
func lineEnd(said []byte, at int, all bool) (end int, over bool) {
	for ; at < len(said); at++ {
		switch said[at] {
		case '\n':
			return at + 1, true
		case ' ', '\t', '\r':
		default:
			return 0, true
		}
	}
	if all {
		return at, true
	}
	return 0, false
}

// asyncObject reads the opening of an answer that nobody shall wait for:
// {"async": true, "asyncTimeout": milliseconds}. Records of cocode's write
// async_timeout.
func asyncObject(object []byte) (time.Duration, bool) {
	doc, err := strictjson.Object(object, strictjson.Limits{Bytes: maxOpening})
	if err != nil || doc["async"] != true || len(doc) > 2 {
		return 0, false
	}
	limit := asyncLimit
	for key, v := range doc {
		switch key {
		case "async":
		case "asyncTimeout", "async_timeout":
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

// afterAsync is what a program said behind the object that let the call go on.
func afterAsync(said []byte) []byte {
	end, _ := opening(said, true)
	if _, ok := asyncObject(said[:end]); ok {
		return said[end:]
	}
	return said
}
