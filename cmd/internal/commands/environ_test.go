package commands

import (
	"bytes"
	"go/build"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// hostile returns, for each variable that gate or a library in it reads, values
// that might loosen something: other directories with settings that switch
// everything off, other certificates, servers that say yes, limits that no
// decision fits into. A GOMAXPROCS of millions is not among them: it takes all
// of the machine's memory before any program's own code runs.
func hostile(elsewhere string) map[string][]string {
	missing := filepath.Join(elsewhere, "missing")
	dir, file := []string{elsewhere, missing, ""}, []string{filepath.Join(elsewhere, "settings.json"), missing, "/dev/zero"}
	server := []string{"http://127.0.0.1:1", "https://user:pass@127.0.0.1:1/?yes", "nonsense"}
	word := []string{"1", "true", "off", "", strings.Repeat("x", 100_000)}
	vars := map[string][]string{
		"GODEBUG": {
			"panicnil=1", "gctrace=1,schedtrace=1", "x509usefallbackroots=1,x509negativeserial=1,rsa1024min=0", "netdns=cgo+9", "execerrdot=0",
			"cpu.all=off", "fips140=only", "jsonedwards=1", "http2debug=2", "nonsense", "invalidptr=0,cgocheck=0", "madvdontneed=1,asyncpreemptoff=1",
		},
		"GOGC": {"1", "off", "-5", "x"}, "GOMEMLIMIT": {"1", "0", "1EiB", "nonsense"}, "GOMAXPROCS": {"0", "-1", "64", "nonsense"},
		"GOTRACEBACK": {"none", "crash", "system"}, "GOROOT": dir, "GOTMPDIR": dir, "GOCOVERDIR": dir, "GORACE": {"exitcode=0 halt_on_error=0"},
		"LD_PRELOAD": file, "LD_LIBRARY_PATH": dir,
	}
	for _, name := range []string{
		"HOME", "home", "USERPROFILE", "APPDATA", "AppData", "LocalAppData", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "TMPDIR", "PWD", "PATH",
		"SYSTEMROOT", "CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "QWEN_PROJECT_DIR", "COPILOT_PROJECT_DIR", "CURSOR_PROJECT_DIR",
		"FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR", "OPENCODE_PROJECT_DIR", "CLAUDE_CONFIG_DIR", "CLAUDE_PLUGIN_ROOT", "ANTHROPIC_CONFIG_DIR", "SSL_CERT_DIR", "ProgramData",
	} {
		vars[name] = dir
	}
	for _, name := range []string{
		"SSL_CERT_FILE", "CLAUDE_ENV_FILE", "KUBECONFIG", "ZONEINFO", "HOSTALIASES", "BASH_COMP_DEBUG_FILE", "HTTP_CLIENT_TLS_CERT", "HTTP_CLIENT_TLS_KEY",
		"ANTHROPIC_IDENTITY_TOKEN_FILE",
	} {
		vars[name] = file
	}
	for _, name := range []string{
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "AWS_ENDPOINT_URL", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL",
	} {
		vars[name] = server
	}
	for _, name := range strings.Fields(`
		NO_PROXY no_proxy REQUEST_METHOD TZ LOCALDOMAIN RES_OPTIONS ASR_CONFIG TERM NO_COLOR CLICOLOR CLICOLOR_FORCE USER LOGNAME LANG
		CLAUDE_CODE_SESSION_ATTENDED CLAUDE_CODE_ENTRYPOINT GATE_RUN GATE_DISABLE GATE_OFF GATE_USER_DIR GATE_MANAGED_DIR GATE_STATE_DIR
		DEBUG_HTTP2_GOROUTINES GOPROTODEBUG GOLANG_PROTOBUF_REGISTRATION_CONFLICT MCPGODEBUG JSONSCHEMAGODEBUG HTTP_SEND_TIMEOUT
		COBRA_ACTIVE_HELP GATE_ACTIVE_HELP EXPERIMENTAL_WASM_OPT EXPERIMENTAL_WASM_OPT_ARGS LEGACY_ENTRYPOINTS
		ANTHROPIC_PROFILE ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_ORGANIZATION_ID ANTHROPIC_WEBHOOK_SIGNING_KEY ANTHROPIC_CUSTOM_HEADERS
		AWS_REGION AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN ANTHROPIC_IDENTITY_TOKEN ANTHROPIC_FEDERATION_RULE_ID ANTHROPIC_SERVICE_ACCOUNT_ID ANTHROPIC_WORKSPACE_ID
		ANTHROPIC_OPEN_TELEMETRY ANTHROPIC_OPEN_TELEMETRY_PROPAGATION ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE
		ANTHROPIC_OPEN_TELEMETRY_TRACES_MAX_CONTENT_BYTES OPENAI_API_KEY OPENAI_ORG_ID OPENAI_PROJECT_ID OPENAI_WEBHOOK_SECRET`) {
		vars[name] = word
	}
	return vars
}

// TestManagedEnvironment starts gate hook, as an agent does, in the environment
// of somebody who may set any variable, on a machine with a managed policy:
// what the policy denies stays denied (threat model 52).
func TestManagedEnvironment(t *testing.T) {
	elsewhere := t.TempDir()
	for _, file := range []string{"gate/settings.json", ".config/gate/settings.json", ".gate/settings.json", "settings.json"} {
		path := filepath.Join(elsewhere, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(`{"disableAllHooks": true, "policies": {"acme": "off"}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := newMachine(t)
	m.write("managed/policies/mine.rego", userPolicy)
	gate, err := exec.LookPath("gate")
	if err != nil {
		t.Fatal(err)
	}
	deny := func(name string, env ...string) {
		t.Helper()
		cmd := exec.Command(gate, "hook", "--agent", "claude", "--event", "PreToolUse", "--managed-dir", filepath.Join(m.dir, "managed"),
			"--user-dir", filepath.Join(m.dir, "user"), "--state-dir", filepath.Join(m.dir, "state"))
		cmd.Dir, cmd.Stdin = m.dir, strings.NewReader(strings.Replace(bashEvent, "LINE", quoteJSON("whoami"), 1))
		cmd.Env = append([]string{"HOME=/home/dev", "PATH=" + os.Getenv("PATH")}, env...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		cmd.Run()
		own := strings.Contains(stdout.String(), `"permissionDecision":"deny"`) && strings.Contains(stderr.String(), "no whoami here")
		died := stdout.Len() == 0 && deadly(name)
		if cmd.ProcessState.ExitCode() != 2 || !own && !died {
			t.Errorf("%.60q: status %d, %s%s", env, cmd.ProcessState.ExitCode(), stdout.String(), stderr.String())
		}
	}
	deny("none")
	vars := hostile(elsewhere)
	var all []string
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		for _, value := range vars[name] {
			deny(name, name+"="+value)
		}
		if !deadly(name) {
			all = append(all, name+"="+vars[name][0])
		}
	}
	deny("all", all...)
}

// deadly variables can end the process before gate runs: the runtime, the
// loader, or a library that panics at a value it cannot read. The status blocks
// then, all the same.
func deadly(name string) bool {
	return strings.HasPrefix(name, "GO") || strings.HasPrefix(name, "LD_") || name == "HTTP_SEND_TIMEOUT" || name == "MCPGODEBUG"
}

// TestVariablesKnown holds the list of variables against the source text of
// everything that gate is linked from: a library that begins to read another
// one needs a hostile value for it.
func TestVariablesKnown(t *testing.T) {
	known := hostile("/elsewhere")
	reads := regexp.MustCompile(`(?i)\b(?:getenv|lookupenv)\(("[A-Za-z_]+"|[A-Za-z]+)\)`)
	constant := func(text []byte, name string) string {
		m := regexp.MustCompile(`\b` + name + `\s*(?:string)?\s*=\s*"([A-Z][A-Z_0-9]+)"`).FindSubmatch(text)
		if m == nil {
			return ""
		}
		return string(m[1])
	}
	found := 0
	list, err := exec.Command("go", "list", "-deps", "-f", "{{.Dir}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for dir := range strings.FieldsSeq(string(list)) {
		pkg, err := build.ImportDir(dir, 0)
		if err != nil {
			continue // vendored within the standard library, or for another system
		}
		var whole []byte
		for _, file := range pkg.GoFiles {
			text, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			whole = append(whole, text...)
		}
		for _, m := range reads.FindAllSubmatch(whole, -1) {
			name := strings.Trim(string(m[1]), `"`)
			if m[1][0] != '"' {
				if name = constant(whole, name); name == "" {
					continue // a name that somebody else gives
				}
			}
			if found++; known[name] == nil {
				t.Errorf("%s reads %s, which has no hostile value here", dir, name)
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d places found that read a variable", found)
	}
}
