//go:build !unix

package main

// nonBlocking does nothing here.
const nonBlocking = 0
