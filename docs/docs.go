// Package docs holds what programs read of the documents: data that a page shows and gate
// answers with, and samples that gate writes. The pages themselves are for people. Its one
// function is all of it.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed hosts.json mdm
var files embed.FS

// Files has hosts.json: what agents' clients did with the answers of hooks, which
// internal/conformance/drive reads. Its directory mdm has samples for device management,
// which gate fleet init writes.
func Files() fs.FS { return files }
