package sealed

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"path"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/bundle"

	"gate/internal/strictjson"
)

// matches holds a file against its digest.
func matches(name string, data []byte, info bundle.FileInfo) error {
	sum := SumBy(info.Algorithm)
	if sum == nil {
		return RefuseFile(BadAlgorithm, Shown(name), fmt.Errorf("a digest by %q", Shown(info.Algorithm)))
	}
	data, err := OpaBytes(name, data)
	if err != nil {
		return RefuseFile(BadFile, Shown(name), err)
	}
	want, err := hex.DecodeString(info.Hash)
	if err != nil || !bytes.Equal(sum(data), want) {
		return RefuseFile(WrongDigest, Shown(name), nil)
	}
	return nil
}

// sumBy is a hash by OPA's name for it, nil for one that gate does not take.
func SumBy(algorithm string) func([]byte) []byte {
	switch bundle.HashingAlgorithm(algorithm) {
	case bundle.SHA256:
		return func(data []byte) []byte { sum := sha256.Sum256(data); return sum[:] }
	case bundle.SHA384:
		return func(data []byte) []byte { sum := sha512.Sum384(data); return sum[:] }
	case bundle.SHA512:
		return func(data []byte) []byte { sum := sha512.Sum512(data); return sum[:] }
	case bundle.SHA512256:
		return func(data []byte) []byte { sum := sha512.Sum512_256(data); return sum[:] }
	}
	return nil
}

// opaBytes is what OPA takes the digest of a file over. Of JSON that is the
// value and not the bytes; so the value must be one that all readers agree on.
// OPA's own hasher wants it as a tree; the text with sorted keys is what it feeds
// to the hash, and costs half as much to make.
func OpaBytes(name string, data []byte) ([]byte, error) {
	if base := path.Base(name); base != DataFile && base != ManifestFile {
		return data, nil
	}
	return strictjson.AppendSorted(make([]byte, 0, len(data)), data, strictjson.Limits{Keys: 1_000_000, LookAlikes: true})
}

// side does something with each name, on all processors side by side, and
// returns what went wrong in the order of the names.
func side(names []string, do func(string) error) []error {
	errs := make([]error, len(names))
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(names)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names); i = int(next.Add(1)) - 1 {
				errs[i] = do(names[i])
			}
		})
	}
	all.Wait()
	return errs
}
