package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// A ProblemKind groups what a chain shows.
type ProblemKind string

const (
	Missing  ProblemKind = "missing"  // records From to To are not there
	Changed  ProblemKind = "changed"  // a record is not the one that the next one speaks of
	Twice    ProblemKind = "twice"    // a record stands where another of its number stood before
	Unplaced ProblemKind = "unplaced" // a record that has no place, behind one that has
	Damaged  ProblemKind = "damaged"  // a line that is no record
	Anew     ProblemKind = "anew"     // a second chain begins in one log
	Gone     ProblemKind = "gone"     // a log that was sent holds no record any more
	Shorter  ProblemKind = "shorter"  // a log ends before what was sent of it
	Unread   ProblemKind = "unread"   // root could not read the log of an account
)

// A Problem is one thing that is wrong with a chain.
type Problem struct {
	Kind     ProblemKind
	File     string
	Line     int    // counts from 1; 0: the file's end
	Log      string // the chain
	From, To int64  // the records that it is about; 0: none has a number
	Before   string // the chain in whose place this one began, where that is known
	User     string // the account whose log it is, where root sent it
	Reason   string // why it was not read
}

func (p Problem) String() string {
	numbers := fmt.Sprintf("record %d", p.From)
	if p.To > p.From {
		numbers = fmt.Sprintf("records %d to %d", p.From, p.To)
	}
	text := map[ProblemKind]string{
		Missing: numbers + " missing", Changed: numbers + " was changed", Twice: numbers + " stands there twice",
		Unplaced: "a record without a place in the chain", Damaged: "no record of a decision",
		Anew: "a new chain begins: " + clip(p.Log, 40),
		Gone: "the log is gone, " + numbers + " of chain " + clip(p.Log, 40) + " had been sent", Shorter: numbers + " of chain " + clip(p.Log, 40) + " were sent and are no longer in the log",
		Unread: "the log could not be read: " + clip(p.Reason, 200),
	}[p.Kind]
	if p.Before != "" {
		text += ", in the place of " + clip(p.Before, 40)
	}
	if p.User != "" {
		text = "account " + clip(p.User, 40) + ": " + text
	}
	if p.Line == 0 {
		return p.File + ": " + text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, text)
}

// A Verification is what [Verifier] found out. Problems are the first hundred;
// Wrong counts all of them.
type Verification struct {
	Chains   []Chain // by name
	Records  int     // that have a place
	Old      int     // that have none and stand before the first that has: of older versions
	Repeated int     // the same record once more, as where records are sent again
	Wrong    int
	Problems []Problem
	EndKnown bool // the log said where it ends
}

// A Chain is what there is of one chain.
type Chain struct {
	Log         string
	First, Last int64
	Rotated     int64 // records before First that were dropped as too old
	Lost        int64 // records that a gap stands for
}

// A Verifier holds lines of a log, or of what a collector of decision logs has,
// against their chains. Lines of several machines may be mixed; those of one
// chain must be in order. The zero Verifier is ready.
type Verifier struct {
	v        Verification
	chains   map[string]*chainState
	findings map[Problem]bool // without their places
	single   bool             // there should be one chain, without repetition
}

// A chainState is how far a chain was followed.
type chainState struct {
	Chain
	line []byte            // the last one
	seen map[int64][8]byte // the beginnings of all digests
	next int64             // the number that comes next
}

// maxProblems is how many problems a Verification lists.
const maxProblems = 100

// Read takes in the lines of a stream. name is for problems. The error is one of
// reading.
func (x *Verifier) Read(in io.Reader, name string) error {
	for line, err := range strictjson.Lines(in, MaxRecord) {
		if err != nil {
			return fmt.Errorf("%s: %w", name, hostfs.Reason(err))
		}
		x.line(line, name)
	}
	return nil
}

// Result returns what was found so far.
func (x *Verifier) Result() Verification {
	v := x.v
	for _, log := range slices.Sorted(maps.Keys(x.chains)) {
		v.Chains = append(v.Chains, x.chains[log].Chain)
	}
	return v
}

func (x *Verifier) problem(p Problem) {
	if x.v.Wrong++; len(x.v.Problems) < maxProblems {
		x.v.Problems = append(x.v.Problems, p)
	}
}

func (x *Verifier) line(line strictjson.Line, name string) {
	at := Problem{File: name, Line: line.Number}
	r, err := Parse(line.Text)
	switch {
	case !line.Long && err != nil:
		if g, ok := gapOf(line.Text); ok {
			x.gap(g)
			return
		}
		if p, ok := findingOf(line.Text); ok {
			x.finding(p, at)
			return
		}
		fallthrough
	case line.Long:
		at.Kind = Damaged
		x.problem(at)
	case r.Place == nil && len(x.chains) == 0:
		x.v.Old++
	case r.Place == nil:
		at.Kind = Unplaced
		x.problem(at)
	default:
		x.v.Records++
		x.record(r.Place, line.Text, at)
	}
}

// chain returns how far the chain of a record was followed.
func (x *Verifier) chain(log string, at Problem) *chainState {
	if c := x.chains[log]; c != nil {
		return c
	}
	if x.single && len(x.chains) > 0 {
		at.Kind = Anew
		x.problem(at)
	}
	if x.chains == nil {
		x.chains = map[string]*chainState{}
	}
	c := &chainState{Chain: Chain{Log: log}, seen: map[int64][8]byte{}}
	x.chains[log] = c
	return c
}

func (x *Verifier) gap(g Gap) {
	c := x.chain(g.Log, Problem{})
	if g.From == c.next || c.next == 0 {
		c.Lost += g.To - g.From + 1
		c.next, c.line = g.To+1, nil
	}
}

// finding takes in what a sender found out, once however often it was sent.
func (x *Verifier) finding(p Problem, at Problem) {
	if x.findings[p] {
		x.v.Repeated++
		return
	}
	if x.findings == nil {
		x.findings = map[Problem]bool{}
	}
	x.findings[p] = true
	p.File, p.Line = at.File, at.Line
	x.problem(p)
}

func (x *Verifier) record(p *Place, line []byte, at Problem) {
	at.Log, at.From, at.To = p.Log, p.Seq, p.Seq
	c := x.chain(p.Log, at)
	short := [8]byte([]byte(digest(line))[:8])
	if old, again := c.seen[p.Seq]; again && old == short && !x.single {
		x.v.Repeated++
		return
	} else if again || c.Last > 0 && p.Seq < c.next {
		at.Kind = Twice
		x.problem(at)
		return
	}
	if c.First == 0 {
		c.First = p.Seq
	}
	switch {
	case c.next > 0 && p.Seq > c.next:
		at.Kind, at.From, at.To = Missing, c.next, p.Seq-1
		x.problem(at)
	case c.line != nil && !speaksOf(p.Prev, c.line):
		at.Kind, at.From, at.To = Changed, c.Last, c.Last
		x.problem(at)
	}
	c.seen[p.Seq], c.line = short, bytes.Clone(line)
	c.Last, c.next = p.Seq, p.Seq+1
}

// speaksOf reports that a digest is that of a line, as it is or as gate writes
// what it says: collectors keep the values, not the bytes.
func speaksOf(sum string, line []byte) bool {
	if digest(line) == sum {
		return true
	}
	doc, err := strictjson.Object(line, strictjson.Limits{Bytes: MaxRecord, Depth: maxNested + 10})
	return err == nil && digest(strictjson.Append(nil, doc)) == sum
}

// Verify holds the whole log against its chain. Others may append meanwhile:
// what they add is not looked at. The error is one of reading.
func (h *History) Verify() (Verification, error) {
	x := Verifier{single: true}
	end, known, files, err := h.opened()
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	if err != nil {
		return Verification{}, err
	}
	for _, f := range slices.Backward(files) {
		if err := x.Read(io.LimitReader(f, f.size), f.Name()); err != nil {
			return Verification{}, err
		}
	}
	if known {
		x.ends(end, h.Path())
	}
	return x.Result(), nil
}

// An openFile is a file as long as it was when it was opened.
type openFile struct {
	*os.File
	size int64
}

// opened opens the files of the log, the newest first, at one moment.
func (h *History) opened() (end head, known bool, files []openFile, err error) {
	if lock, err := lockHead(filepath.Join(h.dir, headName), 0, time.Second); err == nil {
		defer lock.Close()
		end, known = readHead(lock)
	} else if f, err := openRecords(filepath.Join(h.dir, headName)); err == nil { // a copy that only can be read
		defer f.Close()
		end, known = readHead(f)
	}
	for _, name := range h.files() {
		f, err := openRecords(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return end, known, files, fmt.Errorf("%s: %w", name, hostfs.Reason(err))
		}
		info, err := f.Stat()
		if err != nil {
			f.Close()
			return end, known, files, fmt.Errorf("%s: %w", name, hostfs.Reason(err))
		}
		files = append(files, openFile{f, info.Size()})
	}
	return end, known, files, nil
}

// ends holds the chain against where the log says that it begins and ends.
func (x *Verifier) ends(end head, name string) {
	x.v.EndKnown = true
	if end.seq == 0 {
		return
	}
	c := x.chain(end.log, Problem{File: name, Log: end.log})
	at := Problem{File: name, Log: end.log}
	if c.First > end.begin {
		at.Kind, at.From, at.To = Missing, end.begin, c.First-1
		x.problem(at)
	}
	if c.First > 0 {
		c.Rotated = min(end.begin, c.First) - 1
	}
	switch {
	case c.Last < end.seq:
		at.Kind, at.From, at.To = Missing, max(c.Last+1, end.begin), end.seq
		x.problem(at)
	case c.Last == end.seq && digest(c.line) != end.hash:
		at.Kind, at.From, at.To = Changed, end.seq, end.seq
		x.problem(at)
	}
}
