package profile

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// A Host is what can be reached: a name or an address, and a port.
type Host struct {
	Name string // lower case, without a final dot; an address as netip writes it
	Port uint16
}

func (h Host) String() string {
	if strings.Contains(h.Name, ":") {
		return "[" + h.Name + "]:" + strconv.Itoa(int(h.Port))
	}
	return h.Name + ":" + strconv.Itoa(int(h.Port))
}

// Address is the address that a host is written as; the zero one for a name.
func (h Host) Address() netip.Addr {
	addr, _ := netip.ParseAddr(h.Name)
	return addr
}

// ParseHost reads "name:port", "address:port" or "[address]:port". The port must be there.
func ParseHost(text string) (Host, error) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return Host{}, fmt.Errorf("%q has no port; write host:port", text)
	}
	name, digits := text[:at], text[at+1:]
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || port == 0 || digits[0] == '0' || digits[0] == '+' {
		return Host{}, fmt.Errorf("%q has no port between 1 and 65535", text)
	}
	if inner, ok := strings.CutPrefix(name, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		if !closed || err != nil || !addr.Is6() || addr.Zone() != "" {
			return Host{}, fmt.Errorf("%q holds no address of IP version 6", text)
		}
		return Host{addr.Unmap().String(), uint16(port)}, nil
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if !isName(name) {
		return Host{}, fmt.Errorf("%q holds no name of a host", text)
	}
	return Host{name, uint16(port)}, nil
}

// isName reports a name as the DNS has them, or an address of IP version 4.
func isName(name string) bool {
	if name == "" || len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	return true
}
