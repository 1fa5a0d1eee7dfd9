// Package record keeps what a decision allowed to be run confined until it runs, once.
//
// The line that an agent's host runs is "gate run --call ID" and says nothing itself.
// [Keep] writes down what was decided and returns the ID. [Take] reads it back and takes
// it away, so no second run has it. On any difference it returns an error, and nothing
// may run.
package record

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"gate/internal/confine/profile"
	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// A Record is what may run.
type Record struct {
	Agent   string          // the host
	Session string          // its name of the session
	Call    string          // its name of the call, to compare what ran with what was decided; "" if it gives none
	Profile profile.Profile // as [profile.Profile.At] returned it
	Place   profile.Place
	Line    string // for the shell, as it was decided about
	Dir     string // where it starts, absolute
	Expires time.Time

	Launcher string // the program that runs it, absolute
	State    string // the state directory, absolute
}

// Form is the line that the host runs: nothing of it is the line inside.
func (r Record) Form(id string) string {
	return quoted(r.Launcher) + " --state-dir " + quoted(r.State) + " --call " + id
}

// quoted is a text as one word for a shell.
func quoted(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// key names the note about a call.
func (r Record) key() string { return keyOf(r.Agent, r.Session, r.Call) }

func keyOf(agent, session, call string) string {
	sum := sha256.Sum256([]byte(agent + "\x00" + session + "\x00" + call))
	return tagOf(agent, session) + hex.EncodeToString(sum[:16])
}

// tagOf begins the names of a session's files, so that they can be counted without a look
// into them.
func tagOf(agent, session string) string {
	sum := sha256.Sum256([]byte(agent + "\x00" + session))
	return base32.StdEncoding.EncodeToString(sum[:tagLength*5/8])
}

const (
	mostBytes = 1 << 18        // of a record: no program can be given a longer line than 128 KiB
	mostTime  = 24 * time.Hour // that a record may lie ahead of its end

	mostOfSession = 100 // of a session: records, and notes which record is a call's
	mostFiles     = 500 // of all sessions
	fewFiles      = 50  // of which it costs little to look at all
	tagLength     = 8   // of the beginning of names that tells a session

	ran   = ".ran"   // ends the name of a record whose program was started
	ended = ".ended" // ends the name of what is told of its end
	noted = ".call"  // ends the name of a note which record is a call's
)

// Dir is where the records of a state directory are.
func Dir(state string) string { return filepath.Join(state, "confined", "calls") }

// Keep writes a record to a directory and returns its ID. It takes away what has expired,
// and what is too much: the oldest of the session that has most. So no session can keep
// the calls of another one from running.
func Keep(dir string, r Record, now time.Time) (id string, err error) {
	if err := r.check(now); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	data := strictjson.Append(nil, r.document())
	if len(data) > mostBytes {
		return "", fmt.Errorf("the record has %d bytes, more than %d", len(data), mostBytes)
	}
	if err := clean(dir, now); err != nil {
		return "", err
	}
	id = tagOf(r.Agent, r.Session) + rand.Text()
	root, err := hostfs.OpenDir(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	f, err := root.OpenFile(id, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil && r.Call != "" {
		err = root.WriteFile(r.key()+noted, []byte(id), 0o600)
	}
	if err != nil {
		root.Remove(id)
		return "", err
	}
	return id, nil
}

// check says what makes a record one that could never run.
func (r Record) check(now time.Time) error {
	switch {
	case r.Line == "":
		return errors.New("the record has no line")
	case !filepath.IsAbs(r.Dir) || filepath.Clean(r.Dir) != r.Dir:
		return fmt.Errorf("the record's directory %q is not absolute", r.Dir)
	case r.Profile.Name == "":
		return errors.New("the record has no profile")
	case !now.Before(r.Expires):
		return fmt.Errorf("the record expired at %s", r.Expires.UTC().Format(time.RFC3339))
	case r.Expires.Sub(now) > mostTime:
		return fmt.Errorf("the record expires at %s, later than in %s", r.Expires.UTC().Format(time.RFC3339), mostTime)
	}
	return nil
}

// Take returns a record for a run that starts in a directory, and takes it away. The
// record is gone as well where it says something other than what is to run now.
func Take(dir, id, start string, now time.Time) (Record, error) {
	if !isID(id) {
		return Record{}, fmt.Errorf("%q is no name of a record", id)
	}
	root, err := hostfs.OpenDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, unknown(id)
	}
	if err != nil {
		return Record{}, err
	}
	defer root.Close()
	r, err := read(root, id)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, unknown(id)
	}
	// Of several that read it, one takes it away. It says what ran.
	switch removed := root.Rename(id, id+ran); {
	case errors.Is(removed, fs.ErrNotExist):
		return Record{}, unknown(id)
	case errors.Is(removed, syscall.EROFS), errors.Is(removed, fs.ErrPermission):
		return Record{}, fmt.Errorf("the record %s could run again, since %s cannot be changed here: that is so in a sandbox of the agent's own, and nothing can be confined in there", id, dir)
	case removed != nil:
		return Record{}, fmt.Errorf("the record %s could run again: %w", id, removed)
	case err != nil:
		root.Remove(id + ran)
		return Record{}, fmt.Errorf("the record %s: %w", id, err)
	}
	if err := r.check(now); err != nil {
		root.Remove(id + ran)
		return Record{}, err
	}
	if r.Dir != start && !sameDir(r.Dir, start) {
		root.Remove(id + ran)
		return Record{}, fmt.Errorf("the record is for %s, and this is %s", r.Dir, start)
	}
	return r, nil
}

// sameDir reports two names of a directory.
func sameDir(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && first.IsDir() && os.SameFile(first, second)
}

func unknown(id string) error {
	return fmt.Errorf("there is no record %s: it was used, has expired, or was never made", id)
}

// read reads a record that nobody but this account can have written.
func read(root *os.Root, id string) (r Record, err error) {
	data, err := hostfs.ReadFile(root, id, mostBytes)
	if err != nil {
		return r, err
	}
	doc, err := strictjson.Object(data, strictjson.Limits{})
	if err != nil {
		return r, err
	}
	return fromDocument(doc)
}

// texts are the texts of a record by their names in a document.
func (r *Record) texts() []struct {
	name string
	at   *string
} {
	return []struct {
		name string
		at   *string
	}{
		{"agent", &r.Agent}, {"session", &r.Session}, {"call", &r.Call}, {"home", &r.Place.Home}, {"project", &r.Place.Project},
		{"line", &r.Line}, {"dir", &r.Dir}, {"launcher", &r.Launcher}, {"state", &r.State},
	}
}

// document returns a record as a JSON tree, with texts in base64: what runs must be what
// was decided, whatever bytes it has.
func (r Record) document() map[string]any {
	doc := map[string]any{"profile": r.Profile.Document(), "expires": r.Expires.UTC().Format(time.RFC3339Nano)}
	for _, t := range r.texts() {
		doc[t.name] = base64.StdEncoding.EncodeToString([]byte(*t.at))
	}
	return doc
}

func fromDocument(doc map[string]any) (r Record, err error) {
	if len(doc) != len(r.texts())+2 {
		return r, errors.New("it has other fields than a record has")
	}
	for _, t := range r.texts() {
		text, ok := doc[t.name].(string)
		data, err := base64.StdEncoding.DecodeString(text)
		if !ok || err != nil {
			return r, fmt.Errorf("it has no %s", t.name)
		}
		*t.at = string(data)
	}
	said, _ := doc["profile"].(map[string]any)
	if r.Profile, err = profile.FromDocument(said); err != nil {
		return r, err
	}
	expires, _ := doc["expires"].(string)
	r.Expires, err = time.Parse(time.RFC3339Nano, expires)
	return r, err
}

// isID reports a name as [Keep] makes them, which is that of no other file.
func isID(id string) bool {
	for _, c := range []byte(id) {
		if (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
			return false
		}
	}
	return len(id) == tagLength+26
}

// A kept is what is kept of a call, in one or several files.
type kept struct {
	names []string
	last  time.Time // when one of them was changed
}

// clean takes away what lay longer than a record may, and makes room for one more.
func clean(dir string, now time.Time) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	calls, sessions := map[string][]fs.DirEntry{}, map[string]int{}
	for _, e := range entries {
		name, end, _ := strings.Cut(e.Name(), ".")
		if !isID(name) && !(end == noted[1:] && len(name) == tagLength+32) {
			continue // nothing of ours
		}
		if calls[name] == nil {
			sessions[name[:tagLength]]++
		}
		calls[name] = append(calls[name], e)
	}
	over := len(calls) >= mostFiles
	for _, n := range sessions {
		over = over || n >= mostOfSession
	}
	if over || len(entries) <= fewFiles {
		makeRoom(dir, now, calls)
	}
	return nil
}

// makeRoom takes away what has expired, and then, until there is room, the oldest of the
// session that has most.
func makeRoom(dir string, now time.Time, calls map[string][]fs.DirEntry) {
	sessions, count := map[string][]*kept{}, 0
	for name, files := range calls {
		c := &kept{}
		for _, e := range files {
			if info, err := e.Info(); err == nil { // otherwise another process has taken it
				c.names = append(c.names, e.Name())
				if info.ModTime().After(c.last) {
					c.last = info.ModTime()
				}
			}
		}
		if now.Sub(c.last) > mostTime {
			c.remove(dir)
			continue
		}
		tag := name[:tagLength]
		sessions[tag], count = append(sessions[tag], c), count+1
	}
	for _, list := range sessions {
		slices.SortFunc(list, func(a, b *kept) int { return a.last.Compare(b.last) })
	}
	for {
		tag := ""
		for t, list := range sessions {
			if tag == "" || len(list) > len(sessions[tag]) {
				tag = t
			}
		}
		list := sessions[tag]
		if len(list) < mostOfSession && count < mostFiles {
			return
		}
		at := min(len(list), mostOfSession/4) // so that the next ones find room
		for _, c := range list[:at] {
			c.remove(dir)
		}
		sessions[tag], count = list[at:], count-at
	}
}

// remove takes a call away. Another process took a call that is gone already.
func (k *kept) remove(dir string) {
	for _, name := range k.names {
		os.Remove(filepath.Join(dir, name))
	}
}
