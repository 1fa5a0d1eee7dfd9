package artifact

import (
	"encoding/binary"
	"io/fs"
	"time"
)

// A Stamp is what the file system says about one file or directory without
// opening it. Two equal stamps of one name mean the same content: whoever
// changes a file moves its change time, which nobody can set back.
type Stamp struct {
	Name    string // below the place, with slashes; "." for the place itself
	Missing bool   // nothing has the name; all that follows is zero

	Mode     fs.FileMode
	Size     int64 // of files
	Modified int64 // nanoseconds since 1970
	Changed  int64 // when the file or its inode last changed, in nanoseconds since 1970
	Device   uint64
	Inode    uint64
	UID, GID uint32
}

// Settled reports that the file cannot change any more without another stamp,
// if it was read at a moment: it had last changed so much earlier that the clock
// of the file system must have moved on since.
func (s *Stamp) Settled(read time.Time) bool {
	return s.Missing || time.Unix(0, s.Changed+grain(s.Changed, s.Modified)).Before(read)
}

// grain is how far apart two changes must be for their times to differ, in
// nanoseconds.
func grain(changed, modified int64) int64 {
	const second = int64(time.Second)
	if changed%second == 0 && modified%second == 0 {
		return 2 * second // a file system without fractions
	}
	return int64(50 * time.Millisecond) // Linux and macOS keep what the kernel's tick says
}

// A record is a stamp without its name, as it stands in a file: what is there now
// is compared with it as it is.
type record [3*4 + 5*8]byte

// missingMode stands in the record of a name that nothing has.
const missingMode = ^uint32(0)

func (s *Stamp) record() (r record) {
	mode := uint32(s.Mode)
	if s.Missing {
		mode = missingMode
	}
	to := r[:0]
	for _, n := range []uint32{mode, s.UID, s.GID} {
		to = binary.LittleEndian.AppendUint32(to, n)
	}
	for _, n := range []uint64{uint64(s.Size), s.Device, s.Inode, uint64(s.Modified), uint64(s.Changed)} {
		to = binary.LittleEndian.AppendUint64(to, n)
	}
	return r
}

// settled is [Stamp.Settled] at a moment in nanoseconds since 1970.
func (r *record) settled(read int64) bool {
	const modified, changed = len(record{}) - 16, len(record{}) - 8
	if binary.LittleEndian.Uint32(r[:]) == missingMode {
		return true
	}
	at := int64(binary.LittleEndian.Uint64(r[changed:]))
	return at < read-grain(at, int64(binary.LittleEndian.Uint64(r[modified:])))
}
