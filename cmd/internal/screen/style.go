// Package screen lays texts out for a terminal: colours, columns, and marks under the
// words of a line.
//
// It writes nothing and asks nothing about the terminal: the caller makes a [Style] of
// its own. [Style.Marked] and [Column] show any text so that it cannot steer the
// terminal; the others take text that is visible already.
package screen

import "gate/hook"

// A Style colours text for a terminal; the zero Style leaves it as it is.
type Style struct{ Colour bool }

// SGR sequences. They have no width.
const (
	sgrReset  = "\x1b[0m"
	sgrBold   = "\x1b[1m"
	sgrFaint  = "\x1b[2m"
	sgrRed    = "\x1b[31m"
	sgrGreen  = "\x1b[32m"
	sgrYellow = "\x1b[33m"
	sgrCyan   = "\x1b[36m"
)

func (s Style) with(sgr, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return sgr + text + sgrReset
}

// Strong is for headings, Faint for what stands in the background, and Name for
// what has been given a name: policies, programs, keys.
func (s Style) Strong(text string) string { return s.with(sgrBold, text) }
func (s Style) Faint(text string) string  { return s.with(sgrFaint, text) }
func (s Style) Name(text string) string   { return s.with(sgrCyan, text) }

// Effect colours a text as its effect deserves.
func (s Style) Effect(e hook.Effect, text string) string {
	switch e {
	case hook.Deny:
		return s.with(sgrBold+sgrRed, text)
	case hook.Ask:
		return s.with(sgrBold+sgrYellow, text)
	}
	return s.with(sgrBold+sgrGreen, text)
}
