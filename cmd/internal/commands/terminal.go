package commands

import (
	"time"

	"gate/consent"
	"gate/internal/places"
)

// ancestors are the processes above this one, as far as they can be seen.
func (p process) ancestors() []consent.Ancestor {
	if p.above == nil {
		return nil
	}
	return p.above()
}

// terminal is where a person may be.
func (p process) terminal() consent.Terminal {
	return consent.Terminal{
		In: p.stdin, Err: p.stderr, IsTerminal: p.isTerminal != nil && p.isTerminal(),
		Lookup: p.lookupEnv, Above: p.ancestors(), Account: places.AccountName(), Now: time.Now(),
	}
}

// attended returns why nothing can be granted here, nil if it can.
func (p process) attended() error {
	t := p.terminal()
	return consent.Refuse(t.IsTerminal, t.Lookup, t.Above...)
}
