package thin

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gate/internal/places"
)

// The programs that are handed calls.
const (
	gate     = "gate"      // answers whatever there is
	gateRego = "gate-rego" // has OPA
)

// handOver has a program beside this one answer in its place, with the same
// flags, and with the event on standard input where it was read. It returns
// only to say why that cannot be.
func (a *answer) handOver(event []byte, spent time.Duration) error {
	args := os.Args[1:]
	if event != nil {
		args = append(slices.Clip(args), "--spent="+spent.String())
	}
	if a.next == gateRego {
		startBeside(gateRego, event, args...) // which need not be there: gate does as well
	}
	return startBeside(gate, event, append([]string{"hook"}, args...)...)
}

// startBeside makes another program of gate's of this process. It returns only with
// an error.
func startBeside(name string, event []byte, args ...string) error {
	program, err := beside(name)
	if err == nil {
		err = fmt.Errorf("%s: %w", program, replace(program, append([]string{program}, args...), event))
	}
	return err
}

// beside finds a program where nobody else may put another one in its place.
func beside(name string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	program := places.Beside(self, name)
	info, err := os.Stat(program)
	if err == nil {
		err = places.UserFiles().Check(program, info)
	}
	if err != nil {
		return "", fmt.Errorf("%s must lie beside %s: %w", program, filepath.Base(self), err)
	}
	return program, nil
}
