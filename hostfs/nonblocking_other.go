//go:build !unix

package hostfs

// nonBlocking does nothing here.
const nonBlocking = 0
