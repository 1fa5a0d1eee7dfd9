//go:build !linux

package confine

import "errors"

// missing says what there is not.
const missing = "only Linux has what confines a program here"

// Run runs nothing on this system.
func (c Command) Run() (Outcome, error) { return Outcome{}, errors.New(missing) }

// Sweep sets nothing aside: nothing has run on this system.
func Sweep(int) error { return errors.New(missing) }

// Probe finds out what can be held here: nothing.
func Probe() Capability { return Capability{Missing: missing} }
