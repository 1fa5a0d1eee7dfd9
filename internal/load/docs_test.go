package load_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/setting"
	"gate/scopes"
)

var fence = regexp.MustCompile("(?s)```(json|toml|yaml)\n(.*?)```")

// The examples of docs/settings.md are settings without a mistake, and the one
// in three formats says the same in each.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := fence.FindAllSubmatch(page, -1)
	if len(examples) < 5 {
		t.Fatalf("%d examples", len(examples))
	}
	parts := len(examples) - 3 // examples of single keys come first
	for _, e := range examples[:parts] {
		c := load.Settings(fstest.MapFS{"settings." + string(e[1]): {Data: e[2]}}, "etc", hook.User)
		if len(c.Layers) != 1 || c.Source != nil {
			t.Errorf("%s: %s", e[2], describeSettings(c))
		}
	}
	want := ""
	position := regexp.MustCompile(`(?m)^etc/settings\.\w+:\d+ |etc/settings\.\w+:\d+`)
	for _, e := range examples[parts:] {
		c := load.Settings(fstest.MapFS{"settings." + string(e[1]): {Data: e[2]}}, "etc", hook.Managed)
		got := position.ReplaceAllString(describeSettings(c), "")
		if len(c.Layers) != 1 || len(c.Source.Faults) > 0 || len(c.Source.Hooks) != 1 {
			t.Errorf("%s: %s", e[1], got)
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s says\n%s\nand not\n%s", e[1], got, want)
		}
	}
}

// The examples of hooks in README and docs/handlers.md are hook files without a
// mistake, and show each type of handler.
func TestHookExamples(t *testing.T) {
	for _, name := range []string{"README.md", "docs/handlers.md"} {
		shown := map[hook.Kind]bool{}
		page, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range fence.FindAllSubmatch(page, -1) {
			if !bytes.HasPrefix(e[2], []byte("hooks:")) {
				continue
			}
			src := load.Dir(fstest.MapFS{"hooks.yaml": {Data: e[2]}}, scopes.Source{Name: "user", Authority: hook.User})
			if len(src.Faults) > 0 || len(src.Hooks) == 0 {
				t.Errorf("%s: %s: %v", name, e[2], src.Faults)
			}
			for _, h := range src.Hooks {
				shown[h.Kind] = true
			}
		}
		if len(shown) < 5 {
			t.Errorf("%s shows only %v", name, shown)
		}
	}
}

// The tables of docs/settings.md are those of the settings: of all of them, and of
// each that is an object. With -update they are written anew.
func TestDocsTables(t *testing.T) {
	const name = "../../docs/settings.md"
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{"settings": settingsTable()}
	for _, s := range setting.Table() {
		object := s.Type
		for object.Of != nil {
			object = object.Of
		}
		if object.Kind == setting.Object {
			tables[s.Key] = fieldsTable(object)
			for _, f := range object.Fields {
				if of := f.Type.Of; of != nil && of.Kind == setting.Object {
					tables[s.Key+"."+f.Key] = fieldsTable(of)
				}
			}
		}
	}
	delete(tables, "fileSuggestion") // the same as statusLine
	got := regexp.MustCompile(`(?s)(<!-- table of ([\w.]+) -->\n).*?(<!-- end -->)`).ReplaceAllStringFunc(string(page), func(part string) string {
		begin, _, _ := strings.Cut(part, "\n")
		key := strings.Fields(begin)[3]
		text, ok := tables[key]
		if !ok {
			t.Errorf("the page has a table of %s; gate has none", key)
		}
		delete(tables, key)
		return begin + "\n" + text + "<!-- end -->"
	})
	for key := range tables {
		t.Errorf("the page has no table of %s", key)
	}
	switch {
	case got == string(page):
	case *update:
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("docs/settings.md is not what the table of settings says; run go test ./internal/load -run TestDocsTables -update")
	}
}

func settingsTable() string {
	text := "| key | value | who | of several files | without it |\n|---|---|---|---|---|\n"
	for _, s := range setting.Table() {
		text += fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", s.Key, s.Says, s.Who, s.Weigh, s.None)
	}
	return text
}

func fieldsTable(object *setting.Type) string {
	text := "| key | | |\n|---|---|---|\n"
	for _, f := range object.Fields {
		need := ""
		if f.Required {
			need = "required"
		}
		text += fmt.Sprintf("| `%s` | %s | %s |\n", f.Key, f.Says, need)
	}
	return text
}

// Every key of the schema is on the page.
func TestDocsAreComplete(t *testing.T) {
	page, err := os.ReadFile("../../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`^ {4,10}"(\w+)": (\{|true)`)
	for _, file := range []string{"schema/hooks.json"} {
		schema, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		for line := range strings.Lines(string(schema)) {
			m := names.FindStringSubmatch(line)
			if m == nil || strings.HasPrefix(line, `    "hook": `) || strings.HasPrefix(line, `    "text`) || m[1] == "properties" || m[1] == "items" ||
				strings.HasSuffix(m[1], "Properties") || m[1] == "propertyNames" {
				continue
			}
			checked++
			if !bytes.Contains(page, []byte("`"+m[1]+"`")) {
				t.Errorf("%s: %s is not on the page", file, m[1])
			}
		}
		if checked < 10 {
			t.Errorf("%s: only %d keys found", file, checked)
		}
	}
}

func BenchmarkSettings(b *testing.B) {
	for name, tree := range map[string]fstest.MapFS{
		"none": {}, "json": {"settings.json": {Data: []byte(sampleJSON)}},
		"toml": {"settings.toml": {Data: []byte(sampleTOML)}}, "yaml": {"settings.yaml": {Data: []byte(sampleYAML)}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				load.Settings(tree, "etc", hook.Managed)
			}
		})
	}
}
