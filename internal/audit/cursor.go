package audit

import (
	"errors"
	"fmt"
	"io/fs"
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

	Gone bool // the log was found to hold nothing any more, and that arrived, too
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
	c := Cursor{Log: f.text("log"), Seq: f.number("seq"), Gone: f["gone"] == true}
	c.At, _ = time.Parse(time.RFC3339Nano, f.text("at"))
	return c, nil
}

// Advance notes how far the log was sent to a destination, at once or not at all.
func (h *History) Advance(to string, c Cursor) error {
	path := filepath.Join(h.dir, cursorFile(to))
	doc := map[string]any{"log": c.Log, "seq": c.Seq, "at": stamp(c.At)}
	if c.Gone {
		doc["gone"] = true
	}
	data := strictjson.Append(nil, doc)
	if err := hostfs.Replace(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("%s: %w", path, hostfs.Reason(err))
	}
	return nil
}
