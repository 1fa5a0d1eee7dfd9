package commands

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"gate/cmd/internal/screen"
)

// A progressBar says how far a long run is.
type progressBar struct {
	p        process
	terminal bool // one line, written again and again
	quiet    bool
	start    time.Time
	last     time.Time
	done     int
	size     int64        // of all files, in bytes; 0: nobody knows
	read     atomic.Int64 // of that
	records  int64        // about how many there are to be decided; 0: nobody knows
}

// progressEvery is how often progress is shown.
const progressEvery = 200 * time.Millisecond

// newProgressBar shows progress on a terminal, and if it is wanted anywhere.
func newProgressBar(p process, wanted bool) *progressBar {
	file, ok := p.stderr.(*os.File)
	terminal := ok && term.IsTerminal(int(file.Fd()))
	return &progressBar{p: p, terminal: terminal, quiet: !terminal && !wanted, start: time.Now(), last: time.Now()}
}

func (b *progressBar) at(done int) {
	b.done = done
	if now := time.Now(); !b.quiet && now.Sub(b.last) >= progressEvery {
		b.last = now
		b.show(true)
	}
}

// took counts bytes that were read, while calls are decided about.
func (b *progressBar) took(n int) { b.read.Add(int64(n)) }

func (b *progressBar) show(share bool) {
	rate := float64(b.done) / max(time.Since(b.start).Seconds(), 0.001)
	of := ""
	if share && b.size > 0 {
		of = fmt.Sprintf("%d %% read, ", min(100, 100*b.read.Load()/b.size))
	}
	if share && b.records > 0 {
		of = fmt.Sprintf("about %d %%, ", min(100, 100*int64(b.done)/b.records))
	}
	text := fmt.Sprintf("gate: %s, %s%.0f a second", screen.Counted(b.done, "call"), of, rate)
	if b.terminal {
		fmt.Fprintf(b.p.stderr, "\r%s\x1b[K", text)
	} else {
		fmt.Fprintln(b.p.stderr, text)
	}
}

// end shows the last state, or takes the line off a terminal.
func (b *progressBar) end() {
	switch {
	case b.quiet:
	case b.terminal:
		fmt.Fprint(b.p.stderr, "\r\x1b[K")
	default:
		b.show(false)
	}
}

// A counter tells a person at a terminal how far something long is.
type counter struct {
	p     process
	what  string
	shown bool
}

func newCounter(p process, what string) *counter { return &counter{p: p, what: what} }

func (g *counter) at(done, total int) {
	if g.p.isTerminal == nil || !g.p.isTerminal() {
		return
	}
	g.shown = true
	fmt.Fprintf(g.p.stderr, "\r%d of %d %s", done, total, g.what)
}

func (g *counter) done() {
	if g.shown {
		fmt.Fprint(g.p.stderr, "\r\x1b[K")
	}
}
