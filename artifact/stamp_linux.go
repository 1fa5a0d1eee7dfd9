package artifact

import "golang.org/x/sys/unix"

// openDir opens a directory to look into it, which takes no leave to list it.
const openDir = unix.O_PATH
