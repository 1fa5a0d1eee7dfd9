//go:build !linux && !darwin

package artifact

import (
	"errors"
	"fmt"

	"gate/internal/hostfs"
)

var errUnsupported = fmt.Errorf("the compiled form of files cannot be used here: %w", errors.ErrUnsupported)

// Look returns an error for everything: this system does not say when a file
// was last changed, only what somebody claims.
func Look(string) func(name string) (Stamp, error) {
	return func(string) (Stamp, error) {
		return Stamp{}, errUnsupported
	}
}

// A view looks at nothing here.
type view struct{}

func openView(string) (view, error)            { return view{}, errUnsupported }
func viewOf(hostfs.Handle) view                { return view{} }
func (view) below(string) (view, error)        { return view{}, errUnsupported }
func (view) look(string) (r record, err error) { return r, errUnsupported }
func (view) close()                            {}
