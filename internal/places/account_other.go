//go:build !linux

package places

import (
	"os/user"
	"runtime"
)

// lookup asks the system. user.Current falls back to the environment where there
// are numbers, LookupId does not.
func lookup(uid string) (Account, error) {
	find := func() (*user.User, error) { return user.LookupId(uid) }
	if runtime.GOOS == "windows" {
		find = user.Current
	}
	u, err := find()
	if err != nil {
		return Account{}, err
	}
	return Account{Name: u.Username, Home: u.HomeDir}, nil
}

func atHand(uid string) (Account, error) { return lookup(uid) }
