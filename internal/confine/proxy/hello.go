package proxy

import (
	"encoding/binary"
	"errors"
)

// mostHello is how long the first message of TLS may be, in bytes. Those with keys that
// hold against quantum computers have about 2 000.
const mostHello = 32 << 10

// errShort says that a message has not come as a whole yet.
var errShort = errors.New("the message is not whole")

// A hello is what a program says first, when it begins TLS.
type hello struct {
	server string // the name of the server that is meant; "" without one
	hidden bool   // another name may stand in an encrypted part
}

// parseHello reads the first message of TLS at the beginning of some bytes. It returns
// errShort as long as more could make it one.
func parseHello(b []byte) (h hello, err error) {
	var message []byte
	for {
		if len(b) > 0 && b[0] != 22 || len(b) > 1 && b[1] != 3 {
			return h, errors.New("what comes is no TLS")
		}
		if len(b) < 5 {
			return h, errShort
		}
		size := int(binary.BigEndian.Uint16(b[3:]))
		if size == 0 || size > 1<<14 {
			return h, errors.New("what comes is no TLS")
		}
		part := b[5:]
		whole := len(part) >= size
		if whole {
			part = part[:size]
		}
		message = append(message, part...)
		if len(message) > 0 && message[0] != 1 {
			return h, errors.New("TLS does not begin with the program")
		}
		if len(message) >= 4 {
			length := int(message[1])<<16 | int(message[2])<<8 | int(message[3])
			if length > mostHello {
				return h, errors.New("the first message of TLS is too long")
			}
			if len(message) >= 4+length {
				return parseHelloBody(message[4 : 4+length])
			}
		}
		if !whole {
			return h, errShort
		}
		b = b[5+size:]
	}
}

// A reader takes a message apart. It is empty once something was missing.
type reader struct {
	b   []byte
	bad bool
}

// take is the next n bytes.
func (r *reader) take(n int) []byte {
	if r.bad || n > len(r.b) {
		r.b, r.bad = nil, true
		return nil
	}
	head := r.b[:n]
	r.b = r.b[n:]
	return head
}

// vector is the next part that has its length, of so many bytes, before it.
func (r *reader) vector(size int) []byte {
	n := 0
	for _, c := range r.take(size) {
		n = n<<8 | int(c)
	}
	return r.take(n)
}

// Extensions of TLS.
const (
	extServerName = 0
	extHello      = 0xfe0d // encrypted client hello
	extServer     = 0xffce // its draft, encrypted server name
)

// parseHelloBody reads a ClientHello, as RFC 8446, section 4.1.2 has it.
func parseHelloBody(b []byte) (h hello, err error) {
	r := &reader{b: b}
	r.take(2 + 32) // version, random
	r.vector(1)    // session
	r.vector(2)    // ciphers
	r.vector(1)    // compression
	if !r.bad && len(r.b) == 0 {
		return h, nil // TLS 1.2 without extensions
	}
	list := &reader{b: r.vector(2)}
	if r.bad || len(r.b) > 0 {
		return h, errors.New("the first message of TLS is damaged")
	}
	named := false
	for len(list.b) > 0 {
		head := list.take(2)
		body := list.vector(2)
		if list.bad {
			return h, errors.New("the first message of TLS is damaged")
		}
		switch binary.BigEndian.Uint16(head) {
		case extServerName:
			if named {
				return h, errors.New("TLS names two servers")
			}
			named = true
			if h.server, err = parseServerName(body); err != nil {
				return h, err
			}
		case extHello, extServer:
			h.hidden = true
		}
	}
	return h, nil
}

// parseServerName reads the one name of the extension.
func parseServerName(b []byte) (string, error) {
	r := &reader{b: b}
	names := &reader{b: r.vector(2)}
	kind := names.take(1)
	name := names.vector(2)
	if r.bad || names.bad || len(r.b) > 0 || len(names.b) > 0 || kind[0] != 0 || len(name) == 0 || len(name) > 255 {
		return "", errors.New("TLS names a server in a way that is not known")
	}
	return string(name), nil
}
