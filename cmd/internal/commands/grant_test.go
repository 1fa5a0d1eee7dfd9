package commands

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/internal/consent"
)

// A machine is one with directories of the test's own.
type machine struct {
	t       *testing.T
	dir     string
	project string
	env     []string
	above   []consent.Ancestor
	session string // of the agent; "" is "s"

	filesOnly bool
}

func newMachine(t *testing.T) *machine {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, dir: dir, project: filepath.Join(dir, "project"), env: []string{"HOME=" + filepath.Join(dir, "home")}}
	m.write("project/.git/HEAD", "ref: refs/heads/main\n")
	return m
}

// write puts a file that only its owner may write where the name says.
func (m *machine) write(name, text string) {
	m.t.Helper()
	file := filepath.Join(m.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// gate runs a command with the directories of the machine.
func (m *machine) gate(stdin io.Reader, terminal bool, args ...string) (status int, stdout, stderr string) {
	m.t.Helper()
	var out bytes.Buffer
	display := &typist{}
	if terminal {
		display.keys, stdin = typed(m.t)
	}
	p := process{
		args: append([]string{args[0], "--managed-dir", filepath.Join(m.dir, "managed"),
			"--user-dir", filepath.Join(m.dir, "user"), "--state-dir", filepath.Join(m.dir, "state")}, args[1:]...),
		stdin: stdin, stdout: &out, stderr: display, env: m.env,
		exit:       func(status int) { m.t.Errorf("the process would exit with %d", status) },
		isTerminal: func() bool { return terminal },
		above:      func() []consent.Ancestor { return m.above },
		filesOnly:  m.filesOnly,
	}
	status = run(m.t.Context(), p)
	return status, out.String(), display.String()
}

// hook asks about a line as an agent in the project does, which has nobody to ask.
func (m *machine) hook(line string) (status int, answer string) {
	m.t.Helper()
	event := strings.Replace(strings.Replace(bashEvent, "LINE", quoteJSON(line), 1), `"/tmp"`, quoteJSON(m.project), 1)
	event = strings.Replace(event, `"default"`, `"dontAsk"`, 1)
	if m.session != "" {
		event = strings.Replace(event, `"session_id":"s"`, `"session_id":`+quoteJSON(m.session), 1)
	}
	status, stdout, stderr := m.gate(strings.NewReader(event), false, "hook", "--agent", "claude", "--event", "PreToolUse")
	return status, stdout + stderr
}

// A typist is a terminal in front of somebody who types the code that it shows, or that they agree.
type typist struct {
	mu    sync.Mutex
	text  strings.Builder
	keys  io.Writer
	typed bool
	no    bool // says no to what it is asked
}

var codeOnScreen = regexp.MustCompile(`Type (\S+) to agree: $`)

func (s *typist) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(p)
	if strings.HasSuffix(s.text.String(), " [y/N] ") && s.keys != nil && !s.typed {
		s.typed = true
		go io.WriteString(s.keys, map[bool]string{true: "n\n", false: "y\n"}[s.no])
	}
	if m := codeOnScreen.FindStringSubmatch(s.text.String()); m != nil && s.keys != nil && !s.typed {
		s.typed = true
		go io.WriteString(s.keys, m[1]+"\n")
	}
	return len(p), nil
}

func (s *typist) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func typed(t *testing.T) (io.Writer, io.Reader) {
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	return w, r
}

const deployPolicy = `# METADATA
# title: deploy
# custom:
#   gate:
#     events: [PreToolUse]
package acme.deploy

ask contains "make deploy changes production" if contains(input.tool_input.command, "make deploy")

deny contains "never" if contains(input.tool_input.command, "never")
`

var waits = regexp.MustCompile(`gate approve ([0-9a-z]{6})`)

// TestApprove approves a call at a terminal: it passes once, exactly as it was
// asked, and nothing else does.
func TestApprove(t *testing.T) {
	m := newMachine(t)
	m.write("user/settings.json", `{"approvals": {"enabled": true, "minutes": 10, "keyRequired": false}}`)
	m.write("user/policies/deploy.rego", deployPolicy)
	ask := func(line string) string {
		t.Helper()
		status, answer := m.hook(line)
		found := waits.FindStringSubmatch(answer)
		if status != 2 || found == nil {
			t.Fatalf("%s: status %d: %s", line, status, answer)
		}
		return found[1]
	}
	id := ask("make deploy")

	m.above = []consent.Ancestor{{Args: []string{"/usr/bin/claude"}}}
	if status, _, stderr := m.gate(nil, true, "approve", id); status != exitFailed || !strings.Contains(stderr, string(consent.InAgent)) {
		t.Errorf("below an agent: status %d: %s", status, stderr)
	}
	m.above = nil
	if status, _, stderr := m.gate(strings.NewReader("yes\n"), false, "approve", id); status != exitFailed || !strings.Contains(stderr, string(consent.NoTerminal)) {
		t.Errorf("without a terminal: status %d: %s", status, stderr)
	}
	status, stdout, stderr := m.gate(nil, true, "approve", id)
	if status != exitOK || !strings.HasPrefix(stdout, "approved until ") {
		t.Fatalf("status %d: %s%s", status, stdout, stderr)
	}
	for _, want := range []string{`"claude" calls "Bash"`, `{"command":"make deploy"}`, quoteJSON(m.project), "make deploy changes production"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("the person was not shown %s:\n%s", want, stderr)
		}
	}
	for _, want := range []string{", for session s of claude in ", "in that session; if it has ended, go on in it with claude --resume s\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the person was not told %q:\n%s", want, stdout)
		}
	}
	m.session = "other"
	if status, answer := m.hook("make deploy"); status != 2 || !strings.Contains(answer, string(consent.OtherAgent)+"; gate log show "+id+" names it") {
		t.Errorf("another session: status %d: %s", status, answer)
	}
	m.session = ""
	if status, answer := m.hook("make deploy --now"); status != 2 || !strings.Contains(answer, string(consent.OtherInput)) {
		t.Errorf("another input: status %d: %s", status, answer)
	}
	if status, answer := m.hook("make deploy"); status != 0 || !strings.Contains(answer, "approved") {
		t.Errorf("the approved call: status %d: %s", status, answer)
	}
	if status, answer := m.hook("make deploy"); status != 2 || !strings.Contains(answer, string(consent.Used)) {
		t.Errorf("the approved call again: status %d: %s", status, answer)
	}
	if status, answer := m.hook("make deploy never"); status != 2 || waits.MatchString(answer) {
		t.Errorf("a denial: status %d: %s", status, answer)
	}
	if status, _, stderr := m.gate(nil, true, "approve", "zzzzzz"); status != exitFailed || !strings.Contains(stderr, "no call waits") {
		t.Errorf("an unknown id: status %d: %s", status, stderr)
	}
}

// TestApproveOff asks with approvals switched off: nothing waits, nothing is
// said of approvals, and nothing is kept.
func TestApproveOff(t *testing.T) {
	m := newMachine(t)
	m.write("user/policies/deploy.rego", deployPolicy)
	if status, answer := m.hook("make deploy"); status != 2 || strings.Contains(answer, "approve") {
		t.Errorf("status %d: %s", status, answer)
	}
	if _, err := os.Stat(filepath.Join(m.dir, "state", "consent")); err == nil {
		t.Error("something was kept")
	}
}

const shorten = `# METADATA
# title: shorten
# custom:
#   gate:
#     events: [PreToolUse]
package acme.shorten

modify contains {"reason": "shorter", "input": {"command": "true"}} if input.tool_input.command == "echo hello"
`

// TestTrust trusts a project: its rewrites count, until a byte changes.
func TestTrust(t *testing.T) {
	m := newMachine(t)
	m.write("project/.gate/policies/shorten.rego", shorten)
	rewritten := func() bool {
		t.Helper()
		status, answer := m.hook("echo hello")
		if status != 0 {
			t.Fatalf("status %d: %s", status, answer)
		}
		return strings.Contains(answer, `"updatedInput"`)
	}
	if rewritten() {
		t.Fatal("an untrusted project rewrote a call")
	}
	if status, _, stderr := m.gate(strings.NewReader("y\n"), false, "trust", m.project); status != exitFailed || !strings.Contains(stderr, string(consent.NoTerminal)) {
		t.Errorf("without a terminal: status %d: %s", status, stderr)
	}
	status, stdout, stderr := m.gate(nil, true, "trust", m.project)
	if status != exitOK || !strings.Contains(stdout, "is trusted with this content") {
		t.Fatalf("status %d: %s%s", status, stdout, stderr)
	}
	for _, want := range []string{`"policies/shorten.rego"`, "rule modify", "sha256:"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("the person was not shown %s:\n%s", want, stderr)
		}
	}
	if !rewritten() {
		t.Error("the trusted project rewrote nothing")
	}
	if _, stdout, _ := m.gate(nil, false, "trust", "--list"); !strings.Contains(stdout, ": holds\n") {
		t.Errorf("list: %s", stdout)
	}
	m.write("project/.gate/policies/shorten.rego", shorten+"\n")
	if rewritten() {
		t.Error("the project changed and is trusted still")
	}
	if _, stdout, _ := m.gate(nil, false, "trust", "--list"); !strings.Contains(stdout, string(consent.Changed)) {
		t.Errorf("list: %s", stdout)
	}
	m.write("project/.gate/policies/shorten.rego", shorten)
	if !rewritten() {
		t.Error("what was trusted is back and is not trusted")
	}
	if status, stdout, stderr := m.gate(nil, false, "distrust", m.project); status != exitOK || !strings.Contains(stdout, "no longer trusted") {
		t.Errorf("distrust: status %d: %s%s", status, stdout, stderr)
	}
	if rewritten() {
		t.Error("the project is trusted still")
	}
}

// TestPlugin switches a plugin on, which denies at once and rewrites when it is
// trusted. A plugin that nobody switched on does nothing.
func TestPlugin(t *testing.T) {
	m := newMachine(t)
	m.write("user/plugins/fmt/plugin.json", `{"name": "fmt"}`)
	m.write("user/plugins/fmt/gate/policies/shorten.rego", shorten+"\ndeny contains \"no whoami\" if input.tool_input.command == \"whoami\"\n")
	if status, answer := m.hook("whoami"); status != 0 {
		t.Errorf("switched off: status %d: %s", status, answer)
	}
	m.write("user/settings.json", `{"plugins": {"fmt": true}}`)
	if status, answer := m.hook("whoami"); status != 2 || !strings.Contains(answer, "no whoami") {
		t.Errorf("switched on: status %d: %s", status, answer)
	}
	if _, answer := m.hook("echo hello"); strings.Contains(answer, `"updatedInput"`) {
		t.Errorf("untrusted: %s", answer)
	}
	if status, stdout, stderr := m.gate(nil, true, "trust", filepath.Join(m.dir, "user", "plugins", "fmt")); status != exitOK {
		t.Fatalf("status %d: %s%s", status, stdout, stderr)
	}
	if _, answer := m.hook("echo hello"); !strings.Contains(answer, `"updatedInput"`) {
		t.Errorf("trusted: %s", answer)
	}
	for _, name := range []string{"none", "../fmt", "/etc", ".", ""} {
		m.write("user/settings.json", `{"plugins": {`+quoteJSON(name)+`: true}}`)
		if status, answer := m.hook("echo hello"); status != 0 || !strings.Contains(answer, "plugin") {
			t.Errorf("%q: status %d: %s", name, status, answer)
		}
	}
}

// TestException excepts a call until a day; when that is over the policy speaks
// again, also when the clock is set back.
func TestException(t *testing.T) {
	m := newMachine(t)
	m.write("user/policies/deploy.rego", deployPolicy)
	except := func(until string) string {
		return `{"exceptions": [{"policy": "acme.deploy", "if": "Bash(make deploy)", "project": ` + quoteJSON(m.project) +
			`, "until": "` + until + `", "owner": "ana@acme.example", "reason": "OPS-17"}]}`
	}
	m.write("user/settings.json", except(tomorrow()))
	if status, answer := m.hook("make deploy"); status != 0 {
		t.Errorf("excepted: status %d: %s", status, answer)
	}
	if status, _ := m.hook("make deploy && make deploy never"); status != 2 {
		t.Errorf("only half of it is excepted: status %d", status)
	}
	m.write("user/settings.json", except("2020-01-31"))
	if status, answer := m.hook("make deploy"); status != 2 {
		t.Errorf("the exception is over: status %d: %s", status, answer)
	}
	// A time far ahead that gate has seen: the clock was set back since.
	m.write("user/settings.json", except(tomorrow()))
	m.write("state/consent/clock/099999999999", "")
	if status, answer := m.hook("make deploy"); status != 2 || !strings.Contains(answer, "exceptions do not count") {
		t.Errorf("the clock was set back: status %d: %s", status, answer)
	}
}

func tomorrow() string { return time.Now().AddDate(0, 0, 2).UTC().Format(time.DateOnly) }

// TestApproveKey approves with an approver's key, where settings require one:
// a person's word alone is not enough, and neither is another key.
func TestApproveKey(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t)
	m.write("managed/settings.json", `{"approvals": {"enabled": true, "minutes": 30, "keyRequired": true, "keys": ["`+hex.EncodeToString(public)+`"]}}`)
	m.write("user/settings.json", `{"approvals": {"enabled": true, "minutes": 60, "keyRequired": false}}`)
	m.write("user/policies/deploy.rego", deployPolicy)
	_, answer := m.hook("make deploy")
	found := waits.FindStringSubmatch(answer)
	if found == nil {
		t.Fatal(answer)
	}
	id, until := found[1], time.Now().Add(20*time.Minute).UTC().Format(time.RFC3339)
	if status, _, stderr := m.gate(nil, true, "approve", id); status != exitFailed || !strings.Contains(stderr, string(consent.NeedsKey)) {
		t.Errorf("without a signature: status %d: %s", status, stderr)
	}
	status, form, stderr := m.gate(nil, false, "approve", id, "--until", until, "--form")
	if status != exitOK {
		t.Fatalf("form: status %d: %s", status, stderr)
	}
	sign := func(key ed25519.PrivateKey) string { return hex.EncodeToString(ed25519.Sign(key, []byte(form))) }
	if status, _, stderr := m.gate(nil, true, "approve", id, "--until", until, "--signature", sign(other)); status != exitFailed || !strings.Contains(stderr, string(consent.BadKey)) {
		t.Errorf("another key: status %d: %s", status, stderr)
	}
	if status, _ := m.hook("make deploy"); status != 2 {
		t.Errorf("nothing was approved: status %d", status)
	}
	if status, _, stderr := m.gate(nil, true, "approve", id, "--until", until, "--signature", sign(private)); status != exitOK {
		t.Errorf("signed: status %d: %s", status, stderr)
	}
	if status, answer := m.hook("make deploy"); status != 0 {
		t.Errorf("the approved call: status %d: %s", status, answer)
	}
	m.write("managed/settings.json", `{"approvals": {"enabled": true, "minutes": 30, "keyRequired": true, "keys": ["none"]}}`)
	if status, answer := m.hook("make deploy"); status != 2 || !strings.Contains(answer, "nobody can approve a call") {
		t.Errorf("a key that is none: status %d: %s", status, answer)
	}
}
