package session

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"gate/internal/hostfs"
	"gate/internal/origin"
	"gate/internal/strictjson"
)

// A line is what the ledger says of one path, before the call that writes it has run. A
// path that ends in a slash is a directory of which nobody knows the files any more.
type line struct {
	origin.Move
	at  time.Time
	was string // the file as it was then, see [stateOf]; "" where nobody knows
}

// The letters of a line's flags.
const (
	flagTells   = 't' // it has a secret or a host
	flagWritten = 'w'
	flagAnew    = 'n'
)

func (f *line) flags() string {
	flags := ""
	if f.Secret != "" || f.Host != "" {
		flags += string(flagTells)
	}
	if f.Written {
		flags += string(flagWritten)
	}
	if f.Anew {
		flags += string(flagAnew)
	}
	return flags
}

// start begins the line of a path, as the ledger writes it.
func start(path string) []byte {
	return append(strictjson.Append([]byte("\n["), spelt(path)), ',')
}

// spelt is a path as text. One that is no UTF-8 stands in quotes, with escapes: a path
// itself begins with a slash.
func spelt(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return strconv.Quote(path)
}

// unspelt is the path of such a text.
func unspelt(text string) (string, error) {
	if !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	return strconv.Unquote(text)
}

// maxLine is more bytes than a line has: it has two paths, and JSON takes six for some bytes of one.
const maxLine = 16 * maxPath

// digestSize is how long the digest at the end of a line is, with the blank before it.
const digestSize = 17

// append adds the line to text, without the line break before it.
func (f *line) append(text []byte) []byte {
	return appendRow(text, spelt(f.Path), f.flags(), f.at.UnixMilli(), f.Session, f.Call, f.Secret, spelt(f.From), f.Host, f.was)
}

// appendRow adds members and their digest to text.
func appendRow(text []byte, members ...any) []byte {
	begin := len(text)
	text = strictjson.Append(text, members)
	return fmt.Appendf(text, " %016x", xxhash.Sum64(text[begin:]))
}

// checked returns a line without its digest.
func checked(text []byte) ([]byte, error) {
	cut := len(text) - digestSize
	if cut < 0 || text[cut] != ' ' {
		return nil, errors.New("a line is damaged")
	}
	sum, err := strconv.ParseUint(string(text[cut+1:]), 16, 64)
	if err != nil || sum != xxhash.Sum64(text[:cut]) {
		return nil, errors.New("a line is damaged")
	}
	return text[:cut], nil
}

func decodeLine(text []byte) (*line, error) {
	text, err := checked(text)
	if err != nil {
		return nil, err
	}
	doc, err := strictjson.Object(slices.Concat([]byte(`{"line":`), text, []byte("}")), strictjson.Limits{Bytes: maxLine, Depth: 3, Keys: 16})
	if err != nil {
		return nil, err
	}
	r := &reader{}
	f := &line{}
	var wrong error
	switch v := r.list(doc, "line", 9); len(v) {
	case 8: // of one that did not learn which calls ran
		f.at = r.moment("at", v[1])
		f.Session, f.Call, f.Secret, f.Host = r.string("session", v[2]), r.string("call", v[3]), r.string("secret", v[4]), r.string("host", v[6])
		f.Written, _ = v[7].(bool)
		f.From, wrong = unspelt(r.string("from", v[5]))
	case 9:
		flags := r.string("flags", v[1])
		f.Written, f.Anew = strings.ContainsRune(flags, flagWritten), strings.ContainsRune(flags, flagAnew)
		f.at = r.moment("at", v[2])
		f.Session, f.Call, f.Secret, f.Host = r.string("session", v[3]), r.string("call", v[4]), r.string("secret", v[5]), r.string("host", v[7])
		f.From, wrong = unspelt(r.string("from", v[6]))
		f.was = r.string("was", v[8])
	default:
		return nil, errors.New("a line has not nine members")
	}
	if v, ok := doc["line"].([]any); ok && len(v) > 0 {
		f.Path, err = unspelt(r.string("path", v[0]))
	}
	return f, cmp.Or(r.err, err, wrong)
}

// An End is what became of a call that a ledger has lines of.
type End string

const (
	Ran     End = "ran"     // it ran to its end
	Failed  End = "failed"  // it ended, and nobody knows how far it came
	Refused End = "refused" // it never ran
)

// endOf begins the note of the end of a line's call.
func endOf(f *line) []byte {
	text := strictjson.Append([]byte("\n"), []any{"", f.Session, f.Call, f.at.UnixMilli()})
	return append(text[:len(text)-1], ',')
}

// appendEnd notes the end of a line's call, without the line break before it.
func appendEnd(text []byte, f *line, how End) []byte {
	return appendRow(text, "", f.Session, f.Call, f.at.UnixMilli(), string(how))
}

// isEnd reports the note of an end: it names no path.
func isEnd(text []byte) bool { return strings.HasPrefix(string(text[:min(len(text), 4)]), `["",`) }

// clockSlack is how much a file system's clock may lag behind the process's, and how
// coarse its times may be.
const clockSlack = 2 * time.Second

// missing is the state of a file that is not there.
const missing = "-"

// stateOf tells whether a file has changed since, "" where nobody can tell. It compares
// with itself, and with no clock.
func stateOf(files Files, path string) string {
	info, err := files.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return missing
	}
	if err != nil {
		return ""
	}
	changed := hostfs.Changed(info)
	if changed.IsZero() {
		return ""
	}
	return strconv.FormatInt(changed.UnixNano(), 36) + "/" + strconv.FormatInt(info.Size(), 36)
}

// wrote reports that the file has changed since the line was written. What nobody can
// tell counts as yes.
func (f *line) wrote(files Files) bool {
	if whole, hides := f.place(); hides || whole != f.Path {
		return f.happened(files)
	}
	now := stateOf(files, f.Path)
	return f.was == "" || now == "" || now != f.was
}

// place is the file or directory that a line is about, of a part that which it is a part
// of; it hides what happens below a directory.
func (f *line) place() (whole string, hides bool) {
	whole, _, _ = origin.CutPart(f.Path)
	dir, hides := strings.CutSuffix(whole, "/")
	return cmp.Or(dir, "/"), hides
}

// happened reports a file that is there and has changed since the line was written: the
// call may have run. Where nobody can tell, it is yes. A secret that a call has read in
// the file was there before.
func (f *line) happened(files Files) bool {
	whole, hides := f.place()
	info, err := files.Lstat(whole)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil || hides || info.IsDir() && whole != f.Path { // what happens below it does not show
		return true
	}
	changed, since := hostfs.Changed(info), f.at
	if changed.IsZero() || f.was != "" && f.wrote(files) || origin.IsHeld(f.Secret) {
		return true
	}
	if f.Tells() { // in doubt it is there
		since = since.Add(-clockSlack)
	}
	return (f.was == "" || f.Tells()) && !changed.Before(since)
}
