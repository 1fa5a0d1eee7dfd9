package builtin

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"gate/engine/plan/value"
)

// jwtDecode takes a token apart into its header, its payload and its signature,
// and believes none of it. The payload may be another token.
func jwtDecode(ctx *Context, args []value.Value) (value.Value, error) {
	token, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	if len(token) > MaxScan {
		return nil, boundPieces(ctx, token, 0)
	}
	for {
		if !strings.Contains(token, ".") {
			return nil, errors.New("encoded JWT had no period separators")
		}
		parts := strings.Split(token, ".")
		if len(parts) != 3 {
			return nil, fmt.Errorf("encoded JWT must have 3 sections, found %d", len(parts))
		}
		header, err := jwtHeader(ctx, parts[0])
		if err != nil {
			return nil, err
		}
		payload, err := fromBase64url(parts[1])
		if err != nil {
			return nil, fmt.Errorf("JWT payload had invalid encoding: %w", err)
		}
		switch content := header.Get(value.String("cty")).(type) {
		case nil:
		case value.String:
			if content == "JWT" {
				token = strings.Trim(string(payload), `"'`)
				continue
			}
		default:
			return nil, &Halt{ErrUnsure}
		}
		return jwtParts(ctx, header, payload, parts[2])
	}
}

func jwtParts(ctx *Context, header *value.Object, payload []byte, signature string) (value.Value, error) {
	claims, err := jsonObject(ctx, payload)
	if err != nil {
		return nil, err
	}
	s, err := fromBase64url(signature)
	if err != nil {
		return nil, fmt.Errorf("JWT signature had invalid encoding: %w", err)
	}
	return value.NewArray(header, claims, value.String(hex.EncodeToString(s))), nil
}

func jwtHeader(ctx *Context, encoded string) (*value.Object, error) {
	s, err := fromBase64url(encoded)
	if err != nil {
		return nil, fmt.Errorf("JWT header had invalid encoding: %w", err)
	}
	header, err := jsonObject(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("bad JWT header: %w", err)
	}
	if header.Get(value.String("enc")) != nil {
		return nil, errors.New("JWT is a JWE object, which is not supported")
	}
	return header, nil
}

func jsonObject(ctx *Context, s []byte) (*value.Object, error) {
	v, err := jsonUnmarshal(ctx, []value.Value{value.String(s)})
	if err != nil {
		return nil, fmt.Errorf("invalid JSON: %w", err)
	}
	o, ok := v.(*value.Object)
	if !ok {
		return nil, errors.New("decoded JSON type was not an Object")
	}
	return o, nil
}
