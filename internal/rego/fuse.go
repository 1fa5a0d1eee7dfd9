package rego

import (
	"errors"

	"github.com/open-policy-agent/opa/v1/topdown"
)

// maxNested is how many values may be compared within one comparison. Each takes
// up to 2 KiB of stack, and Go cannot recover from a stack beyond 512 MiB. No
// event holds as many: strictjson allows 200 000 keys and elements.
const maxNested = 250_000

var (
	errNested    = errors.New("it compares values that are too large")
	errCancelled = errors.New("cancelled")
)

// A fuse ends an evaluation by a panic where OPA itself would go on: inside a
// comparison of two values, which looks at no cancellation and takes stack for
// every element. A value that holds another twice, which holds another twice and
// so on, is soon larger than any stack, in a few lines.
//
// It listens to OPA's trace, which doubles the time of an evaluation, so policies
// of managed sources and the library go without: who writes them can stop gate
// anyway.
type fuse struct {
	cancel topdown.Cancel
	nested int // comparisons since the last other event
}

func (f *fuse) Enabled() bool               { return true }
func (f *fuse) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

func (f *fuse) TraceEvent(e topdown.Event) {
	if e.Op != topdown.UnifyOp {
		f.nested = 0
		return
	}
	if f.nested++; f.nested > maxNested {
		panic(errNested)
	}
	if f.cancel.Cancelled() {
		panic(errCancelled)
	}
}
