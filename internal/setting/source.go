package setting

import (
	"strings"

	"gate/hook"
)

// standing orders authorities: who stands above whom. Project and
// local stand side by side.
func Standing(a hook.Authority) int {
	switch a {
	case hook.Managed:
		return 1
	case hook.User:
		return 2
	case hook.PluginAuthor:
		return 3
	case hook.Project, hook.Local:
		return 4
	}
	return 5
}

// LibraryAuthority returns the authority of the embedded library beside the
// other sources: managed on a machine with managed sources or settings, else
// the user's.
func LibraryAuthority(managedSources bool) hook.Authority {
	if managedSources {
		return hook.Managed
	}
	return hook.User
}

// Called is what people call the content of the source, in the plural.
func (src *Source) Called() string {
	owners := map[string]string{"user": "your", "project": "the project's", "local": "your own", "managed": "the administrator's"}
	name, settings := strings.CutSuffix(src.Name, " settings")
	what := "policies"
	if settings {
		what = "settings"
	}
	if owner := owners[name]; owner != "" {
		return owner + " " + what
	}
	switch kind, rest, _ := strings.Cut(name, ":"); {
	case src.Library:
		return "gate's own policies"
	case rest != "" && kind == "managed":
		return "the policies of the bundle " + rest
	case rest != "":
		return "the hooks of the " + kind + " " + rest
	}
	return "the " + what + " of " + src.Name
}

// LeftOut stands in the notices of sources that could not be loaded and close nothing.
const LeftOut = " could not be loaded and are inactive: "

// Inactive reports whether the source's faults switch it off: a broken plugin,
// project or skill source is announced and does not run.
func (src *Source) Inactive() bool { return len(src.Faults) > 0 && !src.Closes() }

// Closes reports whether a source that could not be loaded closes every event.
func (src *Source) Closes() bool {
	if src.tried() {
		return false
	}
	return src.strict || src.Library || src.Authority == hook.Managed || src.Authority == hook.User
}

// tried reports a bundle on trial: it has no part in what happens.
func (src *Source) tried() bool { return src.Bundle != nil && src.Bundle.Trial }

// Runs reports whether handlers of the source are run: its authority needs no
// trust, or a person gave it.
func (src *Source) Runs() bool { return src.Trusted || !src.Authority.NeedsTrust() }

// Loosens reports whether rewrites and consults of the source count, too.
func (src *Source) Loosens() bool { return src.Runs() && !src.Tightens }

// decides reports whether the source is one whose absence leaves nothing to
// decide by: all others only tighten what these say.
func (src *Source) Decides() bool {
	return !src.tried() && (src.Library || src.Authority.MayAllow())
}

func compareText(a, b error) int {
	switch {
	case a.Error() < b.Error():
		return -1
	case a.Error() > b.Error():
		return 1
	}
	return 0
}
