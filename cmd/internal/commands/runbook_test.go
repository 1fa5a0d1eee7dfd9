package commands

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"gate/internal/sealed"
)

// TestRunbook follows docs/admin.md: it writes the files that the page shows,
// runs its commands in their order, and wants the lines that stand under each.
func TestRunbook(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "admin.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("/etc/gate", "managed", "/srv/policy", "srv", "https://policy.acme.example", "http://$HOST").Replace(string(page))
	var script, files strings.Builder
	script.WriteString("mkdir srv root\nserve HOST srv\n")
	commands := 0
	for _, m := range regexp.MustCompile("(?ms)(?:^`([^`]+)`:\n\n)?^```([a-z]+)\n(.*?)^```$|^##+ ([^\n]+)").FindAllStringSubmatch(text, -1) {
		file, language, body := m[1], m[2], m[3]
		script.WriteString(others[m[4]])
		switch {
		case file != "":
			kept := fmt.Sprintf("%d_%s", script.Len(), strings.ReplaceAll(file, "/", "_")) // a file may be there twice
			files.WriteString("-- " + kept + " --\n" + body)
			script.WriteString("mkdir " + filepath.ToSlash(filepath.Dir(file)) + "\ncp " + kept + " " + file + "\nexpand " + file + "\n")
		case language == "console":
			for _, c := range strings.Split("\n"+body, "\n$ ")[1:] {
				line, want, _ := strings.Cut(c, "\n")
				step(&script, line, want)
				script.WriteString(others[strings.TrimSpace(want)])
				commands++
			}
		}
	}
	if commands < 60 {
		t.Fatalf("only %d commands on the page", commands)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "runbook.txtar"), []byte(script.String()+"\n"+files.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: dir, RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("USERPROFILE", filepath.Join(e.WorkDir, "home"))
			e.Setenv("TEST_ROOT", filepath.Join(e.WorkDir, "root")) // what agents' settings of the machine are below
			return os.MkdirAll(filepath.Join(e.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "runs": runs, "serve": startServer, "expand": expand, "sha256sum": digests, "machine": copyMachine},
	})
}

// others is what two more machines do while the keys change, by the heading before
// which or the answer after which they do it: "away" is off for both versions, and
// "once" syncs after the first.
// Before level 2 the machine is a new one, and the server is empty.
var others = map[string]string{
	"Level 2: thresholds, channels, shares, rotation": "rm managed root srv state\nmkdir root srv\n",
	"5. A key holder leaves":                          "machine away\nmachine once\n",
	"srv/keys has every version up to 5; new: 5": `exits 0 sync --now --managed-dir=$WORK/once
stderr 'version 5 of the key set is in force'
stdout '^company: nothing newer than version 3$'
`,
	"The root keys are lost": `exits 0 sync --now --managed-dir=$WORK/once
! stderr 'version 5'
stderr 'version 6 of the key set is in force'
stdout '^company: version 4 is in force, after version 3, signed by release-2$'
exits 0 sync --now --managed-dir=$WORK/away
stderr '(?s)version 5 of the key set is in force.*version 6 of the key set is in force'
stdout '^company: version 4 is in force, after version 3, signed by release-2$'
exits 0 try 'ls' --managed-dir=$WORK/away
cmp away/keys.json keys.json
cmp once/keys.json keys.json
`,
}

// copyMachine makes another machine of the same files.
func copyMachine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: machine name")
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(ts.MkAbs("managed"))))
}

// runs runs gate with the directories of the script, whatever its exit status
// says of the machine that the test runs on.
func runs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: runs command [args...]")
	}
	var exit *exec.ExitError
	if err := ts.Exec("gate", withDirs(ts, args)...); err != nil && !errors.As(err, &exit) {
		ts.Fatalf("gate: %v", err)
	}
}

// digests is sha256sum, which also says what DIGEST7 stands for from then on: the
// digits of company-7.tar.gz.
func digests(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		digest := strings.TrimPrefix(sealed.Digest([]byte(ts.ReadFile(name))), "sha256:")
		ts.Setenv("DIGEST"+regexp.MustCompile(`\d+`).FindString(name), digest)
		fmt.Fprintf(ts.Stdout(), "%s  %s\n", digest, name)
	}
}

// step makes a command of the page, and what it prints, a step of a script.
func step(b *strings.Builder, line, want string) {
	line = strings.TrimPrefix(strings.Replace(line, "mkdir -p ", "mkdir ", 1), "gate ")
	line = regexp.MustCompile(`DIGEST[0-9]`).ReplaceAllString(line, "$${$0}")
	if before, file, ok := strings.Cut(line, " < "); ok {
		line = before
		b.WriteString("stdin " + file + "\n")
	}
	words := strings.Fields(line)
	status := regexp.MustCompile(`(?m)^\((status ([0-9])|any status)\)$`).FindStringSubmatch(want)
	switch {
	case words[0] == "sha256sum":
		b.WriteString(line + "\n")
		return // it says what the digests are
	case words[0] == "cp" || words[0] == "mkdir" || words[0] == "rm":
		b.WriteString(line + "\n")
	case status != nil && status[2] != "":
		b.WriteString("exits " + status[2] + " " + line + "\n")
	case status != nil:
		b.WriteString("runs " + line + "\n")
	default:
		b.WriteString("exits 0 " + line + "\n")
	}
	for l := range strings.Lines(want) {
		l = strings.TrimRight(l, "\n")
		if l == "…" || l == "" || status != nil && l == status[0] {
			continue
		}
		pattern := regexp.QuoteMeta(l)
		pattern = strings.ReplaceAll(pattern, "…", ".*")
		b.WriteString("stdout '" + strings.ReplaceAll(pattern, "'", "''") + "'\n")
	}
}
