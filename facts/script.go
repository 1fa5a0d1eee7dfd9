package facts

import (
	"path"
	"slices"
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
	out, full := c.walker.out, c.full
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
	return slices.DeleteFunc(found, func(e hook.FactEffect) bool { return doubtful(e) && !decoded(e) })
}

// doubtful reports an effect of a program that may be no such thing.
func doubtful(e hook.FactEffect) bool {
	where, has := e.Attrs["path"]
	return e.Kind == "exec.code" || has && where == nil
}

// decoded reports code that somebody made unreadable.
func decoded(e hook.FactEffect) bool { return e.Kind == "exec.code" && e.Attrs["decoded"] == true }

// asProgram judges the text of a file as the program that it is: by what it
// surely does. What else it may do is as unknown as it is of any program, whether
// a shell is told to run the file or the file is called by its name. Code that is
// hidden in it is no program's.
func (w *walker) asProgram(judge func()) {
	out := w.out
	opaque, unknown, effects, full := out.Opaque, len(out.Unknown), len(out.Effects), w.full
	judge()
	if slices.ContainsFunc(out.Effects[effects:], decoded) {
		return
	}
	out.Opaque, out.Unknown, w.full = opaque, out.Unknown[:unknown], full
	out.Effects = append(out.Effects[:effects], slices.DeleteFunc(out.Effects[effects:], doubtful)...)
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
