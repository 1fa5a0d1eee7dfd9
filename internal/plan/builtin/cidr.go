package builtin

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"

	"gate/internal/plan/value"
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
