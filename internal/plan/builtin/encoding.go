package builtin

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"

	"gate/internal/plan/value"
)

// encode makes a builtin of an encoding that never fails, and makes a text at most
// twice as long.
func encode(ctx *Context, args []value.Value, f func([]byte) string) (value.Value, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	if err := boundText(ctx, 2*len(s)); err != nil {
		return nil, err
	}
	return value.String(f([]byte(s))), nil
}

// decode makes a builtin of one that does.
func decode(args []value.Value, f func(string) ([]byte, error)) (value.Value, error) {
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
	return encode(ctx, args, base64.StdEncoding.EncodeToString)
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
	return encode(ctx, args, base64.URLEncoding.EncodeToString)
}

func base64urlEncodeNoPad(ctx *Context, args []value.Value) (value.Value, error) {
	return encode(ctx, args, base64.RawURLEncoding.EncodeToString)
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
