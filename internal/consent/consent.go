// Package consent keeps what a person granted at a terminal, and checks it:
// trust in a source's handlers, approvals of one call, and directories that texts for
// agents are taken from. (Exceptions stand in
// settings; package scopes has them.)
//
// Everything here loosens, so everything here is narrow. Trust holds for one directory
// and its exact content, an approval for one call, once, for minutes. A file that is
// broken, unreadable or not gate's own is an error and grants nothing. No act of an
// agent grants anything: granting takes a [Witness], which only [Confirm] makes, of
// somebody at a terminal, or the signature of an approver over one exact question.
//
// The package decides about no call and asks no policy: the engine and the commands do.
// It does not protect from anyone who can write the user's files; library policies keep
// agents from these files. Start with [Store]: the hook path calls [Store.CheckTrust],
// [Store.Use] and [Store.AddPending]; commands call [Confirm] and then [Store.Trust] or
// [Store.Approve]. A question that goes to people elsewhere begins with [Store.Ask], is
// answered by [Store.Answer], and counts by [Store.UseAnswer].
//
// docs/architecture.md has the rules that it keeps: 1, 4, 5, 6 and 9.
package consent

// A Refusal is an ordinary no: the grant that was looked for is not there, or
// does not cover this. Every other error of this package is a fault: something
// is wrong with gate's own files or with the caller's values. Neither grants
// anything.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// The refusals. Each has a sentence of its own, for the person and the log;
// none says how to get around it.
const (
	NotAsked   Refusal = "an approval answers a question; it never overrides a denial, and here nothing was asked"
	Off        Refusal = "approvals are not switched on here"
	NoApproval Refusal = "nobody has approved this call"
	Used       Refusal = "the approval of this call has been used; it counts once"
	Expired    Refusal = "the approval of this call has expired"
	OtherDir   Refusal = "a call like this was approved, but for another directory"
	OtherInput Refusal = "a call of this tool was approved, but with another input"
	OtherAgent Refusal = "this call was approved, but for another agent or session"
	OtherFacts Refusal = "this call was approved, but it would now do something else"
	OtherCause Refusal = "this call was approved, but now there is a further reason to ask"
	NeedsKey   Refusal = "an approver's signature is required here"
	BadKey     Refusal = "the approval is not signed by one of the approvers of this machine"

	NoApprovers Refusal = "settings name nobody in approvals.approvers who could answer from elsewhere"
	NoQuestion  Refusal = "no question of this machine waits under this id: it was never put, its time is over, or its answer was used"
	Answered    Refusal = "this question waits for no answer any more: the first one counts, from here or elsewhere"
	SaidNo      Refusal = "a person who was asked elsewhere said no to this call"

	NeverTrusted Refusal = "nobody has trusted this source at this place"
	Changed      Refusal = "the source has changed since it was trusted"

	NoTerminal Refusal = "only a person at a terminal can grant this"
	InAgent    Refusal = "this cannot be granted from within an agent's session; use a terminal window of your own"
	NoPerson   Refusal = "the other end of this terminal is held by no login, terminal emulator or multiplexer of a person"
	NotSigned  Refusal = "the grant is not signed by one of the keys that settings name in consent.signers"
	WrongCode  Refusal = "the code does not match; nothing was granted"
)
