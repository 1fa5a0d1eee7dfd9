//go:build !linux

package main

import (
	"context"
	"errors"
	"io"
)

// confined measures nothing: only Linux confines.
func (l *lab) confined(context.Context, io.Writer, string) error {
	return errors.New("-confined is for Linux: elsewhere nothing is confined")
}
