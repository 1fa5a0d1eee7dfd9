package facts

import (
	"maps"
	"path"
	"strings"

	"gate/hook"
)

// looksInto returns what a program surely does that is a small, readable shell
// script: ./scripts/clean.sh. The rest of it is as unknown as what any program
// does, and asking about that would be asking about every build script.
func (c *call) looksInto(file string) []hook.FactEffect {
	if file == "" || c.s.remote || c.running("script "+file) {
		return nil
	}
	text, err := c.world.read(file, maxScript)
	if err != nil || !isShellScript(file, text) {
		return nil
	}
	out, full := c.walker.out, maps.Clone(c.full)
	c.walker.out = &hook.Facts{Shell: &hook.Shell{}}
	c.active = append(c.active, frame{name: "script " + file, state: c.s})
	s := c.s.clone()
	name := literalField(file)
	s.zero, s.params, s.args = &name, c.args(), true
	c.nested++
	c.script(s, text, c.stdin)
	c.nested--
	c.active = c.active[:len(c.active)-1]
	found := c.walker.out.Effects
	c.walker.out, c.full = out, full // a limit that is reached later is said then
	var sure []hook.FactEffect
	for _, e := range found {
		if where, has := e.Attrs["path"]; e.Kind != "exec.code" && (!has || where != nil) {
			sure = append(sure, e)
		}
	}
	return sure
}

// isShellScript goes by the first line, else by the name: bash runs a file
// without one itself.
func isShellScript(file, text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	words, ok := strings.CutPrefix(first, "#!")
	if !ok {
		return strings.HasSuffix(file, ".sh") || strings.HasSuffix(file, ".bash")
	}
	for _, w := range strings.Fields(words) {
		switch path.Base(w) {
		case "sh", "bash", "dash", "ksh":
			return true
		}
	}
	return false
}
