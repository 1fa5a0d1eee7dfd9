package store

import (
	_ "embed"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Bodies are stored with a byte in front that says how.
const (
	packPlain = 0
	packZstd  = 1 // with the dictionary below
)

// dictionary is what bodies have in common: some records, one after the other. What was
// packed with it needs it for ever: another one gets another number.
//
//go:embed dictionary.json
var dictionary []byte

// maxBody bounds what a stored body may be unpacked to, in bytes.
const maxBody = 64 << 20

// A packer packs and unpacks. Making it takes a moment and some memory.
type packer struct {
	in  *zstd.Decoder
	out *zstd.Encoder
	err error
}

var lazyPacker = sync.OnceValue(func() packer {
	var p packer
	if p.out, p.err = zstd.NewWriter(nil, zstd.WithEncoderDictRaw(packZstd, dictionary), zstd.WithEncoderConcurrency(2), zstd.WithEncoderCRC(true), zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true)); p.err != nil {
		return p
	}
	p.in, p.err = zstd.NewReader(nil, zstd.WithDecoderDictRaw(packZstd, dictionary), zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxBody))
	return p
})

var errPacked = errors.New("it is kept in a form that this collector does not know")

// pack returns a body as it is stored.
func pack(body []byte) []byte {
	if p := lazyPacker(); p.err == nil {
		if out := p.out.EncodeAll(body, []byte{packZstd}); len(out) <= len(body) {
			return out
		}
	}
	return append([]byte{packPlain}, body...)
}

// unpack reads it.
func unpack(data []byte) ([]byte, error) {
	switch {
	case len(data) == 0:
		return nil, errPacked
	case data[0] == packPlain:
		return data[1:], nil
	case data[0] != packZstd:
		return nil, errPacked
	}
	p := lazyPacker()
	if p.err != nil {
		return nil, p.err
	}
	body, err := p.in.DecodeAll(data[1:], nil)
	if err != nil {
		return nil, fmt.Errorf("it is damaged on the disk: %w", err)
	}
	return body, nil
}
