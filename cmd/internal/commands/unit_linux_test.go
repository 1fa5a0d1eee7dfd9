package commands

import (
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gate/internal/audit"
	"gate/internal/core"
	"gate/internal/places"
	"gate/scopes"
)

// sandbox runs the command of a unit with the mounts that systemd makes for
// ProtectSystem=strict, ProtectHome=read-only, PrivateTmp and StateDirectory, and with
// NoNewPrivileges. $1 has the test's own directories, which take the place of the system's.
const sandbox = `
set -e
for dir in etc home root var/lib usr/local/bin; do
	mount --bind "$1/$dir" "/$dir"
done
mkdir -m 700 -p "/var/lib/$STATE"
mount --bind "/var/lib/$STATE" "/var/lib/$STATE"
mount --bind "$WRITABLE" "$WRITABLE"
cut -d' ' -f5 /proc/self/mountinfo | while read -r dir; do
	case $dir in
	/dev | /dev/* | /proc | /proc/* | /sys | /sys/* | "/var/lib/$STATE" | "$WRITABLE") ;;
	*) mount -o remount,bind,ro "$dir" ;;
	esac
done
mount -t tmpfs tmpfs /tmp
shift
for dir in /etc /home /root /usr/local/bin /var/lib; do
	if touch "$dir/tried" 2>/dev/null; then echo "$dir can be written" >&2; exit 9; fi
done
cd /
exec setpriv --no-new-privs env -i "$@"
`

// unit is what the unit of docs/mdm says, by key.
func unit(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("../../../docs/mdm/gate-sync.service")
	if err != nil {
		t.Fatal(err)
	}
	says := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(key, "#") {
			says[key] = value
		}
	}
	return says
}

// through answers as a proxy that leads each connection to one server.
func through(t *testing.T, asked *[]string, to string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.Method+" "+r.Host)
		server, err := net.Dial("tcp", to)
		if err != nil {
			t.Error(err)
			return
		}
		w.WriteHeader(http.StatusOK)
		client, begun, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		go func() { io.Copy(server, begun); server.Close() }() // it may have begun before
		go func() { io.Copy(client, server); client.Close() }()
	})
}

// TestUnit runs the unit of docs/mdm in its sandbox, on a machine with an account that
// has a log: the log arrives, by the proxy that the environment names.
func TestUnit(t *testing.T) {
	says := unit(t)
	for key, want := range map[string]string{
		"ProtectHome": "read-only", "ProtectSystem": "strict", "PrivateTmp": "yes", "NoNewPrivileges": "yes", "StateDirectoryMode": "0700",
	} {
		if says[key] != want {
			t.Errorf("%s=%s, and the sandbox of this test is that of %s", key, says[key], want)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("only root mounts, and starts processes of other accounts: run this test as root")
	}
	if err := exec.Command("unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/tmp").Run(); err != nil {
		t.Skip("no mounts can be made here: ", err)
	}
	var got collected
	collector := httptest.NewTLSServer(&got)
	defer collector.Close()
	var asked []string
	proxy := httptest.NewServer(through(t, &asked, collector.Listener.Addr().String()))
	defer proxy.Close()

	base := machineDirs(t)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("etc/gate/ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: collector.Certificate().Raw})))
	write("etc/gate/token", "t0ken\n") // for root alone
	write("etc/gate/settings.json", `{"decisionLogs": {"url": "https://example.com/logs", "ca": "/etc/gate/ca.pem", "token_file": "/etc/gate/token"}}`)

	env := []string{"HTTPS_PROXY=" + proxy.URL, "GODEBUG=x=1", "PATH=" + os.Getenv("PATH")}
	env = slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(strings.Fields(says["UnsetEnvironment"]), name)
	})
	cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "sh", "-c", sandbox, "sh", base)
	cmd.Args = append(append(append(cmd.Args, env...), strings.Fields(says["ExecStart"])...), "--now")
	cmd.Env = append(os.Environ(), "STATE="+says["StateDirectory"], "WRITABLE="+says["ReadWritePaths"])
	out, err := cmd.CombinedOutput()
	if errors.As(err, new(*exec.ExitError)) && cmd.ProcessState.ExitCode() == 9 {
		t.Fatalf("the sandbox is none: %s", out)
	}
	if text := got.take(); text != "ann one" {
		t.Errorf("%s\n%s", text, out)
	}
	if !slices.Equal(asked, []string{"CONNECT example.com:443"}) {
		t.Errorf("asked of the proxy: %q", asked)
	}
	if strings.Contains(string(out), "read-only") || strings.Contains(string(out), "permission denied") {
		t.Errorf("%s", out)
	}
	if _, err := os.Stat(filepath.Join(base, "var/lib/gate/accounts/61300/decisions.sent")); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// machineDirs makes what takes the place of a machine's own directories, with gate, an
// account, and a log of it.
func machineDirs(t *testing.T) string {
	t.Helper()
	base, err := os.MkdirTemp("/tmp", "unit")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	script := `set -e
cd "$1"
chmod 755 .
mkdir -p home/ann root var/lib usr/local/bin
cp -a /etc etc
rm -rf etc/gate
mkdir etc/gate
echo 'ann:x:61300:61300::/home/ann:/bin/sh' >>etc/passwd
cp "$2" usr/local/bin/gate
ln usr/local/bin/gate usr/local/bin/gate-server`
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", base, self).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	home := filepath.Join(base, "home/ann")
	_, state := places.InHome(home)
	if err := core.Append(dirs{State: state}, scopes.Settings{}, audit.Record{ID: "one", Time: time.Now(), User: "ann"}); err != nil {
		t.Fatal(err)
	}
	if err := filepath.Walk(home, func(name string, _ os.FileInfo, err error) error {
		return errors.Join(err, os.Lchown(name, 61300, 61300))
	}); err != nil {
		t.Fatal(err)
	}
	return base
}
