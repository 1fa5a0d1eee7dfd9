package look

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"gate/internal/strictjson"
)

// A Document is a JSON tree.
type Document = map[string]any

// Visible returns a document in which no text can steer what a reader sees. A text with
// marks stays as it is: its marks count its characters, and who shows it sees to that.
func Visible(v any) any {
	switch v := v.(type) {
	case string:
		return strictjson.Visible(v)
	case []string:
		return Visible(List(v))
	case []Document:
		return Visible(List(v))
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = Visible(e)
		}
		return out
	case Document:
		out := make(Document, len(v))
		_, marked := v["marks"].([]any)
		for key, e := range v {
			if key == "text" && marked {
				out[key] = e
				continue
			}
			out[strictjson.Visible(key)] = Visible(e)
		}
		return out
	}
	return v
}

// VisibleQuery is the same for what stands in an address.
func VisibleQuery(q url.Values) url.Values {
	for _, values := range q {
		for i := range values {
			values[i] = strictjson.Visible(values[i])
		}
	}
	return q
}

// Number is a number of a document.
func Number(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case float64:
		return v
	case json.Number:
		f, _ := v.Float64()
		return f
	}
	return 0
}

// millis is a number of microseconds, as milliseconds.
func millis(us any) string {
	ms := Number(us) / 1000
	if ms >= 100 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f ms", ms)
}

// seconds is the same as seconds.
func seconds(us any) string { return fmt.Sprintf("%.2f s", Number(us)/1e6) }

// Text is a text of a document, "" for what is none.
func Text(v any) string {
	s, _ := v.(string)
	return s
}

// List is a list of a document, however its elements are typed.
func List(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case []string:
		out := make([]any, len(v))
		for i, s := range v {
			out[i] = s
		}
		return out
	case []Document:
		out := make([]any, len(v))
		for i, d := range v {
			out[i] = d
		}
		return out
	}
	return nil
}

// Object is an object of a document, nil for what is none.
func Object(v any) Document {
	d, _ := v.(map[string]any)
	return d
}

// Join is a list in a line.
func Join(v any) string {
	var out []string
	for _, e := range List(v) {
		out = append(out, OneLine(e))
	}
	return strings.Join(out, ", ")
}

// mostShort is how many characters of a value stand in a line.
const mostShort = 300

// Short is a value in a line that is not too long.
func Short(v any) string {
	s := []rune(OneLine(v))
	if len(s) > mostShort {
		return string(s[:mostShort-1]) + "…"
	}
	return string(s)
}

// plain is the input of a tool for people: the only text in it as it is, other input as
// JSON.
func plain(v any) string {
	if m := Object(v); len(m) == 1 {
		for _, only := range m {
			if s, ok := only.(string); ok {
				return strictjson.Visible(s)
			}
		}
	}
	if s, ok := v.(string); ok {
		return strictjson.Visible(s)
	}
	if strictjson.Check(v) != nil {
		return "(not to be shown)"
	}
	return strictjson.Visible(strictjson.Indent(v))
}

// OneLine is a JSON tree in one visible line.
func OneLine(v any) string {
	if s, ok := v.(string); ok {
		return strictjson.Visible(s)
	}
	if strictjson.Check(v) != nil {
		return "(not to be shown)"
	}
	return strictjson.Visible(string(strictjson.Append(nil, v)))
}
