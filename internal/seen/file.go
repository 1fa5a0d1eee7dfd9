package seen

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"gate/internal/format"
	"gate/internal/hostfs"
	"gate/internal/session"
)

// Limits of the file of one session.
const (
	maxFile    = 1 << 20   // bytes
	spare      = 1 << 10   // of them, which only the note that there is more may take
	forSecrets = 256 << 10 // of them, which texts from outside cannot take from secrets
	maxTokens  = 4096      // of one call
	maxValues  = 1024      // secrets of one call, and windows of them
	maxCall    = 64        // bytes of a tool_use_id
	maxWhat    = 64        // bytes of a kind of secret
	maxRecord  = 256 << 10 // more bytes than a record has
)

// A kind is what a digest is about. Its number stands in files and in digests.
type kind byte

const (
	kindSecret kind = iota
	kindHost
	kindAddress
	kindMail
	kindPackage
	kindCommand
	kindPlace // a directory that was cloned, a file that was fetched
	kindCheck // of a key, and never in a record
	kindRoll  // the same
	kindWindow
	kindPhrase // the beginnings of words of a phrase
	kindWord   // of a prompt or of the address of a page; see [wordsOf]
	kindPhone
)

func (k kind) String() string {
	return [...]string{"secret", "host", "address", "e-mail", "package", "command", "place", "", "", "secret", "secret", "word", "number"}[k]
}

// A source is the kind of text that tokens stood in. Its number stands in files.
type source byte

const (
	sourceNone      source = iota // trusted output
	sourcePerson                  // a prompt
	sourceWeb                     // a page or a search
	sourceNet                     // a command that fetched it
	sourceServer                  // the result of an MCP server
	sourceCloned                  // a file of a repository that was cloned in this session, or of a fetched file
	sourceAddressed               // any output that speaks to an agent
	sourceKept                    // a log, or a file of others in the project; see [keptByOthers]
	sourceHelper                  // what a sub-agent reports: nobody knows where it looked
	sourceUnknown                 // of a newer gate
)

// Kept is the [Hit.Via] of a log, or of a file of others in the project.
const Kept = "log or file of others"

func (s source) String() string {
	return [...]string{"", "prompt", "web page", "fetched text", "MCP result", "cloned or fetched file", "text that speaks to agents", Kept, "report of a sub-agent", "untrusted text"}[min(s, sourceUnknown)]
}

// The flags that are added to a source in a record: not everything could be kept, or nothing,
// since gate failed.
const (
	moreFlag = 0x80
	lostFlag = 0x40
)

// A note is what one event shows: the texts, on their way to a record.
type note struct {
	at     time.Time
	call   string
	source source
	more   bool
	lost   bool // nothing of it is known
	values []value
	tokens []token
}

// A value is a secret, cut to the length that is kept of it, or a window of one.
type value struct {
	what, text string
	kind       kind // kindSecret, kindWindow or kindPhrase
}

// A token is a host or the like.
type token struct {
	kind kind
	text string
}

func (n *note) empty() bool { return len(n.values)+len(n.tokens) == 0 && !n.more }

// A record is what is kept of a note.
type record struct {
	at      time.Time
	call    string
	source  source
	more    bool
	lost    bool
	secrets []kept
	tokens  []byte // entrySize each: the kind and the digest
}

// A kept is what is kept of a secret.
type kept struct {
	what   string
	length int // of a window with foldedFlag, of words with begunFlag, too
	mark   mark
	digest digest
}

// The flags in the length of what is no value as it is. No value is that long.
const (
	foldedFlag = 0x80
	begunFlag  = 0x40
)

const entrySize = 1 + len(digest{})

// Each record begins with a magic number, by which a reader finds the next whole one
// behind a damaged one, its length and its sum.
const (
	magic    = "\xf7gs\x01"
	sizeAt   = len(magic)
	sumAt    = sizeAt + 4
	bodyAt   = sumAt + 8
	minKept  = 1 + 1 + 2 + len(digest{})
	minTotal = bodyAt + 8 + 1 + 1 + 2 + 2
)

// append adds the record to a file.
func (r *record) append(text []byte) []byte {
	begin := len(text)
	text = append(text, magic...)
	text = append(text, make([]byte, bodyAt-sizeAt)...)
	text = binary.LittleEndian.AppendUint64(text, uint64(r.at.UnixMilli()))
	flags := byte(r.source)
	if r.more {
		flags |= moreFlag
	}
	if r.lost {
		flags |= lostFlag
	}
	text = append(text, flags, byte(len(r.call)))
	text = append(text, r.call...)
	text = binary.LittleEndian.AppendUint16(text, uint16(len(r.secrets)))
	for _, s := range r.secrets {
		text = append(text, byte(len(s.what)))
		text = append(text, s.what...)
		text = append(text, byte(s.length))
		text = binary.LittleEndian.AppendUint16(text, uint16(s.mark))
		text = append(text, s.digest[:]...)
	}
	text = binary.LittleEndian.AppendUint16(text, uint16(len(r.tokens)/entrySize))
	text = append(text, r.tokens...)
	binary.LittleEndian.PutUint32(text[begin+sizeAt:], uint32(len(text)-begin-bodyAt))
	binary.LittleEndian.PutUint64(text[begin+sumAt:], xxhash.Sum64(text[begin+bodyAt:]))
	return text
}

var errDamaged = errors.New("a record is damaged")

// readRecord reads the record that a text begins with, and returns its length.
func readRecord(text []byte) (r record, n int, err error) {
	if len(text) < minTotal || string(text[:sizeAt]) != magic {
		return r, 0, errDamaged
	}
	size := int64(binary.LittleEndian.Uint32(text[sizeAt:]))
	if size > maxRecord || size > int64(len(text)-bodyAt) {
		return r, 0, errDamaged
	}
	body := text[bodyAt : bodyAt+int(size)]
	if xxhash.Sum64(body) != binary.LittleEndian.Uint64(text[sumAt:]) {
		return r, 0, errDamaged
	}
	d := cutter{rest: body}
	r.at = time.UnixMilli(int64(binary.LittleEndian.Uint64(d.take(8)))).UTC()
	flags := d.byte()
	r.source, r.more, r.lost = source(flags&^(moreFlag|lostFlag)), flags&moreFlag != 0, flags&lostFlag != 0
	r.call = string(d.take(int(d.byte())))
	for range d.count() {
		s := kept{what: string(d.take(int(d.byte())))}
		s.length = int(d.byte())
		s.mark = mark(d.count())
		copy(s.digest[:], d.take(len(s.digest)))
		if d.short || s.length < leastCell {
			return r, 0, errDamaged
		}
		r.secrets = append(r.secrets, s)
	}
	r.tokens = d.take(entrySize * d.count())
	if d.short || len(d.rest) > 0 {
		return r, 0, errDamaged
	}
	return r, bodyAt + len(body), nil
}

// A cutter takes a text apart. Behind its end there are zeros.
type cutter struct {
	rest  []byte
	short bool
}

func (c *cutter) take(n int) []byte {
	if n > len(c.rest) {
		c.short, c.rest = true, nil
		return make([]byte, max(n, 8))[:n]
	}
	out := c.rest[:n]
	c.rest = c.rest[n:]
	return out
}

func (c *cutter) byte() byte { return c.take(1)[0] }
func (c *cutter) count() int { return int(binary.LittleEndian.Uint16(c.take(2))) }

// A head is the first line of a file: its format, its key and the check of that.
type head struct{ key, check string }

func (h head) String() string { return format.Shown.Mark() + " " + h.key + " " + h.check + "\n" }

// readHead returns the head and what follows it.
func readHead(text []byte) (head, []byte, error) {
	line, rest, ok := bytes.Cut(text[:min(len(text), 256)], []byte("\n"))
	mark, names, _ := strings.Cut(string(line), " ")
	if err := format.Shown.CheckMark(mark); err != nil {
		return head{}, nil, err
	}
	key, check, found := strings.Cut(names, " ")
	if !ok || !found {
		return head{}, nil, errors.New("its first line is not whole")
	}
	return head{key, check}, text[min(len(text), 256)-len(rest):], nil
}

// A content is what a file holds.
type content struct {
	key     *key
	records []record
	damaged bool
	more    bool
	lost    bool
	words   map[digest]bool // for [content.named], which makes it
}

func (s *Seen) journal() session.Journal {
	return session.Journal{Dir: s.Store.Dir, Texts: s.Store.Texts, Name: s.Session.Name(), Most: maxFile, Begin: format.Shown.Mark() + " "}
}

// open is what the file of the session held when it was read first, for what asks before a call.
func (s *Seen) open() (*content, error) {
	if s.opened == nil {
		if !s.journal().Exists() {
			return &content{}, nil
		}
		kept, err := s.read()
		if err != nil {
			return nil, err
		}
		s.opened = kept
	}
	return s.opened, nil
}

// read returns what the file of the session holds, nothing where there is none.
func (s *Seen) read() (*content, error) { return s.Store.read(s.journal()) }

func (s Store) read(j session.Journal) (*content, error) {
	text, err := j.Read()
	if text == nil || err != nil {
		return &content{}, err
	}
	h, rest, err := readHead(text)
	if err != nil {
		return nil, err
	}
	k, err := s.openKey(h.key)
	if err != nil {
		return nil, err
	}
	if k.check() != h.check {
		return nil, errors.New("it was written with another key")
	}
	c := readRecords(rest)
	c.key = k
	return c, nil
}

// readRecords reads every record that is whole.
func readRecords(text []byte) *content {
	c := &content{}
	for len(text) > 0 {
		r, n, err := readRecord(text)
		if err == nil {
			c.records = append(c.records, r)
			c.more, c.lost = c.more || r.more, c.lost || r.lost
			text = text[n:]
			continue
		}
		c.damaged = true
		next := bytes.Index(text[1:], []byte(magic))
		if next < 0 {
			break
		}
		text = text[1+next:]
	}
	return c
}

// add writes what is new of a note.
func (s *Seen) add(ctx context.Context, n *note) error {
	j := s.journal()
	c, err := s.read()
	if err != nil {
		return err
	}
	if c.key == nil {
		s.Store.sweep(ctx, n.at)
		if c.key, err = s.Store.makeKey(ctx, n.at); err != nil {
			return err
		}
	}
	first := func() ([]byte, error) { return []byte(head{c.key.name, c.key.check()}.String()), nil }
	if n.lost {
		if c.lost {
			return nil
		}
		return j.Add(ctx, first, (&record{at: n.at, call: ahead(n.call, maxCall), lost: true}).append(nil))
	}
	r := c.news(n)
	if len(r.secrets)+len(r.tokens) == 0 && (!r.more || c.more) {
		return nil
	}
	room := j
	room.Most -= spare
	if len(r.tokens) > 0 {
		room.Most -= forSecrets
	}
	err = room.Add(ctx, first, r.append(nil))
	if errors.Is(err, session.ErrFull) && len(r.tokens) > 0 && len(r.secrets) > 0 {
		r.tokens, r.more, room.Most = nil, true, room.Most+forSecrets
		err = room.Add(ctx, first, r.append(nil))
	}
	if errors.Is(err, session.ErrFull) && !c.more {
		err = j.Add(ctx, first, (&record{at: n.at, call: r.call, source: n.source, more: true}).append(nil))
	}
	if errors.Is(err, session.ErrFull) {
		return nil // it says so
	}
	return err
}

// news is what a note has that the file does not.
func (c *content) news(n *note) *record {
	r := &record{at: n.at, call: ahead(n.call, maxCall), source: n.source, more: n.more}
	have := map[digest]bool{}
	for i := range c.records {
		for _, s := range c.records[i].secrets {
			have[s.digest] = true
		}
	}
	var roll *roller
	for _, v := range n.values {
		length := len(v.text)
		switch v.kind {
		case kindWindow:
			length |= foldedFlag
		case kindPhrase:
			length |= foldedFlag | begunFlag
		}
		d := c.key.of(v.kind, v.text)
		if have[d] {
			continue
		}
		have[d] = true
		if len(r.secrets) == maxValues {
			r.more = true
			break
		}
		if roll == nil {
			roll = c.key.roller()
		}
		r.secrets = append(r.secrets, kept{ahead(v.what, maxWhat), length, roll.of(v.text), d})
	}
	if len(n.tokens) > maxTokens {
		n.tokens, r.more = n.tokens[:maxTokens], true
	}
	w := c.wanted(n.tokens)
	c.each(w, func(i int, r *record) {
		if (r.source == sourcePerson) == (n.source == sourcePerson) && (n.source != sourceAddressed || r.source == sourceAddressed) {
			w.found[i] = true
		}
	})
	for i, t := range n.tokens {
		if !w.found[i] {
			r.tokens = append(append(r.tokens, byte(t.kind)), w.digests[i][:]...)
		}
	}
	return r
}

// A wanted is a set of tokens that records are searched for.
type wanted struct {
	digests []digest
	found   []bool
	at      map[digest]int
	first   [1 << 16 / 64]uint64 // by the first two bytes of a digest
}

func (c *content) wanted(tokens []token) *wanted {
	w := &wanted{digests: make([]digest, len(tokens)), found: make([]bool, len(tokens)), at: make(map[digest]int, len(tokens))}
	for i, t := range tokens {
		d := c.key.of(t.kind, t.text)
		n := binary.LittleEndian.Uint16(d[:])
		w.digests[i], w.at[d] = d, i
		w.first[n/64] |= 1 << (n % 64)
	}
	return w
}

// each calls f for each token of a set that a record has, in the order of the records.
func (c *content) each(w *wanted, f func(i int, r *record)) {
	if len(w.digests) == 0 {
		return
	}
	for k := range c.records {
		r := &c.records[k]
		for t := r.tokens; len(t) > 0; t = t[entrySize:] {
			n := binary.LittleEndian.Uint16(t[1:])
			if w.first[n/64]&(1<<(n%64)) == 0 {
				continue
			}
			if i, ok := w.at[digest(t[1:entrySize])]; ok {
				f(i, r)
			}
		}
	}
}

// places reports whether one of some directories or files was cloned or fetched.
func (s *Seen) places(tokens []token) bool {
	if len(tokens) == 0 || !s.journal().Exists() {
		return false
	}
	c, err := s.read()
	if err != nil || c.key == nil {
		return err != nil
	}
	any := c.damaged
	c.each(c.wanted(tokens), func(int, *record) { any = true })
	return any
}

func isSession(name string) bool {
	_, err := hex.DecodeString(name)
	return err == nil && len(name) == len(session.Key{}.Name())
}

func (s Store) broken() map[string]error {
	broken := map[string]error{}
	entries, err := os.ReadDir(s.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		broken[s.Dir] = hostfs.Reason(err)
	}
	for _, e := range entries {
		if !isSession(e.Name()) {
			continue
		}
		c, err := s.read(session.Journal{Dir: s.Dir, Name: e.Name(), Most: maxFile})
		if err == nil && c.damaged {
			err = errDamaged
		}
		path := filepath.Join(s.Dir, e.Name())
		if reason := errors.Unwrap(err); reason != nil && strings.HasPrefix(err.Error(), path) {
			err = reason // the file is named beside it
		}
		if err != nil {
			broken[path] = hostfs.Reason(err)
		}
	}
	return broken
}

// ahead is the beginning of s, of at most a number of bytes.
func ahead(s string, most int) string { return s[:min(len(s), most)] }
