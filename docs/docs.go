// Package docs holds what programs read of the documents: data that a page shows and gate
// answers with. The pages themselves are for people. Its one function is all of it.
package docs

import _ "embed"

//go:embed hosts.json
var hosts []byte

// Hosts is hosts.json: what agents' clients did with the answers of hooks.
// internal/conformance/drive reads it.
func Hosts() []byte { return hosts }
