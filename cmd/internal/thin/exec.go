package thin

import (
	"fmt"
	"os"
	"time"

	"gate/cmd/internal/places"
)

// handOver has the gate beside this program answer in its place, with the same
// flags, and with the event on standard input where it was read. It returns
// only to say why that cannot be.
func handOver(event []byte, spent time.Duration) error {
	gate, err := beside()
	if err != nil {
		return err
	}
	args := append([]string{gate, "hook"}, os.Args[1:]...)
	if event != nil {
		args = append(args, "--spent="+spent.String())
	}
	return fmt.Errorf("%s: %w", gate, replace(gate, args, event))
}

// beside finds gate, where nobody else may put another program in its place.
func beside() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	gate := places.Beside(self, "gate")
	info, err := os.Stat(gate)
	if err == nil {
		err = places.UserFiles().Check(gate, info)
	}
	if err != nil {
		return "", fmt.Errorf("%s must lie beside gate-hook: %w", gate, err)
	}
	return gate, nil
}
