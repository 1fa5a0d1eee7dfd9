package setting

import (
	"fmt"
	"slices"
	"strings"

	"gate/hook"
)

// A Level is the most that a hook may bring about. It only ever takes away: a
// hook at [LevelDeny] does what it says, and one that asks never denies.
type Level string

const (
	LevelNone    Level = ""        // nobody set one: as written
	LevelOff     Level = "off"     // not run
	LevelRecord  Level = "record"  // run, and what it would have done is in the decision's steps; nothing else happens
	LevelWarn    Level = "warn"    // denials, asks and faults become warnings; nothing is allowed or rewritten
	LevelConfine Level = "confine" // asks become calls that run confined, denials and faults that close become asks
	LevelAsk     Level = "ask"     // denials and faults that close become asks
	LevelDeny    Level = "deny"    // as written
)

// Levels returns the levels, the laxest first.
func Levels() []Level {
	return []Level{LevelOff, LevelRecord, LevelWarn, LevelConfine, LevelAsk, LevelDeny}
}

// ParseLevel reads a level's name.
func ParseLevel(s string) (Level, error) {
	if l := Level(s); slices.Contains(Levels(), l) {
		return l, nil
	}
	var names []string
	for _, l := range Levels() {
		names = append(names, string(l))
	}
	return LevelNone, fmt.Errorf("%q is not a level; there are %s", s, strings.Join(names, ", "))
}

// Cap returns what is left of an effect at this level.
func (l Level) Cap(e hook.Effect) hook.Effect {
	switch l {
	case LevelOff, LevelRecord, LevelWarn:
		return hook.Pass
	case LevelConfine, LevelAsk:
		return min(e, hook.Ask)
	}
	return e
}

// strictness orders levels; nothing said is as strict as deny.
func (l Level) strictness() int {
	if i := slices.Index(Levels(), l); i >= 0 {
		return i
	}
	return len(Levels()) - 1
}

// covers reports whether a key of policies, exceptions or delegate means a
// hook: its id, or a group that it belongs to, such as gate.git for
// gate.git.push.
func Covers(key, id string) bool {
	return key == id || strings.HasPrefix(id, key) && id[len(key)] == '.'
}
