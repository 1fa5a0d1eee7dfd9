package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	registries "github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/testscript"

	"gate/bundles"
)

// startServer serves a directory of the script, or is a registry, and puts its
// address into a variable: serve VARIABLE directory|registry
func startServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: serve variable directory|registry")
	}
	handler := http.FileServer(http.Dir(ts.MkAbs(args[1])))
	if args[1] == "registry" {
		handler = registries.New(registries.Logger(log.New(io.Discard, "", 0)))
	}
	s := httptest.NewServer(handler)
	ts.Defer(s.Close)
	ts.Setenv(args[0], strings.TrimPrefix(s.URL, "http://"))
}

// publish copies an archive and its envelope to where {digest} in an address
// finds them, and puts its digest into a variable: publish V1 archive directory
func publish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: publish variable archive directory")
	}
	archive := ts.ReadFile(args[1])
	digest := bundles.Digest([]byte(archive))
	ts.Setenv(args[0], digest)
	at := filepath.Join(ts.MkAbs(args[2]), strings.TrimPrefix(digest, "sha256:")+".tar.gz")
	ts.Check(os.WriteFile(at+envelopeSuffix, []byte(ts.ReadFile(args[1]+envelopeSuffix)), 0o600))
	ts.Check(os.WriteFile(at, []byte(archive), 0o600))
}
