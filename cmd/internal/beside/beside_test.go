package beside

import (
	"os"
	"strings"
	"testing"
)

// TestBecomeItself holds that a program which lies under the name of the one that it
// would become does not start itself again and again.
func TestBecomeItself(t *testing.T) {
	was := os.Args[0]
	defer func() { os.Args[0] = was }()
	for name, refused := range map[string]bool{"/opt/gate-server": true, "gate-server.exe": true, "/opt/gate": false} {
		os.Args[0] = name
		if err := Become("gate-server", nil, nil); err == nil || strings.Contains(err.Error(), "under that name") != refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
