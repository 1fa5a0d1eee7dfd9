package hookpath

import "time"

// Handed is what the program that hands a call over has done about it. The next
// program learns it by flags of gate hook.
type Handed struct {
	Spent   time.Duration // of the call's time, with what programs before it spent
	Counted bool          // the session's memory has counted the event
}

// Flags are the words that stand for it behind the call's own flags.
func (h Handed) Flags() []string {
	words := []string{"--spent=" + h.Spent.String()}
	if h.Counted {
		words = append(words, "--counted=true")
	}
	return words
}
