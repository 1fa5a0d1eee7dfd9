package builtin

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"gate/internal/plan/value"
)

// hashed makes a builtin of a digest, written in hexadecimal digits.
func hashed(ctx *Context, args []value.Value, of hash.Hash) (value.Value, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
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
