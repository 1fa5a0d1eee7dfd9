package acs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// A store keeps sessions over a restart, in a file each: a replay must be one also then. It
// belongs to one process at a time.
type store struct {
	root *os.Root
	lock *hostfs.Locked
}

const (
	lockName   = "lock"
	fileEnding = ".jsonl"
	maxLine    = 4 * MaxBody
	maxJournal = 256 << 20
)

// openStore opens the directory, which must be this account's alone.
func openStore(ctx context.Context, dir string) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a directory")
	}
	if err == nil {
		err = hostfs.Private(info)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	lock, err := hostfs.Lock(ctx, filepath.Join(dir, lockName), os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("%s: another server keeps its sessions there: %w", dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		lock.Close()
		return nil, err
	}
	return &store{root: root, lock: lock}, nil
}

func (s *store) close() error { return errors.Join(s.root.Close(), s.lock.Close()) }

// fileOf is the file of a session. A session's name is the client's, and no file's.
func fileOf(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:]) + fileEnding
}

// A journal is what a session's file is written by.
type journal struct{ file *os.File }

// create begins a session's file.
func (s *store) create(session string) (*journal, error) {
	f, err := s.root.OpenFile(fileOf(session), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &journal{f}, nil
}

// add writes one record. A record that was not written whole is not read again.
func (j *journal) add(record map[string]any) error {
	if j == nil {
		return nil
	}
	_, err := j.file.Write(append(strictjson.Append(nil, record), '\n'))
	return err
}

func (j *journal) close() {
	if j != nil {
		j.file.Close()
	}
}

func (s *store) remove(session string) { s.root.Remove(fileOf(session)) }

// load reads all sessions that are not dead, and removes the files of the others.
func (s *store) load(now time.Time) ([]*session, error) {
	names, err := fs.Glob(s.root.FS(), "*"+fileEnding)
	if err != nil {
		return nil, err
	}
	var list []*session
	for _, name := range names {
		one, err := s.read(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; without it a replay would not be seen: remove it after ten minutes at the earliest", name, err)
		}
		if one == nil || one.dead(now) {
			if one != nil {
				one.journal.close()
			}
			s.root.Remove(name)
			continue
		}
		list = append(list, one)
	}
	return list, nil
}

// read reads one session's file. One that was never answered about is nil.
func (s *store) read(name string) (*session, error) {
	data, err := hostfs.ReadFile(s.root, name, maxJournal)
	if err != nil {
		return nil, err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	var one *session
	for line := range bytes.Lines(data[:whole]) {
		doc, err := strictjson.Object(line, strictjson.Limits{Bytes: maxLine})
		if err != nil {
			return nil, err
		}
		if one == nil {
			one = &session{seen: map[string]bool{}, nonces: map[string]bool{}, turns: map[string]map[string]int{}, open: map[string]call{}}
		}
		one.replay(doc)
	}
	if one == nil {
		return nil, nil
	}
	if one.id == "" || fileOf(one.id) != name {
		return nil, errors.New("it is not the file of a session")
	}
	f, err := s.root.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	err = f.Truncate(int64(whole)) // what is left of a record that was not written to its end
	if err == nil {
		_, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	one.journal = &journal{f}
	return one, nil
}

// Kinds of records.
const (
	recordHello = "hello"
	recordID    = "id"
	recordEntry = "entry"
	recordDefer = "defer"
)

// helloRecord says what a session begins with.
func (s *session) helloRecord() map[string]any {
	return map[string]any{
		"kind": recordHello, "session": s.id, "key": s.keyID, "agent": s.agent, "client": string(s.clientHello), "server": s.serverHello,
		"methods": anyList(s.methods), "wraps": anyList(s.wraps), "time": s.last.UTC().Format(time.RFC3339Nano),
	}
}

func anyList(list []string) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// replay takes one record in.
func (s *session) replay(doc map[string]any) {
	if t, err := time.Parse(time.RFC3339Nano, textOf(doc, "time")); err == nil && t.After(s.last) {
		s.last = t
	}
	switch doc["kind"] {
	case recordHello:
		s.id, s.keyID, s.agent = textOf(doc, "session"), textOf(doc, "key"), textOf(doc, "agent")
		s.clientHello = []byte(textOf(doc, "client"))
		s.serverHello, _ = doc["server"].(map[string]any)
		s.methods, s.wraps = strictjson.Texts(doc["methods"]), strictjson.Texts(doc["wraps"])
	case recordID:
		s.seen[textOf(doc, "id")] = true
		if nonce := textOf(doc, "nonce"); nonce != "" {
			s.nonces[nonce] = true
		}
	case recordEntry:
		entry, _ := doc["entry"].(map[string]any)
		s.head = textOf(entry, "entry_hash")
		s.entries++
		s.sealed = s.sealed || entry["step_type"] == sessionEnd
		if intent, fixed := doc["intent"].(map[string]any); fixed {
			s.fix(intent)
		}
		if tool := textOf(doc, "tool"); tool != "" {
			s.count(textOf(entry, "turn_id"), tool)
		}
	case recordDefer:
		s.deferrals++
	}
}
