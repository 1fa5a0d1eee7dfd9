// Command hello is the least that a Go program does: it starts, writes, ends.
package main

import "os"

func main() { os.Stdout.WriteString("{}\n") }
