// Package audit is gate's decision log: one JSON record a line, in the form of
// OPA's decision log, in a file that only its user can read.
//
// It takes secrets out before it writes, and bounds what it holds of a call
// ([Record.Keep]); an empty line means nothing. Records form a chain: each has
// the digest of the one before, so that [History.Verify] finds what is missing
// or was changed. Whoever may write the log may also write it anew; it proves
// nothing until it was sent elsewhere, which audit/ship does. A log that cannot
// be written is an error for its caller and nothing else. To write, start with
// [Open], then [Log.Append]; to read, with [OpenHistory]. [Redact] stands alone.
//
// docs/architecture.md has the rules that it keeps: 9 and 12.
package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"gate/owned"
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

// A Log is a decision log that is open for appending. Several processes may
// append to one log, and several goroutines, one at a time, to one Log.
type Log struct {
	mu      sync.Mutex
	file    *os.File
	dir     string
	path    string
	options Options
}

// Open opens the log in dir, which is made, for its owner only, if it does not
// exist. It refuses a directory or a file that somebody else can write, that
// is a link, or that is nothing to append to.
func Open(dir string, o Options) (*Log, error) {
	if o.Size <= 0 {
		o.Size = 8 << 20
	}
	if o.Keep <= 0 {
		o.Keep = 4
	}
	if o.Wait <= 0 {
		o.Wait = 5 * time.Second
	}
	if err := prepare(dir); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, plain(err))
	}
	l := &Log{dir: dir, path: filepath.Join(dir, FileName), options: o}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("%s: %w", l.path, plain(err))
	}
	return l, nil
}

// Close closes the log.
func (l *Log) Close() error { return l.file.Close() }

// Append adds one record behind the last one, of whichever process. A record
// is there as a whole or not at all; where the end of the chain could not be
// noted, the next Append finds it.
func (l *Log) Append(r Record) error {
	if r.Key == "" {
		r.Key = newKey(r.ID)
	}
	r.Place = &Place{Log: unplaced, Seq: 1}
	line := r.JSON() // before the lock: others wait
	l.mu.Lock()
	defer l.mu.Unlock()
	file, err := lockHead(filepath.Join(l.dir, headName), os.O_CREATE, l.options.Wait)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(l.dir, headName), plain(err))
	}
	defer file.Close() // and with it the lock
	h, known := readHead(file)
	if !known {
		h = recoverHead(l.dir)
	}
	size, err := l.ready(&h, known)
	if err == nil {
		line = placed(line, h.next())
		err = l.write(line, size)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", l.path, plain(err))
	}
	if info, err := l.file.Stat(); err == nil {
		h.seq, h.hash, h.size = h.seq+1, digest(line[:len(line)-1]), info.Size()
		file.WriteAt(h.encode(), 0) // without it, the next one catches up
	}
	return nil
}

// ready prepares the current file for a record, and returns its size.
func (l *Log) ready(h *head, known bool) (int64, error) {
	info, err := l.file.Stat()
	if err != nil {
		return 0, err
	}
	if now, err := os.Lstat(l.path); err != nil || !os.SameFile(now, info) { // another process began the next file
		l.file.Close()
		if err := l.open(); err != nil {
			return 0, err
		}
		if info, err = l.file.Stat(); err != nil {
			return 0, err
		}
	}
	if known {
		if err := h.catchUp(l.file, info.Size()); err != nil {
			return 0, err
		}
	}
	if info.Size() < l.options.Size {
		return info.Size(), nil
	}
	l.file.Close()
	if err := l.shift(h); err != nil {
		return 0, errors.Join(err, l.open())
	}
	return 0, l.open()
}

// write adds a line to a file of a size, or leaves it as it was.
func (l *Log) write(line []byte, size int64) error {
	if l.torn(size) {
		line = append([]byte{'\n'}, line...)
	}
	n, err := l.file.Write(line)
	if err == nil && n < len(line) {
		err = errors.New("only a part of the record was written")
	}
	if err != nil && n > 0 {
		err = errors.Join(err, l.file.Truncate(size))
	}
	return err
}

// torn reports that the last record was cut short, as by a loss of power: the
// next one begins a line of its own.
func (l *Log) torn(size int64) bool {
	if size == 0 {
		return false
	}
	var last [1]byte
	_, err := l.file.ReadAt(last[:], size-1)
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
	if err := owned.Own(info); err != nil {
		return err
	}
	if !owned.Closed(info) {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// open opens the current file, never through a link and never waiting.
func (l *Log) open() error {
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|owned.OpenFlags, 0o600)
	if err != nil {
		return linkError(l.path, err)
	}
	if err := makePrivate(f); err != nil {
		f.Close()
		return err
	}
	l.file = f
	return nil
}

// plain removes the path from an error that already stands behind one.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
