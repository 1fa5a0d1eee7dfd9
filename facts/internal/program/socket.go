package program

import (
	"path"
	"strings"

	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/wordlist"
)

// engines are the sockets of container engines, by their last name: who talks to one is
// root on this machine.
const engines = " docker.sock docker-cli.sock containerd.sock podman.sock crio.sock buildkitd.sock unix.socket "

// socket judges a program that talks to a socket in the file system: to gate's own, or
// to a container engine's. What it tells others is theirs.
func (u *use) socket(f flow.Word, verb string) {
	for _, t := range u.targets(f) {
		if p, ok := u.World.Find("self", t.Path); ok {
			u.effect(&hook.Self{What: p.What, Verb: "configure", Path: flow.Known(t.Path)})
		}
		if what, _ := u.Secret(t.Path); what == "gate's server" {
			u.effect(&hook.Self{What: "gate state", Verb: "configure", Path: flow.Known(t.Path)})
		}
		if base := path.Base(t.Path); wordlist.Has(engines, base) && (base != "unix.socket" || strings.Contains(t.Path, "xd/")) {
			u.effect(&hook.Container{Tool: u.name, Verb: verb, Access: "write", Privileged: true, Volumes: true, Image: hook.OptionalText{There: true}})
		}
	}
}
