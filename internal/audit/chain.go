package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"gate/internal/strictjson"
)

// A Place is where a record stands in the chain of a log. A chain goes on from
// file to file.
type Place struct {
	Log  string // the chain's own name: that of one log of one account on one machine
	Seq  int64  // counts from 1
	Prev string // the SHA-256 of the line of the record before, in hex; "" for the first
}

// write writes the place as a member of a larger object.
func (p *Place) write(w *strictjson.Writer) {
	w.Key("chain").Object()
	w.Key("log").Text(p.Log)
	if p.Prev != "" {
		w.Key("prev").Text(p.Prev)
	}
	w.Key("seq").Int(p.Seq)
	w.EndObject()
}

func (p *Place) member() []byte {
	var w strictjson.Writer
	p.write(&w)
	return w.JSON
}

func placeOf(f fields) (*Place, error) {
	p := &Place{Log: f.text("log"), Seq: f.number("seq"), Prev: f.text("prev")}
	if p.Log == "" || p.Seq < 1 {
		return nil, errors.New("chain: no place in it")
	}
	return p, nil
}

// unplaced is the name of no chain. A record is written down before the lock is
// taken, and its place only then.
const unplaced = "-"

// placed puts a record where it belongs in the chain, with a line feed behind
// it. Nothing that an event brought stands before its place: within texts the
// quotes are escaped.
func placed(line []byte, p *Place) []byte {
	before := (&Place{Log: unplaced, Seq: 1}).member()
	if i := bytes.Index(line, before); i >= 0 {
		line = slices.Replace(line, i, i+len(before), p.member()...)
	}
	return append(line, '\n')
}

// digest is what the next record says of a line.
func digest(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

// headName is the file that says where the chain ends, so that nobody has to
// look for the last record. Who appends holds its lock.
const headName = "decisions.head"

// A head is where the chain of a log ends.
type head struct {
	log   string
	seq   int64  // of the last record, 0 before the first
	hash  string // of its line
	size  int64  // of the current file behind it
	begin int64  // the first record of the files that are kept
}

// headSize is the length of the file: always the same, so that writing it again
// takes no room on a disk that is full.
const headSize = 256

func (h *head) encode() []byte {
	text := strconv.AppendInt(append(make([]byte, 0, headSize), `{"begin":`...), h.begin, 10)
	text = strictjson.Append(append(text, `,"hash":`...), h.hash)
	text = strictjson.Append(append(text, `,"log":`...), h.log)
	text = strconv.AppendInt(append(text, `,"seq":`...), h.seq, 10)
	text = strconv.AppendInt(append(text, `,"size":`...), h.size, 10)
	text = append(text, '}')
	for len(text) < headSize-1 {
		text = append(text, ' ')
	}
	return append(text, '\n')
}

// decode reads what encode writes, and nothing else.
func (h *head) decode(file []byte) bool {
	text := string(file)
	var begin, seq, size string
	for _, member := range []struct {
		value         *string
		before, after string
	}{
		{&begin, `{"begin":`, `,`}, {&h.hash, `"hash":"`, `",`}, {&h.log, `"log":"`, `",`}, {&seq, `"seq":`, `,`}, {&size, `"size":`, `}`},
	} {
		rest, ok := strings.CutPrefix(text, member.before)
		if !ok {
			return false
		}
		*member.value, text, _ = strings.Cut(rest, member.after)
	}
	for _, number := range []struct {
		text  string
		value *int64
	}{{begin, &h.begin}, {seq, &h.seq}, {size, &h.size}} {
		var err error
		if *number.value, err = strconv.ParseInt(number.text, 10, 64); err != nil {
			return false
		}
	}
	return bytes.Equal(h.encode(), file)
}

// readHead reads where the chain ends; false: the file does not say.
func readHead(f io.ReaderAt) (head, bool) {
	var buf [headSize]byte
	n, err := f.ReadAt(buf[:], 0)
	if n == 0 || err != nil && err != io.EOF {
		return head{}, false
	}
	var h head
	if !h.decode(buf[:n]) {
		doc, err := strictjson.Object(bytes.TrimSpace(buf[:n]), strictjson.Limits{Bytes: headSize})
		if err != nil {
			return head{}, false
		}
		x := fields(doc)
		h = head{
			log: x.text("log"), seq: x.number("seq"), hash: x.text("hash"),
			size: x.number("size"), begin: x.number("begin"),
		}
	}
	return h, h.log != "" && h.size >= 0 && h.seq >= 0 && h.begin >= 1 && (h.seq == 0) == (h.hash == "")
}

// newHead begins a chain.
func newHead() head { return head{log: newName(), begin: 1} }

// newKey names a record among those of all machines.
func newKey(id string) string { return id + "-" + newName() }

// newName is one that nothing else has. It guards nothing.
func newName() string {
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, rand.Uint64()))
}

// past takes in the record of a line.
func (h *head) past(line []byte, p *Place) {
	h.log, h.seq, h.hash = p.Log, p.Seq, digest(line)
}

// next is the place of the record to come.
func (h *head) next() *Place { return &Place{Log: h.log, Seq: h.seq + 1, Prev: h.hash} }

// catchUp takes in what stands behind the place that the head knows of: a
// process that was killed wrote its record, and not the head.
func (h *head) catchUp(f *os.File, size int64) error {
	if size <= h.size {
		return nil // if it is less, somebody took records away; the chain goes on, so that this shows
	}
	section := io.NewSectionReader(f, h.size, size-h.size)
	for line, err := range strictjson.Lines(section, MaxRecord) {
		if err != nil {
			return fmt.Errorf("the end of the log: %w", err)
		}
		if r, err := Parse(line.Text); err == nil && !line.Long && r.Place != nil && r.Place.Log == h.log && r.Place.Seq > h.seq {
			h.past(line.Text, r.Place)
		}
	}
	return nil
}

// recoverHead finds the end of the chain in the records, for a log whose head is
// lost or is not to be read. Without any there a new chain begins.
func recoverHead(dir string) head {
	h := newHead()
	history := &History{dir}
	for _, name := range history.files() {
		f, err := openRecords(name)
		if err != nil {
			continue
		}
		for line, err := range strictjson.Lines(f, MaxRecord) {
			if err != nil {
				break
			}
			if r, err := Parse(line.Text); err == nil && r.Place != nil {
				h.past(line.Text, r.Place)
			}
		}
		f.Close()
		if h.seq > 0 {
			break
		}
	}
	h.begin = history.first()
	return h
}

// first is the number of the oldest record that has one, 1 without any.
func (h *History) first() int64 {
	for r, err := range h.Oldest() {
		if err == nil && r.Place != nil {
			return r.Place.Seq
		}
	}
	return 1
}
