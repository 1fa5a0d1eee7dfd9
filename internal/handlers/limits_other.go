//go:build unix && !linux

package handlers

// limitSelf limits this process, and so what it starts from now on.
func limitSelf(j *job) error { return lowerLimits(j) }

// limitOther does nothing: these systems let a process limit itself only.
func limitOther(int, *job) {}

// exceeds sees nothing: who belongs to a tree cannot be told here.
func (t *tree) exceeds() (x excess, is bool) { return x, false }
