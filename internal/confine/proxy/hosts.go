package proxy

import (
	"fmt"
	"net/netip"
	"strings"

	"gate/internal/confine/profile"
)

// A Host is what can be reached: a name or an address, and a port.
type Host = profile.Host

// local reports a name that means this machine wherever it is looked up.
func local(name string) bool { return name == "localhost" || strings.HasSuffix(name, ".localhost") }

// special are networks that are not part of the internet, or carry addresses of other
// networks in theirs. Those that netip knows are not repeated. They are of the
// registries of IANA for addresses with a special purpose.
const special = "0.0.0.0/8 100.64.0.0/10 192.0.0.0/24 198.18.0.0/15 240.0.0.0/4 ::/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/32 2002::/16 fec0::/10"

// public reports an address of the internet: of no network of somebody's own, no link and
// no machine itself.
func public(addr netip.Addr) bool {
	addr = addr.Unmap()
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Zone() != "" {
		return false
	}
	for text := range strings.FieldsSeq(special) {
		if netip.MustParsePrefix(text).Contains(addr) {
			return false
		}
	}
	return true
}

// A list is what a program may reach.
type list map[Host]bool

// newList reads the hosts of a profile.
func newList(hosts []string) (list, error) {
	l := list{}
	for _, text := range hosts {
		h, err := profile.ParseHost(text)
		if err != nil {
			return nil, err
		}
		l[h] = true
	}
	return l, nil
}

// choose returns the addresses of a host that may be dialled. Where there is none it
// returns a reason. An address that is not of the internet must be listed itself, though
// its name is; localhost means this machine.
func (l list) choose(h Host, found []netip.Addr) (may []netip.Addr, why string) {
	for _, addr := range found {
		addr = addr.Unmap()
		switch {
		case l[Host{Name: addr.String(), Port: h.Port}], local(h.Name) && addr.IsLoopback(), public(addr) && !local(h.Name):
			may = append(may, addr)
		default:
			why = fmt.Sprintf("its address %s is not one of the internet, and is not listed", addr)
		}
	}
	if len(may) > 0 {
		return may, ""
	}
	if why == "" {
		why = "it has no address"
	}
	return nil, why
}
