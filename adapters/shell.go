package adapters

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"gate/internal/strictjson"
)

const (
	maxVariable = 64 << 10 // bytes of one value
	maxShell    = 1 << 20  // bytes of all lines
)

// reservedVariables are the beginnings of names that agents and gate give their
// own meaning.
var reservedVariables = []string{"GATE_", "HOOK_", "CLAUDE_", "CLAUDECODE"}

// ShellLines writes variables as lines for a POSIX shell, one for each in
// alphabetical order, to be appended to [Environment.EnvFile]. Nothing of a
// value is anything but text to the shell. refused names, visibly, what cannot
// be a variable: a name that is none or that agents and gate keep for
// themselves, a value with NUL, without UTF-8 or of more than 64 KiB, and what
// is more than 1 MiB together.
func ShellLines(env map[string]string) (lines []byte, refused []string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		line := "export " + name + "='" + strings.ReplaceAll(env[name], "'", `'\''`) + "'\n"
		if !isVariable(name, env[name]) || len(lines)+len(line) > maxShell {
			refused = append(refused, shorten(strictjson.Visible(name), 100))
			continue
		}
		lines = append(lines, line...)
	}
	return lines, refused
}

// isVariable reports that a shell's environment can hold a variable, and that a
// hook may set it.
func isVariable(name, value string) bool {
	for i, r := range name {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	reserved := slices.ContainsFunc(reservedVariables, func(p string) bool { return strings.HasPrefix(name, p) })
	return name != "" && !reserved && len(value) <= maxVariable && utf8.ValidString(value) && !strings.ContainsRune(value, 0)
}
