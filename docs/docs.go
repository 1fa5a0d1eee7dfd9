// Package docs holds what programs read of the documents: data that a page shows and gate
// answers with, and samples that gate writes. The pages themselves are for people. Its two
// functions are all of it.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed hosts.json
var hosts []byte

// Hosts is hosts.json: what agents' clients did with the answers of hooks.
// internal/conformance/drive reads it.
func Hosts() []byte { return hosts }

//go:embed mdm
var samples embed.FS

// MDM are the files of the directory mdm: samples for device management, which enrol a
// machine and have it sync from then on. gate fleet init writes them.
func MDM() fs.FS {
	files, err := fs.Sub(samples, "mdm")
	if err != nil { // the name is a valid one
		return samples
	}
	return files
}
