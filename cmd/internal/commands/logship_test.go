package commands

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	"google.golang.org/protobuf/proto"

	"gate/hook"
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

// TestLogShipTelemetry sends the log as OpenTelemetry where settings say so, and heeds no
// variable of OpenTelemetry's.
func TestLogShipTelemetry(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		var body []byte
		if err == nil {
			body, err = io.ReadAll(z)
		}
		var m logspb.ExportLogsServiceRequest
		if err == nil && strings.HasSuffix(r.URL.Path, "/logs") {
			err = proto.Unmarshal(body, &m)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		word := r.URL.Path
		for _, l := range m.GetResourceLogs() {
			if text := l.Resource.String(); strings.Contains(text, "elsewhere") || strings.Contains(text, "canary") != strings.HasPrefix(r.URL.Path, "/v1/") {
				t.Error(text)
			}
			word += fmt.Sprint(" ", len(l.ScopeLogs[0].LogRecords))
		}
		got = append(got, word)
		if r.Header.Get("Tenant") != "" {
			t.Error("a header of the environment was sent")
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
		if strings.HasPrefix(r.URL.Path, "/other/") {
			data, _ := proto.Marshal(&logspb.ExportLogsServiceResponse{PartialSuccess: &logspb.ExportLogsPartialSuccess{RejectedLogRecords: 1, ErrorMessage: "too old"}})
			w.Write(data)
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(at("managed"), 0o700); err != nil {
		t.Fatal(err)
	}
	settings := `{"decisionLogs": {"url": "` + server.URL + `", "form": "otlp", "signals": ["logs", "metrics"], "labels": {"ring": "canary"}}}`
	if err := os.WriteFile(at("managed/settings.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"one", "two"} {
		if err := core.Append(dirs{State: at("state")}, scopes.Settings{}, audit.Record{ID: id, Time: time.Now(), Tool: "Bash", Event: hook.PreToolUse}); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json", "OTEL_EXPORTER_OTLP_HEADERS": "tenant=a", "OTEL_RESOURCE_ATTRIBUTES": "at=elsewhere", "OTEL_TRACES_SAMPLER": "always_off",
	} {
		t.Setenv(name, value)
	}
	for _, test := range []struct {
		args   string
		c      *Clients
		status int
		says   string
		got    string
	}{
		{"", nil, exitFailed, "gate-server does", ""},
		{"", clients(), exitOK, "2 records sent in 1 batch", "/v1/logs 2,/v1/metrics"},
		{"", clients(), exitOK, "everything was sent before", ""},
		{"--form otlp --signals logs --to " + server.URL + "/other", clients(), exitOK, "refused 1 item for good: too old", "/other/v1/logs 2"},
		{"--form otlp --to " + server.URL, clients(), exitOK, "everything was sent before", ""},
		{"--form otlp", clients(), exitFailed, "go with --to", ""},
		{"--call-text --to " + server.URL, clients(), exitFailed, "go with --form otlp", ""},
		{"--form syslog --to " + server.URL, clients(), exitFailed, "--form takes opa or otlp", ""},
		{"--form otlp --signals profiles --to " + server.URL, clients(), exitFailed, "--signals takes", ""},
	} {
		var out bytes.Buffer
		got = nil
		args := append([]string{"log", "ship", "--managed-dir", at("managed"), "--user-dir", at("user"), "--state-dir", at("state")}, strings.Fields(test.args)...)
		status := run(t.Context(), process{args: args, clients: test.c, stdin: strings.NewReader(""), stdout: &out, stderr: &out})
		if status != test.status || !strings.Contains(out.String(), test.says) || strings.Join(got, ",") != test.got {
			t.Errorf("%s: status %d, %s%v", test.args, status, &out, got)
		}
	}
}
