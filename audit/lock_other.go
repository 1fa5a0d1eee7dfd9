//go:build !unix

package audit

import "os"

// lock always gets the file: a rename of a file that another process has open
// fails here, and the log goes on with the file it has.
func lock(*os.File) bool { return true }
