package core

import "gate/hook"

// maxFlow is how many entries are added for each value. Policies go through all of them.
const maxFlow = 1000

// AddFlow adds to facts where data comes from that stands in the call itself: each of
// found, whose Effect and Command are empty, once for every kind of effect of a command
// that hands data on or acts on it. Facts without such an effect stay as they are. Where
// that would be too many, values of one origin and kind share an entry.
func AddFlow(f *hook.Facts, found []hook.Flow) {
	if f == nil || len(found) == 0 {
		return
	}
	type place struct {
		effect  string
		command int
	}
	var places []place
	known := map[place]bool{}
	for i := range f.Effects {
		e := &f.Effects[i]
		if at := (place{e.Kind(), e.Command}); handsOn(e) && !known[at] {
			known[at] = true
			places = append(places, at)
		}
	}
	if len(places)*len(found) > maxFlow {
		found = coarser(found)
	}
	for _, at := range places {
		for _, flow := range found {
			flow.Effect, flow.Command = at.effect, at.command
			f.Flow = append(f.Flow, flow)
		}
	}
}

// coarser has one entry for each origin, kind and way of knowing. Without a host it stands
// for any.
func coarser(found []hook.Flow) (list []hook.Flow) {
	type group struct{ origin, what, how string }
	at := map[group]int{}
	for _, flow := range found {
		g := group{flow.Origin, "", flow.How}
		if flow.What != nil {
			g.what = *flow.What
		}
		if i, known := at[g]; known {
			list[i].Host = nil
			continue
		}
		at[g] = len(list)
		list = append(list, flow)
	}
	return list
}

// handsOn reports an effect that sends, changes, installs or runs something, so that it
// matters where its data or its line came from.
func handsOn(e *hook.FactEffect) bool {
	switch e.Is.(type) {
	case *hook.NetSend, *hook.NetFetch, *hook.NetListen, *hook.FSWrite, *hook.FSDelete, *hook.FSPermissions, *hook.Environment, *hook.GitConfig, *hook.GitPush, *hook.GitRemote, *hook.PackageInstall, *hook.PackagePublish,
		*hook.ExecRemote, *hook.ExecCode, *hook.ExecHidden, *hook.ExecShell, *hook.Tool, *hook.Infrastructure, *hook.Database:
		return true
	}
	return false
}
