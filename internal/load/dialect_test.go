package load_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/strictjson"
	"gate/scopes"
)

// asUser is whose hooks the cases read.
var asUser = scopes.Source{Name: "user", Scope: hook.Session, Authority: hook.User}

// TestDialectCases reads hook files of other systems, most of them as their
// documents print them. The first word of the comment is the dialect, "guess"
// or "directory".
func TestDialectCases(t *testing.T) {
	names, err := filepath.Glob("testdata/dialects/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases (%v)", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			kind, _, _ := strings.Cut(string(ar.Comment), ":")
			tree, want, got := fstest.MapFS{}, -1, ""
			for i, f := range ar.Files {
				if f.Name == "want" {
					want = i
					continue
				}
				tree[f.Name] = &fstest.MapFile{Data: f.Data}
				switch kind {
				case "directory":
				case "guess":
					got += describeFile(t, f, "")
				default:
					got += describeFile(t, f, kind)
				}
			}
			if kind == "directory" {
				src := load.Dir(tree, asUser)
				got = faultLines(src) + describeHooks(src.Hooks)
			}
			if *update {
				ar.Files[want].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(ar.Files[want].Data) {
				t.Errorf("%s--- got ---\n%s--- want ---\n%s", ar.Comment, got, ar.Files[want].Data)
			}
		})
	}
}

// describeFile reads one file, and holds that gate's own form of it means the
// same.
func describeFile(t *testing.T, f txtar.File, dialect string) string {
	t.Helper()
	foreign, err := load.ReadHooks(f.Name, f.Data, dialect, asUser)
	if err != nil {
		return err.Error() + "\n"
	}
	meansTheSame(t, &foreign)
	text := fmt.Sprintf("dialect %s\n", foreign.Dialect)
	for _, note := range foreign.Notes {
		text += "note " + note + "\n"
	}
	return text + describeHooks(foreign.Hooks)
}

// meansTheSame writes hooks as gate's own in every format and reads them again.
func meansTheSame(t *testing.T, f *load.Foreign) {
	t.Helper()
	for _, ext := range []string{".json", ".toml", ".yaml"} {
		text, err := f.Encode(ext)
		if err != nil {
			if ext == ".toml" && strings.Contains(err.Error(), "TOML has no null") {
				continue
			}
			t.Fatal(err)
		}
		again, err := load.ReadHooks("hooks"+ext, text, "", asUser)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if again.Dialect != "" || len(again.Notes) > 0 || len(again.Hooks) != len(f.Hooks) {
			t.Fatalf("dialect %q, notes %q, %d hooks and not %d, in\n%s", again.Dialect, again.Notes, len(again.Hooks), len(f.Hooks), text)
		}
		for i, h := range again.Hooks {
			is, was := *h, *f.Hooks[i]
			is.File, is.Line, was.File, was.Line = "", 0, "", 0
			is.Config, was.Config = numbers(is.Config).(map[string]any), numbers(was.Config).(map[string]any)
			if !reflect.DeepEqual(is, was) {
				t.Fatalf("%s: %+v\nbecame %+v in\n%s", ext, was, is, text)
			}
		}
	}
}

// numbers makes numbers comparable that formats write differently.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = numbers(e)
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, numbers(e))
		}
		return out
	case interface{ Float64() (float64, error) }:
		f, _ := v.Float64()
		return f
	}
	return v
}

func describeHooks(hooks []*hook.Hook) string {
	var b strings.Builder
	for _, h := range hooks {
		fmt.Fprintf(&b, "%s at %s: %s %v %s", h.ID, h.Pos(), h.Dialect, h.Events, h.Kind)
		if h.Matcher != "" {
			fmt.Fprintf(&b, " matcher=%q", h.Matcher)
		}
		if len(h.If) > 0 {
			fmt.Fprintf(&b, " if=%q", h.If)
		}
		fmt.Fprintf(&b, " timeout=%v", h.Timeout)
		if h.Once {
			b.WriteString(" once")
		}
		if h.Async {
			b.WriteString(" async")
		}
		if h.OnFault != "" {
			fmt.Fprintf(&b, " on_fault=%s", h.OnFault)
		}
		fmt.Fprintf(&b, "\n  %s\n", strictjson.Append(nil, h.Config))
	}
	return b.String()
}

func faultLines(src scopes.Source) string {
	text := ""
	for i := range src.Faults {
		text += src.Faults[i].Error() + "\n"
	}
	return text
}
