package hook

// A Move says what kind of secret a call leaves in a file: "" for none, where an earlier
// call had left one.
type Move struct {
	Path string // absolute, with slashes
	What string // as secret.read has it
}
