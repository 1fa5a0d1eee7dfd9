package commands

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// startCollect starts a collector on a port that is free, in the directory fleet, until
// the script ends: collects [flag...]. COLLECT is its address then.
func startCollect(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: collects [flag...]")
	}
	cmd := exec.Command("gate", append([]string{"collect", "--dir", ts.MkAbs("fleet"), "--listen", "127.0.0.1:0"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "HOME="+ts.Getenv("HOME"))
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		cmd.Process.Kill() // nothing, if it has ended
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	ts.Check(err)
	ts.Setenv("COLLECT", "http://"+regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(line))
}

// fetchCollect asks the collector with a token, and writes what it answers: fetches FILE
// TOKENFILE PATH. With ! the answer must be no success.
func fetchCollect(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: fetches file tokenfile path")
	}
	token, _, _ := strings.Cut(ts.ReadFile(args[1]), "\n")
	r, err := http.NewRequest("GET", ts.Getenv("COLLECT")+args[2], nil)
	ts.Check(err)
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
	if (res.StatusCode != 200) != neg {
		ts.Fatalf("%s: %s: %s", args[2], res.Status, data)
	}
}
