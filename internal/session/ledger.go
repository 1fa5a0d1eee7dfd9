package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gate/internal/format"
	"gate/internal/hostfs"
	"gate/internal/origin"
)

// A Ledger keeps what calls of agents left in the files of a project, for all sessions
// and agents that work on the same files. It keeps names, and nothing of what the files
// hold. [Ledger.Open] reads it; [Ledger.Add] writes it, and [Ledger.Settle] says what
// became of a call.
//
// It is one file of lines, each with a digest of its own, that is only added to: many
// processes may use it at once, and one that is killed leaves it whole.
// The rules of a [Store] about owners hold for it, too.
//
// Files outside of the project are in a ledger that all projects share.
type Ledger struct {
	Dir     string // absolute and below the state directory
	Project string // its root; "": the one that all projects share

	// Files are those that the ledger is about, for a ledger of another machine than
	// this one; nil: the machine's.
	Files Files

	// Lines keep the ledger in this process, and nothing in Dir; nil: they do not.
	Lines *Lines

	at func(step string) error // tests: an error ends the process here, as it were
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
	read decoded
}

// decoded are lines that were read before, by their texts. They are not changed.
type decoded struct {
	mu    sync.Mutex
	lines map[string]*line
}

// line reads a line, nil for one that is damaged.
func (d *decoded) line(text []byte) *line {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, known := d.lines[string(text)]
	if known {
		return f
	}
	f, err := decodeLine(text)
	if err != nil {
		f = nil
	}
	if d.lines == nil || len(d.lines) > 4*maxEntries {
		d.lines = map[string]*line{}
	}
	d.lines[string(text)] = f
	return f
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

// nameOf is the name of a project's file.
func nameOf(project string) string {
	sum := sha256.Sum256([]byte(project))
	return hex.EncodeToString(sum[:16])
}

// path is the ledger's file.
func (l Ledger) path() string { return filepath.Join(l.Dir, nameOf(l.real(l.Project))) }

// shared is the ledger of files outside of the project.
func (l Ledger) shared() Ledger {
	l.Project = ""
	return l
}

// Entries are what ledgers say to an event, an [origin.Ledger]. The zero Entries say
// nothing of any file.
type Entries struct {
	session string // of the event that asks
	books   []*book
	asked   map[string]*book // by the root of the project; nil: there is none
	ledger  Ledger           // whose files they are about
	err     error
}

// Open reads the ledger for an event of a session, with those of the projects around it
// and the shared one. What is wrong with them is for [Entries.Of] to say, for a call that
// does not depend on it goes on.
func (l Ledger) Open(k Key) *Entries {
	e := &Entries{session: k.Name(), ledger: l, asked: map[string]*book{}}
	if l.Lines != nil {
		b, err := l.Lines.book()
		e.books, e.err = []*book{b}, l.wrong("", err)
		return e
	}
	if _, err := os.Lstat(l.Dir); errors.Is(err, fs.ErrNotExist) {
		e.asked = nil // nobody has written anything
		return e
	}
	e.ask("")
	e.around(l.real(l.Project))
	return e
}

// maxAround is how many directories above a file may be the root of a project.
const maxAround = 64

// around asks the ledgers of a directory and of those above it.
func (e *Entries) around(dir string) {
	for range maxAround {
		if dir == "" || e.asked == nil {
			return
		}
		if _, done := e.asked[dir]; done {
			return // and those above it
		}
		e.ask(dir)
		dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
	}
}

// ask reads the ledger of one project.
func (e *Entries) ask(project string) {
	path := filepath.Join(e.ledger.Dir, nameOf(project))
	e.asked[project] = nil
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return
	}
	b, err := openBook(e.ledger.Dir, filepath.Base(path))
	if err != nil && e.err == nil {
		e.err = e.ledger.wrong(path, err)
	}
	if b != nil {
		e.asked[project] = b
		e.books = append(e.books, b)
	}
}

func openBook(dir, name string) (*book, error) {
	root, err := hostfs.OpenDir(dir)
	var text []byte
	if err == nil {
		defer root.Close()
		text, err = hostfs.ReadFile(root, name, maxLedger+1)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &book{}, nil
	}
	if err != nil {
		return &book{}, err
	}
	return readBook(text)
}

func (h *Lines) book() (*book, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.text == nil {
		return &book{}, nil
	}
	b, err := readBook(h.text)
	b.known = &h.read
	return b, err
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
		if _, err := openBook(l.Dir, e.Name()); err != nil {
			broken[filepath.Join(l.Dir, e.Name())] = hostfs.Reason(err)
		}
	}
	return broken
}

func (l Ledger) wrong(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case l.Lines != nil:
		return fmt.Errorf("what calls wrote into files: %w", err)
	}
	return fmt.Errorf("what calls wrote into files: %s: %w", path, hostfs.Reason(err))
}

// Of implements [origin.Ledger].
func (e *Entries) Of(path string) (left origin.Move, err error) {
	left = e.of(path)
	if left.Tells() || len(e.books) == 0 {
		return left, e.err
	}
	if to := e.ledger.real(path); to != path {
		left = e.of(to)
	}
	return left, e.err
}

// of looks for one spelling of a path.
func (e *Entries) of(path string) origin.Move {
	if strings.HasPrefix(path, "/") {
		e.around(path[:max(strings.LastIndexByte(path, '/'), 0)])
	}
	var all []found
	for _, b := range e.books {
		all = append(all, b.live(e.ledger.files(), path)...)
	}
	return merged(all)
}

// merged is what a file may hold by several lines: of the kinds of secret the first, which
// a later call has not taken away for certain, by the last line that has it.
func merged(lines []found) (m origin.Move) {
	if len(lines) == 0 {
		return m
	}
	m = lines[len(lines)-1].Move
	secret, host, written := "", "", false
	for _, f := range lines {
		if secret == "" {
			secret = f.Secret
		}
		if secret != "" && f.Secret == secret || secret == "" && f.Host != "" {
			m = f.Move
		}
		if f.Host != "" {
			host = f.Host
		}
		written = written || f.Written
	}
	m.Host, m.Written, m.Anew = host, written, false
	return m
}

// Written implements [origin.Ledger]. The last line of a path that happened decides. One
// of the event's session counts in any case. One of another session counts until the file
// changes later than its call can have lasted: somebody from outside has changed it since.
func (e *Entries) Written() (files []string, err error) {
	have := map[string]bool{}
	for _, b := range e.books {
		b.written(e.ledger.files(), e.session, have)
	}
	for name := range have {
		files = append(files, name)
	}
	slices.Sort(files)
	return files, e.err
}

// changedSince reports a file that changed later than the call of the line can have lasted.
func (f *line) changedSince(files Files) bool {
	info, err := files.Lstat(f.Path)
	return err == nil && hostfs.Changed(info).After(f.at.Add(expected))
}

// A book is the text of one ledger.
type book struct {
	text  []byte // whole lines, each behind a line break
	under []byte // lines about directories; nil: there are none
	ends  bool   // it has notes of ends

	known   *decoded       // lines that were read before; nil: none is kept
	endings map[string]int // where notes of ends stand in a long text, by how they begin; nil: nobody has asked
	old     bool           // a gate before this one wrote it, and no flags
}

// A found is a line and where it stands.
type found struct {
	*line
	pos int
}

// about are the lines about a path and the directories above it, in order. Where none has a
// secret or a host, those before the last one that counts are left out.
func (b *book) about(files Files, path string) (list []found) {
	if len(b.text) <= 1 {
		return nil
	}
	var at []int
	tells := b.occurrences(path, &at)
	for dir := path; b.under != nil && len(dir) > 1; {
		dir = dir[:max(strings.LastIndexByte(dir, '/'), 1)]
		if name := strings.TrimSuffix(dir, "/") + "/"; bytes.Contains(b.under, start(name)) {
			tells = b.occurrences(name, &at) || tells
		}
	}
	slices.Sort(at)
	for i := len(at) - 1; i >= 0; i-- {
		f := b.line(at[i])
		if f == nil {
			continue
		}
		list = append(list, found{f, at[i]})
		if how, _ := b.endOf(f); !tells && f.counts(files, how) {
			break
		}
	}
	slices.Reverse(list)
	return list
}

// occurrences adds where lines about a path begin, and reports whether one of them has a
// secret or a host.
func (b *book) occurrences(path string, at *[]int) (tells bool) {
	begin := start(path)
	for from := 0; ; {
		i := bytes.Index(b.text[from:], begin)
		if i < 0 {
			return tells
		}
		from += i
		*at = append(*at, from)
		from += len(begin)
		tells = tells || b.old || bytes.HasPrefix(b.text[from:], []byte(`"`+string(flagTells)))
	}
}

// line is the one behind the line break at pos, nil where it is damaged.
func (b *book) line(pos int) *line {
	end := bytes.IndexByte(b.text[pos+1:], '\n')
	if end < 0 {
		return nil
	}
	if text := b.text[pos+1 : pos+1+end]; b.known != nil {
		return b.known.line(text)
	}
	f, err := decodeLine(b.text[pos+1 : pos+1+end])
	if err != nil {
		return nil
	}
	return f
}

// endOf is what became of the call of a line, and where that stands; "" while nobody knows.
func (b *book) endOf(f *line) (how End, pos int) {
	if !b.ends {
		return "", 0
	}
	begin := endOf(f)
	if pos = b.ending(begin); pos < 0 {
		return "", 0
	}
	rest := b.text[pos+len(begin):]
	for _, how := range []End{Ran, Refused} {
		if bytes.HasPrefix(rest, []byte(`"`+string(how)+`"`)) {
			return how, pos
		}
	}
	return Failed, pos
}

// longText is a text in which each look for a note takes longer than one for all.
const longText = 64 << 10

// ending is where a note of an end stands that begins so, below 0 where there is none.
func (b *book) ending(begin []byte) int {
	if len(b.text) < longText {
		return bytes.Index(b.text, begin)
	}
	if b.endings == nil {
		b.endings = map[string]int{}
		for from := 0; from < len(b.text); {
			end := len(b.text)
			if i := bytes.IndexByte(b.text[from+1:], '\n'); i >= 0 {
				end = from + 1 + i
			}
			note := b.text[from:end] // with the line break before it
			if last := bytes.LastIndexByte(note, ','); last > 0 && isEnd(note[1:]) {
				if _, before := b.endings[string(note[:last+1])]; !before {
					b.endings[string(note[:last+1])] = from
				}
			}
			from = end
		}
	}
	if pos, ok := b.endings[string(begin)]; ok && pos < len(b.text) { // of a part of a book, too
		return pos
	}
	return -1
}

// live are the lines that say what a file may hold: those of the calls that may have
// written it and that no later call has written over for certain.
func (b *book) live(files Files, path string) []found { return b.liveOf(files, b.about(files, path)) }

func (b *book) liveOf(files Files, list []found) []found {
	type candidate struct {
		found
		ended int // where the end of the call stands; 0: nobody knows of it
	}
	var live []candidate
	for _, f := range list {
		how, ended := b.endOf(f.line)
		if !f.counts(files, how) {
			continue
		}
		if f.Anew && how == Ran {
			live = slices.DeleteFunc(live, func(o candidate) bool {
				return o.ended > 0 && o.ended < f.pos || o.at.Add(expected).Before(f.at)
			})
		}
		live = append(live, candidate{f, ended})
	}
	out := make([]found, len(live))
	for i, c := range live {
		out[i] = c.found
	}
	return out
}

// counts reports that the call of a line may have written the file, and the file is there.
func (f *line) counts(files Files, how End) bool {
	switch how {
	case Refused:
		return false
	case Ran:
		whole, _ := f.place()
		return stateOf(files, whole) != missing
	}
	return f.happened(files)
}

// written adds the files whose text agents decided about.
func (b *book) written(on Files, session string, have map[string]bool) {
	decided := map[string]bool{}
	rest := bytes.TrimSuffix(b.text, []byte("\n"))
	for {
		at := bytes.LastIndexByte(rest, '\n')
		if at < 0 {
			return
		}
		f := rest[at+1:]
		rest = rest[:at]
		name, flags, ok := bytes.Cut(f, []byte(`",`))
		if !ok || len(flags) == 0 || len(name) <= 2 || bytes.HasSuffix(name, []byte("/")) || decided[string(name)] {
			continue // what is damaged, Open says
		}
		if end := bytes.IndexByte(flags[1:], '"'); !b.old && end >= 0 && !bytes.ContainsAny(flags[1:1+end], string(flagWritten)+string(flagAnew)) {
			continue
		}
		l, err := decodeLine(f)
		if err != nil {
			continue
		}
		how, _ := b.endOf(l)
		switch {
		case !l.counts(on, how):
			continue
		case !l.Written && !(l.Anew && how == Ran):
			continue
		case l.Written && l.Session != session && l.changedSince(on):
			continue // a line before it may be of this session
		}
		if decided[string(name)] = true; l.Written {
			have[l.Path] = true
		}
	}
}

// head is the first line of a ledger: its format.
func head() string { return format.Ledger.Mark() }

// readBook checks every line. What is whole counts even where others are not.
func readBook(text []byte) (*book, error) {
	first, rest, ok := bytes.Cut(text, []byte("\n"))
	if err := format.Ledger.CheckMark(string(first)); err != nil {
		return &book{}, err
	}
	if !ok {
		return &book{}, errors.New("it ends too early")
	}
	b := &book{text: append([]byte("\n"), rest...), old: string(first) != head()}
	var wrong error
	if len(rest) > 0 && rest[len(rest)-1] != '\n' {
		wrong = errors.New("its last line is not whole")
		b.text = b.text[:bytes.LastIndexByte(b.text, '\n')+1]
	}
	for l := range bytes.Lines(b.text[1:]) {
		l = bytes.TrimSuffix(l, []byte("\n"))
		switch _, err := checked(l); {
		case err != nil:
			wrong = err
		case isEnd(l):
			b.ends = true
		case bytes.Contains(l, []byte(`/",`)):
			b.under = append(append(b.under, '\n'), l...)
		}
	}
	if b.under != nil {
		b.under = append(b.under, '\n')
	}
	return b, wrong
}
