package verdict

import (
	"context"
	"errors"

	"gate/hook"
)

// Outcome says how a run ended that answered v or had the fault f, nil if it had none,
// and that adds e to the decision. An objection blocks, whatever befell the hook after
// it.
func Outcome(v *hook.Verdict, f *hook.Fault, e hook.Effect) hook.Outcome {
	switch {
	case v.Effect() >= hook.Ask:
		return hook.Blocking
	case f != nil && cancelled(f):
		return hook.Cancelled
	case e >= hook.Ask:
		return hook.Blocking
	case f != nil:
		return hook.NonBlockingError
	}
	return hook.Success
}

// cancelled reports that a hook was at work and not broken. The context's errors are
// those of functions that return them.
func cancelled(f *hook.Fault) bool {
	return f.Kind == hook.FaultTimeout || errors.Is(f, context.Canceled) || errors.Is(f, context.DeadlineExceeded)
}
