package artifact

import "syscall"

func timesOf(st *syscall.Stat_t) (modified, changed int64) { return st.Mtim.Nano(), st.Ctim.Nano() }
