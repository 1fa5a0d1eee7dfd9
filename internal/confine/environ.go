package confine

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"gate/internal/secret"
)

// leads are variables that lead to what is outside: sockets of agents and servers,
// programs that ask for passwords, directories of a session, and proxies.
const leads = " SSH_AUTH_SOCK SSH_AGENT_PID SSH_CONNECTION GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS DOCKER_HOST CONTAINER_HOST " +
	"XDG_RUNTIME_DIR WAYLAND_DISPLAY DISPLAY XAUTHORITY TMUX STY KRB5CCNAME GNOME_KEYRING_CONTROL SSH_ASKPASS GIT_ASKPASS SUDO_ASKPASS " +
	"VSCODE_IPC_HOOK_CLI VSCODE_GIT_IPC_HANDLE VSCODE_GIT_ASKPASS_MAIN LD_PRELOAD LD_AUDIT " +
	"HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY "

// environ is what a confined program gets of an environment. Of several values of a
// variable the last one counts.
func environ(p Profile, env []string, temp string) []string {
	values := map[string]string{}
	for _, entry := range env {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" && keeps(p, name, value) {
			values[name] = value
		} else {
			delete(values, name)
		}
	}
	values["TMPDIR"] = temp
	for _, name := range []string{"TMP", "TEMP", "TEMPDIR"} {
		if _, ok := values[name]; ok {
			values[name] = temp
		}
	}
	if len(p.Hosts) > 0 {
		for name := range strings.FieldsSeq("HTTP_PROXY HTTPS_PROXY ALL_PROXY") {
			values[name], values[strings.ToLower(name)] = exitURL, exitURL
		}
		values["NO_PROXY"], values["no_proxy"] = ownNames, ownNames
		values["NODE_USE_ENV_PROXY"] = "1" // node looks at the others only then, from version 24 on
	}
	var out []string
	for name, value := range values {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// exitPort is where the proxy listens in the namespace. No port is given out by chance
// from there on.
const exitPort = 61080

// exitURL is what programs are told of the proxy, and ownNames what they reach without it.
var exitURL = "http://127.0.0.1:" + strconv.Itoa(exitPort)

const ownNames = "localhost,127.0.0.1,::1"

// tempDir is where a confined program has a directory of its own for what it leaves.
const tempDir = "/tmp"

// keeps reports that a variable holds no secret, leads nowhere, and is of those that the
// profile names.
func keeps(p Profile, name, value string) bool {
	switch {
	case secret.Variable(name), strings.Contains(leads, " "+strings.ToUpper(name)+" "):
		return false
	case !p.Keeps(name):
		return false
	case name == "PATH":
		return true
	}
	return !slices.ContainsFunc(secret.Find(name+"="+value), func(s secret.Place) bool { return s.Grade >= secret.Named })
}

// lookIn lists where a program of a name may lie, in the order of PATH.
func lookIn(name string, env []string, dir string) (files []string) {
	if strings.Contains(name, "/") {
		if !strings.HasPrefix(name, "/") {
			name = path.Join(dir, name)
		}
		return []string{name}
	}
	for _, entry := range env {
		list, ok := strings.CutPrefix(entry, "PATH=")
		for at := range strings.SplitSeq(list, ":") {
			if ok && strings.HasPrefix(at, "/") { // a relative one would depend on where the program is started
				files = append(files, path.Join(at, name))
			}
		}
	}
	return files
}
