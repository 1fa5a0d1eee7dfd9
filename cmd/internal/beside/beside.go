// Package beside replaces this process by another program of gate.
//
// Each program links only what its own calls need, and hands over calls that need more.
// The package does not know which calls those are; its callers do. Start with [Become].
package beside

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gate/internal/places"
)

// Become has the program of a name go on in the place of this process, with the same
// environment and streams. Where event is not nil, it is put back on standard input.
// The program must lie in this one's directory, where nobody else may put another in
// its place. Become returns only with an error.
func Become(name string, args []string, event []byte) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == name {
		return fmt.Errorf("%s is another program under that name", os.Args[0]) // which would start itself again and again
	}
	program := places.Beside(self, name)
	info, err := os.Stat(program)
	if err == nil {
		err = places.UserFiles().Check(program, info)
	}
	if err != nil {
		return fmt.Errorf("%s must lie beside %s: %w", program, filepath.Base(self), err)
	}
	return fmt.Errorf("%s: %w", program, replace(program, append([]string{program}, args...), event))
}
