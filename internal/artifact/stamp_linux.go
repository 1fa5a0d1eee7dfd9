package artifact

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// openDir opens a directory to look into it, which takes no leave to list it.
const openDir = unix.O_PATH

// look makes the record of a name with a zero byte behind it, as it stands in the
// artifact: thousands of names are neither copied nor kept.
func (v view) look(name string) (record, error) {
	var st unix.Statx_t
	_, _, failed := unix.Syscall6(unix.SYS_STATX, uintptr(v.fd), uintptr(unsafe.Pointer(unsafe.StringData(name))), unix.AT_SYMLINK_NOFOLLOW,
		unix.STATX_BASIC_STATS, uintptr(unsafe.Pointer(&st)), 0)
	if failed != 0 || st.Mask&unix.STATX_BASIC_STATS != unix.STATX_BASIC_STATS {
		return v.lookAt(name) // an old kernel, a sandbox, or an error
	}
	s := Stamp{
		Mode: modeOf(uint32(st.Mode)), Device: unix.Mkdev(st.Dev_major, st.Dev_minor), Inode: st.Ino, UID: st.Uid, GID: st.Gid,
		Modified: nanoseconds(st.Mtime), Changed: nanoseconds(st.Ctime), Size: int64(st.Size),
	}
	if s.Mode.IsDir() {
		s.Size = 0
	}
	return s.record(), nil
}

func nanoseconds(t unix.StatxTimestamp) int64 { return t.Sec*1e9 + int64(t.Nsec) }
