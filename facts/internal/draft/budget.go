package draft

import (
	"slices"

	"gate/hook"
)

// maxSteps is how many steps facts take for one event in looking through texts of files and
// code. A step is about a byte that is looked at once, and takes some nanoseconds.
const maxSteps = 128 << 20

// TooMuch is what facts say where the steps of an event end.
const TooMuch = "more code than gate looks through for one call"

// Afford takes some steps from those that are left for the event, and reports whether there
// were so many. Where there were not, no further text is looked through, and facts say so:
// whoever wrote these texts chose how much there is to read.
func (d *Draft) Afford(steps int) bool {
	if d.spent || d.steps+steps > maxSteps {
		d.spent = true
		return false
	}
	d.steps += steps
	return true
}

// Overspent says at the end what [Draft.Afford] refused.
func (d *Draft) Overspent() {
	d.Facts.Opaque = d.Facts.Opaque || d.spent
	if d.spent && !slices.Contains(d.Full, TooMuch) && !slices.ContainsFunc(d.Facts.Unknown, func(u hook.Unknown) bool { return u.Written }) {
		d.Unknown("code", TooMuch, 0, nil)
	}
}
