package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gate/internal/hostfs"
	"gate/internal/source"
)

// files are a bundle and its envelope on a disk, or on a share.
type files struct {
	options source.Options
	path    string
}

// Fetch reads both files: how they are called and when they were written says
// nothing about what is in them.
func (f *files) Fetch(_ context.Context, tag string) (source.Found, error) {
	at, err := filepath.Abs(f.path)
	if err != nil {
		return source.Found{}, err
	}
	if info, err := os.Stat(at); err == nil && info.IsDir() {
		if f.options.Name == "" {
			return source.Found{}, fail("", "%s is a directory; name the bundle, or its file", f.path)
		}
		at = filepath.Join(at, f.options.Name+".tar.gz")
	}
	var found source.Found
	at = filepath.ToSlash(at)
	if found.Archive, err = (hostfs.Files{}).ReadFile(at, int(f.options.Limit)); err != nil {
		return source.Found{}, &source.Error{Err: fmt.Errorf("%s: %w", at, hostfs.Reason(err)), Missing: errors.Is(err, fs.ErrNotExist)}
	}
	if !f.options.Alone {
		found.Envelope, err = hostfs.Files{}.ReadFile(at+source.EnvelopeSuffix, maxEnvelope)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return source.Found{}, err
	}
	h := sha256.New()
	for _, data := range [][]byte{found.Archive, found.Envelope} {
		sum := sha256.Sum256(data)
		h.Write(sum[:])
	}
	if found.Tag = hex.EncodeToString(h.Sum(nil)); found.Tag == tag {
		return source.Found{Tag: tag, Unchanged: true}, nil
	}
	return found, nil
}
