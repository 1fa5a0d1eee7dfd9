// Package build compiles policies to plans, with OPA.
//
// OPA compiles and checks a source's policies and plans them; this package
// writes its plan as byte code, in the form that engine/plan runs. What a plan
// cannot do is known here: such policies are left to OPA, each with the reason.
// Start with [Policies].
package build

import (
	"maps"
	"slices"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
