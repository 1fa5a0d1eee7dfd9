package builtin

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"

	"gate/engine/plan/value"
)

// hashed makes a builtin of a digest, written in hexadecimal digits.
func hashed(ctx *Context, args []value.Value, of hash.Hash) (value.Value, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	return digest(ctx, of, s)
}

func digest(ctx *Context, of hash.Hash, s string) (value.Value, error) {
	if err := ctx.Spend(len(s) / 4); err != nil {
		return nil, err
	}
	of.Write([]byte(s))
	return value.String(hex.EncodeToString(of.Sum(nil))), nil
}

func cryptoMD5(ctx *Context, args []value.Value) (value.Value, error) {
	return hashed(ctx, args, md5.New())
}

func cryptoSHA1(ctx *Context, args []value.Value) (value.Value, error) {
	return hashed(ctx, args, sha1.New())
}

func cryptoSHA256(ctx *Context, args []value.Value) (value.Value, error) {
	return hashed(ctx, args, sha256.New())
}

// authenticated makes a builtin of a digest with a key.
func authenticated(ctx *Context, args []value.Value, of func() hash.Hash) (value.Value, error) {
	var message, key string
	if err := texts(args, &message, &key); err != nil {
		return nil, err
	}
	return digest(ctx, hmac.New(of, []byte(key)), message)
}

func hmacMD5(ctx *Context, args []value.Value) (value.Value, error) {
	return authenticated(ctx, args, md5.New)
}

func hmacSHA1(ctx *Context, args []value.Value) (value.Value, error) {
	return authenticated(ctx, args, sha1.New)
}

func hmacSHA256(ctx *Context, args []value.Value) (value.Value, error) {
	return authenticated(ctx, args, sha256.New)
}

func hmacSHA512(ctx *Context, args []value.Value) (value.Value, error) {
	return authenticated(ctx, args, sha512.New)
}

func hmacEqual(_ *Context, args []value.Value) (value.Value, error) {
	return testTexts(args, func(a, b string) bool { return hmac.Equal([]byte(a), []byte(b)) })
}
