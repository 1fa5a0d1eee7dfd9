package setting

import (
	"strings"

	"gate/hook"
)

// A Source is one place hooks come from: a bundle, a directory, a plugin, a
// skill. It has one scope and one authority, whatever its files say.
type Source struct {
	Name      string // "library", "managed:acme", "trial:acme", "user", "project", "plugin:fmt"
	Scope     hook.Scope
	Authority hook.Authority
	Library   bool         // the embedded library
	Trusted   bool         // a person trusted its content at a terminal
	Tightens  bool         // its rewrites and consults never count: hooks that are registered while a session runs
	Digest    string       // of its content
	Hooks     []*hook.Hook // in the order of files and lines
	Modules   []Module     // the Rego text that the Rego hooks stand in
	Faults    []hook.Fault // what could not be loaded
	Notes     []string     // what was guessed about its files, or can do nothing, each as file:line: text; not part of the compiled form
	HookFiles []HookFile   // that were read, other than Rego; not part of the compiled form

	// Data is what its policies find below data, besides parameters and the
	// library: a tree of JSON. Sources do not see each other's.
	Data map[string]any

	// Bundle says which signed bundle the source is; nil for others. A trial only
	// says what it would have done.
	Bundle *hook.Bundle

	// Order ranks sources of managed authority: the machine's own files have 0,
	// bundles 1 and above. A later one loosens nothing that an earlier one says.
	Order int

	// Params are the values that settings give to policies' parameters, by
	// package; a missing one has its declared default.
	Params map[string]map[string]any

	strict bool // settings make its faults close
}

// A HookFile is a file of a source that holds hooks, and how it was read.
type HookFile struct {
	File     string
	Dialect  hook.Dialect // "" is gate's own
	Hooks    int          // that came of it; none where its own switches leave all out
	Parallel bool         // it has the handlers of its source run side by side
}

// A Module is one Rego file of a source.
type Module struct {
	File    string
	Package string // without the leading "data."
	Text    string
}

// Shared reports a package of the library that the policies of every source may import:
// the helpers of gate.lib, and gate.proof, which says what is harmless.
func Shared(pkg string) bool {
	return pkg == "gate.lib" || pkg == "gate.proof" || strings.HasPrefix(pkg, "gate.lib.")
}

// Quiet is the group of the library's policies that only allow: to switch them off
// tightens.
const Quiet = "gate.quiet"
