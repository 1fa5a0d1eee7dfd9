package flow

import "cmp"

// A Taint says what unknown text carries. The zero Taint is nothing.
type Taint struct {
	Secret string // what kind of secret, "" for none
	Host   string // fetched from this peer
	URL    string
	Remote bool   // fetched from some peer
	From   string // the file that the secret, or what was fetched, was read from; "" for none
	Coarse bool   // it may be in there: one of several files holds it
	Hidden bool   // decoded from something unreadable

	Path    string // a file from outside the project whose content it is
	Encoded bool   // made unreadable, as base64 does

	Process string // numbers of processes by this name or pattern; [Parent], "*" for all
}

// Kinds of secrets that a file may be looked at for, for most of what it says is none.
// Sending it is another matter.
const (
	FilledTemplate = "text with variables of an environment file"
	Outputs        = "outputs of infrastructure"
	Memory         = "dump of memory"     // whatever a process, a device or a network had at a moment
	Dump           = "dump of a database" // data, and no secret to anybody but those whom it is sent to
)

// Viewable reports such a kind.
func Viewable(kind string) bool {
	return kind == FilledTemplate || kind == Outputs || kind == Dump || kind == Memory
}

// Parent in a taint is the process that started the shell: the agent, or what runs
// its tools.
const Parent = "$PPID"

// Merge returns what both carry; of two secrets or peers the first counts.
func (t Taint) Merge(o Taint) Taint {
	if t.Secret == "" && (o.Secret != "" || !t.Remote) { // of both, the secret's file
		t.From = o.From
	}
	t.Secret = cmp.Or(t.Secret, o.Secret)
	if !t.Remote && o.Remote {
		t.Host, t.URL, t.Remote = o.Host, o.URL, true
	}
	t.Hidden, t.Encoded = t.Hidden || o.Hidden, t.Encoded || o.Encoded
	t.Path = cmp.Or(t.Path, o.Path)
	if t.Process == "" || o.Process == Parent {
		t.Process = cmp.Or(o.Process, t.Process)
	}
	return t
}

// In is the taint of what is read from a file that carries t.
func (t Taint) In(file string) Taint {
	if t.Secret != "" || t.Remote {
		t.From = file
	}
	return t
}

// Taint joins what flows through the holes.
func (f Word) Taint() Taint {
	var t Taint
	for _, p := range f.Parts {
		if p.Hole != nil {
			t = t.Merge(p.Hole.Taint)
		}
	}
	return t
}
