package describe

import (
	"os"
	"strings"
	"testing"
)

// page is docs/facts.md with its tables made anew. What stands around them is
// written by hand.
func page(t *testing.T, facts, kinds []*object) string {
	t.Helper()
	is, err := os.ReadFile("../../docs/facts.md")
	if err != nil {
		t.Fatal(err)
	}
	var parts, rows strings.Builder
	places := map[string]string{"Facts": "the whole", "Flow": "`input.flow[]`"}
	for _, o := range facts {
		at := places[o.name]
		for _, f := range o.fields {
			if name, list := f.element(); name != "" {
				places[name] = strings.TrimPrefix(strings.Trim(strings.TrimPrefix(at, "the whole"), "`")+"."+f.json, ".")
				if list {
					places[name] += "[]"
				}
				places[name] = "`" + places[name] + "`"
			}
		}
		parts.WriteString("| " + at + " | " + fieldList(o) + " |\n")
	}
	for _, o := range kinds {
		rows.WriteString("| `" + o.kind() + "` | " + says(o) + ": " + fieldList(o) + " |\n")
	}
	text := table(t, string(is), "| part | fields |\n|---|---|\n", parts.String())
	return table(t, text, "| kind | fields (besides `kind`, `command`) |\n|---|---|\n", rows.String())
}

// table puts rows in place of those below a head.
func table(t *testing.T, text, head, rows string) string {
	t.Helper()
	before, after, found := strings.Cut(text, head)
	if !found {
		t.Fatalf("docs/facts.md has lost its table %q", head)
	}
	for strings.HasPrefix(after, "|") {
		_, after, _ = strings.Cut(after, "\n")
	}
	return before + head + rows + after
}

// says is what the comment of a struct says it does.
func says(o *object) string {
	sentence, _, _ := strings.Cut(strings.Join(strings.Fields(o.doc), " "), ". ")
	_, sentence, _ = strings.Cut(sentence, o.name+" ")
	return strings.TrimSuffix(sentence, ".")
}

func fieldList(o *object) string {
	var list []string
	for _, f := range o.fields {
		var about []string
		values := f.tag.Get("enum") + f.tag.Get("examples")
		if n := strings.Count(values, "|"); n > 0 && (n < 8 || f.name == "Kind") && !strings.Contains(f.comment, strings.Split(values, "|")[0]+",") {
			s := strings.ReplaceAll(values, "|", ", ")
			if f.tag.Get("examples") != "" {
				s += " …"
			}
			about = append(about, s)
		}
		if f.comment != "" {
			about = append(about, f.comment)
		}
		s := "`" + f.json + "`"
		if _, isList := f.element(); isList {
			s = "`" + f.json + "[]`"
		}
		if len(about) > 0 {
			s += " (" + strings.Join(about, "; ") + ")"
		}
		list = append(list, s)
	}
	return strings.Join(list, ", ")
}
