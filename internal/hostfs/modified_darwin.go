package hostfs

import "syscall"

func changed(stat *syscall.Stat_t) *syscall.Timespec { return &stat.Ctimespec }

func modified(stat *syscall.Stat_t) *syscall.Timespec { return &stat.Mtimespec }
