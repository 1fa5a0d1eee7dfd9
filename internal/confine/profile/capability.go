package profile

// A Level says how much of a profile is held.
type Level uint8

// The levels, from the least.
const (
	None  Level = iota // nothing can be held
	Files              // what is read and written, and no network at all
	Full               // all of it
)

func (l Level) String() string {
	switch l {
	case Files:
		return "files"
	case Full:
		return "full"
	}
	return "none"
}

// A Capability is what this machine can hold. The zero value is none, for no reason.
type Capability struct {
	Level    Level
	Landlock int    // the version of Landlock, 0 without it
	Missing  string // why it is not [Full]: one sentence without a full stop; "" where it is
}

// Lacks says why a machine cannot hold a profile; "" where it can.
func (c Capability) Lacks(p Profile) string {
	switch c.Level {
	case Full:
		return ""
	case Files:
		if why := p.OnlyFull(); why != "" {
			return c.Missing + ", and without that " + why
		}
		return ""
	}
	return c.Missing
}

// OnlyFull says why a profile can be held at the level [Full] alone; "" where it need not.
func (p Profile) OnlyFull() string {
	switch {
	case len(p.Hosts) > 0:
		return "hosts cannot be told from each other"
	case len(p.Write) > 0:
		return "nothing keeps what steers agents as it is below " + p.Write[0]
	case len(p.Guard) > 0:
		return "nothing keeps " + p.Guard[0] + " as it is"
	}
	return ""
}
