// Package syntax is the parser of [mvdan.cc/sh/v3/syntax], file by file as it
// stands there, without what prints and simplifies: that package imports one that
// compiles regular expressions before main, for the sake of printing, in each
// start of a program that has it in it. gate-hook is started with every call, and
// that was a fortieth of the time that a call took.
//
// Nothing is ours here but this comment, and nothing is to be changed: a test holds
// the files against the module that go.mod requires. After that has changed,
//
//	go test ./facts/syntax -update
//
// takes its files over. Start with [NewParser].
package syntax
