package confine

import (
	"errors"
	"net"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"gate/internal/confine/proxy"
)

// exit makes the proxy that a profile with hosts needs; nil for one without.
func (c Command) exit() (*proxy.Proxy, error) {
	if len(c.Profile.Hosts) == 0 {
		return nil, nil
	}
	p, err := proxy.New(c.Profile.Hosts)
	if err == nil {
		p.Lookup = c.lookup
	}
	return p, err
}

// rights is a control message with one file.
type rights struct {
	header unix.Cmsghdr
	file   int32
	_      int32
}

// listen adds the steps that make a listener in the namespace and send it out: a socket
// stays in the namespace where it was made. So whoever runs outside answers what is asked
// inside, and nothing of the file system need be shared.
func (s *script) listen(to int) {
	fd := s.register()
	s.call("make a socket", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0).into = fd
	at := &unix.RawSockaddrInet4{Family: unix.AF_INET, Port: exitPort>>8&0xff | exitPort&0xff<<8, Addr: [4]byte{127, 0, 0, 1}}
	s.call("take the port of the proxy", unix.SYS_BIND, 0, addr(s, at), unsafe.Sizeof(*at)).from[0] = fd
	s.call("listen for the proxy", unix.SYS_LISTEN, 0, 128).from[0] = fd
	pass := &rights{header: unix.Cmsghdr{Level: unix.SOL_SOCKET, Type: unix.SCM_RIGHTS}}
	pass.header.SetLen(unix.CmsgLen(4))
	s.store(fd, &pass.file)
	said := &news{kind: newsListener}
	part := &unix.Iovec{Base: (*byte)(unsafe.Pointer(said))}
	part.SetLen(int(unsafe.Sizeof(*said)))
	message := &unix.Msghdr{Iov: part, Control: (*byte)(unsafe.Pointer(pass))}
	message.SetIovlen(1)
	message.SetControllen(int(unsafe.Sizeof(*pass)))
	s.keep = append(s.keep, pass, said, part)
	s.call("hand the listener out", unix.SYS_SENDMSG, uintptr(to), addr(s, message), 0)
	s.call("close a socket", unix.SYS_CLOSE, 0).from[0] = fd
}

// listenerOf takes a listener out of a control message.
func listenerOf(control []byte) (net.Listener, error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil || len(messages) != 1 {
		return nil, errors.New("no listener came")
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(files) != 1 {
		return nil, errors.New("no listener came")
	}
	file := os.NewFile(uintptr(files[0]), "listener")
	defer file.Close()
	return net.FileListener(file)
}
