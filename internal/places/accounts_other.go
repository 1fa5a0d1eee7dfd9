//go:build !linux

package places

import "errors"

// Accounts lists the accounts of the machine, on Linux.
func Accounts() ([]Numbered, error) {
	return nil, errors.New("gate lists the accounts of a machine on Linux only")
}
