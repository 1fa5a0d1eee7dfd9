package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"gate/internal/hostfs"
)

// maxConns is how many connections a listener has open at once; others wait for
// the system to let them in.
const maxConns = 512

var errNoPeers = errors.New("this system does not say who is at the other end of a socket")

// Loopback listens on 127.0.0.1 and, where there is one, on ::1. Port 0 is any
// that is free on both. Nobody else may hold the port on either address: an
// agent might ask them instead.
func Loopback(port int) ([]net.Listener, error) {
	list, err := loopback(port)
	for try := 0; err != nil && port == 0 && try < 10; try++ { // free on one of them only
		list, err = loopback(port)
	}
	return list, err
}

func loopback(port int) ([]net.Listener, error) {
	first, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	port = first.Addr().(*net.TCPAddr).Port
	list := []net.Listener{bounded(first)}
	second, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(port)))
	switch {
	case err == nil:
		list = append(list, bounded(second))
	case !errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, syscall.EAFNOSUPPORT):
		first.Close()
		return nil, err
	}
	return list, nil
}

// Socket listens on a unix socket. Its directory is made where it is missing,
// and must be this account's alone. Only this account and root are answered:
// the system says who asks. A socket whose server is gone is replaced; one that
// is in use is an error.
func Socket(path string) (net.Listener, error) {
	if !knowsPeers {
		return nil, errNoPeers
	}
	if err := privateDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, fmt.Errorf("%s: another gate serve answers there", path)
	}
	// Under its own name only once it is ready, so that there is never a moment
	// without one and two servers that start at once do not remove each other's.
	fresh := path + "." + strconv.Itoa(os.Getpid())
	os.Remove(fresh)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	err = os.Chmod(fresh, 0o600)
	var info fs.FileInfo
	if err == nil {
		info, err = os.Lstat(fresh)
	}
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		l.Close()
		os.Remove(fresh)
		return nil, err
	}
	return bounded(&ownListener{UnixListener: l, path: path, made: info, peer: peerOf}), nil
}

// privateDir makes a directory that is this account's alone, or finds that it is.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a directory")
	}
	if err == nil {
		err = hostfs.Private(info)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// An ownListener takes connections of this account and root.
type ownListener struct {
	*net.UnixListener
	path string
	made fs.FileInfo
	peer func(*net.UnixConn) (uid int, err error)
}

// An ownConn is a connection of which the system said whose it is.
type ownConn struct {
	*net.UnixConn
	leave func()
}

func (c *ownConn) Close() error {
	defer c.leave()
	return c.UnixConn.Close()
}

func (l *ownListener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if uid, err := l.peer(c); err == nil && (uid == os.Geteuid() || uid == 0) {
			return &ownConn{c, func() {}}, nil
		}
		c.Close()
	}
}

// Close removes the socket, unless another server has put its own there.
func (l *ownListener) Close() error {
	if info, err := os.Lstat(l.path); err == nil && os.SameFile(info, l.made) {
		os.Remove(l.path)
	}
	return l.UnixListener.Close()
}

// A boundedListener has no more than so many connections open.
type boundedListener struct {
	net.Listener
	room chan struct{}
	done chan struct{}
	once sync.Once
}

func bounded(l net.Listener) net.Listener {
	return &boundedListener{Listener: l, room: make(chan struct{}, maxConns), done: make(chan struct{})}
}

func (l *boundedListener) Accept() (net.Conn, error) {
	select {
	case l.room <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.room
		return nil, err
	}
	leave := sync.OnceFunc(func() { <-l.room })
	if own, ok := c.(*ownConn); ok {
		own.leave = leave
		return own, nil
	}
	return &boundedConn{c, leave}, nil
}

func (l *boundedListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return l.Listener.Close()
}

type boundedConn struct {
	net.Conn
	leave func()
}

func (c *boundedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
