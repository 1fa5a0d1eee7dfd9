package elsewhere

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"time"
)

const (
	pollTime   = 5 * time.Second  // for one look for answers at the address
	between    = 3 * time.Second  // between two looks
	betweenAll = 30 * time.Second // at most, where others write there what is no answer

	// maxTried bounds the answers of one look that cost a signature and a look into the store.
	maxTried = 32
)

// Looks are the looks for answers at an address, while one call waits. Others may write
// there too, so what is no answer costs little: a text that was seen is not read again,
// nothing is checked that does not say exactly what a question says, and after a new text
// without an answer the next look comes later.
type looks struct {
	desk  *Desk
	seen  [sha256.Size]byte // of the last text
	pause time.Duration
	next  time.Time
}

func newLooks(d *Desk) *looks {
	return &looks{desk: d, pause: between, next: time.Now().Add(between)}
}

// due reports that it is time to look.
func (l *looks) due(now time.Time) bool { return l.desk.Settings.Poll != "" && !now.Before(l.next) }

// look looks once, and gives each answer to the store.
func (l *looks) look(ctx context.Context) error {
	d := l.desk
	if d.Settings.Poll == "" {
		return nil
	}
	defer func() { l.next = time.Now().Add(l.pause) }()
	ctx, cancel := context.WithTimeout(ctx, pollTime)
	defer cancel()
	data, err := d.request(ctx, http.MethodGet, d.Settings.Poll, d.Settings.PollToken, "", nil)
	if err != nil {
		return fmt.Errorf("answers cannot be asked for: %w", err)
	}
	if sum := sha256.Sum256(data); sum != l.seen {
		l.seen = sum
		return l.read(ctx, data)
	}
	return nil
}

// read takes the answers of a text that was not seen yet.
func (l *looks) read(ctx context.Context, text []byte) error {
	counted, err := l.desk.take(ctx, ReadAnswers(text), time.Now())
	switch {
	case counted > 0:
		l.pause = between
	case len(text) > 0:
		l.pause = min(2*l.pause, betweenAll)
	}
	return err
}

// take gives answers to open questions to the store, and says how many counted.
func (d *Desk) take(ctx context.Context, answers []Answer, now time.Time) (counted int, err error) {
	if len(answers) == 0 {
		return 0, nil
	}
	open, err := d.Store.Questions(now)
	said := map[string]bool{} // exactly
	for _, q := range open {
		for _, yes := range []bool{true, false} {
			said[string(q.Statement(yes))] = true
		}
	}
	tried := 0
	for _, a := range answers {
		if !said[a.Statement] {
			continue
		}
		if tried++; tried > maxTried || ctx.Err() != nil {
			break
		}
		_, e := d.Answer(a, now)
		switch {
		case e == nil:
			counted++
			delete(said, a.Statement) // the first one is the only one
		case !refused(e):
			return counted, e
		}
	}
	return counted, err
}
