package serve

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestSocket has only the account itself and root be answered, and no server
// take another one's place.
func TestSocket(t *testing.T) {
	if !knowsPeers {
		t.Skip("the system does not say who asks")
	}
	dir, err := os.MkdirTemp("", "s") // the names of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "serve", "gate.sock")
	l, err := Socket(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if _, err := Socket(path); err == nil || !strings.Contains(err.Error(), "another gate serve") {
		t.Errorf("a second server: %v", err)
	}
	own := l.(*boundedListener).Listener.(*ownListener)
	var uid atomic.Int64
	own.peer = func(*net.UnixConn) (int, error) {
		if uid.Load() < 0 {
			return 0, errors.New("unknown")
		}
		return int(uid.Load()), nil
	}
	ctx, stop := context.WithCancel(t.Context())
	s := New(Options{Decide: new(asks).decide, State: func() State { return State{} }})
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	request := strings.Replace(post("/v1/decide", event("PreToolUse", "ls")), "Authorization: Bearer "+token+"\n", "", 1)
	for id, want := range map[int64]int{int64(os.Geteuid()): 200, 0: 200, 4242: 0, -1: 0} {
		uid.Store(id)
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, strings.ReplaceAll(request, "\n", "\r\n")) // the other side may be gone
		if status, body := hear(t, bufio.NewReader(c)); status != want {
			t.Errorf("account %d: %d %s", id, status, body)
		}
		c.Close()
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is still there")
	}
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close() // as one that was killed leaves it
	if l, err = Socket(path); err != nil {
		t.Fatalf("in the place of one that is gone: %v", err)
	}
	l.Close()
	if err := os.Chmod(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := Socket(path); err == nil {
		t.Error("a directory that others may use was taken")
	}
}

// TestPort has nobody else hold the port of one of the addresses.
func TestPort(t *testing.T) {
	l, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("there is no ::1 here")
	}
	defer l.Close()
	if list, err := Loopback(l.Addr().(*net.TCPAddr).Port); err == nil {
		t.Errorf("listens on %v", list[0].Addr())
	}
}

// TestToken has the token made once, and be nobody else's.
func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "serve", "token")
	first, err := Token(path)
	if err != nil || len(first) < minToken {
		t.Fatalf("%q %v", first, err)
	}
	if again, err := Token(path); err != nil || again != first {
		t.Errorf("%q %v", again, err)
	}
	if err := os.WriteFile(path, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Token(path); err == nil {
		t.Error("a short token was taken")
	}
	if os.PathSeparator == '\\' {
		return
	}
	for name, spoil := range map[string]func() error{
		"others may read it": func() error { return os.WriteFile(path, []byte(first), 0o644) },
		"a link":             func() error { return os.Symlink("other", path) },
	} {
		os.Remove(path)
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if got, err := Token(path); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}
