package session_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gate/internal/session"
)

// An orchestrator tells a running agent something: it reaches the agent with
// its next call of the tool.
func ExampleMemory_Inject() {
	dir, err := os.MkdirTemp("", "state")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	store := session.Store{Dir: filepath.Join(dir, "sessions")}
	key := session.Key{Agent: "claude", Session: "0f3a"}
	err = store.Update(context.Background(), key, func(m *session.Memory) error {
		n, err := m.Inject(session.Injection{Text: "The other team is done; merge first.", Matcher: "Bash"}, time.Now())
		fmt.Println("number", n)
		return err
	})
	fmt.Println(err)
	// Output:
	// number 1
	// <nil>
}
