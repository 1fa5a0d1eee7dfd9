package confine

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// portCalls are those of this architecture alone that are answered with EPERM: none.
var portCalls []uint32
