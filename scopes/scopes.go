// Package scopes holds the ordered set of hooks: which sources there are, who
// stands above whom, what settings leave of them, and in which order hooks run.
//
// It holds pure values and reads no files: internal/load does that, and the
// engine runs what [Set.For] yields. Start with [New].
package scopes
