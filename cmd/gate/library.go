package main

import (
	"io/fs"

	"gate/policies"
)

// library returns the policies that gate brings.
func library() fs.FS { return policies.FS() }
