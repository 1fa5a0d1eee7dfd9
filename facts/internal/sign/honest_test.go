package sign_test

import (
	"os"
	"path/filepath"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// of are the facts of an event about a message.
func of(t *testing.T, name hook.Name, fields map[string]any) *hook.Facts {
	t.Helper()
	fields["hook_event_name"], fields["cwd"] = string(name), "/home/dev/project"
	if fields["mcp_server_name"] == nil {
		fields["mcp_server_name"] = "shop"
	}
	r := facts.New(facts.World{Home: "/home/dev", User: "dev", OS: "linux", Project: "/home/dev/project"})
	return r.Of(&hook.Event{Agent: "generic", Name: name, Fields: fields})
}

// TestHonest holds that what real servers say of themselves has no sign. The files are what
// they answered, one server a file, by methods.
func TestHonest(t *testing.T) {
	files, err := filepath.Glob("testdata/honest/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d servers, %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		said, err := strictjson.Object(data, strictjson.Limits{Bytes: len(data)})
		if err != nil {
			t.Fatal(file, err)
		}
		for method, result := range said {
			f := of(t, moment.MCPEvent(method, true), map[string]any{"mcp": map[string]any{"method": method, "result": result}})
			for _, s := range f.Signs {
				t.Errorf("%s, %s: %s of %s at %s: %s", filepath.Base(file), method, s.Kind, s.Name, s.Field, s.Text)
			}
			if f.Opaque {
				t.Errorf("%s, %s: %v", file, method, f.Unknown)
			}
		}
	}
}
