package setup

import (
	"gate/engine"
	"gate/internal/confine/offer"
	"gate/internal/confine/profile"
	"gate/internal/core"
	"gate/internal/places"
)

// confines gives a Gate what has calls run confined. Where a call is about to be made, that
// asks what the machine can hold and keeps records for the launcher. Of calls of the past,
// and of calls that are only tried, it says what would follow.
func (g *Gate) confines(decides *core.Gate) []engine.Option {
	m := offersOf(decides)
	switch {
	case g.options.Live:
		m.Launcher = places.Launcher()
	case !decides.Past && !decides.Tries:
		return nil
	}
	decides.Confinement = m
	return []engine.Option{engine.WithConfiner(m)}
}

// Foretell tells which calls of a Gate of the past would run confined, for an account
// with a home and a project. Nothing runs, and nobody asks what a machine can hold.
func Foretell(g *core.Gate, home, project string) engine.Option {
	m := offersOf(g)
	m.Home, m.Project, m.LookupEnv = home, project, func(string) (string, bool) { return "", false }
	g.Confinement = m
	return engine.WithConfiner(m)
}

// Holding returns what this machine can hold of calls that are to run confined.
func (g *Gate) Holding() (profile.Capability, error) {
	m := offersOf(g.Gate)
	m.Launcher = places.Launcher()
	return m.Holds()
}

// Profile returns what a profile lets calls do that start in a directory, as settings say.
func (g *Gate) Profile(name, dir string) (profile.Profile, error) {
	return offersOf(g.Gate).Profile(name, dir)
}

// Sandbox returns what the settings of an agent say that bear on its own sandbox; see
// [offer.Machine.Sandbox].
func (g *Gate) Sandbox(agent string) (layers []map[string]any, known bool, err error) {
	return offersOf(g.Gate).Sandbox(agent)
}

func offersOf(g *core.Gate) offer.Machine {
	profiles := func(name string) []profile.Change { return changesOf(g, name) }
	return offer.Machine{State: g.State, Home: g.Home, Project: g.Project, LookupEnv: g.LookupEnv, Root: "/", Profiles: profiles}
}

// changesOf is what settings say of a profile. The administrator, or the person where the
// administrator is silent, says what it is; all others only narrow it.
func changesOf(g *core.Gate, name string) (list []profile.Change) {
	settings := g.Set.Settings()
	for i, s := range settings.Profile(name) {
		c := profile.Change{
			Narrows: i > 0 || !s.Authority.MayAllow(), Pos: s.Pos, Processes: s.Processes, Memory: int64(s.Memory) << 20,
			Read: s.Read, Write: s.Write, Cache: s.Cache, Guard: s.Guard, Deny: s.Deny, Hosts: s.Hosts, Programs: s.Programs, Env: s.Env,
		}
		list = append(list, c)
	}
	return list
}
