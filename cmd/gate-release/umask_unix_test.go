//go:build unix

package main

import "syscall"

// narrow has new files be this account's alone, until what it returns is called.
func narrow() func() {
	was := syscall.Umask(0o077)
	return func() { syscall.Umask(was) }
}
