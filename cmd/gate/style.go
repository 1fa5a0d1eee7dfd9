package main

import (
	"os"

	"golang.org/x/term"

	"gate/hook"
)

// A style colours text for a terminal; the zero style leaves it as it is.
type style struct{ colour bool }

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

// style is how standard output can show text: with colours on a terminal that
// knows them, unless the person wants none (no-color.org).
func (p process) style() style {
	if p.getenv("NO_COLOR") != "" || p.getenv("TERM") == "dumb" {
		return style{}
	}
	f, ok := p.stdout.(*os.File)
	return style{colour: ok && term.IsTerminal(int(f.Fd()))}
}

func (s style) with(sgr, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return sgr + text + sgrReset
}

func (s style) strong(text string) string { return s.with(sgrBold, text) }
func (s style) faint(text string) string  { return s.with(sgrFaint, text) }
func (s style) name(text string) string   { return s.with(sgrCyan, text) }

// effect colours a text as its effect deserves.
func (s style) effect(e hook.Effect, text string) string {
	switch e {
	case hook.Deny:
		return s.with(sgrBold+sgrRed, text)
	case hook.Ask:
		return s.with(sgrBold+sgrYellow, text)
	}
	return s.with(sgrBold+sgrGreen, text)
}
