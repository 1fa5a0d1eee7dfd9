package policies_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/moment"
	"gate/internal/strictjson"
)

// TestHonestServers has what real servers list and say of themselves pass without a word.
func TestHonestServers(t *testing.T) {
	decide := quietly(t, false)
	files, err := filepath.Glob("../facts/internal/sign/testdata/honest/*.json")
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
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		for _, method := range slices.Sorted(maps.Keys(said)) {
			d := decide(map[string]any{"event": string(moment.MCPEvent(method, true)), "fields": map[string]any{
				"mcp_server_name": name, "mcp": map[string]any{"method": method, "server": name, "result": said[method]},
			}})
			if d.Effect != hook.Pass || len(d.Reasons)+len(d.Context)+len(d.Warnings) > 0 {
				t.Errorf("%s, %s: %v %v", name, method, d.Effect, d.Reasons)
			}
		}
	}
}
