package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"gate/engine"
	"gate/hook"
	"gate/internal/strictjson"
)

// isPlain reports text that is nothing but talk: no JSON value, no line that
// begins like an answer and no member of one. A denial that somebody printed
// next to a log line must not pass for talk, nor must "false". A number alone
// is talk: it is what counting tools print.
func isPlain(said []byte) (bool, error) {
	if !utf8.Valid(said) {
		return false, errors.New("it is not UTF-8")
	}
	if i := bytes.IndexFunc(said, notPrintable); i >= 0 {
		return false, fmt.Errorf("it holds the control character %q at byte %d", said[i], i)
	}
	text := bytes.TrimSpace(said)
	if len(text) == 0 {
		return true, nil
	}
	if v, err := strictjson.Decode(text, strictjson.Limits{Bytes: maxOutput}); err == nil {
		return strictjson.TypeName(v) == "a number", nil
	}
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t\ufeff"), []byte("{")) {
			return false, nil
		}
	}
	return !slices.ContainsFunc(tellTales, func(s string) bool { return bytes.Contains(text, []byte(s)) }), nil
}

// tellTales are members that nobody mentions who does not answer.
var tellTales = []string{`"decision"`, `"permissionDecision"`, `"hookSpecificOutput"`, `"continue"`}

// notPrintable reports what no text has; the escape character colours it.
func notPrintable(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\r' && r != '\t' && r != '\x1b' || r == 0x7f
}

// oneObject reads what must be one JSON object. If it is none, a line of it
// that is one, and denies, asks or halts, still does.
func oneObject(h *hook.Hook, said []byte, read func(map[string]any) engine.Answer) engine.Answer {
	doc, err := strictjson.Object(said, strictjson.Limits{Bytes: maxOutput})
	if err == nil {
		return read(doc)
	}
	a := unreadable(h, err)
	for line := range bytes.Lines(said) {
		if !bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("{")) {
			continue
		}
		doc, err := strictjson.Object(line, strictjson.Limits{Bytes: maxOutput})
		if err != nil {
			continue
		}
		if v := read(doc).Verdict; v.Effect() >= hook.Ask {
			a.Verdict.Reasons = append(a.Verdict.Reasons, v.Reasons...)
			a.Verdict.Halt = append(a.Verdict.Halt, v.Halt...)
		}
	}
	return a
}

// withoutNull leaves the members out that are null: to the systems that write
// whole records they are absent.
func withoutNull(doc map[string]any) map[string]any {
	doc = maps.Clone(doc)
	maps.DeleteFunc(doc, func(_ string, v any) bool { return v == nil })
	return doc
}
