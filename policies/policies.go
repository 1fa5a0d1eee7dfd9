// Package policies holds gate's own policies: the embedded library.
//
// They are data. Below gate/ stands one directory a policy, in it the Rego file
// and its tests, and gate/lib is data.gate.lib, the helpers that every source
// may use. docs/policies has a page for each. The package decides nothing and
// knows no engine. Start with [FS]: give it to load.Rego for the policies (as a
// source with Library set) and to load.Lib for the helpers, or take [Plan], which
// says the same of the policies.
package policies

import (
	"embed"
	"io/fs"
)

//go:embed gate
var files embed.FS

//go:embed library.snapshot
var snapshot string

// snapshotFile is where the directory of this package keeps what Snapshot
// returns.
const snapshotFile = "library.snapshot"

// Snapshot returns what rego.Snapshot made of FS, so that a program need not
// compile a policy to ask it. TestIndexSnapshot keeps it true.
func Snapshot() string { return snapshot }

//go:embed library.plan
var plan string

// planFile is where the directory of this package keeps what Plan returns.
const planFile = "library.plan"

// Plan returns the compiled form of FS, for artifact.Open, so that a program
// which cannot compile policies can ask them. TestIndexPlan keeps it true.
func Plan() string { return plan }

// FS returns the library's files: policies, helpers and their tests. Package
// a.b.c stands in a/b/c/c.rego, gate.lib in gate/lib/lib.rego.
func FS() fs.FS { return files }
