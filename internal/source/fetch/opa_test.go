package fetch_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/open-policy-agent/opa/v1/sdk"

	"gate/bundles"
	"gate/internal/sealed"
	"gate/internal/source"
)

// TestOPAFetches has OPA itself, as a control plane's client, fetch and verify
// what is published for gate: the same files, the same server.
func TestOPAFetches(t *testing.T) {
	key, archive := signedBundle(t)
	site := server{files: map[string][]byte{"/bundles/company.tar.gz": archive}}
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		site.file(w, r)
	}))
	defer s.Close()
	if got := fetched(t, open(t, source.Options{URL: s.URL + "/bundles/", Name: "company"}), ""); string(got.Archive) != string(archive) {
		t.Error("gate got another archive")
	}
	config := func(key string) string {
		text, err := json.Marshal(map[string]any{
			"services": map[string]any{"site": map[string]any{"url": s.URL}},
			"keys":     map[string]any{"release": map[string]any{"algorithm": "ES256", "key": key}},
			"bundles": map[string]any{"company": map[string]any{
				"service": "site", "resource": "bundles/company.tar.gz", "signing": map[string]any{"keyid": "release"},
				"polling": map[string]any{"min_delay_seconds": 1, "max_delay_seconds": 1},
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	client, err := sdk.New(t.Context(), sdk.Options{Config: strings.NewReader(config(key))})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Stop(context.Background())
	result, err := client.Decision(t.Context(), sdk.DecisionOptions{Path: "/company/deny", Input: map[string]any{"tool_name": "Bash"}})
	if list, ok := result.Result.([]any); err != nil || !ok || len(list) != 1 || list[0] != "not with Bash" {
		t.Errorf("OPA decides %v, %v", result, err)
	}

	// With another key it fetches the bundle, too, and never has it in force.
	asked.Store(0)
	other, _ := signedBundle(t)
	ready := make(chan struct{})
	stranger, err := sdk.New(t.Context(), sdk.Options{Config: strings.NewReader(config(other)), Ready: ready})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Stop(context.Background())
	for asked.Load() < 2 { // once more after it was refused
		time.Sleep(5 * time.Millisecond)
	}
	select {
	case <-ready:
		t.Error("OPA takes the bundle with another key")
	default:
	}
}

// signedBundle is a bundle that OPA can read, and the key that signed it.
func signedBundle(t *testing.T) (public string, archive []byte) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := bundles.GenerateKey(sealed.ES256)
	check(err)
	private, err := bundles.ParsePrivate(text)
	check(err)
	pem, err := private.Public()
	check(err)
	key, err := bundles.ImportKey(pem, sealed.ES256)
	check(err)
	key.Bundles = []string{"company"}
	archive, err = bundles.Pack(fstest.MapFS{
		".manifest":         {Data: []byte(`{"roots": ["company"], "metadata": {"gate": {"name": "company", "version": 1}}}`)},
		"company/a.rego":    {Data: []byte("package company\n\ndeny contains \"not with Bash\" if input.tool_name in data.company.tools\n")},
		"company/data.json": {Data: []byte(`{"tools": ["Bash"]}`)},
	}, nil)
	check(err)
	archive, err = bundles.SignInside(archive, bundles.Signing{ID: "release", Key: key, By: private})
	check(err)
	return string(pem), archive
}
