package core

import "gate/hook"

// AddFlow adds to facts where data comes from that stands in the call itself: each of
// found, whose Effect and Command are empty, once for every effect that hands data on
// or acts on it. Facts without such an effect stay as they are.
func AddFlow(f *hook.Facts, found []hook.Flow) {
	if f == nil || len(found) == 0 {
		return
	}
	for i := range f.Effects {
		e := &f.Effects[i]
		if !handsOn(e) {
			continue
		}
		for _, flow := range found {
			flow.Effect, flow.Command = e.Kind(), e.Command
			f.Flow = append(f.Flow, flow)
		}
	}
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
