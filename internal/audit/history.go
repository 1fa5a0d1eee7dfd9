package audit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// A History reads the records of a log directory, those of rotated files too.
// The zero History has none. It may be used while the log is written.
type History struct {
	dir string
}

// OpenHistory returns the history of the log in dir. A directory that does not
// exist holds no records; one that cannot be read is an error.
func OpenHistory(dir string) (*History, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &History{dir}, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", dir, hostfs.Reason(err))
	case !info.IsDir():
		return nil, fmt.Errorf("%s: not a directory", dir)
	}
	return &History{dir}, nil
}

// Path is the file that the newest records are in.
func (h *History) Path() string { return filepath.Join(h.dir, FileName) }

// A TornError is a line of a log that is no record: cut short by a full disk,
// or not written by gate. Reading goes on behind it.
type TornError struct {
	File   string
	Line   int   // counts from 1; 0 where lines were read from the end
	Offset int64 // of the line in the file, in bytes
	Err    error
}

func (e *TornError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: no record: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("%s: no record at byte %d: %v", e.File, e.Offset, e.Err)
}

func (e *TornError) Unwrap() error { return e.Err }

// maxFiles is how many rotated files are looked for.
const maxFiles = 1000

// files lists the files of the log that exist, the newest first.
func (h *History) files() []string {
	if h == nil || h.dir == "" {
		return nil
	}
	current := h.Path()
	out := []string{current}
	missing := 0
	for i := 1; i <= maxFiles && missing < 2; i++ { // while files are renamed, one may be missing
		name := fmt.Sprintf("%s.%d", current, i)
		if _, err := os.Lstat(name); err != nil {
			missing++
			continue
		}
		out = append(out, name)
	}
	return out
}

// Oldest yields the records from the oldest on. With an error comes no record:
// a *[TornError], behind which it goes on, or what kept a file from being read.
func (h *History) Oldest() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		files := h.files()
		slices.Reverse(files)
		for _, name := range files {
			if !each(name, yield, func(f *os.File) iter.Seq2[Record, error] { return read(f, name) }) {
				return
			}
		}
	}
}

// Newest yields the records from the newest on, and errors as Oldest does. It
// reads no more of the files than it is asked for.
func (h *History) Newest() iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, name := range h.files() {
			if !each(name, yield, func(f *os.File) iter.Seq2[Record, error] { return backwards(f, name) }) {
				return
			}
		}
	}
}

// each yields what a file holds, and reports whether more is wanted.
func each(name string, yield func(Record, error) bool, records func(*os.File) iter.Seq2[Record, error]) bool {
	f, err := openRecords(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true // rotated away, or not there yet
	}
	if err != nil {
		return yield(Record{}, fmt.Errorf("%s: %w", name, hostfs.Reason(err)))
	}
	defer f.Close()
	for r, err := range records(f) {
		if !yield(r, err) {
			return false
		}
	}
	return true
}

// openRecords opens a file to read, never waiting for a FIFO.
func openRecords(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|hostfs.OpenFlags, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, cmp.Or(err, hostfs.ErrIrregular)
	}
	return f, nil
}

// read yields the records of a stream in their order; name is for errors, which
// are as [History.Oldest] says. No line costs more memory than [MaxRecord].
func read(in io.Reader, name string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for line, err := range strictjson.Lines(in, MaxRecord) {
			if err != nil {
				yield(Record{}, fmt.Errorf("%s: %w", name, hostfs.Reason(err)))
				return
			}
			size := int64(len(line.Text))
			if line.Long {
				size = MaxRecord + 1
			}
			if !yieldLine(line.Text, size, &TornError{File: name, Line: line.Number, Offset: line.Offset}, yield) {
				return
			}
		}
	}
}

// yieldLine yields one line of a size in bytes, if there is anything on it. Of
// one that is too long the text does not matter.
func yieldLine(line []byte, size int64, torn *TornError, yield func(Record, error) bool) bool {
	if line = bytes.TrimSpace(line); size <= MaxRecord && len(line) == 0 {
		return true
	}
	r, err := Record{}, fmt.Errorf("longer than %d bytes", MaxRecord)
	if size <= MaxRecord {
		r, err = Parse(line)
	}
	if err != nil {
		torn.Err = err
		return yield(Record{}, torn)
	}
	return yield(r, nil)
}

// backwards yields the records of a file from its end on.
func backwards(f *os.File, name string) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		info, err := f.Stat()
		if err != nil {
			yield(Record{}, fmt.Errorf("%s: %w", name, hostfs.Reason(err)))
			return
		}
		const block = 64 << 10
		var tail []byte // the end of a line whose beginning lies before at
		var more int64  // bytes of it that were dropped, because it is too long
		buf := make([]byte, block)
		for at := info.Size(); at > 0; {
			n := min(at, block)
			at -= n
			if _, err := f.ReadAt(buf[:n], at); err != nil && err != io.EOF {
				yield(Record{}, fmt.Errorf("%s: %w", name, hostfs.Reason(err)))
				return
			}
			part := buf[:n]
			for {
				i := bytes.LastIndexByte(part, '\n')
				if i < 0 {
					break
				}
				line := slices.Concat(part[i+1:], tail)
				if !yieldLine(line, int64(len(line))+more, &TornError{File: name, Offset: at + int64(i) + 1}, yield) {
					return
				}
				part, tail, more = part[:i], nil, 0
			}
			if len(tail) <= MaxRecord {
				tail = slices.Concat(part, tail)
			} else {
				more += int64(len(part))
			}
		}
		yieldLine(tail, int64(len(tail))+more, &TornError{File: name}, yield)
	}
}

// ErrNoRecord reports that there is no such record.
var ErrNoRecord = errors.New("no such decision in the log")

// An AmbiguousError lists the decisions whose ids begin alike.
type AmbiguousError struct {
	ID    string
	Found []Record // the newest first, some at least
}

func (e *AmbiguousError) Error() string {
	var list []string
	for _, r := range e.Found {
		list = append(list, fmt.Sprintf("%s (%s)", r.ID, r.Time.Local().Format("2006-01-02 15:04:05")))
	}
	return fmt.Sprintf("several decisions begin with %q: %s", clip(e.ID, 40), strings.Join(list, ", "))
}

// Find returns the decision with an id, or the only one whose id begins so;
// of several with the very same id, the newest. Lines that are no records do
// not count. The error wraps [ErrNoRecord] or is an *[AmbiguousError].
func (h *History) Find(id string) (Record, error) {
	var found []Record
	for r, err := range h.Newest() {
		var torn *TornError
		switch {
		case err != nil && !errors.As(err, &torn):
			return Record{}, err
		case err != nil:
		case r.ID == id && id != "":
			return r, nil
		case id != "" && strings.HasPrefix(r.ID, id) && len(found) < maxDetail:
			if !slices.ContainsFunc(found, func(o Record) bool { return o.ID == r.ID }) {
				found = append(found, r)
			}
		}
	}
	switch len(found) {
	case 0:
		return Record{}, fmt.Errorf("%q: %w", clip(id, 40), ErrNoRecord)
	case 1:
		return found[0], nil
	}
	return Record{}, &AmbiguousError{id, found}
}

// Last returns the newest decision; the error of an empty log is [ErrNoRecord].
func (h *History) Last() (Record, error) {
	for r, err := range h.Newest() {
		var torn *TornError
		if err == nil && r.IsDecision() || err != nil && !errors.As(err, &torn) {
			return r, err
		}
	}
	return Record{}, ErrNoRecord
}

// LastCall returns the decision that people mean by the last one: about the newest
// call that was not let through; where there is none, about the newest call of a tool,
// and in a log without calls the newest decision. The error of an empty log is
// [ErrNoRecord].
func (h *History) LastCall() (Record, error) {
	var calls Calls
	var newest *Call
	for r, err := range h.Newest() {
		var torn *TornError
		if err != nil {
			if !errors.As(err, &torn) {
				return Record{}, err
			}
			continue
		}
		call := calls.Add(r)
		if call == nil {
			continue
		}
		if o := call.Outcome(); o == CallAsked || o == CallDenied {
			return *call.Deciding(), nil
		}
		newest = cmp.Or(newest, call)
	}
	for _, call := range calls.Rest() {
		newest = cmp.Or(newest, call)
	}
	if newest == nil {
		return h.Last()
	}
	return *newest.Deciding(), nil
}
