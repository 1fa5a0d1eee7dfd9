package artifact

import "golang.org/x/sys/unix"

// openDir opens a directory to look into it.
const openDir = unix.O_RDONLY

func (v view) look(name string) (record, error) { return v.lookAt(name) }
