package audit

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"gate/internal/hostfs"
)

// Follow yields the records that are written from now on, across rotation, and
// errors as [History.Oldest] does. It looks for them whenever something comes
// from tick, and ends when tick is closed. "Now" is the call of Follow, not of
// the iterator.
func (h *History) Follow(tick <-chan time.Time) iter.Seq2[Record, error] {
	f := follower{path: h.Path()}
	if h.dir != "" {
		f.begin()
	}
	return func(yield func(Record, error) bool) {
		defer f.close()
		for range tick {
			if h.dir != "" && !f.look(yield) {
				return
			}
		}
	}
}

// A follower reads what is added to a file, and the next file of the same name.
type follower struct {
	path string
	file *os.File // nil: it is not there yet
	at   int64    // what was read, in bytes
	rest []byte   // the beginning of a line that is not whole yet
	long bool     // it is too long, and its beginning is gone
}

// begin opens the file at its end.
func (f *follower) begin() {
	if f.open(f.path) {
		if info, err := f.file.Stat(); err == nil {
			f.at = info.Size()
		}
	}
}

func (f *follower) open(name string) bool {
	file, err := openRecords(name)
	if err != nil {
		return false
	}
	f.take(file)
	return true
}

// take reads a file from its beginning on.
func (f *follower) take(file *os.File) {
	f.close()
	f.file, f.at, f.rest, f.long = file, 0, nil, false
}

func (f *follower) close() {
	if f.file != nil {
		f.file.Close()
		f.file = nil
	}
}

// look yields what there is. The file that was renamed is read to its end
// before the new one is opened.
func (f *follower) look(yield func(Record, error) bool) bool {
	if f.file == nil && !f.open(f.path) {
		return true
	}
	for {
		if !f.read(yield) {
			return false
		}
		now, err := os.Lstat(f.path)
		if err != nil {
			return true // it is being renamed just now
		}
		if old, err := f.file.Stat(); err == nil && os.SameFile(now, old) {
			return true
		}
		if !f.read(yield) { // what was written between the last read and the renaming
			return false
		}
		if !f.advance() {
			return true
		}
	}
}

// advance opens the file that was begun after the open one. Between finding its name
// and opening it, it may be renamed, and another file has the name: then it is looked
// for again.
func (f *follower) advance() bool {
	for range maxFiles {
		file, err := openRecords(f.next())
		if err != nil {
			return false // it is being renamed just now
		}
		got, err := file.Stat()
		want, wantErr := os.Lstat(f.next())
		if err == nil && wantErr == nil && os.SameFile(got, want) {
			f.take(file)
			return true
		}
		file.Close()
	}
	return false
}

// next is the file that was begun after the open one, which has another name by
// now.
func (f *follower) next() string {
	old, err := f.file.Stat()
	newer := f.path
	missing := 0 // while files are renamed, one may be
	for i := 1; err == nil && missing < 2 && i <= maxFiles; i++ {
		name := fmt.Sprintf("%s.%d", f.path, i)
		info, err := os.Lstat(name)
		if err != nil {
			missing++
			continue
		}
		if os.SameFile(info, old) {
			return newer
		}
		newer = name
	}
	return f.path
}

// read yields the whole lines that were added.
func (f *follower) read(yield func(Record, error) bool) bool {
	if info, err := f.file.Stat(); err == nil && info.Size() < f.at {
		f.at, f.rest, f.long = 0, nil, false // somebody emptied it
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := f.file.ReadAt(buf, f.at)
		f.at += int64(n)
		for part := buf[:n]; len(part) > 0; {
			i := bytes.IndexByte(part, '\n')
			if i < 0 {
				f.add(part)
				break
			}
			f.add(part[:i])
			part = part[i+1:]
			if !f.end(yield) {
				return false
			}
		}
		if err == io.EOF {
			return true
		}
		if err != nil {
			return yield(Record{}, fmt.Errorf("%s: %w", f.path, hostfs.Reason(err)))
		}
	}
}

func (f *follower) add(part []byte) {
	if len(f.rest)+len(part) > MaxRecord {
		f.rest, f.long = nil, true
	}
	if !f.long {
		f.rest = append(f.rest, part...)
	}
}

// end yields the line that is whole now.
func (f *follower) end(yield func(Record, error) bool) bool {
	line, size := f.rest, int64(len(f.rest))
	if f.long {
		size = MaxRecord + 1
	}
	f.rest, f.long = nil, false
	return yieldLine(line, size, &TornError{File: f.path, Offset: f.at}, yield)
}
