package past

import (
	"context"
	"io/fs"
	"path"
	"slices"

	"gate/hook"
	"gate/internal/origin"
	"gate/internal/replay"
	"gate/internal/session"
)

// A memoryKey names what is remembered of a session by the policies of one side. A log and
// a transcript of the same session are remembered apart, or its calls would count twice.
type memoryKey struct {
	session.Key
	of        string // whose it is, of a fleet's accounts
	kind      replay.Kind
	candidate bool
}

func memoryKeyOf(c *replay.Call) memoryKey {
	return memoryKey{Key: session.Key{Agent: c.Event.Agent, Session: c.Event.SessionID()}, of: c.Of, kind: c.Kind}
}

// memory is where it is remembered what came before a call.
func (r *Replayer) memory(c *replay.Call, candidate bool) *session.Held {
	key := memoryKeyOf(c)
	key.candidate = candidate
	r.mu.Lock()
	defer r.mu.Unlock()
	held := r.memories[key]
	if held == nil {
		held = &session.Held{}
		r.memories[key] = held
	}
	return held
}

// shared names what a call's decision depends on beside the call, and changes.
func (r *Replayer) shared(c *replay.Call) []string {
	return []string{"session " + c.Event.Agent + " " + c.Event.SessionID(), "project " + r.root(c)}
}

// ledger keeps what calls left in files of a project. Its files are those of then: what a
// call wrote is taken to be there, whatever became of it since.
func (r *Replayer) ledger(of, project string) *session.Ledger {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := of + "\x00" + project
	lines := r.origins[name]
	if lines == nil {
		lines = &session.Lines{}
		r.origins[name] = lines
	}
	return &session.Ledger{Project: project, Files: thenFiles{}, Lines: lines}
}

// leave notes what a call left in files, unless it was rejected then. Which policies are
// asked about it now changes nothing of that: the calls after it found the files so.
func (r *Replayer) leave(c *replay.Call, moves []origin.Move) {
	rejected := c.Then != nil && c.Then.Result == hook.Reject
	if rejected || c.Event.Name.Canonical() != hook.PreToolUse || len(moves) == 0 {
		return
	}
	// What is kept in this process cannot fail.
	key := session.Key{Agent: c.Event.Agent, Session: c.Event.SessionID()}
	ledger, call, now := r.ledger(c.Of, r.root(c)), c.Event.Text("tool_use_id"), c.Event.Gate.Now
	_ = ledger.Add(context.Background(), key, call, moves, now)
	_ = ledger.Settle(context.Background(), key, call, session.Ran, now)
}

// readsSecret reports a call that may leave a secret somewhere.
func readsSecret(f *hook.Facts) bool {
	return slices.ContainsFunc(f.Effects, func(e hook.FactEffect) bool {
		_, reads := e.Is.(*hook.SecretRead)
		return reads
	})
}

// thenFiles are there, and nobody knows since when.
type thenFiles struct{}

func (thenFiles) Lstat(name string) (fs.FileInfo, error) {
	return shownFile{path.Base(name), false}, nil
}
func (thenFiles) Readlink(name string) (string, error) {
	return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
}
