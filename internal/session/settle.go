package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"gate/internal/hostfs"
	"gate/internal/origin"
	"gate/internal/strictjson"
)

// maxCall is how many bytes of a call's name are kept. One that is longer is none.
const maxCall = 64

// callOf is the name of a call as it is kept.
func callOf(call string) string {
	if len(call) > maxCall || !utf8.ValidString(call) {
		return ""
	}
	return call
}

// Add notes what a call of a session leaves in files, if it runs. The moves are in the
// order of their paths. What a line adds counts from now on; what it takes away counts
// once [Ledger.Settle] has heard that the call ran. It waits for other calls as long as
// ctx lasts; an error means that nothing is noted of what the call leaves in the project
// or of what it leaves elsewhere.
func (l Ledger) Add(ctx context.Context, k Key, call string, moves []origin.Move, now time.Time) error {
	if len(moves) == 0 {
		return nil
	}
	inside, outside := l.lines(&line{Move: origin.Move{Call: callOf(call), Session: k.Name()}, at: now}, moves)
	if l.Lines != nil {
		l.hold(append(inside, outside...), now)
		return nil
	}
	if err := l.put(ctx, inside, now); err != nil {
		return err
	}
	return l.shared().put(ctx, outside, now)
}

// put adds lines to the ledger's file.
func (l Ledger) put(ctx context.Context, text []byte, now time.Time) error {
	if len(text) == 0 {
		return nil
	}
	s := Store{Dir: l.Dir, at: l.at}
	if err := s.prepare(); err != nil {
		return l.wrong(l.path(), err)
	}
	unlock, err := s.lock(ctx, filepath.Base(l.path()))
	if err != nil {
		return l.wrong(l.path(), err)
	}
	defer unlock()
	if err := l.add(s, text, now); err != nil {
		return l.wrong(l.path(), err)
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

// lines are what the ledgers say of moves, like one, which names the call: of files in the
// project, and of others.
func (l Ledger) lines(of *line, moves []origin.Move) (inside, outside []byte) {
	root := strings.TrimSuffix(l.real(l.Project), "/") + "/"
	add := func(f *line, below bool) {
		text := &outside
		if l.Project != "" && below {
			text = &inside
		}
		*text = append(f.append(*text), '\n')
	}
	for _, m := range moves {
		m.Call, m.Session = of.Call, of.Session
		if in, part, ok := origin.CutPart(m.Path); ok {
			in = l.real(in)
			if m.Path = origin.Part(in, part); len(m.Path) > maxPath {
				m.Path, m.Anew = in+"/", false
			}
			add(&line{Move: m, at: of.at}, strings.HasPrefix(in+"/", root))
			continue
		}
		// A call may write through a link, or put a file in its place.
		whole, slash := strings.CutSuffix(m.Path, "/")
		dir, base := path.Split(whole)
		last := ""
		for _, name := range []string{path.Join(l.real(dir), base), l.real(whole)} {
			if name == last {
				continue
			}
			last = name
			f := &line{Move: m, at: of.at, was: stateOf(l.files(), name)}
			if slash {
				name, f.was = name+"/", ""
			}
			if len(name) > maxPath {
				name, f.was, f.Anew = name[:strings.LastIndexByte(name[:maxPath], '/')+1], "", false
			}
			f.Path = name
			add(f, strings.HasPrefix(name, root))
		}
	}
	return inside, outside
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
	b, err := openBook(l.Dir, filepath.Base(l.path()))
	if err != nil {
		return err
	}
	if b.text == nil {
		b.text = []byte("\n")
	}
	return s.replace(l.path(), append([]byte(head()), l.fit(append(b.text, text...), now)...))
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

// Settle notes what became of a call of a session, where that changes what its lines say,
// now or once a later call writes the same files. A call without a name is of no account:
// nobody knows which one it is. Most calls cost reading the ledgers, and no write.
func (l Ledger) Settle(ctx context.Context, k Key, call string, how End, now time.Time) error {
	of := &line{Move: origin.Move{Call: callOf(call), Session: k.Name()}}
	if of.Call == "" {
		return nil
	}
	if l.Lines != nil {
		b, err := l.Lines.book()
		if err != nil {
			return l.wrong("", err)
		}
		if text := l.ended(b, of, how); text != nil {
			l.hold(text, now)
		}
		return nil
	}
	ledgers := []Ledger{l}
	if l.Project != "" {
		ledgers = append(ledgers, l.shared())
	}
	var errs error
	for _, l := range ledgers {
		name := filepath.Base(l.path())
		if hostfs.Missing(l.path()) {
			continue
		}
		b, err := openBook(l.Dir, name)
		if err != nil {
			errs = errors.Join(errs, l.wrong(l.path(), err))
			continue
		}
		errs = errors.Join(errs, l.put(ctx, l.ended(b, of, how), now))
	}
	return errs
}

// ended is the note that a call ended, nil where it says nothing new. It is about the last
// call of that name: the session may have had more.
func (l Ledger) ended(b *book, of *line, how End) []byte {
	lines := b.of(of)
	if len(lines) == 0 {
		return nil
	}
	if had, _ := b.endOf(lines[0].line); had != "" {
		return nil
	}
	files := l.files()
	matters := how == Refused
	for _, f := range lines {
		if how == Ran && !f.wrote(files) { // it says it ran, and nothing shows that it did
			how = Failed
		}
		matters = matters || f.Secret != "" || f.Host != "" || f.Anew && b.before(files, f)
	}
	if !matters {
		return nil
	}
	return append(appendEnd(nil, lines[0].line, how), '\n')
}

// of are the lines of the last call of a name.
func (b *book) of(call *line) (lines []found) {
	mark := strictjson.Append(nil, []any{call.Session, call.Call})
	mark = append(append([]byte(","), mark[1:len(mark)-1]...), ',')
	for end := len(b.text); ; {
		at := bytes.LastIndex(b.text[:end], mark)
		if at < 0 {
			return lines
		}
		pos := bytes.LastIndexByte(b.text[:at], '\n')
		end = pos
		if pos < 0 || isEnd(b.text[pos+1:]) {
			if pos < 0 {
				return lines
			}
			continue
		}
		f := b.line(pos)
		if f == nil || f.Session != call.Session || f.Call != call.Call {
			continue
		}
		if len(lines) > 0 && !f.at.Equal(lines[0].at) {
			return lines
		}
		lines = append(lines, found{f, pos})
	}
}

// before reports that lines before one say more of its file than it does.
func (b *book) before(files Files, f found) bool {
	earlier := *b
	earlier.text = b.text[:f.pos+1]
	for _, e := range earlier.live(files, f.Path) {
		if e.Secret != "" || e.Host != "" || e.Written && !f.Written {
			return true
		}
	}
	return false
}
