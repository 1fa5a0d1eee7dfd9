package core

import (
	"crypto/rand"

	"gate/hook"
)

// Closing is the decision of a gate that could not come to one.
func Closing(n hook.Name, f *hook.Fault) hook.Decision {
	d := hook.Decision{ID: NewID(), Event: n, Effect: hook.Deny, Fault: f}
	Redact(&d)
	return d
}

// NewID is an id as the engine gives its decisions.
func NewID() string {
	const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	var b [6]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	for i := range b {
		b[i] = alphabet[b[i]&31]
	}
	return string(b[:])
}
