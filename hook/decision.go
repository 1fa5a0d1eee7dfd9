package hook

import (
	"fmt"
	"time"

	"gate/internal/mark"
)

// An Outcome says how one hook's run ended.
type Outcome string

const (
	Success          Outcome = "success"            // it answered and did not object
	Blocking         Outcome = "blocking"           // it denied or asked, or its fault closes
	NonBlockingError Outcome = "non_blocking_error" // it could not answer; the call goes on
	Cancelled        Outcome = "cancelled"          // its time was over, or it was stopped; whether that closes, its effect says
)

// A FaultKind groups faults by what went wrong.
type FaultKind string

const (
	FaultEvent    FaultKind = "event"                // the event could not be read
	FaultLoad     FaultKind = "load"                 // a source could not be loaded
	FaultTimeout  FaultKind = "timeout"              // no answer in time
	FaultMemory   FaultKind = "memory"               // too much memory
	FaultEval     FaultKind = "eval"                 // the policy failed while it ran
	FaultOutput   FaultKind = "output"               // the answer was malformed
	FaultBatch    FaultKind = "unsupported_in_batch" // a hook that asks a model, in a batch run
	FaultInternal FaultKind = "internal"             // gate's own mistake
)

// A Fault reports that a hook, or gate itself, could not answer. It is never
// mixed up with a denial. It unwraps to its cause.
type Fault struct {
	Kind FaultKind
	Err  error
}

func (f *Fault) Error() string {
	if f.Err == nil {
		return string(f.Kind)
	}
	return f.Err.Error()
}

func (f *Fault) Unwrap() error { return f.Err }

// Faultf makes a Fault from a format, as fmt.Errorf does.
func Faultf(kind FaultKind, format string, args ...any) *Fault {
	return &Fault{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// A Usage is what the answer of a language model cost. With Cached it was kept
// from an earlier call, and cost nothing now: the counts are those of then.
type Usage struct {
	Provider     string
	Model        string
	InputTokens  int64
	OutputTokens int64
	Turns        int // requests that the answer took; 1 for a prompt
	Cached       bool
}

// Document returns the usage as a JSON tree.
func (u *Usage) Document() map[string]any {
	return map[string]any{
		"provider": u.Provider, "model": u.Model, "input_tokens": u.InputTokens, "output_tokens": u.OutputTokens,
		"turns": u.Turns, "cached": u.Cached,
	}
}

// A Step records one hook's run, in run order.
type Step struct {
	Hook    *Hook
	Verdict Verdict
	Effect  Effect // what it adds to the decision: the verdict's, or the fault's
	Outcome Outcome
	Fault   *Fault   // nil if the hook answered
	Ignored []string // parts of the answer that do not count, and why
	Level   string   // the level that settings give the hook: off, record … deny; "" is as written
	Would   *Verdict // the answer before a level, an exception or an approval took from it; else nil
	Spared  string   // what took from it first: the level, or trial, exception or approval; "" is nothing
	Usage   *Usage   // of hooks that asked a language model; else nil
	Remedy  string   // what repairs the fault, for the person: a command, or whose turn it is; "" without a fault
	Took    time.Duration
	Round   int // 0 for the first run, 1… for re-checks of a rewritten input
}

// A Change is one rewrite that took effect, in order.
type Change struct {
	Hook   string
	Reason string
	Before any
	After  any
}

// A Decision is gate's conclusion about one event.
type Decision struct {
	ID       string // short, unique for one machine and day: people quote it
	Event    Name
	Tool     string
	Effect   Effect
	Reasons  []Reason // every reason of the decision's effect and above pass, in run order
	Warnings []Reason
	Rewrite  any // the whole final input or prompt; nil if unchanged
	Output   any // the whole final tool output; nil if unchanged
	Changes  []Change
	Context  []Context
	Halt     *Reason
	Env      map[string]string // variables for the agent's shell; of two values the first counts, which is the higher scope's
	Facts    *Facts
	Steps    []Step
	Confined *Confined   // nil: the call does not run confined
	Remember []mark.Mark // what the session is to remember, in run order: nothing of a call that does not run
	Fault    *Fault      // gate itself could not decide; the Effect is then what closes
	Notices  []string
	Approved bool   // a person had approved what would be asked
	Pending  string // the id by which a person may still approve what is asked; "": nobody may

	// Elsewhere tells the agent that people who are not at the terminal were asked, and
	// what to do once they answered; "": nobody was.
	Elsewhere string

	Bundles []Bundle // that were in force, in their order
	Took    time.Duration
}

// A Confined says how a call runs that can do no more than a profile lets it. Its
// decision's Rewrite starts the launcher.
type Confined struct {
	Profile string
	Input   any      // the tool's input that runs inside
	Refused []string // after the call: what the profile refused it, with the reasons
}

// Inside returns the input that the call amounts to: of a confined one that which runs
// inside, otherwise the rewrite, nil where there is none.
func (d *Decision) Inside() any {
	if d.Confined != nil {
		return d.Confined.Input
	}
	return d.Rewrite
}

// A Bundle names one release of a signed bundle.
type Bundle struct {
	Name    string
	Version int64  // 0 for one that is taken because its digest is pinned
	Digest  string // of the archive: "sha256:" and hexadecimal digits
	Trial   bool   // it stands beside a release, and only says what it would have done
}

// Source is the name of the source that the bundle is. A trial stands beside the
// release of its name.
func (b Bundle) Source() string {
	if b.Trial {
		return "trial:" + b.Name
	}
	return "managed:" + b.Name
}

// A Result is what follows for the call.
type Result string

const (
	Continue    Result = "continue"
	Reject      Result = "reject"
	ModifyInput Result = "modify_input"
)

// Result folds the decision into the three things that can happen to a call.
// An ask is a Reject unless somebody can be asked.
func (d *Decision) Result(canAsk bool) Result {
	switch {
	case d.Effect == Deny, d.Effect == Ask && !canAsk:
		return Reject
	case d.Rewrite != nil:
		return ModifyInput
	}
	return Continue
}

// Reason returns the text that explains the decision's effect: the reasons of
// that effect, without repetition, one a line.
func (d *Decision) Reason() string {
	text := ""
	seen := map[string]bool{}
	for _, r := range d.Reasons {
		if r.Effect != d.Effect || seen[r.Reason] {
			continue
		}
		seen[r.Reason] = true
		if text != "" {
			text += "\n"
		}
		text += r.Reason
	}
	return text
}
