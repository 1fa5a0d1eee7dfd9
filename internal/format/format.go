// Package format is the table of the files of gate's that outlive the process
// that wrote them: the number of each format, its writer, its readers, and the
// fate of a file of an older or a newer gate.
//
// A program reads its own format and the one before. It leaves a newer file as
// it is, and says so. Caches are the exception: they are made anew.
//
// The package reads and writes no file: the packages that own a file take its
// number from here. Start with [ID.Check], which every reader asks; docs/formats.md
// is made of [All].
package format

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// An ID names one kind of file. Its zero value is [Grant].
type ID uint8

// The kinds of files, in the order of the table.
const (
	Grant ID = iota
	Clock
	Session
	Ledger
	Shown
	ShownKey
	Late
	Log
	LogHead
	LogCursor
	MachineKey
	PseudonymKey
	FleetStatus
	Shipped
	ConfinedCall
	ConfinedCopy
	Holds
	Compiled
	LastGood
	Verdict
	ServeToken
	Keys
	Seen
	Current
	Synced
	Fetched
	Failed
	Damaged
	Release
	Locks
	Channel
	Recovery
	Pins
	Collected
	Roles
	Envelope
	Bundle
	Settings
	AgentSettings
	Archive
	Replayed
	kinds
)

// A File is one row of the table. All texts but Name are sentences or parts of
// one for people.
type File struct {
	Name string

	// Where has the file's paths below one of gate's directories, STATE, USER or MANAGED,
	// as patterns of [path.Match], or else a place in words.
	Where []string

	// Number is the format that this program writes, 1 or more; 0 is a file
	// whose form never had a number and never will.
	Number int
	// Member is where a JSON file says its number, and Prefix the text before the
	// number: "gate.keys/" of "gate.keys/1". A file that has neither is of format 1.
	Member, Prefix string

	Writer, Readers string

	Older string // this program's way with a file of the format before
	Newer string // this program's way with a file of a newer format
	Lost  string // the loss, where such a file is not read
	Cache bool   // it is made anew, and may be overwritten
}

// ErrNewer is the error of a file that a newer gate wrote. Whoever meets it must
// not write the file.
var ErrNewer = errors.New("a newer gate wrote it")

// Number is the format that this program writes.
func (id ID) Number() int { return table[id].Number }

// Mark is what a file with a prefix has for its format: "gate.keys/1".
func (id ID) Mark() string { return id.MarkOf(id.Number()) }

// MarkOf is what such a file of another format has.
func (id ID) MarkOf(number int) string { return table[id].Prefix + strconv.Itoa(number) }

// Check returns nil for a number that this program reads: its own or the one
// before. A higher number is [ErrNewer], with both numbers and what becomes of the
// file.
func (id ID) Check(number int64) error {
	own := int64(table[id].Number)
	reads := strconv.FormatInt(own, 10)
	if own > 1 {
		reads += " and " + strconv.FormatInt(own-1, 10)
	}
	switch {
	case number > own:
		return fmt.Errorf("%w: it has format %d, this gate reads %s; it is left as it is", ErrNewer, number, reads)
	case number < 1 || number < own-1:
		return fmt.Errorf("it has format %d, this gate reads %s", number, reads)
	}
	return nil
}

// CheckMark does the same for a mark such as "gate.keys/2". The mark of another
// kind is an error that names the one that is wanted.
func (id ID) CheckMark(mark string) error {
	number, ours := strings.CutPrefix(mark, table[id].Prefix)
	if n, err := strconv.ParseInt(number, 10, 64); ours && err == nil {
		return id.Check(n)
	}
	return fmt.Errorf("%q is wanted", id.Mark())
}
