package commands

import (
	"fmt"
	"os"

	"gate/cmd/internal/screen"
	"gate/internal/strictjson"

	"golang.org/x/term"
)

// A usageError is a mistake on the command line.
type usageError string

func (e usageError) Error() string { return string(e) }

// A hintedError is an error, and what to do about it.
type hintedError struct {
	error
	hint string
}

func (e hintedError) Unwrap() error { return e.error }

// A saying is an error with words of its own.
type saying struct {
	error
	text string
}

func (e saying) Error() string { return e.text }

func (e saying) Unwrap() error { return e.error }

// quoted shows a word that somebody else chose: visible, and not too long.
func quoted(s string) string { return strictjson.Quoted(s) }

// oneLine makes one visible line of a text.
func oneLine(s string) string { return strictjson.OneLine(s) }

// visible shows a text of several lines.
func visible(s string) string { return strictjson.Visible(s) }

// emit writes what a command has to say to standard output, with one call.
func emit(p process, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if _, err := p.stdout.Write(data); err != nil {
		return &outputError{err}
	}
	return nil
}

// printAll writes a whole answer for people.
func printAll(p process, text string) error {
	return emit(p, []byte(text))
}

// An outputError says that standard output took no more.
type outputError struct{ err error }

func (e *outputError) Error() string {
	return fmt.Sprintf("standard output cannot be written: %v", e.err)
}

func (e *outputError) Unwrap() error { return e.err }

// page is how standard output can show text: with colours on a terminal that
// knows them, unless the person wants none (no-color.org).
func (p process) page() screen.Page {
	page := screen.Page{Home: p.home()}
	if f, ok := p.stdout.(*os.File); ok && p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb" {
		page.Colour = term.IsTerminal(int(f.Fd()))
	}
	return page
}
