package commands

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/internal/format"
	"gate/internal/sealed"
)

// What a release wrote is kept as an archive of a directory whose path is fixed:
// a grant holds for one place only.
const (
	releasesDir  = "../../../testdata/releases"
	releaseRoot  = "/tmp/gate-release"
	releaseLimit = 5 * time.Minute
)

var (
	programsOf  = flag.String("programs", "", "a directory with the programs of another release, for TestOtherRelease")
	keepRelease = flag.String("keep-release", "", "the archive that TestOtherRelease writes of what these programs wrote")
)

// TestReleases has this gate take over what each release wrote: grants count,
// sessions go on, bundles stay in force, and the log verifies. Then each file is
// marked as a newer gate's: gate says so, and leaves every byte.
func TestReleases(t *testing.T) {
	archives, err := filepath.Glob(releasesDir + "/*.tar.gz")
	if err != nil || len(archives) == 0 {
		t.Fatal(err, archives)
	}
	for _, file := range archives {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".tar.gz"), func(t *testing.T) {
			m := releaseMachine{t: t, root: takeRoot(t)}
			m.unpack(file)
			m.knowsAll()
			m.takesOver()
			m.leavesNewer()
		})
	}
}

// TestOtherRelease runs the programs of another release, given with -programs:
// what this gate writes they take over as it takes over what they write. It is
// what .ci/with releases runs. With -keep-release it also keeps what they wrote.
func TestOtherRelease(t *testing.T) {
	if *programsOf == "" {
		t.Skip("no programs of another release are given: -programs DIR")
	}
	other := releaseMachine{t: t, root: takeRoot(t), programs: *programsOf}
	this := releaseMachine{t: t, root: other.root}
	other.lives()
	if *keepRelease != "" {
		this.pack(*keepRelease)
	}
	t.Run("upgrade", func(t *testing.T) { this.t = t; this.takesOver() })
	this.clear()
	this.t = t
	this.lives()
	t.Run("downgrade", func(t *testing.T) { other.t = t; other.takesOver() })
}

// takeRoot makes the directory whose path is fixed, for this test alone.
func takeRoot(t *testing.T) string {
	t.Helper()
	for end := time.Now().Add(releaseLimit); ; time.Sleep(100 * time.Millisecond) {
		err := os.Mkdir(releaseRoot, 0o700)
		if err == nil {
			break
		}
		info, statErr := os.Lstat(releaseRoot)
		switch {
		case !errors.Is(err, fs.ErrExist) || time.Now().After(end):
			t.Fatal(err)
		case statErr == nil && time.Since(info.ModTime()) > releaseLimit:
			os.RemoveAll(releaseRoot) // of a test that was killed
		}
	}
	t.Cleanup(func() { os.RemoveAll(releaseRoot) })
	return releaseRoot
}

// A releaseMachine is a machine in one directory, on which the programs of one
// release run.
type releaseMachine struct {
	t        *testing.T
	root     string
	programs string // "": those of this test
}

func (m releaseMachine) command(name string, args ...string) *exec.Cmd {
	m.t.Helper()
	path := os.Getenv("PATH")
	if m.programs != "" {
		path = m.programs + ":" + path
		name = filepath.Join(m.programs, name)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = filepath.Join(m.root, "project")
	cmd.Env = []string{"HOME=" + filepath.Join(m.root, "home"), "PATH=" + path, "TEST_ROOT=" + filepath.Join(m.root, "machine"), "SHELL=/bin/sh"}
	return cmd
}

func (m releaseMachine) dirs() []string {
	return []string{"--managed-dir=" + m.root + "/managed", "--user-dir=" + m.root + "/user", "--state-dir=" + m.root + "/state"}
}

// gate runs a command with the machine's directories and returns what it printed
// on both streams; the test fails where its exit status is another.
func (m releaseMachine) gate(status int, args ...string) string {
	m.t.Helper()
	cmd := m.command("gate", append(args, m.dirs()...)...)
	out, err := cmd.CombinedOutput()
	m.ended(status, args, string(out), err)
	return string(out)
}

func (m releaseMachine) ended(status int, args []string, out string, err error) {
	m.t.Helper()
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		m.t.Fatalf("gate %s: %v", strings.Join(args, " "), err)
	}
	if got != status {
		m.t.Fatalf("gate %s: exit status %d, not %d\n%s", strings.Join(args, " "), got, status, out)
	}
}

// person runs a command at a terminal. Programs of a release look who has the other end
// of it; as root, the emulator of these tests is one that they believe.
func (m releaseMachine) person(status int, args ...string) string {
	m.t.Helper()
	cmd := m.command("gate", append(args, m.dirs()...)...)
	if m.programs == "" || os.Geteuid() != 0 {
		out, err := onTerminal(cmd)
		m.ended(status, args, out, err)
		return out
	}
	emulator, err := exec.LookPath("xterm")
	if err != nil {
		m.t.Fatal(err)
	}
	cmd.Path, cmd.Args = emulator, append([]string{emulator, cmd.Path}, cmd.Args[1:]...)
	out, err := cmd.CombinedOutput()
	m.ended(status, args, string(out), err)
	return string(out)
}

// call has the agent run a line, and returns the answer of the hook.
func (m releaseMachine) call(status int, line string) string {
	m.t.Helper()
	event, err := json.Marshal(map[string]any{
		"hook_event_name": "PreToolUse", "session_id": "s1", "cwd": m.root + "/project", "tool_name": "Bash",
		"tool_use_id": "t1", "transcript_path": m.root + "/none.jsonl", "permission_mode": "default",
		"tool_input": map[string]any{"command": line, "description": "a line"},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	cmd := m.command("gate", append([]string{"hook", "--agent", "claude"}, m.dirs()...)...)
	cmd.Stdin = bytes.NewReader(event)
	out, err := cmd.CombinedOutput()
	m.ended(status, []string{"hook", line}, string(out), err)
	return string(out)
}

func (m releaseMachine) wants(out string, patterns ...string) {
	m.t.Helper()
	for _, p := range patterns {
		if !regexp.MustCompile(p).MatchString(out) {
			m.t.Errorf("nothing of %q in\n%s", p, out)
		}
	}
}

func (m releaseMachine) write(name, text string) {
	m.t.Helper()
	file := filepath.Join(m.root, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

const rewritePolicy = `# METADATA
# title: Build with the project's own script
# custom: {gate: {events: [PreToolUse]}}
package shop.build

modify contains {"reason": "builds go through make", "input": {"command": "make"}} if {
	input.tool_input.command == "build"
}
`

const askPolicy = `# METADATA
# title: Ask before a release, and at most a hundred calls
# custom: {gate: {events: [PreToolUse]}}
package user.release

ask contains "a release is for people" if input.tool_input.command == "release now"

deny contains "too many calls" if input.session.calls > 100
`

const bundlePolicy = `# METADATA
# title: Freeze
# description: Nothing is deployed.
# custom:
#   gate:
#     events: [PreToolUse]
package company

deny contains "deployments are frozen" if {
	some command in input.facts.shell.commands
	command.program == "deploy"
}
`

// lives has the programs write a file of each kind: keys, a bundle and a channel
// in force, grants, the memory of a session, compiled forms and a log.
func (m releaseMachine) lives() {
	m.t.Helper()
	m.write("publisher/company/.manifest", `{"roots": ["company", "gate/bundles/company"], "metadata": {"gate": {"name": "company", "version": 1}}}`)
	m.write("publisher/company/company/freeze.rego", bundlePolicy)
	m.write("user/policies/release.rego", askPolicy)
	m.write("user/settings.json", `{"policies": {"gate.git.push": "deny"}}`)
	m.write("project/.gate/policies/build.rego", rewritePolicy)
	m.write("project/.git/HEAD", "ref: refs/heads/main\n")
	m.write("home/.keep", "")
	m.write("state/.keep", "")
	m.write("freeze.yaml", "hooks:\n  PreToolUse:\n    - {id: freeze.ls, if: 'Bash(ls:*)', command: 'echo no ls now >&2; exit 2'}\n")

	site := filepath.Join(m.root, "publisher")
	plain := func(args ...string) {
		m.t.Helper()
		cmd := m.command("gate", args...)
		cmd.Dir = site
		out, err := cmd.CombinedOutput()
		m.ended(0, args, string(out), err)
	}
	plain("keys", "generate", "alice")
	plain("keys", "add", "alice", "alice.pub.pem", "--root", "--bundle", "company", "--key", "alice=alice.pem")
	plain("bundle", "build", "company", "--version", "1", "-o", "company.tar.gz")
	plain("bundle", "sign", "company.tar.gz", "--keys", "keys.json", "--key", "alice=alice.pem")
	m.write("publisher/channel.json", `{"signed": {"type": "gate.channel/1", "version": 1, "bundles": {"company": [{"digest": "`+digestOfFile(m.t, site+"/company.tar.gz")+`"}]}}}`)
	plain("bundle", "channel", "channel.json", "--keys", "keys.json", "--key", "alice=alice.pem")
	keys, err := os.ReadFile(site + "/keys.json")
	if err != nil {
		m.t.Fatal(err)
	}
	m.write("managed/keys.json", string(keys))
	m.syncs(0)

	m.person(0, "trust", filepath.Join(m.root, "project"))
	m.gate(0, "install", "claude", "--scope", "project")
	m.wants(m.call(0, "build"), `"command":"make"`)
	asked := m.call(0, "release now")
	m.wants(asked, `a release is for people`, `gate approve (\w+)`)
	m.person(0, "approve", regexp.MustCompile(`gate approve (\w+)`).FindStringSubmatch(asked)[1])
	m.call(0, "release now") // uses it up
	m.call(0, "release now") // waits
	m.person(0, "session", "add", "--session", "s1", filepath.Join(m.root, "freeze.yaml"))
	m.wants(m.call(2, "ls"), "no ls now")
	m.person(0, "inject", "--session", "s1", "the build is red")
	m.gate(0, "build")
	m.ships()
}

// knowsAll holds that every file has a row in the table of formats.
func (m releaseMachine) knowsAll() {
	m.t.Helper()
	known := func(name string) bool {
		return slices.ContainsFunc(format.All(), func(row format.File) bool {
			return slices.ContainsFunc(row.Where, func(where string) bool { return liesAt(where, name) })
		})
	}
	seen := 0
	for dir, as := range map[string]string{"state": "STATE", "managed": "MANAGED"} {
		fs.WalkDir(os.DirFS(filepath.Join(m.root, dir)), ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || name == ".keep" || name == "settings.json" {
				return err
			}
			if seen++; !known(as + "/" + name) {
				m.t.Errorf("%s/%s has no row in the table of formats", as, name)
			}
			return nil
		})
	}
	if seen < 20 {
		m.t.Errorf("only %d files", seen)
	}
}

// liesAt matches a path with one of the table's patterns; "/**" at its end is
// everything below.
func liesAt(pattern, name string) bool {
	if dir, deep := strings.CutSuffix(pattern, "/**"); deep {
		parts, n := strings.Split(name, "/"), strings.Count(dir, "/")+1
		if len(parts) <= n {
			return false
		}
		pattern, name = dir, strings.Join(parts[:n], "/")
	}
	ok, _ := path.Match(pattern, name)
	return ok
}

// syncs has the machine take the publisher's release by the channel.
func (m releaseMachine) syncs(status int) string {
	m.t.Helper()
	site := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(m.root, "publisher"))))
	defer site.Close()
	m.write("managed/settings.json", `{"approvals": {"enabled": true, "minutes": 10, "keyRequired": false}, "sync": [{"name": "company", "url": "`+site.URL+`/company.tar.gz", "channel": "`+site.URL+`/channel.json"}]}`)
	return m.gate(status, "sync", "--now")
}

// ships sends the log, so that there is a cursor.
func (m releaseMachine) ships() string {
	m.t.Helper()
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
	defer collector.Close()
	return m.gate(0, "log", "ship", "--to", collector.URL)
}

// readsOneLine reports programs that know memories of sessions of format 2 at most: they
// refuse the calls of a session that this gate has counted.
func (m releaseMachine) readsOneLine() bool {
	return slices.ContainsFunc([]string{"3a18b57", "67dff290a5e8"}, func(release string) bool {
		return strings.HasPrefix(filepath.Base(m.programs), release)
	})
}

// takesOver holds that nothing of what another release wrote is lost. Programs that cannot
// read its memory of the session refuse the session's calls, until it is away.
func (m releaseMachine) takesOver() {
	m.t.Helper()
	m.wants(m.gate(0, "trust", "--list"), m.root+"/project")
	remembers := !m.readsOneLine()
	if remembers {
		m.wants(m.call(0, "true"), "the build is red") // what waited is told
	} else {
		m.wants(m.call(2, "true"), "memory of the session") // docs/formats.md says so
		if err := os.RemoveAll(m.root + "/state/sessions"); err != nil {
			m.t.Fatal(err)
		}
	}
	m.wants(m.call(0, "build"), `"command":"make"`) // trust counts
	if remembers {
		m.wants(m.call(2, "ls"), "no ls now") // the session goes on
		m.wants(m.gate(0, "session", "list"), `[6-9] calls|1\d calls`)
	}
	m.wants(m.call(2, "deploy prod"), "deployments are frozen") // the bundle is in force
	m.wants(m.syncs(0), "nothing newer than version 1")
	m.wants(m.gate(0, "bundle", "verify", m.root+"/publisher/company.tar.gz", "--keys", m.root+"/publisher/keys.json"), "company")
	m.gate(0, "log", "verify")
	m.wants(m.gate(0, "log"), "release now")
	m.ships()
	m.person(0, "uninstall", "claude", "--scope", "project")
	settings, err := os.ReadFile(m.root + "/project/.claude/settings.json")
	if strings.HasPrefix(filepath.Base(m.programs), "3a18b57") {
		// It knows no entry that a line of sh starts; docs/formats.md says so.
		settings = regexp.MustCompile(`(?m)^.*"command": "/bin/sh", "args": \["-c", .*"UserPromptSubmit".*$`).ReplaceAll(settings, nil)
	}
	if err == nil && strings.Contains(string(settings), "gate") {
		m.t.Errorf("the entries in the agent's settings are not recognised:\n%s", settings)
	}
}

// leavesNewer marks each file as a newer gate's, and holds that gate says so and
// changes none of them.
func (m releaseMachine) leavesNewer() {
	m.t.Helper()
	rows := format.All()
	for _, row := range []struct {
		id    format.ID
		files string
		tries func() string
	}{
		{format.Grant, "state/consent/trust/*", func() string {
			m.call(0, "build")
			return m.person(1, "trust", filepath.Join(m.root, "project"))
		}},
		{format.Session, "state/sessions/????????????????????????????????", func() string { return m.call(2, "true") }},
		{format.Keys, "managed/keys.json", func() string { return m.syncs(1) }},
		{format.Seen, "managed/seen.json", func() string { return m.syncs(1) }},
		{format.Synced, "managed/bundles/synced.json", func() string { return m.syncs(1) }},
		{format.Channel, "managed/channel.json", func() string { return m.syncs(1) }},
		{format.Current, "managed/bundles/current.json", func() string { return m.syncs(1) + m.call(2, "true") }},
	} {
		files, err := filepath.Glob(filepath.Join(m.root, row.files))
		if err != nil || len(files) == 0 {
			m.t.Fatalf("%s: no file: %v", row.files, err)
		}
		was := map[string][]byte{}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				m.t.Fatal(err)
			}
			was[file] = text
			newer := markNewer(rows[row.id], text)
			if bytes.Equal(newer, text) {
				m.t.Fatalf("%s says no number", file)
			}
			if err := os.WriteFile(file, newer, 0o600); err != nil {
				m.t.Fatal(err)
			}
		}
		if out := row.tries(); !strings.Contains(out, format.ErrNewer.Error()) {
			m.t.Errorf("%s: not a word about it:\n%s", rows[row.id].Name, out)
		}
		for file, text := range was {
			now, err := os.ReadFile(file)
			if err != nil || !bytes.Equal(now, markNewer(rows[row.id], text)) {
				m.t.Errorf("%s was changed: %v\n%s", file, err, now)
			}
			if err := os.WriteFile(file, text, 0o600); err != nil {
				m.t.Fatal(err)
			}
		}
	}
	m.wants(m.call(0, "build"), `"command":"make"`) // all is as it was
}

// markNewer raises the number that a file says.
func markNewer(row format.File, text []byte) []byte {
	find := `(` + regexp.QuoteMeta(row.Prefix) + `)` + `\d+`
	if row.Prefix == "" {
		find = `("` + row.Member + `": ?)\d+`
	}
	all := regexp.MustCompile(find).FindAllSubmatchIndex(text, -1)
	if all == nil {
		return text
	}
	at := all[0]
	if rows := format.All(); row.Name == rows[format.Session].Name { // its last line counts
		at = all[len(all)-1]
	}
	return bytes.Join([][]byte{text[:at[3]], text[at[1]:]}, []byte("99"))
}

// digestOfFile is how a channel names an archive.
func digestOfFile(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return sealed.Digest(data)
}

// clear empties the machine.
func (m releaseMachine) clear() {
	m.t.Helper()
	entries, err := os.ReadDir(m.root)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(m.root, e.Name())))
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// pack keeps the machine as an archive.
func (m releaseMachine) pack(file string) {
	m.t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	err := os.Remove(filepath.Join(m.root, "publisher/alice.pem")) // nobody needs to keep a private key
	err = errors.Join(err, w.AddFS(os.DirFS(m.root)))
	if err = errors.Join(err, w.Close(), z.Close()); err == nil {
		err = os.WriteFile(file, out.Bytes(), 0o644)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// unpack puts a kept machine back, as this account's. Its files are new: a session
// that nobody has heard of for a month is forgotten.
func (m releaseMachine) unpack(file string) {
	m.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		m.t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		m.t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			m.t.Fatal(err)
		}
		name := filepath.Join(m.root, filepath.FromSlash(h.Name))
		if h.FileInfo().IsDir() {
			err = os.MkdirAll(name, h.FileInfo().Mode().Perm())
		} else {
			var text []byte
			if text, err = io.ReadAll(r); err == nil {
				err = errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, text, h.FileInfo().Mode().Perm()))
			}
		}
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// TestTerminal holds the terminal that the others use against a shell.
func TestTerminal(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := onTerminal(exec.CommandContext(ctx, "/bin/sh", "-c", `test -t 0 && test -t 2 && printf 'Type abc to agree: ' && read x && test "$x" = abc && echo agreed`))
	if err != nil || !strings.Contains(out, "agreed") {
		t.Error(err, out)
	}
}
