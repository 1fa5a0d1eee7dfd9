package consent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing/fstest"
	"time"

	"gate/hook"
	"gate/internal/consent"
)

// A person trusts a project's handlers; a change of one byte ends it.
func Example() {
	state, _ := os.MkdirTemp("", "gate")
	project, _ := os.MkdirTemp("", "project")
	defer os.RemoveAll(state)
	defer os.RemoveAll(project)
	store := consent.Store{Dir: filepath.Join(state, "consent")}
	origin, _ := consent.OriginOf(hook.Project, project)
	files := fstest.MapFS{"hooks.toml": {Data: []byte("…")}, "hooks/check.sh": {Data: []byte("exit 0"), Mode: 0o755}}

	// In gate trust: show what there is, and let a person say so.
	_, digest, _ := consent.Snapshot(files)
	witness, err := consent.Confirm(terminal(time.Now()), "Trust the handlers of this project?")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(store.Trust(witness, origin, digest))

	// In the hook path.
	fmt.Println(store.CheckTrust(origin, digest))
	files["hooks/check.sh"].Data = []byte("exit 1")
	_, digest, _ = consent.Snapshot(files)
	fmt.Println(store.CheckTrust(origin, digest))
	// Output:
	// <nil>
	// <nil>
	// the source has changed since it was trusted
}

// A decision asks, a person approves it, and the same call passes once.
func ExampleStore_Use() {
	state, _ := os.MkdirTemp("", "gate")
	defer os.RemoveAll(state)
	store := consent.Store{Dir: filepath.Join(state, "consent")}
	rules := consent.Approvals{Enabled: true}
	c := push(noon)

	// In the hook path, when the decision asks.
	if err := store.Use(&c.ev, &c.d, rules); err != nil {
		fmt.Println(err)
		store.AddPending(&c.ev, &c.d, rules)
	}

	// In gate approve k3v9qx.
	waiting, _ := store.Pending("k3v9qx")
	fmt.Print(waiting)
	witness, _ := consent.Confirm(terminal(noon), waiting.String())
	until, err := store.Approve(witness, waiting, rules, nil)
	fmt.Println(until.Format(time.TimeOnly), err)

	// In the hook path again, twice.
	fmt.Println(store.Use(&c.ev, &c.d, rules))
	fmt.Println(store.Use(&c.ev, &c.d, rules))
	// Output:
	// nobody has approved this call
	// "claude" calls "Bash"
	//   with     {"command":"git push origin main","description":"publish"}
	//   in       "/home/ada/site"
	//   because  "pushes to main" ("acme.push")
	// 12:10:00 <nil>
	// <nil>
	// the approval of this call has been used; it counts once
}
