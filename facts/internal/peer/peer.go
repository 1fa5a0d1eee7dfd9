// Package peer says whom a URL, a host or an address of a remote copy names, and
// whether that is a private network or a cloud's metadata service. It looks no name
// up.
package peer

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A Peer is a host or URL taken apart. The zero Peer is nobody.
type Peer struct {
	Host, URL string
	Private   bool // loopback or a private network
	Metadata  bool // a cloud's metadata service
}

// Parse reads a URL, host, host:port, user@host or host:path; isURL says that a
// text without a scheme is one, too. A file: URL names no host.
func Parse(text string, isURL bool) Peer {
	p := Peer{URL: text}
	rest := text
	if scheme, after, ok := strings.Cut(text, "://"); ok {
		text = scheme + "://" + strings.ReplaceAll(after, `\`, "/") // as browsers read it
		if after = text[len(scheme)+3:]; strings.EqualFold(scheme[strings.LastIndexByte(scheme, ':')+1:], "file") {
			return Peer{URL: text}
		}
		rest = after
		if u, err := url.Parse(text); err == nil && u.Hostname() != "" {
			rest = u.Host
		}
	} else if !isURL {
		p.URL = ""
	}
	rest, _, _ = strings.Cut(rest, "/")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	p.Host = strings.ToLower(strings.TrimSuffix(hostOnly(strings.Map(plainLetter, rest)), "."))
	p.Private, p.Metadata = Reach(p.Host)
	return p
}

// plainLetter is what those who look a name up make of wide and circled letters,
// digits and dots.
func plainLetter(r rune) rune {
	switch {
	case r == 0x3002 || r == 0xFF61:
		return '.'
	case 0xFF01 <= r && r <= 0xFF5E:
		return r - 0xFF01 + '!'
	case 0x2460 <= r && r <= 0x2468:
		return r - 0x2460 + '1'
	case r == 0x24EA:
		return '0'
	case 0x24B6 <= r && r <= 0x24CF:
		return r - 0x24B6 + 'a'
	case 0x24D0 <= r && r <= 0x24E9:
		return r - 0x24D0 + 'a'
	}
	return r
}

func hostOnly(s string) string {
	if strings.HasPrefix(s, "[") {
		h, _, _ := strings.Cut(s[1:], "]")
		return h
	}
	if strings.Count(s, ":") > 1 {
		return s // an address of version 6
	}
	h, _, _ := strings.Cut(s, ":")
	return h
}

var metadataHosts = []string{"169.254.169.254", "metadata.google.internal", "metadata", "100.100.100.200", "169.254.170.2", "169.254.170.23", "fd00:ec2::254", "metadata.azure.com", "metadata.azure.internal", "192.0.0.192", "instance-data", "instance-data.ec2.internal"}

// Reach tells where a host lies. Addresses written as one number, in hex or in
// octal are what inet_aton makes of them.
func Reach(host string) (private, metadata bool) {
	if slices.Contains(metadataHosts, host) {
		return true, true
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") {
		return true, false
	}
	addr, ok := address(host)
	if !ok {
		return false, false
	}
	if slices.Contains(metadataHosts, addr.String()) {
		return true, true
	}
	return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified(), false
}

// Address is the address that a host is written as, in its usual notation, "" for a
// name. 0x7f.1 is 127.0.0.1, and so is ::ffff:127.0.0.1.
func Address(host string) string {
	if addr, ok := address(host); ok {
		return addr.String()
	}
	return ""
}

func address(host string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		if addr, err = looseAddr(host); err != nil {
			return netip.Addr{}, false
		}
	}
	if b := addr.As16(); addr.Is6() && (strings.HasPrefix(addr.String(), "64:ff9b::") || addr.String() != "::1" && strings.HasPrefix(addr.StringExpanded(), "0000:0000:0000:0000:0000:0000:")) {
		addr = netip.AddrFrom4([4]byte(b[12:])) // written in one of version 6
	}
	return addr.Unmap().WithZone(""), true
}

// looseAddr reads what inet_aton takes for an address: 2852039166, 0x7f.1,
// 0177.0.0.1.
func looseAddr(s string) (netip.Addr, error) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 || s == "" {
		return netip.Addr{}, errors.New("not an address")
	}
	var v uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 32)
		if err != nil {
			return netip.Addr{}, err
		}
		if i == len(parts)-1 {
			v += n
			break
		}
		v += n << (8 * (3 - i))
	}
	if v > 1<<32-1 {
		return netip.Addr{}, errors.New("not an address")
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), nil
}
