package hookpath

import (
	"slices"
	"strings"
	"testing"
)

// FuzzFlags holds that the quick way to read a command line reads it like the
// other one, and that agent and event are found on one that is wrong.
func FuzzFlags(f *testing.F) {
	for _, line := range []string{
		"--agent claude --event PreToolUse --timeout 10s", "--agent=claude --user-dir=/u", "--agent", "--agent --agent --event", "--timeout -1s", "--timeout 1h --timeout=", "--spent 1ns",
		"--batch --agent x", "--batch=true", "-agent x", "-- --agent x", "x", "--agent=a=b --agent=", "--event= --agent --", "--agent\t x",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		quick, ok := plainFlags(args)
		if !ok {
			parseFlags(args)
			return
		}
		// A flag of the other way's own has it read the whole line.
		slow, err := parseFlags(append(slices.Clone(args), "--batch=false"))
		if err != nil || quick != slow {
			t.Errorf("%q: %+v, and otherwise %+v, %v", args, quick, slow, err)
		}
	})
}
