package commands

import (
	"bytes"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/hook"
	"gate/internal/audit"
	"gate/internal/core"
	"gate/internal/fleet"
	"gate/internal/places"
	"gate/internal/setting"
	"gate/scopes"
)

// TestFleetAccounts has root send the logs of two accounts to the collector of a fleet, with
// pseudonyms under root's key, and one status for all of them. One account writes into its
// log what it likes.
func TestFleetAccounts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root starts processes of other accounts: run this test as root")
	}
	dir := t.TempDir()
	for _, name := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"managed", "box"} {
		if err := os.Mkdir(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(&fakeCollector{dir: at("box")})
	defer server.Close()
	for name, text := range map[string]string{
		"managed/settings.json": `{"decisionLogs": {"url": "` + server.URL + `", "form": "collector", "level": "text"}}`, "managed/machine-id": "seven", "token": "good",
	} {
		if err := os.WriteFile(at(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var list []places.Numbered
	logOf := map[string]string{}
	for i, name := range []string{"ann", "bob"} {
		who := places.Numbered{Account: places.Account{Name: name, Home: at(name)}, UID: uint32(61310 + i), GID: 61310}
		_, logOf[name] = places.InHome(who.Home)
		list = append(list, who)
		r := audit.Record{ID: "id" + name, Time: time.Now(), User: name, Agent: "claude", Event: hook.PreToolUse, Tool: "Bash", Call: "cat " + who.Home + "/x", Dir: who.Home}
		if err := core.Append(dirs{State: logOf[name]}, scopes.Settings{}, r); err != nil {
			t.Fatal(err)
		}
	}
	forged := `{"custom":{"gate":{"chain":{"log":"aa","seq":1},"v":3}},"path":"gate/other","result":{"effect":"deny"},"timestamp":"2026-11-28T10:00:00Z","decision_id":"x"}`
	f, err := os.OpenFile(filepath.Join(logOf["bob"], audit.FileName), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, forged)
	f.Close()
	for _, who := range list {
		filepath.Walk(who.Home, func(file string, _ os.FileInfo, err error) error {
			return errors.Join(err, os.Lchown(file, int(who.UID), int(who.GID)))
		})
	}
	gate := func(status int, state string, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		n := 1
		if args[0] == "log" {
			n = 2
		}
		args = append(args[:n:n], append([]string{"--managed-dir", at("managed"), "--user-dir", at("user"), "--state-dir", state}, args[n:]...)...)
		p := process{args: args, env: []string{"HOME=" + at("home")}, stdin: strings.NewReader(""), stdout: &out, stderr: &out, self: selfCommand()}
		p.accounts = func() ([]places.Numbered, error) { return append([]places.Numbered(nil), list...), nil }
		if s := run(t.Context(), p); s != status {
			t.Errorf("%v: status %d: %s", args, s, &out)
		}
		return out.String()
	}
	gate(exitOK, at("state"), "enroll", "--token-file", at("token"))
	if out := gate(exitOK, at("state"), "log", "ship", "--accounts"); !strings.Contains(out, "ann: 1 record sent") || !strings.Contains(out, "status 1 sent") {
		t.Error(out)
	}
	records, err := os.ReadFile(at("box/records"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(records); strings.Contains(text, `"ann"`) || strings.Contains(text, `"bob"`) || strings.Contains(text, dir) || strings.Count(text, `"call":"cat ~/x"`) != 2 {
		t.Errorf("%s", text)
	}
	if !bytes.Contains(records, []byte(`"path":"gate/gap"`)) || bytes.Contains(records, []byte("gate/other")) {
		t.Errorf("what is no record has no gap in its place: %s", records)
	}
	text, err := os.ReadFile(at("box/statuses"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := fleet.ParseStatus(bytes.TrimSpace(text))
	if err != nil {
		t.Fatal(err)
	}
	accounts := map[string]bool{}
	for _, h := range s.Gate.Heads {
		accounts[h.Account] = true
	}
	calls := int64(0)
	for _, h := range s.Gate.Counters {
		calls += h.Calls
	}
	if len(accounts) != 2 || calls != 2 || bytes.Contains(text, []byte(`"ann"`)) {
		t.Errorf("%d calls: %s", calls, text)
	}
	out := leavingOf(dirs{Managed: at("managed"), User: at("user"), State: logOf["ann"]}, setting.DecisionLogs{URL: server.URL, Form: setting.FormCollector, Level: setting.SendText}).text()
	if !strings.Contains(out, ", level text: ") || !strings.Contains(out, ", by root\n") || !strings.Contains(out, "status was last sent: 20") {
		t.Error(out)
	}
	if info, err := os.Stat(at("managed/shipped.json")); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
}
