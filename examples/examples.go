// Package examples holds the policies of a company that does not exist, with their
// tests, to begin a policy of one's own with.
//
// Start with [FS].
package examples

import (
	"embed"
	"io/fs"
)

//go:embed company
var company embed.FS

// Company is the package that all examples are in.
const Company = "company"

// FS holds a directory for each example, named as the last part of its package.
func FS() fs.FS {
	files, err := fs.Sub(company, Company)
	if err != nil {
		return company // the name is a valid one
	}
	return files
}
