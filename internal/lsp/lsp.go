// Package lsp answers editors about policies, in the language server protocol: what is
// wrong with the text as it stands, what a word means, what may stand here, where a name
// comes from, and how tests end.
//
// It knows the protocol and the texts that are open. What is wrong and what there is says
// package policycheck, how tests end package policytest; there is no second list here. It
// runs nothing but gate's own evaluation, writes no file, and asks its [Machine] for the
// directories. Messages are those of JSON-RPC; the connection is that of
// github.com/sourcegraph/jsonrpc2. Start with [Serve].
package lsp

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"gate/internal/policycheck"
	"gate/internal/policytest"
)

// A Target is the policies that a file is checked with, as gate check is pointed at them.
type Target struct {
	Named string              // what gate check is pointed at, absolute: files of one have one target
	Dir   string              // absolute; what the names of Check.Files are relative to
	Check policycheck.Options // Files are all those of Dir, on the disk
	Holds func(string) bool   // whether a file of Check.Files is meant
	View  func(fs.FS) fs.FS   // what the policies are loaded from, of files
	Close func()
}

// files are those that the policies are loaded from, with the texts of the editor.
func (t *Target) files(open map[string]*document) fs.FS {
	return t.View(overlay{t.Check.Files, texts(t.Dir, open)})
}

// A Tests is what the tests of a file are run with.
type Tests struct {
	Dir     string // absolute; what the names of Options.Files are relative to
	Options policytest.Options
	Close   func()
}

// A Machine is what a server knows of the directories around the files of an editor.
type Machine struct {
	// Open returns the target that a file belongs to, whether or not it is there. The
	// caller closes it.
	Open func(file string) (*Target, error)

	// Tests is Open for tests of the file, or of its directory.
	Tests func(file string) (*Tests, error)

	// Library returns the path of a file of gate's own policies, which an editor can show.
	Library func(name string) (string, error)
}

// Options say how to serve. Machine is required.
type Options struct {
	Version string // of this program
	Machine Machine

	// Delay is how long after an edit nothing may be typed before the policies are
	// checked. The zero value means at once.
	Delay time.Duration
}

// Serve answers an editor until it says exit, closes its side, or ctx ends. The error is
// that of the connection, or [ErrAbrupt].
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := newServer(ctx, o)
	st := newStream(in, out)
	conn := jsonrpc2.NewConn(ctx, st, s, jsonrpc2.SetLogger(nowhere{}))
	select {
	case <-conn.DisconnectNotify():
	case <-s.exited:
		conn.Close()
	}
	stop()
	s.work.Wait()
	switch {
	case st.failed() != nil:
		return st.failed()
	case s.leftOpen():
		return ErrAbrupt
	}
	return nil
}

// ErrAbrupt reports an editor that said exit without shutdown before it.
var ErrAbrupt = errors.New("the editor left without a shutdown")

// nowhere is where the library's own remarks go: standard error is the person's.
type nowhere struct{}

func (nowhere) Printf(string, ...any) {}
