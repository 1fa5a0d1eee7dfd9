package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"time"

	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// cursorName is the file that says what was sent. Those of further destinations
// have something appended.
const cursorName = "decisions.sent"

// A Cursor says how far a log was sent elsewhere. The zero Cursor: nothing was.
type Cursor struct {
	Log string    // the chain
	Seq int64     // of the last record that arrived
	At  time.Time // when it arrived
}

// cursorFile is the name of the cursor of one destination.
func cursorFile(to string) string {
	if to == "" {
		return cursorName
	}
	return cursorName + "." + digest([]byte(to))[:12]
}

// Cursor returns how far the log was sent to a destination; "" is the one that
// rotation waits for.
func (h *History) Cursor(to string) (Cursor, error) {
	const most = 1 << 10
	root, err := hostfs.OpenDir(h.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Cursor{}, nil
	}
	if err != nil {
		return Cursor{}, fmt.Errorf("%s: %w", h.dir, hostfs.Reason(err))
	}
	defer root.Close()
	data, err := hostfs.ReadFile(root, cursorFile(to), most)
	if errors.Is(err, fs.ErrNotExist) {
		return Cursor{}, nil
	}
	var doc map[string]any
	if err == nil {
		doc, err = strictjson.Object(data, strictjson.Limits{Bytes: most})
	}
	if err != nil {
		return Cursor{}, fmt.Errorf("%s: %w", filepath.Join(h.dir, cursorFile(to)), hostfs.Reason(err))
	}
	f := fields(doc)
	c := Cursor{Log: f.text("log"), Seq: f.number("seq")}
	c.At, _ = time.Parse(time.RFC3339Nano, f.text("at"))
	return c, nil
}

// Advance notes how far the log was sent to a destination, at once or not at all.
func (h *History) Advance(to string, c Cursor) error {
	path := filepath.Join(h.dir, cursorFile(to))
	data := strictjson.Append(nil, map[string]any{"log": c.Log, "seq": c.Seq, "at": stamp(c.At)})
	if err := hostfs.Replace(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("%s: %w", path, hostfs.Reason(err))
	}
	return nil
}

// A Sendable is one document for whoever collects decision logs: a record as it
// stands in the log, or a gap where records are missing.
type Sendable struct {
	Text  []byte // JSON, one line; valid until the next one is asked for
	After Cursor // when it has arrived
	Gap   bool   // it stands for records that are missing
}

// Unsent yields what is behind a cursor, the oldest first, with a gap wherever
// records are missing: rotated away before they were sent, or taken out. What
// has no place in the chain, such as records of older versions, is left out. An
// error is the last that is yielded. labels are those of the machine, for gaps.
func (h *History) Unsent(c Cursor, labels map[string]string) iter.Seq2[Sendable, error] {
	return func(yield func(Sendable, error) bool) {
		files := h.files() // the newest first
		start := len(files) - 1
		for i, name := range files {
			if p := firstPlace(name); p != nil && p.Log == c.Log && p.Seq <= c.Seq+1 {
				start = i
				break
			}
		}
		s := sender{at: c, labels: labels, yield: yield, skip: c.Log != ""}
		for i := start; i >= 0 && !s.done; i-- {
			s.file(files[i])
		}
		if s.skip { // the chain of the cursor is gone
			s.skip = false
			for i := len(files) - 1; i >= 0 && !s.done; i-- {
				s.file(files[i])
			}
		}
	}
}

// A sender yields records behind a cursor.
type sender struct {
	at     Cursor
	labels map[string]string
	yield  func(Sendable, error) bool
	skip   bool // the chain that the cursor is in was not met yet
	done   bool
}

func (s *sender) file(name string) {
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
			s.record(&r, line.Text)
		}
		if s.done {
			return
		}
	}
}

func (s *sender) fail(name string, err error) {
	s.yield(Sendable{}, fmt.Errorf("%s: %w", name, hostfs.Reason(err)))
	s.done = true
}

func (s *sender) record(r *Record, line []byte) {
	p := r.Place
	if s.skip && p.Log != s.at.Log {
		return
	}
	s.skip = false
	if p.Log != s.at.Log {
		s.at = Cursor{Log: p.Log}
	}
	if p.Seq <= s.at.Seq {
		return
	}
	if p.Seq > s.at.Seq+1 {
		g := Gap{Log: p.Log, From: s.at.Seq + 1, To: p.Seq - 1, Before: r.Time}
		if s.send(g.JSON(s.labels), g.To, true); s.done {
			return
		}
	}
	s.send(line, p.Seq, false)
}

func (s *sender) send(text []byte, seq int64, gap bool) {
	s.at.Seq = seq
	s.done = !s.yield(Sendable{text, s.at, gap}, nil)
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
}

// gapPath is what a gap has in the place of a record's path.
const gapPath = "gate/gap"

// JSON returns the gap in the form of OPA's decision log.
func (g Gap) JSON(labels map[string]string) []byte {
	return strictjson.Append(nil, map[string]any{
		"decision_id": fmt.Sprintf("gap-%s-%d-%d", g.Log, g.From, g.To), "timestamp": stamp(g.Before), "path": gapPath, "labels": labelDocument(labels),
		"result": map[string]any{"log": g.Log, "from": g.From, "to": g.To},
	})
}

// gapOf reads a gap.
func gapOf(line []byte) (Gap, bool) {
	doc, err := strictjson.Object(line, strictjson.Limits{Bytes: MaxRecord})
	if err != nil || doc["path"] != gapPath {
		return Gap{}, false
	}
	f := fields(doc).object("result")
	g := Gap{Log: f.text("log"), From: f.number("from"), To: f.number("to")}
	return g, g.Log != "" && g.From >= 1 && g.From <= g.To
}
