package builtin

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"gate/engine/plan/value"
)

// encode makes a builtin of an encoding that never fails.
func encode(ctx *Context, args []value.Value, factor int, f func(string) string) (value.Value, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	if err := boundText(ctx, factor*len(s)); err != nil {
		return nil, err
	}
	return value.String(f(s)), nil
}

// decode makes a builtin of one that does.
func decode[T ~string | ~[]byte](args []value.Value, f func(string) (T, error)) (value.Value, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	decoded, err := f(s)
	if err != nil {
		return nil, err
	}
	return value.String(decoded), nil
}

func base64Encode(ctx *Context, args []value.Value) (value.Value, error) {
	return encode(ctx, args, 2, func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) })
}

func base64Decode(_ *Context, args []value.Value) (value.Value, error) {
	return decode(args, base64.StdEncoding.DecodeString)
}

func base64IsValid(_ *Context, args []value.Value) (value.Value, error) {
	s, err := text(args, 0)
	if err == nil {
		_, err = base64.StdEncoding.DecodeString(s)
	}
	return value.Bool(err == nil), nil
}

func base64urlEncode(ctx *Context, args []value.Value) (value.Value, error) {
	return encode(ctx, args, 2, func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) })
}

func base64urlEncodeNoPad(ctx *Context, args []value.Value) (value.Value, error) {
	return encode(ctx, args, 2, func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) })
}

func base64urlDecode(_ *Context, args []value.Value) (value.Value, error) {
	return decode(args, fromBase64url)
}

// fromBase64url takes texts without their padding, too (RFC 7515, appendix C).
func fromBase64url(s string) ([]byte, error) {
	if !strings.HasSuffix(s, "=") {
		switch len(s) % 4 {
		case 1:
			return nil, fmt.Errorf("illegal base64url string: %s", s)
		case 2:
			s += "=="
		case 3:
			s += "="
		}
	}
	return base64.URLEncoding.DecodeString(s)
}

func hexEncode(ctx *Context, args []value.Value) (value.Value, error) {
	return encode(ctx, args, 2, func(s string) string { return hex.EncodeToString([]byte(s)) })
}

func hexDecode(_ *Context, args []value.Value) (value.Value, error) {
	return decode(args, hex.DecodeString)
}

func urlqueryEncode(ctx *Context, args []value.Value) (value.Value, error) {
	return encode(ctx, args, 3, url.QueryEscape)
}

func urlqueryDecode(_ *Context, args []value.Value) (value.Value, error) {
	return decode(args, url.QueryUnescape)
}

// urlqueryEncodeObject writes the keys in order, and of several values each.
func urlqueryEncodeObject(ctx *Context, args []value.Value) (value.Value, error) {
	if err := boundEncoding(ctx, args[0], 3); err != nil {
		return nil, err
	}
	o, err := object(args, 0)
	if err != nil {
		return nil, err
	}
	query := url.Values{}
	for _, p := range o.Pairs() {
		name, ok := p.Key.(value.String)
		if !ok {
			name = value.String(value.AppendJSON(nil, p.Key))
		}
		query.Del(string(name)) // the last of those written alike counts
		list, ok := elements(p.Value)
		if !ok {
			list = []value.Value{p.Value}
		}
		for _, e := range list {
			s, ok := e.(value.String)
			if !ok {
				return nil, operandError(1, "values must be string, array[string], or set[string]")
			}
			query.Add(string(name), string(s))
		}
	}
	return value.String(query.Encode()), nil
}

func urlqueryDecodeObject(ctx *Context, args []value.Value) (value.Value, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	if err := boundPieces(ctx, s, 2*strings.Count(s, "&")); err != nil {
		return nil, err
	}
	query, err := url.ParseQuery(s)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(query))
	for name := range query {
		names = append(names, name)
	}
	slices.Sort(names)
	o := value.NewObject()
	for _, name := range names {
		o.Insert(value.String(name), stringArray(query[name]))
	}
	return o, nil
}

func uriParse(_ *Context, args []value.Value) (value.Value, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, err
	}
	parts := value.NewObject()
	put := func(name, part string) {
		if part != "" {
			parts.Insert(value.String(name), value.String(part))
		}
	}
	put("fragment", u.Fragment)
	put("hostname", u.Hostname())
	put("path", u.Path)
	put("port", u.Port())
	if u.Path != "" {
		put("raw_path", u.Path)
		put("raw_path", u.RawPath)
	}
	put("raw_query", u.RawQuery)
	put("scheme", u.Scheme)
	return parts, nil
}

// uriIsValid takes the empty text for no URI, though it is a relative one.
func uriIsValid(_ *Context, args []value.Value) (value.Value, error) {
	s, err := text(args, 0)
	if err == nil {
		_, err = url.Parse(s)
	}
	return value.Bool(err == nil && s != ""), nil
}
