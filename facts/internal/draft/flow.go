package draft

import (
	"cmp"
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/origin"
)

// before is what earlier calls left in a file. Most files are asked about several times.
func (d *Draft) before(p string) origin.Move {
	if d.World.Ledger == nil || d.Event == nil || p == "" {
		return origin.Move{}
	}
	if left, ok := d.asked[p]; ok {
		return left
	}
	if d.asked == nil {
		d.asked = map[string]origin.Move{}
	}
	left, err := d.opened().Of(p)
	if err != nil {
		d.Unknown("origin", err.Error(), 0, nil)
	}
	d.asked[p] = left
	return left
}

// Left is what earlier calls left in a file that this line does not write.
func (d *Draft) Left(p string) origin.Move {
	if _, now := d.Files[p]; now {
		return origin.Move{}
	}
	return d.before(p)
}

// fetched returns the peer that an earlier call has brought a file from. A file of which
// only the directory is known is none: a repository that was cloned is worked on.
func (d *Draft) fetched(p string) (host string, ok bool) {
	left := d.before(p)
	if left.Host == "" || strings.HasSuffix(left.Path, "/") {
		return "", false
	}
	return strings.TrimPrefix(left.Host, unknownHost), true
}

// Runs judges a file that a command runs by what earlier calls left in it. Its text is
// judged elsewhere.
func (d *Draft) Runs(id int, p string) {
	if _, now := d.Files[p]; now || unkept(p) {
		return
	}
	left := d.before(p)
	host, fetched := d.fetched(p)
	switch {
	case fetched:
		run := &hook.ExecRemote{Host: flow.Known(host), Via: "file"}
		d.Carry(run, flow.Taint{Remote: true, Host: host, From: p})
		d.Effect(id, run)
		return
	case left.Host != "":
		f := hook.Flow{Effect: "exec.code", Command: id, Origin: "untrusted", Host: flow.Known(strings.TrimPrefix(left.Host, unknownHost)), How: "file"}
		d.trace(&f, p)
		d.ran = append(d.ran, f)
	}
	if left.Written {
		d.ran = append(d.ran, hook.Flow{Effect: "exec.code", Command: id, Origin: "written", Path: new(p), Call: flow.Known(left.Call), Via: []string{}, How: "file"})
	}
}

// Carry notes what goes along with an effect, for [Draft.Flow]. A taint that says nothing
// of an origin is none.
func (d *Draft) Carry(is hook.EffectKind, t flow.Taint) {
	if t.Secret == "" && !t.Remote {
		return
	}
	if d.carried == nil {
		d.carried = map[hook.EffectKind]flow.Taint{}
	}
	d.carried[is] = t
}

// Flow says where the data of the event's effects came from, as far as files tell.
func (d *Draft) Flow() []hook.Flow {
	list := d.ran
	for i := range d.Facts.Effects {
		e := &d.Facts.Effects[i]
		t := d.taintOf(e.Is)
		if t.Secret == "" && !t.Remote {
			continue
		}
		f := hook.Flow{Effect: e.Kind(), Command: e.Command, Origin: "secret", How: "file"}
		kind, shown := origin.Copied(t.Secret)
		if f.What = flow.Known(kind); shown {
			f.How = "seen"
		}
		held := origin.IsHeld(t.Secret) // the file is more than the secret: a person may want it sent
		if t.Secret == "" {
			f.Origin, f.Host = "untrusted", flow.Known(t.Host)
		}
		f.Coarse = t.Coarse || held
		d.trace(&f, t.From)
		if !slices.ContainsFunc(list, func(o hook.Flow) bool { return sameFlow(&f, &o) }) {
			list = append(list, f)
		}
		if send, ok := e.Is.(*hook.NetSend); ok && shown {
			send.Secret = nil // the flow says it
		}
	}
	return list
}

// taintOf is what goes along with an effect.
func (d *Draft) taintOf(is hook.EffectKind) flow.Taint {
	if t, ok := d.carried[is]; ok {
		return t
	}
	switch e := is.(type) {
	case *hook.NetSend:
		return flow.Taint{Secret: flow.Text(e.Secret), From: flow.Text(e.Path)}
	case *hook.SecretRead:
		if e.Shown {
			return flow.Taint{Secret: e.What, From: flow.Text(e.Path)}
		}
	case *hook.ExecRemote:
		return flow.Taint{Remote: true, Host: flow.Text(e.Host)}
	case *hook.FSWrite:
		if e.Path != nil && d.Files != nil && !unkept(*e.Path) {
			return d.Files[*e.Path].Taint
		}
	}
	return flow.Taint{}
}

// Spreads notes that files below a directory get what a taint says, and nobody knows
// which: of a copy, an archive, a clone.
func (d *Draft) Spreads(at Where, dir flow.Word, t flow.Taint) {
	if t.Secret == "" && !t.Remote || at.Remote {
		return
	}
	for _, p := range d.Absolute(at, dir) {
		if p.Path == "" || p.Glob {
			continue
		}
		if d.Below == nil {
			d.Below = map[string]flow.Taint{}
		}
		d.Below[p.Path] = d.Below[p.Path].Merge(t)
	}
}

// unkept reports a file that keeps nothing of what is written to it.
func unkept(name string) bool {
	return strings.HasPrefix(name, "/dev/") || strings.HasPrefix(name, "/proc/")
}

// maxVia is how many files are followed back from one that an effect takes data from.
const maxVia = 16

// trace follows data back through files, from the last one that it was in.
func (d *Draft) trace(f *hook.Flow, from string) {
	for range maxVia {
		if from == "" || f.Origin == "secret" && d.named(from) || slices.Contains(f.Via, from) {
			break
		}
		before, now := d.Files[from]
		left := origin.Move{From: before.Taint.From, Secret: before.Taint.Secret}
		if !now {
			left = d.before(from)
			if left.Secret == "" && left.Host == "" {
				break // the first one that gate knows of
			}
			f.Call = flow.Known(left.Call)
			f.Coarse = f.Coarse || strings.HasSuffix(left.Path, "/")
		}
		f.Via = append(f.Via, from)
		from = left.From
	}
	f.Path = flow.Known(from)
	slices.Reverse(f.Via)
}

// named reports a file whose name says that it holds a secret.
func (d *Draft) named(p string) bool {
	_, ok := d.World.Find("secret.", p)
	return ok
}

func sameFlow(a, b *hook.Flow) bool {
	same := func(a, b *string) bool { return flow.Text(a) == flow.Text(b) }
	return a.Effect == b.Effect && a.Command == b.Command && a.Origin == b.Origin && a.How == b.How && a.Coarse == b.Coarse &&
		same(a.What, b.What) && same(a.Path, b.Path) && same(a.Host, b.Host) && same(a.Call, b.Call) && slices.Equal(a.Via, b.Via)
}

// Holds is what a file holds, for an effect that takes all of it.
func (d *Draft) Holds(p string) flow.Taint {
	var t flow.Taint
	t.Secret, _ = d.Secret(p)
	if st, ok := d.Files[p]; ok {
		t.Secret = cmp.Or(st.Secret(), t.Secret)
		t.Remote, t.Host = st.Taint.Remote, st.Taint.Host
	} else {
		left := d.before(p)
		t.Secret = cmp.Or(t.Secret, left.Secret)
		t.Host, t.Remote = d.fetched(p)
	}
	if t != (flow.Taint{}) {
		t.From = p
	}
	return t
}
