package page

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"gate/internal/page/look"
	"gate/internal/strictjson"
)

// functions are what the templates of this page can call.
func functions() template.FuncMap {
	return template.FuncMap{
		"policyAddress": policyAddress, "coverageAddress": coverageAddress, "question": questionOf, "days": func() []int { return []int{7, usualDays, 30, mostDays} },
		"base": path.Base, "whose": whose, "size": size, "first": firstWaiting, "rest": restWaiting, "without": func(begin, s string) string { return strings.TrimPrefix(s, begin) }, "conditions": conditions,
		"opinion": func(word string) string { return strings.ReplaceAll(word, "_", " ") }, "segments": segments, "labels": labels,
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
	address := look.Address(view, id) + form
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
	q := Question{Tool: look.Text(doc["tool"]), Input: look.Text(doc["input"]), Dir: look.Text(doc["dir"])}
	if !slices.Contains(tools, q.Tool) && q.Tool != "" {
		tools = append([]string{q.Tool}, tools...)
	}
	return questionForm{q, tools}
}

// size is a number of bytes for people.
func size(bytes any) string {
	n := look.Number(bytes)
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
	s, a := look.Text(source), look.Text(authority)
	if s == a || a == "" {
		return s
	}
	return s + ", with the authority of " + a
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
	runes := []rune(look.Text(doc["text"]))
	type span struct {
		from, to int
		label    string
	}
	var spans []span
	for _, v := range look.List(doc["marks"]) {
		m := look.Object(v)
		if ends := look.List(m["span"]); len(ends) == 2 {
			spans = append(spans, span{int(look.Number(ends[0])), int(look.Number(ends[1])), look.Text(m["label"])})
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

func firstWaiting(v any) []any { return look.List(v)[:min(len(look.List(v)), mostWaiting)] }

func restWaiting(v any) []any { return look.List(v)[min(len(look.List(v)), mostWaiting):] }

// conditions are those of a rule, each value of the input where it is first looked at.
func conditions(rule Document) []Document {
	var out []Document
	told := map[string]bool{}
	for _, v := range look.List(rule["conditions"]) {
		c := maps.Clone(look.Object(v))
		values := []any{}
		for _, v := range look.List(c["values"]) {
			value := look.Object(v)
			if key := look.Text(value["path"]) + " " + look.OneLine(value["value"]); look.Text(value["path"]) == "" || !told[key] {
				values = append(values, value)
				told[key] = true
			}
		}
		c["values"] = values
		out = append(out, c)
	}
	return out
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
	for _, v := range look.List(policies) {
		m := look.Object(v)
		of := look.Text(m["authority"])
		if look.Text(m["source"]) == "library" {
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
	return slices.DeleteFunc(slices.Clone(look.List(guards)), func(v any) bool { return look.Object(v)["installed"] != true })
}

// deedsOf says in words what a call does.
func deedsOf(v any) []string {
	m := look.Object(v)
	var out []string
	for _, s := range look.List(m["secrets"]) {
		d := look.Object(s)
		out = append(out, strictjson.OneLine(strings.TrimSpace("reads "+look.Text(d["what"])+" "+look.Text(d["path"]))))
	}
	for _, verb := range []struct{ key, word string }{{"fetches", "fetches from"}, {"writes", "writes"}, {"deletes", "deletes"}, {"runs", "runs"}, {"sends", "sends to"}} {
		if names := look.List(m[verb.key]); len(names) > 0 {
			out = append(out, verb.word+" "+look.Join(names))
		}
	}
	return out
}
