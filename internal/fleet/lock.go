package fleet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"gate/internal/hostfs"
)

// Lock makes a state directory where it is missing, and keeps other processes from
// enrolling the machine or sending its status until the lock is closed.
func Lock(ctx context.Context, dir string) (*hostfs.Locked, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, hostfs.Reason(err))
	}
	l, err := hostfs.Lock(ctx, filepath.Join(dir, lockFile), os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, lockFile), hostfs.Reason(err))
	}
	return l, nil
}
