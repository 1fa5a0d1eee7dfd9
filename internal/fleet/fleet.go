// Package fleet holds what a machine and a collector of its fleet must agree on: the
// signature of a request ([Sign], [SignedBy]), the reduction of a record to what may leave
// the machine ([Reducer], read back by [ParseSent]), and the document of a machine's status
// ([Status]).
//
// It sends what it writes by a Shipper of internal/audit/ship ([Form], [Reporter]). It stores
// nothing for a collector and decides nothing about calls.
// A machine begins with [Open], a collector with [SignedBy]. docs/fleet.md has the protocol.
package fleet

import (
	"errors"
	"fmt"
	"slices"

	"gate/internal/setting"
)

// Version is that of the protocol: of the signed text, the records as sent and the status.
const Version = 1

// Paths of the protocol, below the address of the collector.
const (
	EnrollPath = "/v1/enroll"
	LogsPath   = "/v1/logs"
	StatusPath = "/v1/status"
)

// A Level says what of a machine's decisions leaves it.
type Level string

const (
	Counts  Level = setting.SendCounts  // no records: the status has counters
	Effects Level = setting.SendEffects // kinds, ids and numbers, no text; the default
	Text    Level = setting.SendText    // as in the log, the home directory and accounts replaced
)

// Levels returns the levels, the one that says least first.
func Levels() []Level { return []Level{Counts, Effects, Text} }

// ParseLevel reads a level's name; "" is [Effects].
func ParseLevel(s string) (Level, error) {
	if s == "" {
		return Effects, nil
	}
	if l := Level(s); slices.Contains(Levels(), l) {
		return l, nil
	}
	return "", fmt.Errorf("%q is no level: there are counts, effects and text", s)
}

// errNoMachine reports a text that names no machine.
var errNoMachine = errors.New("a machine is named by 32 hexadecimal digits")

// IsMachine reports that a text may name a machine, as sealed.MachineName makes names: file
// names and columns are made of it.
func IsMachine(s string) bool { return len(s) == 32 && isHex(s) }

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
