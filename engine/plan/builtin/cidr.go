package builtin

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"strconv"

	"gate/engine/plan/value"
)

// Networks are prefixes. An IPv4 one in the notation of IPv6 is an IPv4 one, so
// that it has what it names.

func networkOf(v value.Value) (netip.Prefix, error) {
	s, err := textOf(v, 1)
	if err != nil {
		return netip.Prefix{}, err
	}
	return parseNetwork(s)
}

func parseNetwork(s string) (netip.Prefix, error) {
	invalid := errors.New("invalid CIDR address: " + s)
	at := slices.Index([]byte(s), '/')
	if at < 0 {
		return netip.Prefix{}, invalid
	}
	addr, err := netip.ParseAddr(s[:at])
	if err != nil || addr.Zone() != "" {
		return netip.Prefix{}, invalid
	}
	if !decimal(s[at+1:]) {
		return netip.Prefix{}, invalid
	}
	bits, err := strconv.Atoi(s[at+1:])
	if err != nil || bits > addr.BitLen() {
		return netip.Prefix{}, invalid
	}
	if addr.Is4In6() && bits >= 96 {
		addr, bits = addr.Unmap(), bits-96
	}
	return netip.PrefixFrom(addr, bits).Masked(), nil
}

func parseAddress(s string) (netip.Addr, bool) {
	addr, err := netip.ParseAddr(s)
	return addr.Unmap(), err == nil && addr.Zone() == ""
}

func cidrIsValid(_ *Context, args []value.Value) (value.Value, error) {
	_, err := networkOf(args[0])
	return value.Bool(err == nil), nil
}

func cidrIntersects(_ *Context, args []value.Value) (value.Value, error) {
	a, err := networkOf(args[0])
	if err != nil {
		return nil, err
	}
	b, err := networkOf(args[1])
	if err != nil {
		return nil, err
	}
	return value.Bool(a.Overlaps(b)), nil
}

func cidrContains(_ *Context, args []value.Value) (value.Value, error) {
	holds, err := networkHas(args[0], args[1])
	if err != nil {
		return nil, err
	}
	return value.Bool(holds), nil
}

// networkHas reports whether an address, or all of a network, is in a network.
func networkHas(network, member value.Value) (bool, error) {
	a, err := networkOf(network)
	if err != nil {
		return false, err
	}
	s, err := textOf(member, 1)
	if err != nil {
		return false, err
	}
	if addr, ok := parseAddress(s); ok {
		return a.Contains(addr), nil
	}
	b, err := parseNetwork(s)
	if err != nil {
		return false, fmt.Errorf("not a valid textual representation of an IP address or CIDR: %s", s)
	}
	return a.Bits() <= b.Bits() && a.Contains(b.Addr()), nil
}

func cidrContainsMatches(ctx *Context, args []value.Value) (value.Value, error) {
	matches := value.NewSet()
	err := eachNetwork(args, 0, func(network, label value.Value) error {
		return eachNetwork(args, 1, func(member, memberLabel value.Value) error {
			if err := ctx.Spend(8); err != nil {
				return err
			}
			holds, err := networkHas(network, member)
			if err != nil || !holds || !matches.Add(value.NewArray(label, memberLabel)) {
				return err
			}
			return boundElements(ctx, 1)
		})
	})
	if err != nil {
		return nil, err
	}
	return matches, nil
}

// eachNetwork calls do for a network, or for each in a collection of networks or
// of arrays that begin with one, with what stands for it in the result. Other
// values have none.
func eachNetwork(args []value.Value, i int, do func(network, label value.Value) error) error {
	each := func(v, label value.Value) error {
		if a, ok := v.(*value.Array); ok && a.Len() > 0 {
			v = a.At(0)
		} else if _, ok := v.(value.String); !ok {
			return fmt.Errorf("operand %d: element must be string or non-empty array", i+1)
		}
		return do(v, label)
	}
	var err error
	switch v := args[i].(type) {
	case value.String:
		err = do(v, v)
	case *value.Array:
		for j := 0; j < v.Len() && err == nil; j++ {
			err = each(v.At(j), value.Int(j))
		}
	case *value.Set:
		for j := 0; j < v.Len() && err == nil; j++ {
			err = each(v.Elems()[j], v.Elems()[j])
		}
	case *value.Object:
		for j := 0; j < v.Len() && err == nil; j++ {
			err = each(v.Pairs()[j].Value, v.Pairs()[j].Key)
		}
	}
	return err
}

func cidrExpand(ctx *Context, args []value.Value) (value.Value, error) {
	network, err := networkOf(args[0])
	if err != nil {
		return nil, err
	}
	host := network.Addr().BitLen() - network.Bits()
	if host >= 30 {
		return nil, boundElements(ctx, MaxElements+1)
	}
	if err := boundElements(ctx, 1<<host); err != nil {
		return nil, err
	}
	all := value.NewSet()
	for addr := network.Addr(); addr.IsValid() && network.Contains(addr); addr = addr.Next() {
		all.Add(value.String(addr.String()))
	}
	return all, nil
}

// A span of addresses. Those of IPv4 lie where IPv6 has them.
type addresses struct {
	first, last *big.Int
	network     string // as it was given; empty after merging
	old         bool   // IPv4
}

func cidrMerge(_ *Context, args []value.Value) (value.Value, error) {
	list, ok := elements(args[0])
	if !ok {
		return nil, errors.New("operand must be an array")
	}
	spans := make([]*addresses, len(list))
	for i, e := range list {
		s, ok := e.(value.String)
		if !ok {
			return nil, errors.New("element must be string")
		}
		span, err := addressesOf(string(s))
		if err != nil {
			return nil, err
		}
		spans[i] = span
	}
	merged := value.NewSet()
	for _, s := range mergeAddresses(spans) {
		if s.network != "" {
			merged.Add(value.String(s.network))
			continue
		}
		for _, network := range s.networks() {
			merged.Add(value.String(network))
		}
	}
	return merged, nil
}

// addressesOf reads a network. A lone IPv4 address is one of its class, written
// with all its bits.
func addressesOf(s string) (*addresses, error) {
	var network netip.Prefix
	var err error
	written := ""
	if addr, ok := parseAddress(s); !ok {
		network, err = parseNetwork(s)
		written = network.String()
	} else if !addr.Is4() {
		err = errors.New("IPv6 invalid: needs prefix length")
	} else {
		bits := 24
		switch first := addr.As4()[0]; {
		case first < 0x80:
			bits = 8
		case first < 0xc0:
			bits = 16
		}
		network = netip.PrefixFrom(addr, bits)
		written = network.String()
	}
	if err != nil {
		return nil, err
	}
	bytes := network.Masked().Addr().As16()
	first := new(big.Int).SetBytes(bytes[:])
	size := new(big.Int).Lsh(big.NewInt(1), uint(network.Addr().BitLen()-network.Bits()))
	last := size.Sub(size.Add(size, first), big.NewInt(1))
	return &addresses{first, last, written, network.Addr().Is4()}, nil
}

// mergeAddresses joins spans that overlap or touch, from the end.
func mergeAddresses(spans []*addresses) []*addresses {
	slices.SortFunc(spans, func(a, b *addresses) int {
		if c := a.last.Cmp(b.last); c != 0 {
			return c
		}
		return a.first.Cmp(b.first)
	})
	for i := len(spans) - 1; i > 0; i-- {
		below, s := spans[i-1], spans[i]
		before := new(big.Int).Sub(s.first, big.NewInt(1))
		if s.first.Sign() == 0 || s.old && uint32(s.first.Uint64()) == 0 {
			before = s.first // nothing is before the first address
		}
		if before.Cmp(below.last) > 0 {
			continue
		}
		if s.first.Cmp(below.first) < 0 {
			below.first, below.old = s.first, s.old
		}
		below.last, below.network = s.last, ""
		spans = slices.Delete(spans, i, i+1)
	}
	return spans
}

// networks returns the fewest networks that have the addresses of a span.
func (s *addresses) networks() []string {
	width := 128
	if s.old {
		width = 32
	}
	var found []string
	one := big.NewInt(1)
	for at := new(big.Int).Set(s.first); at.Cmp(s.last) <= 0; {
		host := width
		if at.Sign() != 0 {
			host = min(host, int(at.TrailingZeroBits()))
		}
		end := func() *big.Int { return new(big.Int).Add(at, new(big.Int).Lsh(one, uint(host))) }
		for host > 0 && end().Cmp(new(big.Int).Add(s.last, one)) > 0 {
			host--
		}
		var bytes [16]byte
		addr := netip.AddrFrom16([16]byte(at.FillBytes(bytes[:])))
		if s.old {
			addr = addr.Unmap()
		}
		found = append(found, netip.PrefixFrom(addr, width-host).String())
		at = end()
	}
	return found
}
