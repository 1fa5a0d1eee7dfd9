// Package audit is gate's decision log: one JSON record a line, in a file that
// only its user can read.
//
// It takes secrets out before it writes, and bounds what it holds of a call
// ([Record.Keep]); an empty line means nothing. A log that cannot be written is
// an error for its caller and nothing else: it never waits, so it never costs
// an answer. Whoever may write the log may also change it; it proves nothing
// until it is shipped elsewhere. To write, start with [Open], then
// [Log.Append]; to read, with [OpenHistory]. [Redact] stands alone.
//
// docs/architecture.md has the rules that it keeps: 9 and 12.
package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gate/owned"
)

// FileName is the file in the log's directory that records go to. Older
// records are in FileName.1, FileName.2 and so on, the newest first.
const FileName = "decisions.jsonl"

// Options bound a log. A zero field means its default.
type Options struct {
	Size int64 // bytes of one file before the next is begun, default 8 MiB
	Keep int   // older files that are kept, default 4
}

// A Log is a decision log that is open for appending. Several processes may
// append to one log, and several goroutines to one Log.
type Log struct {
	file    *os.File
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
	if err := prepare(dir); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, plain(err))
	}
	l := &Log{path: filepath.Join(dir, FileName), options: o}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("%s: %w", l.path, plain(err))
	}
	if err := l.rotate(); err != nil {
		l.file.Close()
		return nil, fmt.Errorf("%s: %w", l.path, plain(err))
	}
	return l, nil
}

// Close closes the log.
func (l *Log) Close() error { return l.file.Close() }

// Append adds one record. It is written with a single call, so that records of
// processes that append at the same time do not mix.
func (l *Log) Append(r Record) error {
	line := append(r.JSON(), '\n')
	if l.torn() {
		line = append([]byte{'\n'}, line...)
	}
	n, err := l.file.Write(line)
	if err == nil && n < len(line) {
		err = errors.New("only a part of the record was written")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", l.path, plain(err))
	}
	return nil
}

// torn reports that the last record was cut short, as on a full disk: the next
// one begins a line of its own. A record of another process that is just being
// written looks the same; then there is an empty line.
func (l *Log) torn() bool {
	info, err := l.file.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = l.file.ReadAt(last[:], info.Size()-1)
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
		if info, lerr := os.Lstat(l.path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			err = errors.New("a symbolic link, not a file")
		}
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err == nil {
		err = owned.Own(info)
	}
	if err == nil && !owned.Closed(info) {
		err = f.Chmod(0o600)
	}
	if err != nil {
		f.Close()
		return err
	}
	l.file = f
	return nil
}

// rotate begins the next file when the current one is full. Of several
// processes that see it full, the one that gets the lock renames; the others
// go on with the file they have.
func (l *Log) rotate() error {
	info, err := l.file.Stat()
	if err != nil || info.Size() < l.options.Size {
		return err
	}
	if !lock(l.file) {
		return nil
	}
	full := l.file
	defer full.Close() // and with it the lock
	if now, err := os.Lstat(l.path); err == nil && os.SameFile(now, info) {
		if err := l.shift(); err != nil {
			return err
		}
	}
	return l.open()
}

// shift renames FileName to FileName.1 and so on, and removes what is too old.
func (l *Log) shift() error {
	name := func(i int) string { return fmt.Sprintf("%s.%d", l.path, i) }
	if err := os.Remove(name(l.options.Keep)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for i := l.options.Keep - 1; i >= 1; i-- {
		if err := os.Rename(name(i), name(i+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(l.path, name(1))
}

// plain removes the path from an error that already stands behind one.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
