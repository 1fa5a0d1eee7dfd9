package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	registries "github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/testscript"
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
