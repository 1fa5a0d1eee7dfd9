package scopes

import "gate/internal/setting"

type (
	// A Bound is a hook with its compiled conditions and its source.
	Bound = setting.Bound
	// A Layer is what one settings file says: typed, and not yet weighed against
	// the others. The zero of a field means that the file is silent about it.
	Layer = setting.Layer
	// A Level is the most that a hook may bring about. It only ever takes away: a
	// hook at [LevelDeny] does what it says, and one that asks never denies.
	Level = setting.Level
	// A Module is one Rego file of a source.
	Module = setting.Module
	// Settings are the values that decide which sources take part and what of a
	// hook's answer counts. [Combine] makes them from what files say. Who may set
	// what is decided here, not in the files. The zero Settings switch nothing off
	// and tune nothing.
	Settings = setting.Settings
	// A Source is one place hooks come from: a bundle, a directory, a plugin, a
	// skill. It has one scope and one authority, whatever its files say.
	Source = setting.Source
)
