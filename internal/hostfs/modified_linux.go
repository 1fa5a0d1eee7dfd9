package hostfs

import "syscall"

func modified(stat *syscall.Stat_t) *syscall.Timespec { return &stat.Mtim }
