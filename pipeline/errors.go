package pipeline

import (
	"context"
	"errors"
	"fmt"

	"gate/hook"
	"gate/internal/strictjson"
)

// A Stage is one step of a call's way, in this order.
type Stage string

const (
	StageEnabled    Stage = "enabled"
	StageValidation Stage = "validation"
	StageHooks      Stage = "hooks"         // PreToolUse
	StagePermission Stage = "permission"    // the lists
	StageApproval   Stage = "approval"      // only if there is a question
	StageExecution  Stage = "execution"     // the tool
	StageSuccess    Stage = "success hooks" // PostToolUse
	StageFailure    Stage = "failure hooks" // PostToolUseFailure
)

// A RejectedError reports a call or event that gate, a rule or a person said no
// to. Its text is for the model: what is wrong and what to do instead, with the
// decision's id.
type RejectedError struct {
	Of      string // the tool, or the event
	Stage   Stage  // where
	ID      string // of the decision
	Reason  string
	Reasons []hook.Reason // of the hooks, in order; none where a rule or a person said no
	Rule    string        // the permission rule, "" if none did
	Ran     bool          // the tool has run: its output is withheld
	Err     error         // what else went wrong: the tool's or the approval's error
}

func (e *RejectedError) Error() string { return e.Reason }
func (e *RejectedError) Unwrap() error { return e.Err }

// A HaltError reports that a hook ended the turn: go back to the person. It
// wraps what it means for the call.
type HaltError struct {
	ID     string
	Reason string
	Err    error
}

func (e *HaltError) Error() string { return "the turn is over: " + e.Reason }
func (e *HaltError) Unwrap() error { return e.Err }

// An InvalidInputError reports an input that is no JSON object, or not what the
// tool's schema wants. Its text is for the model.
type InvalidInputError struct {
	Of  string // the tool, or the event
	Err error
}

func (e *InvalidInputError) Error() string {
	return fmt.Sprintf("invalid input of %s: %v", e.Of, e.Err)
}
func (e *InvalidInputError) Unwrap() error { return e.Err }

// A DisabledError reports a tool that is switched off.
type DisabledError struct{ Tool string }

func (e *DisabledError) Error() string { return fmt.Sprintf("the tool %s is switched off", e.Tool) }

// An UnknownToolError reports a tool that is not there.
type UnknownToolError struct{ Tool, Known string }

func (e *UnknownToolError) Error() string {
	return fmt.Sprintf("there is no tool %q; there are: %s", e.Tool, e.Known)
}

// A ToolError reports that the tool itself failed, or panicked.
type ToolError struct {
	Tool  string
	Err   error
	Panic bool
}

func (e *ToolError) Error() string { return fmt.Sprintf("%s failed: %v", e.Tool, e.Err) }
func (e *ToolError) Unwrap() error { return e.Err }

// A CancelledError reports that the context ended first; it wraps the context's
// error. An output that was there already and nobody had judged is
// withheld.
type CancelledError struct {
	Of    string // the tool, or the event
	Stage Stage
	Err   error
}

func (e *CancelledError) Error() string {
	return fmt.Sprintf("%s was cancelled (%s): %v", e.Of, e.Stage, e.Err)
}
func (e *CancelledError) Unwrap() error { return e.Err }

// cancelled is the error about a context that ended, nil if it did not.
func cancelled(ctx context.Context, of string, s Stage) error {
	err := ctx.Err()
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return &CancelledError{Of: strictjson.Visible(of), Stage: s, Err: err}
}
