package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"math"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"gate/internal/strictjson"
)

// functions are what templates can call.
func (p *Page) functions() template.FuncMap {
	return template.FuncMap{
		"address": Address, "policyAddress": policyAddress, "coverageAddress": coverageAddress, "question": questionOf,
		"outcomeClass": outcomeClass, "outcomeSign": outcomeSign, "severityClass": severityClass, "severitySign": severitySign,
		"shortTime": p.shortTime, "ms": millis, "seconds": seconds, "short": short, "plain": plain, "join": join, "days": func() []int { return []int{7, usualDays, 30, mostDays} },
		"base": path.Base, "whose": whose, "size": size, "first": firstWaiting, "rest": restWaiting, "without": func(begin, s string) string { return strings.TrimPrefix(s, begin) }, "conditions": conditions,
		"opinion": func(word string) string { return strings.ReplaceAll(word, "_", " ") }, "segments": segments, "labels": labels, "nodes": nodes,
		"byAuthority": byAuthority, "installed": installed, "deeds": deedsOf, "flows": flowsOf, "plots": plotsOf,
	}
}

// policyAddress is the page of a policy in the project that is looked at.
func policyAddress(id string, q url.Values) string {
	return placeAddress("policies", id, "", q)
}

// coverageAddress is where the coverage of a policy is handed out in a form.
func coverageAddress(id, form string, q url.Values) string {
	return placeAddress("coverage", id, form, q)
}

// placeAddress is a view of the project that is looked at.
func placeAddress(view, id, form string, q url.Values) string {
	address := Address(view, id) + form
	if project := q.Get("project"); project != "" {
		address += "?" + url.Values{"project": {project}}.Encode()
	}
	return address
}

// A questionForm is the box for a call that nobody makes.
type questionForm struct {
	Question
	Tools []string
}

func questionOf(doc Document, tools []string) questionForm {
	q := Question{Tool: text(doc["tool"]), Input: text(doc["input"]), Dir: text(doc["dir"])}
	if !slices.Contains(tools, q.Tool) && q.Tool != "" {
		tools = append([]string{q.Tool}, tools...)
	}
	return questionForm{q, tools}
}

// outcomeClass says how an outcome or an effect looks; its word stands beside it.
func outcomeClass(word string) string {
	switch word {
	case "deny", "denied", "reject":
		return "deny"
	case "ask", "asked", "approved":
		return "ask"
	case "changed", "modify_input":
		return "changed"
	}
	return "pass"
}

func outcomeSign(word string) string {
	switch word {
	case "approved":
		return "✓"
	case "changed", "modify_input":
		return "↻"
	}
	return map[string]string{"deny": "✗", "ask": "?", "pass": "✓"}[outcomeClass(word)]
}

func severityClass(word string) string {
	if word == "error" || word == "warning" {
		return word
	}
	return "notice-word"
}

func severitySign(word string) string {
	return map[string]string{"error": "✗", "warning": "!", "notice-word": "i"}[severityClass(word)]
}

// shortTime is a time of today as a time, another with its day.
func (p *Page) shortTime(v any) string {
	at, err := time.Parse(time.RFC3339Nano, text(v))
	if err != nil {
		return text(v)
	}
	at = at.Local()
	if now := p.o.Clock().Local(); at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format(time.TimeOnly)
	}
	return at.Format("2006-01-02 15:04")
}

// visible returns a document in which no text can steer what a reader sees. A text with
// marks stays as it is: its marks count its characters, and [segments] shows it.
func visible(v any) any {
	switch v := v.(type) {
	case string:
		return strictjson.Visible(v)
	case []string:
		return visible(list(v))
	case []Document:
		return visible(list(v))
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = visible(e)
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
			out[strictjson.Visible(key)] = visible(e)
		}
		return out
	}
	return v
}

// visibleQuery is the same for what stands in an address.
func visibleQuery(q url.Values) url.Values {
	for _, values := range q {
		for i := range values {
			values[i] = strictjson.Visible(values[i])
		}
	}
	return q
}

// number is a number of a document.
func number(v any) float64 {
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

func millis(us any) string {
	ms := number(us) / 1000
	if ms >= 100 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f ms", ms)
}

// size is a number of bytes for people.
func size(bytes any) string {
	n := number(bytes)
	if n < 10<<10 {
		return fmt.Sprintf("%.0f bytes", n)
	}
	if n < 10<<20 {
		return fmt.Sprintf("%.0f KiB", n/(1<<10))
	}
	return fmt.Sprintf("%.0f MiB", n/(1<<20))
}

// whose is a source of policies, and by whose authority they speak where it does not say
// that itself.
func whose(source, authority any) string {
	s, a := text(source), text(authority)
	if s == a || a == "" {
		return s
	}
	return s + ", with the authority of " + a
}

func seconds(us any) string { return fmt.Sprintf("%.2f s", number(us)/1e6) }

// text is a text of a document, "" for what is none.
func text(v any) string {
	s, _ := v.(string)
	return s
}

// list is a list of a document, however its elements are typed.
func list(v any) []any {
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

func document(v any) Document {
	d, _ := v.(map[string]any)
	return d
}

func join(v any) string {
	var out []string
	for _, e := range list(v) {
		out = append(out, oneLine(e))
	}
	return strings.Join(out, ", ")
}

// mostShort is how many characters of a value stand in a line.
const mostShort = 300

func short(v any) string {
	s := []rune(oneLine(v))
	if len(s) > mostShort {
		return string(s[:mostShort-1]) + "…"
	}
	return string(s)
}

// plain is the input of a tool for people: the only text in it as it is, other input as
// JSON.
func plain(v any) string {
	if m := document(v); len(m) == 1 {
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

// A segment is a part of a text; N numbers its mark, 0 where it has none.
type segment struct {
	N     int
	Text  string
	Label string
}

// segments takes a text with marks apart. Marks count code points; what lies outside
// of the text or over another mark is not shown.
func segments(doc Document) []segment {
	runes := []rune(text(doc["text"]))
	type span struct {
		from, to int
		label    string
	}
	var spans []span
	for _, v := range list(doc["marks"]) {
		m := document(v)
		if ends := list(m["span"]); len(ends) == 2 {
			spans = append(spans, span{int(number(ends[0])), int(number(ends[1])), text(m["label"])})
		}
	}
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out []segment
	at, n := 0, 0
	part := func(to, n int, label string) {
		if to > at {
			out = append(out, segment{n, strictjson.Visible(string(runes[at:to])), label})
		}
		at = to
	}
	for _, s := range spans {
		if s.from < at || s.from >= s.to || s.to > len(runes) {
			continue
		}
		part(s.from, 0, "")
		n++
		part(s.to, n, s.label)
	}
	part(len(runes), 0, "")
	return out
}

// labels are the marked parts of a text, in a list.
func labels(doc Document) []segment {
	return slices.DeleteFunc(segments(doc), func(s segment) bool { return s.N == 0 })
}

// mostWaiting is how many calls that wait are shown at once; the rest is behind a fold.
const mostWaiting = 2

func firstWaiting(v any) []any { return list(v)[:min(len(list(v)), mostWaiting)] }

func restWaiting(v any) []any { return list(v)[min(len(list(v)), mostWaiting):] }

// conditions are those of a rule, each value of the input where it is first looked at.
func conditions(rule Document) []Document {
	var out []Document
	told := map[string]bool{}
	for _, v := range list(rule["conditions"]) {
		c := maps.Clone(document(v))
		values := []any{}
		for _, v := range list(c["values"]) {
			value := document(v)
			if key := text(value["path"]) + " " + oneLine(value["value"]); text(value["path"]) == "" || !told[key] {
				values = append(values, value)
				told[key] = true
			}
		}
		c["values"] = values
		out = append(out, c)
	}
	return out
}

// A node is one of a tree of facts: a value, or what has more below it.
type node struct {
	Key, Text, Hint string
	Children        []node
	Open            bool
}

const mostNodes = 400 // of one list

// nodes makes a tree of a document. What is empty is left out: null and an empty list
// say nothing.
func nodes(v any) []node {
	return branches(v, 0)
}

func branches(v any, depth int) []node {
	var out []node
	if m := document(v); m != nil {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if n, some := nodeOf(key, m[key], depth); some {
				out = append(out, n)
			}
		}
		return out
	}
	for i, e := range list(v) {
		if i == mostNodes {
			return append(out, node{Key: "…", Text: fmt.Sprintf("%d more, which the JSON has", len(list(v))-i)})
		}
		key := fmt.Sprint(i)
		m := document(e)
		for _, name := range []string{"kind", "program", "value", "path", "host", "id", "language", "effect"} {
			if s := text(m[name]); s != "" {
				key = short(s)
				break
			}
		}
		if n, some := nodeOf(key, e, depth); some {
			out = append(out, n)
		}
	}
	return out
}

func nodeOf(key string, v any, depth int) (n node, some bool) {
	n = node{Key: strictjson.OneLine(key), Open: depth == 0}
	switch v := v.(type) {
	case nil:
		return n, false
	case map[string]any:
		n.Children = branches(v, depth+1)
		n.Hint = hint(v)
		return n, len(n.Children) > 0
	case []any:
		if len(v) == 0 {
			return n, false
		}
		if plainList(v) {
			n.Text = join(v)
			return n, true
		}
		n.Children = branches(v, depth+1)
		n.Hint = fmt.Sprint(len(v))
		return n, len(n.Children) > 0
	case []string:
		n.Text = join(v)
		return n, len(v) > 0
	}
	n.Text = oneLine(v)
	return n, n.Text != ""
}

func plainList(l []any) bool {
	return !slices.ContainsFunc(l, func(v any) bool {
		switch v.(type) {
		case map[string]any, []any:
			return true
		}
		return false
	})
}

// hint is what a closed branch says of itself.
func hint(m Document) string {
	for _, name := range []string{"what", "path", "url", "host", "verb", "why", "raw", "message"} {
		if s := text(m[name]); s != "" {
			return short(s)
		}
	}
	return ""
}

// A group of policies has the authority that they speak with.
type group struct {
	Title string
	Rows  []any
}

// byAuthority groups policies, the highest first, and the library's apart.
func byAuthority(policies any) []group {
	order := []string{"managed", "user", "plugin", "project", "local", "skill", "library"}
	titles := map[string]string{
		"managed": "Managed: the administrator's", "user": "Yours", "plugin": "Of plugins", "project": "Of the project", "local": "Local to the project", "skill": "Of skills",
		"library": "The library, with the authority of who switches it",
	}
	rows := map[string][]any{}
	for _, v := range list(policies) {
		m := document(v)
		of := text(m["authority"])
		if text(m["source"]) == "library" {
			of = "library"
		}
		if !slices.Contains(order, of) {
			order = append(order, of)
		}
		rows[of] = append(rows[of], m)
	}
	var out []group
	for _, of := range order {
		if len(rows[of]) > 0 {
			out = append(out, group{Title: cmp.Or(titles[of], of), Rows: rows[of]})
		}
	}
	return out
}

// installed are the guards that stand in an agent's files.
func installed(guards any) []any {
	return slices.DeleteFunc(slices.Clone(list(guards)), func(v any) bool { return document(v)["installed"] != true })
}

// deedsOf says in words what a call does.
func deedsOf(v any) []string {
	m := document(v)
	var out []string
	for _, s := range list(m["secrets"]) {
		d := document(s)
		out = append(out, strictjson.OneLine(strings.TrimSpace("reads "+text(d["what"])+" "+text(d["path"]))))
	}
	for _, verb := range []struct{ key, word string }{{"fetches", "fetches from"}, {"writes", "writes"}, {"deletes", "deletes"}, {"runs", "runs"}, {"sends", "sends to"}} {
		if names := list(m[verb.key]); len(names) > 0 {
			out = append(out, verb.word+" "+join(names))
		}
	}
	return out
}

// round keeps drawings short.
func round(f float64) float64 { return math.Round(f*10) / 10 }
