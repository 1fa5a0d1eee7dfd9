package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"time"

	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// A Sendable is one document for whoever collects decision logs: a record as it
// stands in the log, a gap where records are missing, or a finding.
type Sendable struct {
	Text    []byte // JSON, one line; valid until the next one is asked for
	After   Cursor // when it has arrived
	Gap     bool   // it stands for records that are missing
	Finding bool   // it says what became of the log
	User    string // of the [Origin]
}

// An Origin is where the records come from that are sent, for the documents that
// gate adds to them.
type Origin struct {
	Labels map[string]string // of the machine
	User   string            // the account whose log it is; a record of another one is not sent. "": not looked at
	Now    time.Time         // when findings are made
}

// Unsent yields what is behind a cursor, the oldest first, as [Sendables] does.
func (h *History) Unsent(c Cursor, o Origin) iter.Seq2[Sendable, error] {
	return Sendables(h.Behind(c), c, o)
}

// maxFile is the largest file of a log that is read to be sent: several times what gate
// writes into one.
const maxFile = 64 << 20

// Behind yields the lines of records that a reader of the log needs who has come as far
// as a cursor: the record that the cursor is at, and what stands behind it. A chain that
// ends before the cursor yields its last record, and a log without that chain all that it
// has. Records without a place, such as those of older versions, are left out. An error
// is the last that is yielded.
func (h *History) Behind(c Cursor) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		// A file may be renamed between the look for its name and its opening: nothing
		// is there only if it is not there twice.
		for range 2 {
			s := search{at: c, yield: yield, skip: c.Log != ""}
			if s.log(h.files()); s.found {
				return
			}
		}
	}
}

// A search looks for the record that a cursor is at, and yields from there on.
type search struct {
	at    Cursor
	yield func([]byte, error) bool
	skip  bool   // it was not met yet
	last  []byte // of its chain, before it
	found bool   // something was yielded
	done  bool
}

// log searches the files of a log, of which the newest is the first.
func (s *search) log(files []string) {
	start := len(files) - 1
	for _, name := range files {
		if info, err := os.Lstat(name); err == nil && info.Size() > maxFile {
			s.fail(name, fmt.Errorf("it has %d bytes, and gate writes no file of the log larger than %d", info.Size(), maxFile))
			return
		}
	}
	for i, name := range files {
		if p := firstPlace(name); p != nil && p.Log == s.at.Log && p.Seq <= s.at.Seq {
			start = i
			break
		}
	}
	s.oldest(files[:start+1])
	switch {
	case s.done || !s.skip:
	case s.last != nil:
		s.give(s.last)
	default: // the chain of the cursor is gone
		s.skip = false
		s.oldest(files)
	}
}

func (s *search) oldest(files []string) {
	for i := len(files) - 1; i >= 0 && !s.done; i-- {
		s.file(files[i])
	}
}

func (s *search) give(line []byte) {
	s.found = true
	s.done = !s.yield(line, nil)
}

func (s *search) file(name string) {
	f, err := openRecords(name)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		s.fail(name, err)
		return
	}
	defer f.Close()
	for line, err := range strictjson.Lines(f, MaxRecord) {
		if err != nil {
			s.fail(name, err)
			return
		}
		if r, err := Parse(line.Text); err == nil && r.Place != nil {
			s.record(r.Place, line.Text)
		}
		if s.done {
			return
		}
	}
}

func (s *search) fail(name string, err error) {
	s.yield(nil, fmt.Errorf("%s: %w", name, hostfs.Reason(err)))
	s.found, s.done = true, true
}

func (s *search) record(p *Place, line []byte) {
	if s.skip {
		switch {
		case p.Log != s.at.Log && s.last == nil:
			return
		case p.Log == s.at.Log && p.Seq < s.at.Seq:
			s.last = bytes.Clone(line)
			return
		}
		s.skip = false
	}
	s.give(line)
}

// Sendables makes of the lines of [History.Behind] what is to be sent behind the same
// cursor: the records, a gap wherever some are missing (rotated away before they were
// sent, or taken out), and a finding where the log is not the one that was sent before.
func Sendables(lines iter.Seq2[[]byte, error], c Cursor, o Origin) iter.Seq2[Sendable, error] {
	return func(yield func(Sendable, error) bool) {
		s := sender{at: c, origin: o, yield: yield}
		for line, err := range lines {
			if err != nil {
				yield(Sendable{}, err)
				return
			}
			if r, err := Parse(line); err == nil && r.Place != nil {
				s.record(&r, line)
			}
			if s.done {
				return
			}
		}
		if !s.met && c.Log != "" && !c.Gone {
			gone := Cursor{Log: c.Log, Seq: c.Seq, Gone: true}
			s.find(Gone, gone)
		}
	}
}

// A sender yields records behind a cursor.
type sender struct {
	at     Cursor
	origin Origin
	yield  func(Sendable, error) bool
	met    bool // there was a record
	done   bool
}

func (s *sender) record(r *Record, line []byte) {
	p := r.Place
	first := !s.met
	s.met, s.at.Gone = true, false
	switch {
	case p.Log != s.at.Log && s.at.Log != "":
		s.find(Anew, Cursor{Log: p.Log})
	case p.Log != s.at.Log:
		s.at = Cursor{Log: p.Log}
	case first && p.Seq < s.at.Seq:
		s.find(Shorter, Cursor{Log: p.Log, Seq: p.Seq})
	}
	if s.done || p.Seq <= s.at.Seq || s.origin.User != "" && r.User != "" && r.User != s.origin.User {
		return
	}
	if p.Seq > s.at.Seq+1 {
		g := Gap{Log: p.Log, From: s.at.Seq + 1, To: p.Seq - 1, Before: r.Time, User: s.origin.User}
		if s.send(g.JSON(s.origin.Labels), g.To, true); s.done {
			return
		}
	}
	s.send(line, p.Seq, false)
}

func (s *sender) send(text []byte, seq int64, gap bool) {
	s.at.Seq = seq
	s.done = !s.yield(Sendable{Text: text, After: s.at, Gap: gap, User: s.origin.User}, nil)
}

// find yields a finding, with which the cursor goes to another place.
func (s *sender) find(kind ProblemKind, now Cursor) {
	f := Finding{Kind: kind, Before: s.at, Log: now.Log, Seq: now.Seq, At: s.origin.Now, User: s.origin.User}
	s.at = now
	s.done = !s.yield(Sendable{Text: f.JSON(s.origin.Labels), After: now, Finding: true, User: s.origin.User}, nil)
}

// firstPlace is the place of the first record of a file that has one.
func firstPlace(name string) *Place {
	f, err := openRecords(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	for r, err := range read(f, name) {
		if err == nil && r.Place != nil {
			return r.Place
		}
	}
	return nil
}

// A Gap stands for records that were not sent and never will be: nobody has
// them any more.
type Gap struct {
	Log      string // the chain
	From, To int64  // the first and the last of them
	Before   time.Time
	User     string // the account whose log it is; "" where that account sends it
}

// Paths that documents of ours have in the place of a record's.
const (
	GapPath     = "gate/gap"
	FindingPath = "gate/log"
)

// JSON returns the gap in the form of OPA's decision log.
func (g Gap) JSON(labels map[string]string) []byte {
	return added(fmt.Sprintf("gap-%s-%d-%d", g.Log, g.From, g.To), GapPath, g.User, g.Before, labels,
		map[string]any{"log": g.Log, "from": g.From, "to": g.To})
}

// added is a document that stands beside the records.
func added(id, path, user string, at time.Time, labels map[string]string, result map[string]any) []byte {
	doc := map[string]any{
		"decision_id": id, "timestamp": stamp(at), "path": path, "labels": labelDocument(labels), "result": result,
	}
	if user != "" {
		doc["requested_by"] = user
	}
	return strictjson.Append(nil, doc)
}

// gapOf reads a gap.
func gapOf(line []byte) (Gap, bool) {
	f, user, ok := resultOf(line, GapPath)
	if !ok {
		return Gap{}, false
	}
	g := Gap{Log: f.text("log"), From: f.number("from"), To: f.number("to"), User: user}
	return g, g.Log != "" && g.From >= 1 && g.From <= g.To
}

// resultOf reads the result of a document with a path, and whose log it is about.
func resultOf(line []byte, path string) (result fields, user string, ok bool) {
	doc, err := strictjson.Object(line, strictjson.Limits{Bytes: MaxRecord})
	if err != nil || doc["path"] != path {
		return nil, "", false
	}
	return fields(doc).object("result"), fields(doc).text("requested_by"), true
}

// A Finding says that a log is not what was sent of it before: it began [Anew], is
// [Gone] or [Shorter], or that it was left [Unread].
type Finding struct {
	Kind   ProblemKind
	Before Cursor // how far it had been sent
	Log    string // the chain that it has now, or had when it was gone
	Seq    int64  // the last record of it that counts as sent from now on
	At     time.Time
	User   string // the account whose log it is; "" where that account sends it
	Reason string // why it was not read
}

// JSON returns the finding in the form of OPA's decision log.
func (f Finding) JSON(labels map[string]string) []byte {
	id := fmt.Sprintf("log-%s-%s-%d-%s-%d", f.Kind, f.Before.Log, f.Before.Seq, f.Log, f.Seq)
	result := map[string]any{"problem": string(f.Kind)}
	if f.Kind == Unread {
		id = fmt.Sprintf("log-%s-%s-%d", f.Kind, f.User, f.At.Unix())
		result["reason"] = f.Reason
	}
	if f.Log != "" {
		result["log"], result["seq"] = f.Log, f.Seq
	}
	if f.Before.Log != "" {
		result["before"] = map[string]any{"log": f.Before.Log, "seq": f.Before.Seq}
	}
	return added(id, FindingPath, f.User, f.At, labels, result)
}

// findingOf reads a finding, as a problem of the log that it is about.
func findingOf(line []byte) (Problem, bool) {
	f, user, ok := resultOf(line, FindingPath)
	if !ok {
		return Problem{}, false
	}
	before := f.object("before")
	p := Problem{Kind: ProblemKind(f.text("problem")), Log: f.text("log"), User: user, Reason: f.text("reason")}
	switch p.Kind {
	case Anew:
		p.Before = before.text("log")
	case Gone:
		p.From, p.To = 1, f.number("seq")
	case Shorter:
		p.From, p.To = f.number("seq")+1, before.number("seq")
	case Unread:
	default:
		return Problem{}, false
	}
	return p, true
}
