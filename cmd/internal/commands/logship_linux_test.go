package commands

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gate/internal/audit"
	"gate/internal/core"
	"gate/internal/places"
	"gate/scopes"
)

// A collected is a collector that keeps what came, a word each: the account and the id of
// a decision, or what was found.
type collected struct {
	mu   sync.Mutex
	said []string
}

func (c *collected) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	z, err := gzip.NewReader(r.Body)
	var batch []map[string]any
	if err == nil {
		err = json.NewDecoder(z).Decode(&batch)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range batch {
		word, _ := e["requested_by"].(string)
		if e["path"] == "gate/decision" {
			word += " " + e["custom"].(map[string]any)["gate"].(map[string]any)["id"].(string)
		} else {
			word += " " + e["path"].(string)
			if problem, ok := e["result"].(map[string]any)["problem"].(string); ok {
				word += " " + problem
			}
			if e["labels"].(map[string]any)["host"] == nil {
				word += " of an unknown host"
			}
		}
		c.said = append(c.said, word)
	}
}

// take returns what came since the last time.
func (c *collected) take() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := strings.Join(c.said, ", ")
	c.said = nil
	return text
}

// TestLogShipAccounts has root send the logs of two accounts beside its own. One account
// deletes its log and begins it again, and then lays a trap.
func TestLogShipAccounts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root starts processes of other accounts: run this test as root")
	}
	var got collected
	server := httptest.NewServer(&got)
	defer server.Close()
	dir := t.TempDir()
	for _, name := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(at("managed"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("managed/settings.json"), []byte(`{"decisionLogs": {"url": "`+server.URL+`"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	logOf := map[string]string{"root": at("state")}
	var list []places.Numbered
	for i, name := range []string{"ann", "bob", "none"} {
		who := places.Numbered{Account: places.Account{Name: name, Home: at(name)}, UID: uint32(61300 + i), GID: 61300}
		_, logOf[name] = places.InHome(who.Home)
		list = append(list, who)
	}
	write := func(name, id string) {
		t.Helper()
		own := func(uid, gid int) {
			filepath.Walk(at(name), func(file string, _ os.FileInfo, err error) error { return errors.Join(err, os.Lchown(file, uid, gid)) })
		}
		own(0, 0)
		if err := core.Append(dirs{State: logOf[name]}, scopes.Settings{}, audit.Record{ID: id, Time: time.Now(), User: name}); err != nil {
			t.Fatal(err)
		}
		for _, who := range list {
			if who.Name == name {
				own(int(who.UID), int(who.GID))
			}
		}
	}
	ship := func(status int, args ...string) (string, string) {
		t.Helper()
		var out, errs bytes.Buffer
		args = append([]string{"log", "ship", "--accounts", "--managed-dir", at("managed"), "--user-dir", at("user"), "--state-dir", at("state")}, args...)
		p := process{args: args, stdin: strings.NewReader(""), stdout: &out, stderr: &errs, self: selfCommand()}
		p.accounts = func() ([]places.Numbered, error) { return append([]places.Numbered(nil), list...), nil }
		if s := run(t.Context(), p); s != status {
			t.Errorf("status %d: %s", s, errs.String())
		}
		return out.String(), errs.String()
	}
	write("root", "own")
	write("ann", "one")
	if out, _ := ship(exitOK); !strings.Contains(out, "\nann: 1 record sent in 1 batch, ") || got.take() != "root own, ann one" {
		t.Error(out)
	}
	write("bob", "two")
	write("ann", "three")
	ship(exitOK)
	if text := got.take(); text != "bob two, ann three" && text != "ann three, bob two" {
		t.Error(text)
	}
	if out, _ := ship(exitOK); out != "everything was sent before\n" || got.take() != "" {
		t.Error(out)
	}
	if err := os.RemoveAll(logOf["bob"]); err != nil {
		t.Fatal(err)
	}
	write("bob", "again")
	if out, _ := ship(exitOK); !strings.Contains(out, "note: 1 finding: it is not the log that was sent before") || got.take() != "bob gate/log anew, bob again" {
		t.Error(out)
	}
	if err := os.Rename(filepath.Join(logOf["bob"], audit.FileName), at("moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("state/"+audit.FileName), filepath.Join(logOf["bob"], audit.FileName)); err != nil {
		t.Fatal(err)
	}
	write("ann", "four")
	out, errs := ship(exitFailed, "--json")
	if text := got.take(); text != "bob gate/log unread, ann four" && text != "ann four, bob gate/log unread" {
		t.Error(text)
	}
	if !strings.Contains(errs, "the log of bob: ") || !strings.Contains(out, `"account": "ann"`) || !strings.Contains(out, `"error": "the log of bob: `) {
		t.Errorf("%s%s", out, errs)
	}
}

// TestLogShipAccountsRefused: only root reads other logs, and keeps how far it came where
// nobody else has a hand.
func TestLogShipAccountsRefused(t *testing.T) {
	dir := t.TempDir()
	ship := func(state string, accounts func() ([]places.Numbered, error)) string {
		var errs bytes.Buffer
		p := process{args: []string{"log", "ship", "--accounts", "--to", "http://127.0.0.1:1", "--managed-dir", dir, "--user-dir", dir, "--state-dir", state},
			stdin: strings.NewReader(""), stdout: &bytes.Buffer{}, stderr: &errs, self: selfCommand(), accounts: accounts}
		if status := run(t.Context(), p); status != exitFailed {
			t.Errorf("status %d", status)
		}
		return errs.String()
	}
	if got := ship(filepath.Join(dir, "state"), nil); !strings.Contains(got, "--accounts takes root") {
		t.Error(got)
	}
	if os.Geteuid() != 0 {
		t.Skip("the rest is about root: run this test as root")
	}
	theirs := filepath.Join(dir, "home")
	if err := os.Mkdir(theirs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(theirs, 61300, 61300); err != nil {
		t.Fatal(err)
	}
	asked := func() ([]places.Numbered, error) { t.Error("accounts are looked for"); return nil, nil }
	if got := ship(filepath.Join(theirs, "state"), asked); !strings.Contains(got, "it belongs to account 61300") {
		t.Error(got)
	}
	if _, err := os.Lstat(filepath.Join(theirs, "state")); err == nil {
		t.Error("root made a directory in a home")
	}
}
