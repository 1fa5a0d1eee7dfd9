// Package opa is the program gate-rego: package thin, with OPA for the policies
// that no plan holds.
//
// It compiles nothing and reads no policy: what is not to be had from compiled
// forms it hands over, as gate-hook does. Start with [Main].
package opa

import (
	"gate/cmd/internal/thin"
	"gate/engine"
	"gate/engine/rego"
	"gate/scopes"
)

// heapLimit is where the collector starts to work. It lies below what engine/rego
// lets one policy use.
const heapLimit = 192 << 20

// Main answers the event on standard input and ends the process, with status 0 or
// 2.
func Main() { thin.Program{OPA: evaluator, HeapLimit: heapLimit}.Main() }

func evaluator(sources []scopes.Source, saved map[string]string, outOfMemory func()) engine.Evaluator {
	return rego.New(nil, sources, rego.WithSaved(saved), rego.WithOutOfMemory(outOfMemory))
}
