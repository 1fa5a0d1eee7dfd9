package handlers

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gate/hook"
	"gate/internal/session"
	"gate/internal/strictjson"
)

const (
	asyncLimit = 15 * time.Second // of what says nothing itself
	maxAsync   = 10 * time.Minute
	lateAge    = 24 * time.Hour // an answer that nobody fetched is about nothing any more
	lateFiles  = 64             // of one session; more is nothing that an agent should read
	lateSize   = 256 << 10

	lateName = "20060102T150405.000000000" // files sort by when they were kept
)

// A lateAnswer is where the answer of a command goes that nobody waits for: a
// file of its own below Dir, for the session's next event.
type lateAnswer struct {
	Dir     string // "" keeps nothing
	Session string // a key, not the agent's own name
	Hook    string
	Event   hook.Name

	Dialect  hook.Dialect
	Switches map[string]any // of the hook's file, which say how its answer is read
}

// late is where the answer of a hook goes that nobody waits for.
func (h *Handlers) late(by *hook.Hook, ev *hook.Event) lateAnswer {
	l := lateAnswer{Dir: h.LateDir, Session: sessionKey(ev), Hook: by.ID, Event: ev.Name, Dialect: by.Dialect, Switches: map[string]any{}}
	for _, key := range switches {
		if v, ok := by.Config[key]; ok {
			l.Switches[key] = v
		}
	}
	return l
}

// sessionKey is a name for files, "" for an event without a session.
func sessionKey(ev *hook.Event) string {
	id := ev.SessionID()
	if id == "" {
		return ""
	}
	return session.Key{Agent: ev.Agent, Session: id}.Name()
}

// keep keeps what of a late answer can still matter: what it says to the agent
// and the person. The call has been decided about.
func (l *lateAnswer) keep(r *result, now time.Time) {
	if l.Dir == "" || l.Session == "" {
		return
	}
	by := &hook.Hook{ID: l.Hook, Kind: hook.Command, Dialect: l.Dialect, Config: l.Switches}
	a := commandAnswer(by, &hook.Event{Name: l.Event}, r)
	var context, notices []string
	for _, c := range a.Verdict.Context {
		context = append(context, c.Text)
	}
	for _, w := range a.Verdict.Warnings {
		notices = append(notices, w.Reason)
	}
	for _, list := range [][]hook.Reason{a.Verdict.Reasons, a.Verdict.Halt} {
		for _, reason := range list {
			if reason.Effect > hook.Allow {
				notices = append(notices, l.Hook+" objects, too late to stop the call: "+reason.Reason)
			}
		}
	}
	if a.Fault != nil {
		notices = append(notices, "in the background: "+a.Fault.Error())
	}
	l.store(context, notices, now)
}

// store writes texts for the session's next event, if there are any.
func (l *lateAnswer) store(context, notices []string, now time.Time) {
	if l.Dir == "" || l.Session == "" || len(context)+len(notices) == 0 {
		return
	}
	doc := strictjson.Append(nil, map[string]any{
		"hook": l.Hook, "at": now.UTC().Format(time.RFC3339Nano), "context": context, "notices": notices,
	})
	if len(doc) > lateSize {
		return
	}
	dir := filepath.Join(l.Dir, l.Session)
	tmp, err := newFile(dir)
	if err != nil {
		return
	}
	_, err = tmp.Write(doc)
	if err = cmp.Or(err, tmp.Close()); err == nil {
		name := strings.TrimPrefix(filepath.Base(tmp.Name()), ".new-")
		err = os.Rename(tmp.Name(), filepath.Join(dir, now.UTC().Format(lateName)+"-"+name+".json"))
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
}

// newFile makes a file in a directory that somebody else removes whenever it is
// empty.
func newFile(dir string) (f *os.File, err error) {
	for range 100 {
		if err = os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		if f, err = os.CreateTemp(dir, ".new-*"); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return f, err
}

// TellLater keeps a notice of a hook for the person, who hears it with the session's
// next event. It is for events whose answer the agent shows to nobody.
func (h *Handlers) TellLater(ev *hook.Event, id, notice string) {
	l := lateAnswer{Dir: h.LateDir, Session: sessionKey(ev), Hook: id}
	l.store(nil, []string{notice}, h.Now())
}

// A Late is what one command said after the call had gone on.
type Late struct {
	Hook    string
	Context []string // for the agent
	Notices []string // for the person
}

// Late fetches what commands of the event's session have said since the call
// went on without them, oldest first; not what came after Gate.Now of the
// event, if it has one. Each answer is fetched once, whoever asks at the same
// time. It costs one look at a directory when there is none.
func (h *Handlers) Late(ev *hook.Event) []Late {
	key := sessionKey(ev)
	if h.LateDir == "" || key == "" {
		return nil
	}
	dir := filepath.Join(h.LateDir, key)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var late []Late
	for _, e := range entries {
		if now := ev.Gate.Now; !now.IsZero() && e.Name() >= now.UTC().Format(lateName) {
			continue
		}
		if !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		mine := filepath.Join(dir, ".mine-"+e.Name())
		if os.Rename(path, mine) != nil {
			continue // somebody else has it
		}
		if l, ok := readLate(mine, h.Now()); ok && len(late) < lateFiles {
			late = append(late, l)
		}
		os.Remove(mine)
	}
	if len(late) > 0 {
		os.Remove(dir) // if it is empty now
	}
	return late
}

func readLate(path string, now time.Time) (l Late, ok bool) {
	info, err := os.Lstat(path)
	if err != nil || info.Size() > lateSize || now.Sub(info.ModTime()) > lateAge {
		return l, false
	}
	data, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(data, &l) != nil {
		return l, false
	}
	return l, len(l.Context)+len(l.Notices) > 0
}

// SweepLate removes what nobody has fetched for a day.
func (h *Handlers) SweepLate() {
	if h.LateDir == "" {
		return
	}
	dirs, err := os.ReadDir(h.LateDir)
	if err != nil {
		return
	}
	old := func(info os.FileInfo, err error) bool { return err == nil && h.Now().Sub(info.ModTime()) > lateAge }
	for _, d := range dirs {
		if !d.IsDir() || !old(d.Info()) {
			continue
		}
		os.RemoveAll(filepath.Join(h.LateDir, d.Name()))
	}
}

// milliseconds reads a JSON number of milliseconds above zero.
func milliseconds(v any) (time.Duration, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	ms, err := n.Int64()
	if err != nil || ms <= 0 {
		return 0, false
	}
	return time.Duration(min(ms, maxAsync.Milliseconds())) * time.Millisecond, true
}
