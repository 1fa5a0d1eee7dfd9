package session

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"gate/internal/format"
	"gate/internal/hostfs"
	"gate/internal/origin"
	"gate/internal/strictjson"
)

// A Ledger keeps what calls of agents left in the files of a project, for all sessions
// and agents that work on the same files. It keeps names, and nothing of what the files
// hold. [Ledger.Open] reads it; [Ledger.Add] writes it.
//
// It is one file of lines, each with a digest of its own, that is only added to: many
// processes may use it at once, and one that is killed leaves it whole.
// The rules of a [Store] about owners hold for it, too.
type Ledger struct {
	Dir     string // absolute and below the state directory
	Project string // its root; "" is a project of its own

	// Files are those that the ledger is about, for a ledger of another machine than
	// this one; nil: the machine's.
	Files Files

	// Lines keep the ledger in this process, and nothing in Dir; nil: they do not.
	Lines *Lines
}

// Files tell when a file has changed, and where links lead to; names are absolute, with
// slashes. [hostfs.Changed] says what an Lstat knows of the time.
type Files interface {
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
}

// Lines are a ledger in this process, which ends with it. The zero value says nothing of
// any file. It is safe for concurrent use.
type Lines struct {
	mu   sync.Mutex
	text []byte // as a file would hold it, with the same limits; nil: nothing is known
}

func (l Ledger) files() Files {
	if l.Files == nil {
		return hostfs.Files{}
	}
	return l.Files
}

// Limits of a ledger. Beyond them a directory stands for the files in it.
const (
	maxEntries = 10_000
	maxLedger  = 4 << 20 // bytes of the file
)

// path is the ledger's file.
func (l Ledger) path() string {
	sum := sha256.Sum256([]byte(l.real(l.Project)))
	return filepath.Join(l.Dir, hex.EncodeToString(sum[:16]))
}

// Entries are what a ledger says, an [origin.Ledger]. The zero Entries say nothing of any
// file.
type Entries struct {
	session string // of the event that asks
	text    []byte // whole lines, each behind a line break
	under   []byte // lines about directories; nil: there are none
	ledger  Ledger // whose files they are about
	err     error
}

// Open reads the ledger for an event of a session. What is wrong with it is for
// [Entries.Of] to say, for a call that does not depend on it goes on.
func (l Ledger) Open(k Key) Entries {
	e, err := l.open()
	if e.ledger = l; err != nil {
		e.err = l.wrong(err)
	}
	e.session = k.Name()
	return e
}

func (l Ledger) open() (Entries, error) {
	if l.Lines == nil {
		return openEntries(l.Dir, filepath.Base(l.path()))
	}
	l.Lines.mu.Lock()
	defer l.Lines.mu.Unlock()
	if l.Lines.text == nil {
		return Entries{}, nil
	}
	return readEntries(l.Lines.text)
}

func openEntries(dir, name string) (Entries, error) {
	root, err := hostfs.OpenDir(dir)
	var text []byte
	if err == nil {
		defer root.Close()
		text, err = hostfs.ReadFile(root, name, maxLedger+1)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return Entries{}, nil
	}
	if err != nil {
		return Entries{}, err
	}
	return readEntries(text)
}

// Broken finds the ledgers of all projects that cannot be read, by their files.
func (l Ledger) Broken() map[string]error {
	broken := map[string]error{}
	entries, err := os.ReadDir(l.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		broken[l.Dir] = hostfs.Reason(err)
	}
	for _, e := range entries {
		if len(e.Name()) != len(Key{}.Name()) {
			continue
		}
		if _, err := openEntries(l.Dir, e.Name()); err != nil {
			broken[filepath.Join(l.Dir, e.Name())] = hostfs.Reason(err)
		}
	}
	return broken
}

func (l Ledger) wrong(err error) error {
	if l.Lines != nil {
		return fmt.Errorf("what calls wrote into files: %w", err)
	}
	return fmt.Errorf("what calls wrote into files: %s: %w", l.path(), hostfs.Reason(err))
}

// Of implements [origin.Ledger].
func (e Entries) Of(path string) (left origin.Move, err error) {
	if len(e.text) <= 1 {
		return origin.Move{}, e.err
	}
	left = e.of(path)
	if to := e.ledger.real(path); !tells(&left) && to != path {
		left = e.of(to)
	}
	return left, e.err
}

// tells reports that a move says something of a text.
func tells(m *origin.Move) bool { return m.Secret != "" || m.Host != "" || m.Written }

// of looks for one spelling of a path.
func (e Entries) of(path string) origin.Move {
	if f := e.ledger.find(e.text, path); f != nil {
		return f.Move
	}
	for dir := path; e.under != nil && len(dir) > 1; {
		dir = dir[:max(strings.LastIndexByte(dir, '/'), 1)]
		if f := e.ledger.find(e.under, strings.TrimSuffix(dir, "/")+"/"); f != nil && tells(&f.Move) {
			return f.Move
		}
	}
	return origin.Move{}
}

// Written implements [origin.Ledger]. The last line of a path that happened decides. One
// of the event's session counts in any case. One of another session counts until the file
// changes later than its call can have lasted: somebody from outside has changed it since.
func (e Entries) Written() (files []string, err error) {
	decided, on := map[string]bool{}, e.ledger.files()
	rest := bytes.TrimSuffix(e.text, []byte("\n"))
	for {
		at := bytes.LastIndexByte(rest, '\n')
		if at < 0 {
			slices.Sort(files)
			return files, e.err
		}
		f := rest[at+1:]
		rest = rest[:at]
		name, _, ok := bytes.Cut(f, []byte(`",`))
		if !ok || bytes.HasSuffix(name, []byte("/")) || decided[string(name)] {
			continue
		}
		l, err := decodeLine(f)
		if err != nil || !l.happened(on) {
			continue // what is damaged, Open says
		}
		if l.Written && l.Session != e.session && l.changedSince(on) {
			continue // a line before it may be of this session
		}
		if decided[string(name)] = true; l.Written {
			files = append(files, l.Path)
		}
	}
}

// changedSince reports a file that changed later than the call of the line can have lasted.
func (f *line) changedSince(files Files) bool {
	info, err := files.Lstat(f.Path)
	return err == nil && hostfs.Changed(info).After(f.at.Add(expected))
}

// maxLinks is how many links are followed on the way to one file.
const maxLinks = 40

// real is the file that a path leads to through links, with slashes. The file need not be
// there yet; the directory that it is in must. Without any link it is the path.
func (l Ledger) real(path string) string {
	files := l.files()
	done := filepath.VolumeName(filepath.FromSlash(path))
	if !strings.HasPrefix(path[len(done):], "/") {
		return path
	}
	todo := strings.Split(path[len(done)+1:], "/")
	for links := 0; len(todo) > 0; {
		step := todo[0]
		todo = todo[1:]
		switch step {
		case "", ".":
			continue
		case "..":
			done = done[:max(strings.LastIndexByte(done, '/'), 0)]
			continue
		}
		next := done + "/" + step
		info, err := files.Lstat(next)
		if err != nil && (len(todo) > 0 || !errors.Is(err, fs.ErrNotExist)) {
			return path
		}
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		to, err := files.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return path
		}
		if root := filepath.VolumeName(filepath.FromSlash(to)); strings.HasPrefix(to[len(root):], "/") {
			done, to = root, to[len(root)+1:]
		}
		todo = append(strings.Split(to, "/"), todo...)
	}
	if done == "" {
		return "/"
	}
	return done
}

// A line is what the ledger says of one path; one that ends in a slash is a directory
// of which nobody knows the files any more.
type line struct {
	origin.Move
	at time.Time
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

// find returns the last line about a path that counts: the file has changed since it was
// written. One without such a change is of a call that never ran.
func (l Ledger) find(text []byte, path string) *line {
	begin := start(path)
	for at := bytes.LastIndex(text, begin); at >= 0; at = bytes.LastIndex(text[:at+1], begin) {
		end := bytes.IndexByte(text[at+1:], '\n')
		f, err := decodeLine(text[at+1 : at+1+end])
		if err == nil && f.happened(l.files()) {
			return f
		}
	}
	return nil
}

// clockSlack is how much a file system's clock may lag behind the process's.
const clockSlack = 2 * time.Second

// happened reports a file that is there and has changed since the line was written: the
// call ran. What nobody can tell counts as yes.
func (f *line) happened(files Files) bool {
	if dir, ok := strings.CutSuffix(f.Path, "/"); ok { // what happens below it does not show
		_, err := files.Lstat(cmp.Or(dir, "/"))
		return !errors.Is(err, fs.ErrNotExist)
	}
	info, err := files.Lstat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		return true
	}
	changed, since := hostfs.Changed(info), f.at
	if tells(&f.Move) { // in doubt it is there
		since = since.Add(-clockSlack)
	}
	return changed.IsZero() || !changed.Before(since)
}

// digestSize is how long the digest at the end of a line is, with the blank before it.
const digestSize = 17

// append adds the line to text, without the line break before it.
func (f *line) append(text []byte) []byte {
	begin := len(text)
	text = strictjson.Append(text, []any{spelt(f.Path), f.at.UnixMilli(), f.Session, f.Call, f.Secret, spelt(f.From), f.Host, f.Written})
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
	switch v := r.list(doc, "line", 8); len(v) {
	case 3: // of a gate that kept secrets alone
		f.Secret, f.at = r.string("secret", v[1]), r.moment("at", v[2])
		f.Path, err = unspelt(r.string("path", v[0]))
	case 8:
		f.at = r.moment("at", v[1])
		f.Session, f.Call, f.Secret, f.Host = r.string("session", v[2]), r.string("call", v[3]), r.string("secret", v[4]), r.string("host", v[6])
		f.Written, _ = v[7].(bool)
		f.From, wrong = unspelt(r.string("from", v[5]))
		f.Path, err = unspelt(r.string("path", v[0]))
	default:
		return nil, errors.New("a line has not eight members")
	}
	return f, cmp.Or(r.err, err, wrong)
}

// head is the first line of a ledger: its format.
func head() string { return format.Ledger.Mark() }

// readEntries checks every line. What is whole counts even where others are not.
func readEntries(text []byte) (Entries, error) {
	first, rest, ok := bytes.Cut(text, []byte("\n"))
	if err := format.Ledger.CheckMark(string(first)); err != nil {
		return Entries{}, err
	}
	if !ok {
		return Entries{}, errors.New("it ends too early")
	}
	e := Entries{text: append([]byte("\n"), rest...)}
	var wrong error
	if len(rest) > 0 && rest[len(rest)-1] != '\n' {
		wrong = errors.New("its last line is not whole")
		e.text = e.text[:bytes.LastIndexByte(e.text, '\n')+1]
	}
	for l := range bytes.Lines(e.text[1:]) {
		l = bytes.TrimSuffix(l, []byte("\n"))
		switch _, err := checked(l); {
		case err != nil:
			wrong = err
		case bytes.Contains(l, []byte(`/",`)):
			e.under = append(append(e.under, '\n'), l...)
		}
	}
	if e.under != nil {
		e.under = append(e.under, '\n')
	}
	return e, wrong
}

// maxCall is how many bytes of a call's name are kept. One that is longer is none.
const maxCall = 64

// Add notes what a call of a session leaves in files, if it runs. The moves are in the
// order of their paths. It waits for other calls as long as ctx lasts; an error means that
// nothing is noted.
func (l Ledger) Add(ctx context.Context, k Key, call string, moves []origin.Move, now time.Time) error {
	if len(moves) == 0 {
		return nil
	}
	if len(call) > maxCall || !utf8.ValidString(call) {
		call = ""
	}
	text := l.lines(&line{origin.Move{Call: call, Session: k.Name()}, now}, moves)
	if l.Lines != nil {
		l.hold(text, now)
		return nil
	}
	s := Store{Dir: l.Dir}
	if err := s.prepare(); err != nil {
		return l.wrong(err)
	}
	unlock, err := s.lock(ctx, filepath.Base(l.path()))
	if err != nil {
		return l.wrong(err)
	}
	defer unlock()
	if err := l.add(s, text, now); err != nil {
		return l.wrong(err)
	}
	return nil
}

// hold adds lines to those in this process.
func (l Ledger) hold(text []byte, now time.Time) {
	l.Lines.mu.Lock()
	defer l.Lines.mu.Unlock()
	if l.Lines.text == nil {
		l.Lines.text = []byte(head() + "\n")
	}
	l.Lines.text = append(l.Lines.text, text...)
	if len(l.Lines.text) > maxLedger/2 {
		l.Lines.text = append([]byte(head()), l.fit(l.Lines.text[len(head()):], now)...)
	}
}

// lines are what the ledger says of moves, like one, which names the call.
func (l Ledger) lines(of *line, moves []origin.Move) (text []byte) {
	for _, m := range moves {
		m.Call, m.Session = of.Call, of.Session
		// A call may write through a link, or put a file in its place.
		whole, slash := strings.CutSuffix(m.Path, "/")
		dir, base := path.Split(whole)
		for _, name := range slices.Compact([]string{path.Join(l.real(dir), base), l.real(whole)}) {
			if slash {
				name += "/"
			}
			if len(name) > maxPath {
				name = name[:strings.LastIndexByte(name[:maxPath], '/')+1]
			}
			m.Path = name
			text = append((&line{m, of.at}).append(text), '\n')
		}
	}
	return text
}

func (l Ledger) add(s Store, text []byte, now time.Time) error {
	info, err := os.Lstat(l.path())
	switch {
	case err == nil && info.Size()+int64(len(text)) <= maxLedger/2:
		if err := hostfs.Private(info); err != nil {
			return err
		}
		if err := extend(l.path(), head(), info.Size(), text); !errors.Is(err, errOld) {
			return err
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	e := l.Open(Key{})
	if e.err != nil {
		return e.err
	}
	if e.text == nil {
		e.text = []byte("\n")
	}
	return s.replace(l.path(), append([]byte(head()), l.fit(append(e.text, text...), now)...))
}

// errOld says that a file begins in another way: an older gate made it, of a format that
// takes no lines of today.
var errOld = errors.New("it has an older format")

// extend adds whole records to a file of a size by one write, which a killed process has
// made or not. What a full disk leaves of it is taken away again. A file that begins with
// something other than begin is left as it is.
func extend(path, begin string, size int64, text []byte) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|hostfs.OpenFlags, 0)
	if err != nil {
		return err
	}
	first := make([]byte, len(begin))
	if n, _ := f.ReadAt(first, 0); string(first[:n]) != begin {
		return cmp.Or(f.Close(), errOld)
	}
	n, err := f.Write(text)
	if err != nil && n > 0 {
		err = errors.Join(err, f.Truncate(size))
	}
	return errors.Join(err, f.Close())
}

// expected is how long a call may take until it has written its files.
const expected = time.Hour

// fit makes a ledger small enough that lines can be added to it, of fewer and fewer files by
// name where their names are long.
func (l Ledger) fit(text []byte, now time.Time) []byte {
	for most := maxEntries; ; most /= 2 {
		if out := l.compact(text, most, now); len(out) <= maxLedger/2 || most == 0 {
			return out
		}
	}
}

// compact leaves the last line of each path, and none about a file that is gone or holds
// nothing. Of more files than most the oldest are given up: first those that an agent
// wrote and that hold nothing more, then others for their directories.
func (l Ledger) compact(text []byte, most int, now time.Time) []byte {
	files := l.files()
	last := map[string]*line{}
	for l := range bytes.Lines(text[1:]) {
		f, err := decodeLine(bytes.TrimSuffix(l, []byte("\n")))
		if err != nil {
			continue // Open says so
		}
		if tells(&f.Move) || f.happened(files) {
			last[f.Path] = f
		}
	}
	kept := slices.Collect(maps.Values(last))
	kept = slices.DeleteFunc(kept, func(f *line) bool { return !tells(&f.Move) || f.at.Before(now.Add(-expected)) && !f.happened(files) })
	slices.SortFunc(kept, func(a, b *line) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.Path, b.Path)) })
	if over := len(kept) - most/2; len(kept) > most {
		kept = slices.DeleteFunc(kept, func(f *line) bool {
			over--
			return over >= 0 && f.Secret == "" && f.Host == "" // no directory can stand for it
		})
	}
	out := []byte("\n")
	dirs := map[string]bool{}
	for i, f := range kept {
		if len(kept)-i > most/2 && len(kept) > most {
			f.Path = f.Path[:strings.LastIndexByte(strings.TrimSuffix(f.Path, "/"), '/')+1]
			if dirs[f.Path] {
				continue
			}
			dirs[f.Path] = true
		}
		out = append(f.append(out), '\n')
	}
	return out
}
