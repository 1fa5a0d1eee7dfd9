package store

import (
	"errors"
)

// Bodies are stored with a byte in front that says how.
const (
	packPlain = 0
)

var errPacked = errors.New("it is kept in a form that this collector does not know")

func pack(body []byte) []byte { return append([]byte{packPlain}, body...) }

func unpack(data []byte) ([]byte, error) {
	if len(data) == 0 || data[0] != packPlain {
		return nil, errPacked
	}
	return data[1:], nil
}
