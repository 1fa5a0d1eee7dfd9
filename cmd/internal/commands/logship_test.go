package commands

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/internal/audit"
	"gate/internal/core"
	"gate/scopes"
)

// TestLogShip sends to the address of managed settings what was not sent there,
// whatever was sent elsewhere.
func TestLogShip(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		var batch []map[string]any
		if err == nil {
			err = json.NewDecoder(z).Decode(&batch)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for _, e := range batch {
			got = append(got, r.URL.Path+" "+e["custom"].(map[string]any)["gate"].(map[string]any)["id"].(string)+" "+r.Header.Get("Authorization"))
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(at("managed"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"token": "t0ken\n", "managed/settings.json": `{"decisionLogs": {"url": "` + server.URL + `/logs", "token_file": "` + filepath.ToSlash(at("token")) + `"}}`,
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"one", "two"} {
		if err := core.Append(dirs{State: at("state")}, scopes.Settings{}, audit.Record{ID: id, Time: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	ship := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		args = append([]string{"log", "ship", "--managed-dir", at("managed"), "--user-dir", at("user"), "--state-dir", at("state")}, args...)
		if status := run(t.Context(), process{args: args, stdin: strings.NewReader(""), stdout: &out, stderr: &errs}); status != exitOK {
			t.Fatalf("status %d: %s", status, errs.String())
		}
		return out.String()
	}
	if out := ship("--to", server.URL+"/elsewhere"); !strings.HasPrefix(out, "2 records sent in 1 batch, ") {
		t.Error(out)
	}
	if out := ship(); !strings.HasPrefix(out, "2 records sent in 1 batch, ") {
		t.Error(out)
	}
	if out := ship(); out != "everything was sent before\n" {
		t.Error(out)
	}
	want := "/elsewhere one ,/elsewhere two ,/logs one Bearer t0ken,/logs two Bearer t0ken"
	if text := strings.Join(got, ","); text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
}
