// Package origin has the words for what calls leave in files for the calls after them:
// secrets, texts of the network, and texts that an agent wrote.
//
// It holds values alone. Facts work a [Move] out; package session keeps it, and is the
// [Ledger] of later facts.
package origin

import "strings"

// A Move says what a call leaves in a file. One that says nothing of the text ends what
// earlier calls had left there, if it writes the file anew.
type Move struct {
	// Path is absolute, with slashes. One that ends in a slash is a directory: each file below
	// it may hold this. One with two slashes names a part of what stands before them, as
	// [Part] makes it.
	Path string

	Secret  string // the kind of secret that the file holds, as secret.read has it; "" for none
	Host    string // the peer that the text came from, "?" where nobody knows which; "" for none
	From    string // the file that Secret or Host came from, absolute; "" where it was no file
	Written bool   // an agent decided about the text

	// Anew: the file holds nothing but what the call writes, once the call has run.
	// Without it the call may add to what the file held.
	Anew bool

	Call    string // tool_use_id of the call, "" where the agent gives none
	Session string // a digest of the name of the session that made the call
}

// A Text is what a call writes into a file, as far as it is known.
type Text struct {
	Path string // absolute, with slashes
	Text string
}

// These begin the kind of a secret that an agent was shown: one that it wrote into the file, and
// one that stood in the file before.
const (
	copied = "copy of "
	held   = "shown "
)

// Copy is the kind of a secret that an agent was shown and wrote into a file. Nobody needs to
// be asked whether the agent may read it there: the agent knows it.
func Copy(kind string) string {
	if _, known := Copied(kind); known {
		return kind
	}
	return copied + kind
}

// Held is the kind of a secret that an agent was shown in a file where no call had put it. As
// with a [Copy], nobody needs to be asked whether the agent may read it there.
func Held(kind string) string {
	if _, known := Copied(kind); known {
		return kind
	}
	return held + kind
}

// IsHeld reports a kind that [Held] made.
func IsHeld(kind string) bool { return strings.HasPrefix(kind, held) }

// Copied returns the kind of secret that a [Copy] is of, or that is [Held], and false for
// other kinds.
func Copied(kind string) (of string, ok bool) {
	if of, ok = strings.CutPrefix(kind, copied); ok {
		return of, true
	}
	of, ok = strings.CutPrefix(kind, held)
	return of, ok
}

// Tells reports that the move says something of the text.
func (m *Move) Tells() bool { return m.Secret != "" || m.Host != "" || m.Written }

// A Ledger says what earlier calls left in files. It is for one event, and not safe for
// concurrent use.
type Ledger interface {
	// Of is what a file may hold by what they wrote into it, the zero Move where they wrote
	// nothing. The path is absolute, with slashes; it may lead through links. An error
	// says that nobody knows; what is known comes with it.
	Of(path string) (Move, error)

	// Below is what the files below a directory hold, and the parts of one file or directory:
	// of secrets and of texts of the network. The path is absolute. One that leads through
	// links may bring a file twice.
	Below(path string) ([]Move, error)

	// Written are the files whose text agents decided about, as far as that counts for
	// the event: absolute, in order.
	Written() ([]string, error)
}

// Part is the path of a part of a file or directory that has no path of its own: a member
// of an archive, a file that a repository has taken up.
func Part(whole, part string) string { return whole + "//" + strings.TrimLeft(part, "/") }

// CutPart parts the path of a part into what it is a part of, and its name there.
func CutPart(path string) (whole, part string, ok bool) { return strings.Cut(path, "//") }
