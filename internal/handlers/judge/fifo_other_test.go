//go:build !unix

package judge_test

import "testing"

func fifo(t *testing.T, _ string) { t.Skip("there are no FIFOs here") }
