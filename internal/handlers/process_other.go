//go:build unix && !linux

package handlers

import "syscall"

const adopts = false

// adoptOrphans does nothing: these systems have nothing like it.
func adoptOrphans() error { return nil }

// endWithParent does nothing, either.
func endWithParent(*syscall.SysProcAttr) {}

// childless is not asked here.
func childless() bool { return false }

// members is the group: what gives itself another one is not seen.
func (t *tree) members() []int { return t.group() }
