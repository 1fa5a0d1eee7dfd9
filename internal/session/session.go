// Package session is the memory of one session of an agent: how many calls it
// made and how many were denied, when the person last spoke, what it was told,
// which hooks ran once and for all, the hooks that hold for it, and the texts
// that wait for it.
//
// It decides nothing, and its content may only tighten. A caller that cannot read it
// must let no call pass, because a budget or a hook in it could have said no. It is not
// the decision log, which keeps what was decided and is never asked.
//
// Start with a [Store]; [Store.Update] changes the [Memory] of a session, and
// [Memory.Document] is what policies see as input.session.
package session

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// A Key names a session: the adapter's name and the agent's own name for it,
// which may be any text. Sessions without a name share one memory an agent:
// their calls are counted together.
type Key struct {
	Agent   string
	Session string
}

// Name is the name of the session's files: nothing of what the agent says is in
// it as it is.
func (k Key) Name() string {
	sum := sha256.Sum256([]byte(k.Agent + "\x00" + k.Session))
	return hex.EncodeToString(sum[:16])
}

// Limits of one memory. What is over them is counted under [Others], or refused
// where it is a text that waits.
const (
	maxFile     = 1 << 20  // bytes of a memory
	maxGrown    = 16 << 10 // bytes of a file with more than one line
	maxPolicies = 128      // policies whose denials are counted one by one
	maxCalls    = 256      // denied calls that are told apart
	maxTold     = 128      // policies that said something in one round
	maxDone     = 512      // hooks that are done
	maxName     = 200      // bytes of a policy's name
)

// Others is the policy that denials are counted under when there are too many
// to count them one by one.
const Others = "*"

// Life is how long a session that nobody hears of any more is kept.
const Life = 30 * 24 * time.Hour
