package facts

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

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
