// Package audit is gate's decision log: one JSON record a line, in the form of
// OPA's decision log, in a file that only its user can read.
//
// It takes secrets out before it writes, and bounds what it holds of a call
// ([Record.Keep]); an empty line means nothing. Records form a chain: each has
// the digest of the one before, so that [History.Verify] finds what is missing
// or was changed. Whoever may write the log may also write it anew; it proves
// nothing until it was sent elsewhere, which internal/audit/ship does. A log that cannot
// be written is an error for its caller and nothing else. To write, call
// [Append]; to read, start with [OpenHistory].
//
// docs/architecture.md has the rules that it keeps: 9 and 12.
package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gate/internal/hostfs"
)

// FileName is the file in the log's directory that records go to. Older
// records are in FileName.1, FileName.2 and so on, the newest first.
const FileName = "decisions.jsonl"

// Options bound a log. A zero field means its default.
type Options struct {
	Size int64 // bytes of one file before the next is begun, default 8 MiB
	Keep int   // older files that are kept, default 4

	// Unshipped is how many older files are kept while some of their records
	// were not sent (see [Cursor]); less than Keep means Keep, as where nothing
	// is to be sent.
	Unshipped int

	Wait time.Duration // for processes that append at the same time, default 5 s
}

func (o Options) withDefaults() Options {
	if o.Size <= 0 {
		o.Size = 8 << 20
	}
	if o.Keep <= 0 {
		o.Keep = 4
	}
	if o.Wait <= 0 {
		o.Wait = 5 * time.Second
	}
	return o
}

// Append adds a record to the log in dir, behind the last one, of whichever
// process; any number of them and of goroutines may append at once. dir is made,
// for its owner only, if it does not exist. A directory or file that somebody
// else can write, that is a link, or that is nothing to append to is refused. A
// record is there as a whole or not at all; where the end of the chain could not
// be noted, the next Append finds it.
func Append(dir string, o Options, r Record) error {
	if err := prepare(dir); err != nil {
		return fmt.Errorf("%s: %w", dir, hostfs.Reason(err))
	}
	if r.Key == "" {
		r.Key = newKey(r.ID)
	}
	r.Place = &Place{Log: unplaced, Seq: 1}
	line := r.JSON() // before the lock: others wait
	l := &log{dir: dir, path: filepath.Join(dir, FileName), options: o.withDefaults()}
	headPath := filepath.Join(dir, headName)
	file, err := lockHead(headPath, os.O_CREATE, l.options.Wait)
	if err != nil {
		return fmt.Errorf("%s: %w", headPath, hostfs.Reason(err))
	}
	defer file.Close() // and with it the lock
	h, known := readHead(file)
	if !known {
		h = recoverHead(dir)
	}
	if err := l.append(line, &h, known); err != nil {
		return fmt.Errorf("%s: %w", l.path, hostfs.Reason(err))
	}
	file.WriteAt(h.encode(), 0) // without it, the next one catches up
	return nil
}

// A log is one that a record is appended to, by the holder of the lock.
type log struct {
	dir     string
	path    string // of the current file
	options Options
	file    *os.File
	size    int64 // of the current file
}

// append adds a line behind the head, which takes it in; known says that the
// head was read and not found anew.
func (l *log) append(line []byte, h *head, known bool) error {
	if err := l.ready(h, known); err != nil {
		return err
	}
	line = placed(line, h.next())
	if err := errors.Join(l.write(line), l.file.Close()); err != nil {
		return err
	}
	h.seq, h.hash, h.size = h.seq+1, digest(line[:len(line)-1]), l.size
	return nil
}

// ready opens the current file, or begins the next where that is full.
func (l *log) ready(h *head, known bool) error {
	err := l.open()
	if err != nil {
		return err
	}
	if known {
		err = h.catchUp(l.file, l.size)
	}
	if err == nil && l.size < l.options.Size {
		return nil
	}
	l.file.Close()
	if err == nil {
		err = l.shift(h)
	}
	if err == nil {
		err = l.open()
	}
	return err
}

// write adds a line to the file, or leaves it as it was.
func (l *log) write(line []byte) error {
	if l.torn() {
		line = append([]byte{'\n'}, line...)
	}
	n, err := l.file.Write(line)
	if err == nil && n < len(line) {
		err = errors.New("only a part of the record was written")
	}
	if err != nil && n > 0 {
		err = errors.Join(err, l.file.Truncate(l.size))
	}
	l.size += int64(n)
	return err
}

// torn reports that the last record was cut short, as by a loss of power: the
// next one begins a line of its own.
func (l *log) torn() bool {
	if l.size == 0 {
		return false
	}
	var last [1]byte
	_, err := l.file.ReadAt(last[:], l.size-1)
	return err == nil && last[0] != '\n'
}

// prepare makes sure of a directory that is the user's own.
func prepare(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		info, err = os.Lstat(dir)
	}
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("a symbolic link, not a directory")
	case !info.IsDir():
		return errors.New("not a directory")
	}
	if err := hostfs.Own(info); err != nil {
		return err
	}
	if !hostfs.Closed(info) {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// open opens the current file, never through a link and never waiting.
func (l *log) open() error {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|hostfs.OpenFlags, 0o600)
	if err != nil {
		return linkError(l.path, err)
	}
	info, err := private(f)
	if err != nil {
		f.Close()
		return err
	}
	l.file, l.size = f, info.Size()
	return nil
}
