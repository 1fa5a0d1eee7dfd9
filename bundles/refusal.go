package bundles

import (
	"errors"
)

// Refusals returns every refusal within err, in order.
func Refusals(err error) []*Refusal {
	switch e := err.(type) {
	case nil:
		return nil
	case *Refusal:
		return []*Refusal{e}
	case interface{ Unwrap() []error }:
		var list []*Refusal
		for _, below := range e.Unwrap() {
			list = append(list, Refusals(below)...)
		}
		return list
	}
	return Refusals(errors.Unwrap(err))
}
