// Package repository takes over into a git repository what a program made in a layer over it.
//
// A confined program sees a repository's directory with a layer over it, where it can change
// all of it. The repository itself stays as it is until the program has ended. [Look] says
// what it is before, and [Base.TakeOver] takes over what lists here name as plain data:
// objects, refs, HEAD, the index, logs and some texts. It starts no git, follows no symbolic
// link, and believes nothing that the layer says. It neither makes the layer nor removes
// it: internal/confine does.
package repository

// A Part is a directory in which git keeps what belongs to one set of files: that of a
// repository, of a worktree, or of a submodule.
type Part struct {
	Dir    string // below the repository's; "" for its own
	Common string // the Part that has its refs and objects; its own Dir where it has them
	Work   string // where its files lie, absolute; "" where that is not known
}
