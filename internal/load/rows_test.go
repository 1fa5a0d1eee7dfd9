package load_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"gate/hook"
	"gate/internal/artifact"
	"gate/internal/load"
	"gate/internal/release"
	"gate/internal/setting"
	"gate/internal/strictjson"
	"gate/scopes"
)

// examples are values of settings that are more than their type says. A row that
// is not here has one by its type.
var examples = map[string]string{
	"policies": `{"acme": "warn"}`,
	"params":   `{"acme.push": {"branches": ["main"]}}`,
	"approvals": `{"enabled": true, "minutes": 60, "keyRequired": true, "keys": ["x"], "approvers": ["ana ssh-ed25519 AAAA"], "when": "always", "wait": "0",
		"deliver": [{"form": "ntfy", "url": "https://acme.example/t", "token_file": "/t"}, {"form": "mail", "to": ["ana@acme.example"], "program": "/bin/mail"}],
		"poll": "https://acme.example/a", "poll_token_file": "/t"}`,
	"exceptions":   `[{"policy": "acme.push", "if": ["Bash(git push)"], "project": "/w", "until": "2027-01-31", "owner": "a", "reason": "r"}]`,
	"sync":         `[{"name": "acme", "url": "https://acme.example/a.tar.gz"}]`,
	"decisionLogs": `{"url": "https://acme.example/logs"}`,
	"programs":     `{"acme": {"verbs": true}}`,
	"providers":    `{"p": {"type": "openai", "model": "m"}}`,
	"mcpServers":   `{"s": {"command": "x"}}`,
	"plugins":      `{"fmt": "/opt/fmt"}`,
}

var positions = regexp.MustCompile(`settings:\d+`)

// example is a value for a row, by its type.
func example(t *testing.T, f setting.Field) any {
	if text := examples[f.Key]; text != "" {
		v, err := strictjson.Decode([]byte(text), strictjson.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	switch f.Type.Kind {
	case setting.Switched, setting.Truth:
		return f.Default != "true"
	case setting.Text, setting.Texts:
		return "x"
	case setting.Word:
		return f.Type.Words[len(f.Type.Words)-1]
	case setting.Whole:
		return json.Number(strconv.Itoa(f.Type.Max))
	case setting.Span:
		return "2s"
	case setting.List:
		return []any{example(t, setting.Field{Type: f.Type.Of})}
	case setting.Map:
		return map[string]any{"a": example(t, setting.Field{Type: f.Type.Of})}
	case setting.Object:
		out := map[string]any{}
		for _, inner := range f.Type.Fields {
			out[inner.Key] = example(t, inner)
		}
		return out
	}
	return "x"
}

// TestRows follows each setting through all that is made of the table: files of
// each format with positions, the list of settings, the compiled form, the
// comparison of releases and the JSON Schema.
func TestRows(t *testing.T) {
	schema, err := load.SettingsSchema()
	if err != nil {
		t.Fatal(err)
	}
	properties := schema["properties"].(map[string]any)
	rows := 0
	for _, row := range setting.Table() {
		if properties[row.Key] == nil || row.Alias != "" && properties[row.Alias] == nil {
			t.Errorf("the schema has no %s", row.Key)
		}
		if row.Type.Kind == setting.Version || row.Type.Kind == setting.Hooks {
			continue // no layer holds them
		}
		rows++
		value := example(t, row.Field)
		want := ""
		for _, ext := range []string{"json", "toml", "yaml"} {
			json := string(strictjson.Append(nil, value))
			text := []byte(map[string]string{
				"json": "{\"version\": 1,\n \"" + row.Key + "\": " + json + "}", "yaml": "version: 1\n" + row.Key + ": " + json + "\n",
				"toml": "version = 1\n" + row.Key + " = " + strings.ReplaceAll(json, "\":", "\" = ") + "\n",
			}[ext])
			c := load.Settings(fstest.MapFS{"settings." + ext: {Data: text}}, "etc", hook.Managed)
			if len(c.Layers) != 1 || c.Source != nil {
				t.Fatalf("%s\n%s", text, describeSettings(c))
			}
			shown := describeSettings(c)
			for line := range strings.Lines(shown) {
				at, rest, _ := strings.Cut(line, " ")
				if n, _ := strconv.Atoi(at[strings.LastIndexByte(at, ':')+1:]); n < 2 || !strings.HasPrefix(rest, row.Key) {
					t.Errorf("%s in %s is shown as %s", row.Key, ext, line)
				}
			}
			if shown = strings.ReplaceAll(shown, "settings."+ext, "settings"); ext == "json" {
				want = shown
			} else if positions.ReplaceAllString(shown, "") != positions.ReplaceAllString(want, "") || shown == "" {
				t.Errorf("%s: in %s\n%s\nand in JSON\n%s", row.Key, ext, shown, want)
			}
			compiled(t, c.Layers[0])
		}
		differs(t, row.Key, value)
	}
	if rows < 20 {
		t.Errorf("only %d rows", rows)
	}
}

// compiled holds that a layer comes back from its compiled form.
func compiled(t *testing.T, l scopes.Layer) {
	t.Helper()
	data, err := artifact.Encode(&artifact.Content{Kind: artifact.Managed, Maker: "m", Layers: []artifact.Layer{{Role: artifact.Settings, Layer: l}}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := artifact.Open(string(data), "m", artifact.Managed)
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Layers(artifact.As{})
	if err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], l) {
		t.Errorf("%v: compiled\n%+v\nand not\n%+v", err, got, l)
	}
}

// differs holds that a bundle which sets a key differs from one that does not.
func differs(t *testing.T, key string, value any) {
	t.Helper()
	read := func(settings map[string]any) *release.Release {
		dir := t.TempDir()
		data := map[string]any{"settings": settings}
		if err := os.MkdirAll(filepath.Join(dir, "gate/bundles/acme"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			".manifest":                   `{"roots": ["gate/bundles/acme"], "rego_version": 1, "metadata": {"gate": {"name": "acme", "version": 1}}}`,
			"gate/bundles/acme/data.json": string(strictjson.Append(nil, data)),
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := release.Read(dir, nil)
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		return r
	}
	differences := release.Compare(read(map[string]any{"version": json.Number("1")}), read(map[string]any{key: value}))
	if !slices.ContainsFunc(differences, func(d release.Difference) bool {
		return d.Kind == "setting" && (d.Name == key || strings.HasPrefix(d.Name, key+"."))
	}) {
		t.Errorf("%s: the releases differ in %+v", key, differences)
	}
}
