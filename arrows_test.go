package gate_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// module is the beginning of our import paths, from go.mod.
var module = sync.OnceValue(func() string {
	data, err := os.ReadFile("go.mod")
	if err != nil {
		panic(err)
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimPrefix(line, "module ") + "/"
})

// ours returns a package's directory, "." for the root; of others' packages the path.
func ours(path string) (dir string, ok bool) {
	if path+"/" == module() {
		return ".", true
	}
	return strings.CutPrefix(path, module())
}

// layers hold the picture of docs/architecture.md: a package may import
// packages of ours that stand above it here, and none beside or below it.
var layers = [][]string{
	{"internal/hostfs", "internal/format", "internal/sshsig", "internal/wordlist", "internal/addressed", "internal/inputschema", "internal/framework", "facts/internal/bash", "internal/secret", "facts/internal/gitconfig", "facts/internal/glob", "facts/internal/kubeconfig", "facts/internal/peer", "facts/internal/sed", "internal/paths", "internal/confine/proxy", "internal/confine/repository"},
	{"internal/moment", "internal/mark", "internal/origin"},
	{"hook", "internal/strictjson", "internal/spelling", "facts/internal/sql", "facts/internal/world", "internal/plan/value", "internal/plan/bytecode", "internal/plan/pattern", "internal/room"},
	{"internal/catalogue", "facts/internal/code", "facts/internal/flow", "hook/describe"},
	{"facts/internal/draft"},
	{"facts/internal/shell", "facts/internal/powershell", "facts/internal/program", "facts/internal/tool", "facts/internal/sign"}, // rooms: none sees another
	{"internal/sealed"},
	{"facts", "matcher", "adapters", "internal/session", "internal/consent", "internal/audit", "policies", "examples", "bundles", "docs", "internal/plan/builtin", "internal/verdict", "internal/outgoing", "internal/reach", "internal/handlers/mcptool", "internal/source"},
	{"internal/confine/profile"},
	{"internal/setting", "internal/seen", "internal/pins", "internal/confine/proxy", "internal/confine/record"},
	{"internal/confine", "internal/confine/emit"},
	{"scopes", "cmd/internal/early", "internal/backtracking", "internal/audit/ship", "internal/audit/ocsf", "internal/audit/accounts", "internal/sync"},
	{"internal/audit/otlp", "internal/fleet", "internal/page/look", "engine", "internal/params", "internal/load", "internal/handlers/judge", "internal/artifact"},
	{"internal/rego", "internal/collect/store", "internal/handlers", "internal/plan", "internal/acs", "internal/authzen", "internal/interceptors", "engine/models", "engine/mcpclient", "internal/source/fetch"},
	{"internal/plan/build", "internal/collect", "internal/collect/sample", "internal/plan/agree", "internal/explain", "internal/serve", "internal/page", "internal/places"},
	{"internal/confine/offer", "internal/collect/board"},
	{"internal/collect/admin"},
	{"internal/core", "internal/lastgood"},
	{"internal/forms", "internal/sources", "internal/hookpath", "internal/elsewhere"},
	{"internal/setup"},
	{"internal/policytest", "pipeline"},
	{".", "internal/conformance", "internal/policycheck", "internal/release", "internal/replay", "internal/install", "internal/mcpproxy", "internal/artifact/build"},
	{"internal/collect/archive", "internal/conformance/drive", "internal/policytest/mutate", "internal/policytest/attack", "internal/learn", "internal/lsp", "cmd/internal/draft", "cmd/internal/screen"},
	{"cmd/internal/beside"},
	{"cmd/internal/thin", "cmd/internal/confined"},
	{"cmd/internal/document", "cmd/internal/markdown", "cmd/internal/targets", "cmd/internal/story"},
	{"cmd/internal/tell", "cmd/internal/recorded", "cmd/internal/sarif", "cmd/internal/testreport"},
	{"cmd/internal/past"},
	{"cmd/internal/commands"},
	{"cmd/gate", "cmd/gate-hook", "cmd/gate-run", "cmd/gate-server", "cmd/gate-bench", "examples/agent", "examples/embed"},
}

// never adds what the layers alone would allow.
var never = map[string][]string{
	"policies": {"hook", "internal/strictjson"}, // embedded files
	"bundles":  {"hook"},                        // knows nothing of hooks
	"docs":     {"hook", "internal/strictjson"}, // an embedded file
	"engine":   {"facts", "adapters"},           // facts are a value it is given; no agent's format
	"scopes":   {"adapters", "facts"},           // pure values

	// The rooms of facts meet in facts only. The shell knows no program, and neither
	// it nor what is below it reads the catalogue.
	"facts/internal/shell":      {"internal/catalogue", "facts/internal/code", "facts/internal/sql"},
	"facts/internal/draft":      {"internal/catalogue", "facts/internal/code", "facts/internal/sql"},
	"facts/internal/powershell": {"internal/catalogue", "facts/internal/code", "facts/internal/sql"},
	"facts/internal/tool":       {"internal/catalogue", "facts/internal/code", "facts/internal/sql"},
}

// thin packages are what the hot program is made of.
var thin = []string{
	"internal/moment", "internal/mark", "internal/origin", "hook", "facts", "matcher", "internal/paths", "internal/setting", "scopes", "engine", "internal/plan", "internal/plan/value", "internal/plan/builtin", "internal/plan/bytecode", "internal/plan/pattern", "internal/verdict", "internal/params", "internal/room", "adapters", "internal/session", "internal/seen", "internal/consent", "internal/audit", "internal/strictjson", "internal/hostfs", "internal/format", "internal/secret",
	"facts/internal/bash", "internal/catalogue", "facts/internal/code", "facts/internal/draft", "facts/internal/flow", "facts/internal/gitconfig", "facts/internal/glob", "facts/internal/kubeconfig", "facts/internal/peer", "facts/internal/powershell", "facts/internal/program", "facts/internal/sed", "facts/internal/shell", "facts/internal/sql", "facts/internal/tool", "internal/wordlist", "internal/addressed", "facts/internal/world", "facts/internal/sign",
	"internal/artifact",
	"internal/places", "internal/core", "internal/hookpath", "internal/forms", "cmd/internal/beside", "cmd/internal/thin", "cmd/internal/early", "cmd/gate-hook", "internal/confine", "internal/confine/profile", "internal/confine/proxy", "internal/confine/record", "internal/confine/repository", "cmd/internal/confined", "cmd/gate-run",
}

// heavy is what they must not reach, by any way.
var heavy = []string{
	"github.com/open-policy-agent/opa", "github.com/santhosh-tekuri/jsonschema", "github.com/spf13/cobra", "net/http",
	"gopkg.in/yaml.v2", "gopkg.in/yaml.v3", "go.yaml.in/yaml", "sigs.k8s.io/yaml", "github.com/goccy/go-yaml",
	"github.com/BurntSushi/toml", "github.com/pelletier/go-toml",
}

// TestArrows holds the direction of imports. A package that does not stand in
// the layers is an error: decide where it belongs.
func TestArrows(t *testing.T) {
	level := map[string]int{}
	for i, names := range layers {
		for _, n := range names {
			level[n] = i
		}
	}
	for line := range strings.Lines(list(t, "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")) {
		words := strings.Fields(line)
		name, _ := ours(words[0])
		from, known := level[name]
		if !known {
			t.Errorf("%s stands in no layer", name)
			continue
		}
		for _, imported := range words[1:] {
			to, ok := ours(imported)
			if !ok {
				continue
			}
			if at, known := level[to]; known && at >= from {
				t.Errorf("%s imports %s, which does not stand above it", name, to)
			}
			if slices.Contains(never[name], to) {
				t.Errorf("%s must never import %s", name, to)
			}
			if strings.HasPrefix(to, "cmd/") && !strings.HasPrefix(to, "cmd/internal/") {
				t.Errorf("%s imports a command", name)
			}
		}
	}
}

// TestThin holds the list of packages that start fast.
func TestThin(t *testing.T) {
	present := strings.Fields(list(t, "./..."))
	checked := 0
	for _, name := range thin {
		if !slices.Contains(present, module()+name) {
			continue
		}
		checked++
		for dep := range strings.FieldsSeq(list(t, "-deps", "./"+name)) {
			if slices.ContainsFunc(heavy, func(h string) bool { return under(dep, h) }) {
				t.Errorf("%s reaches %s", name, dep)
			}
		}
	}
	if checked < 5 {
		t.Errorf("only %d thin packages found", checked)
	}
}

// TestModules holds what the program links that answers calls and commands: whatever
// begins before main, each of its starts pays for (BenchmarkStart in
// cmd/internal/commands). Clients of what is not on this machine belong to gate-server,
// and what compiles its own schemas at the start to tests.
func TestModules(t *testing.T) {
	want := strings.Fields(`
		github.com/agnivade/levenshtein github.com/cespare/xxhash/v2 github.com/dlclark/regexp2 github.com/go-json-experiment/json github.com/gobwas/glob
		github.com/google/uuid github.com/lestrrat-go/blackmagic github.com/lestrrat-go/dsig github.com/lestrrat-go/httpcc github.com/lestrrat-go/httprc/v3
		github.com/lestrrat-go/jwx/v3 github.com/lestrrat-go/option/v2 github.com/open-policy-agent/opa github.com/pelletier/go-toml/v2
		github.com/rogpeppe/go-internal github.com/sirupsen/logrus github.com/sourcegraph/jsonrpc2 github.com/spf13/cobra github.com/spf13/pflag github.com/valyala/fastjson
		github.com/vektah/gqlparser/v2 github.com/xeipuuv/gojsonpointer github.com/xeipuuv/gojsonreference github.com/yashtewari/glob-intersection
		go.yaml.in/yaml/v3 golang.org/x/crypto golang.org/x/mod golang.org/x/sync golang.org/x/sys golang.org/x/term golang.org/x/text google.golang.org/protobuf
		github.com/yosida95/uritemplate/v3 mvdan.cc/sh/v3`)
	t.Setenv("GOOS", "linux")
	var got []string
	for module := range strings.FieldsSeq(list(t, "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./cmd/gate")) {
		if !slices.Contains(got, module) {
			got = append(got, module)
		}
	}
	for _, module := range got {
		if !slices.Contains(want, module) {
			t.Errorf("gate links %s: does each start have to pay for it?", module)
		}
	}
	for _, module := range want {
		if !slices.Contains(got, module) {
			t.Errorf("gate no longer links %s: take it off the list", module)
		}
	}
}

// TestFrontDoor holds that a program which embeds gate links no client of what is
// outside, unless it names one.
func TestFrontDoor(t *testing.T) {
	clients := strings.Fields("github.com/anthropics github.com/openai github.com/modelcontextprotocol oras.land go.opentelemetry.io/otel/sdk google.golang.org/grpc github.com/spf13/cobra")
	linked := strings.Fields(list(t, "-deps", "./examples/embed"))
	for _, dep := range linked {
		if slices.ContainsFunc(clients, func(c string) bool { return under(dep, c) }) {
			t.Errorf("examples/embed links %s", dep)
		}
	}
	if !slices.Contains(linked, strings.TrimSuffix(module(), "/")) {
		t.Error("examples/embed does not import the front door")
	}
	outside := list(t, "-deps", "./cmd/gate-server")
	for _, c := range clients {
		if !strings.Contains(outside, c) {
			t.Errorf("gate-server does not link %s: is the list of clients true?", c)
		}
	}
	text, err := exec.Command("go", "doc", ".").Output()
	if lines := strings.Count(string(text), "\n"); err != nil || lines > 40 {
		t.Errorf("go doc . has %d lines, and a screen 40: %v", lines, err)
	}
}

// TestHookProgram holds what the program that agents start for each call is made
// of. Whatever is added here is paid for with each call: measure it (BenchmarkProcess
// in cmd/internal/commands).
func TestHookProgram(t *testing.T) {
	want := strings.Fields(`
		adapters internal/artifact internal/audit cmd/gate-hook cmd/internal/beside cmd/internal/early internal/core internal/forms internal/hookpath internal/places cmd/internal/thin
		internal/consent internal/confine/profile internal/confine/record engine internal/params internal/plan internal/plan/builtin internal/plan/bytecode internal/plan/pattern internal/plan/value internal/room
		internal/verdict facts facts/internal/bash internal/catalogue facts/internal/code facts/internal/draft facts/internal/flow facts/internal/gitconfig facts/internal/glob facts/internal/kubeconfig facts/internal/peer facts/internal/powershell facts/internal/program facts/internal/sed facts/internal/shell facts/internal/sql facts/internal/sign facts/internal/tool internal/addressed internal/wordlist facts/internal/world internal/moment internal/mark internal/origin hook internal/format matcher internal/paths internal/hostfs policies internal/setting scopes internal/secret internal/seen internal/session internal/strictjson
		github.com/cespare/xxhash/v2
		github.com/go-json-experiment/json/internal github.com/go-json-experiment/json/internal/jsonflags
		github.com/go-json-experiment/json/internal/jsonopts github.com/go-json-experiment/json/internal/jsonwire
		github.com/go-json-experiment/json/jsontext
		github.com/gobwas/glob github.com/gobwas/glob/internal/debug github.com/gobwas/glob/syntax
		golang.org/x/sys/unix mvdan.cc/sh/v3/fileutil mvdan.cc/sh/v3/syntax`)
	t.Setenv("GOOS", "linux")
	t.Setenv("CGO_ENABLED", "1") // also where there is a C compiler it links no C library
	got := strings.Fields(list(t, "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./cmd/gate-hook"))
	for i, dep := range got {
		got[i], _ = ours(dep)
		if dep = got[i]; !slices.Contains(want, dep) {
			t.Errorf("gate-hook links %s", dep)
		}
	}
	for _, dep := range want {
		if !slices.Contains(got, dep) {
			t.Errorf("gate-hook no longer links %s: take it off the list", dep)
		}
	}
	begun := strings.Fields(list(t, "-deps", "runtime"))
	for dep := range strings.FieldsSeq(list(t, "-deps", "./cmd/internal/early")) {
		if !slices.Contains(begun, dep) && dep != module()+"internal/room" && dep != module()+"cmd/internal/early" {
			t.Errorf("cmd/internal/early reaches %s, so others begin before it", dep)
		}
	}
	for dep := range strings.FieldsSeq(list(t, "-deps", "./cmd/gate-hook")) {
		if slices.Contains([]string{"net/http", "crypto/tls", "crypto/x509", "crypto/ed25519", "text/template", "html/template", "go/ast", "testing", "log", "log/slog", "os/exec", "os/user", "net", "runtime/cgo", "time/tzdata"}, dep) {
			t.Errorf("gate-hook links %s", dep)
		}
	}
}

// TestHookProgramSize holds how large that program is: nearly all of it is mapped
// into the memory of every call.
func TestHookProgramSize(t *testing.T) {
	const most = 47 << 18 // 11.75 MiB
	for name, value := range map[string]string{"GOOS": "linux", "GOARCH": "amd64", "CGO_ENABLED": "0"} {
		t.Setenv(name, value)
	}
	file := filepath.Join(t.TempDir(), "gate-hook")
	if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, "./cmd/gate-hook").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > most {
		t.Errorf("gate-hook has %d bytes, %d are allowed", info.Size(), most)
	}
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		testBegins(t, file)
	}
}

// testBegins holds which packages of ours have something to do before main of
// gate-hook: a table that the compiler cannot lay out is made anew in every call.
func testBegins(t *testing.T, program string) {
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	said, _ := cmd.CombinedOutput() // it answers that there is no event
	begins := []string{"cmd/internal/early", "internal/consent", "facts/internal/code", "facts/internal/program", "internal/secret"}
	found := regexp.MustCompile(`(?m)^init `+regexp.QuoteMeta(module())+`(\S+) `).FindAllStringSubmatch(string(said), -1)
	if len(found) == 0 {
		t.Fatalf("the runtime tells of none:\n%s", said)
	}
	for _, pkg := range found {
		if !slices.Contains(begins, pkg[1]) {
			t.Errorf("%s has variables that are made before main", pkg[1])
		}
	}
}

// atStart is a pattern that is compiled before main, in every start of the
// program, for whoever may never need it.
var atStart = regexp.MustCompile(`(?m)^(var |\t)\w+ *= regexp2?\.MustCompile`)

// TestStartPatterns keeps patterns that only some calls need out of the start
// of every call: sync.OnceValue compiles them when they are.
func TestStartPatterns(t *testing.T) {
	read := 0
	for line := range strings.Lines(list(t, "-deps", "-f", `{{range .GoFiles}}{{$.ImportPath}} {{$.Dir}}/{{.}}{{"\n"}}{{end}}`, "./cmd/gate")) {
		path, file, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || !strings.HasPrefix(path, module()) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		read++
		if found := atStart.Find(text); found != nil {
			t.Errorf("%s/%s: %s…", path, filepath.Base(file), found)
		}
	}
	if read < 100 {
		t.Errorf("only %d files of ours are in cmd/gate", read)
	}
}

// under reports an import path at or below root; major versions count.
func under(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// list runs go list, which reads imports only: a package that does not compile
// at the moment is listed all the same.
func list(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-e"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}
