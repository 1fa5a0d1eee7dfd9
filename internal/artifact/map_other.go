//go:build !linux && !darwin

package artifact

import "gate/internal/hostfs"

func mapped(f hostfs.Handle, size int) (string, error) { return readAll(f, size) }
