package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/internal/hostfs"
)

// A directory is a place on this machine, or on a file system that it shares.
type directory string

// Names of a directory beside its days. Readers pass over what begins with a dot.
const (
	lockName  = ".gate.lock"
	draftName = ".gate-*.draft"
	draftAge  = 24 * time.Hour // of what a process left that died
)

func (d directory) name(day string) string {
	return filepath.Join(string(d), dayPrefix+day, Part)
}

func (d directory) days(context.Context) ([]Day, error) {
	list, err := os.ReadDir(string(d))
	if err != nil {
		return nil, hostfs.At(string(d), err)
	}
	var out []Day
	for _, e := range list {
		day := dayOf(e.Name() + "/" + Part)
		if day == "" {
			continue
		}
		info, err := os.Stat(d.name(day))
		if errors.Is(err, fs.ErrNotExist) { // a day that went, or has not come
			continue
		}
		if err != nil {
			return nil, hostfs.At(d.name(day), err)
		}
		out = append(out, Day{day, info.Size(), tagOf(info)})
	}
	slices.SortFunc(out, func(a, b Day) int { return cmp.Compare(a.Day, b.Day) })
	return out, nil
}

func tagOf(info fs.FileInfo) string {
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}

func (d directory) open(_ context.Context, day string) (*copied, error) {
	f, err := hostfs.Regular(d.name(day))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoDay
	}
	if err != nil {
		return nil, hostfs.Reason(err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &copied{File: f, size: info.Size(), tag: tagOf(info)}, nil
}

func (d directory) temp() (*os.File, error) {
	return os.CreateTemp(string(d), draftName)
}

func (d directory) put(_ context.Context, day string, f *os.File, instead string) error {
	dir := filepath.Dir(d.name(day))
	if info, err := os.Stat(d.name(day)); err == nil && tagOf(info) != instead || err != nil && instead != "" {
		return errors.New("somebody else has changed it in the meantime")
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := os.Rename(f.Name(), d.name(day)); err != nil {
		return err
	}
	return errors.Join(syncDir(dir), syncDir(string(d)))
}

func (d directory) remove(_ context.Context, day string) error {
	if err := os.Remove(d.name(day)); err != nil {
		return err
	}
	return errors.Join(os.Remove(filepath.Dir(d.name(day))), syncDir(string(d)))
}

// alone takes the directory's lock, and away what somebody left who died.
func (d directory) alone(ctx context.Context) (func(), error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	lock, err := hostfs.Lock(ctx, filepath.Join(string(d), lockName), os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("%s: its lock: %w", d, hostfs.Reason(err))
	}
	left, _ := filepath.Glob(filepath.Join(escaped(string(d)), draftName))
	for _, name := range left {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > draftAge {
			_ = os.Remove(name) // it is in nobody's way
		}
	}
	return func() { lock.Close() }, nil
}

// escaped makes a path a pattern that fits it alone.
func escaped(name string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(name)
}

// syncDir makes the names in a directory last. Systems that cannot do that keep them
// anyway.
func syncDir(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	_ = f.Sync()
	return f.Close()
}
