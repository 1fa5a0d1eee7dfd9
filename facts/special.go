package facts

import (
	"cmp"
	"slices"
)

// A named function is one that a row, or the shell, knows by its name.
type named[F any] struct {
	name string
	run  F
}

// find returns the function of a name, nil if there is none. The table is in the
// order of names: a map of them would be made at every start.
func find[F any](table []named[F], name string) (run F) {
	at, found := slices.BinarySearchFunc(table, name, func(n named[F], name string) int { return cmp.Compare(n.name, name) })
	if found {
		run = table[at].run
	}
	return run
}

// specials are what rows name for what a table cannot say. They run programs, which
// look here again, so a [Reader] hands them on.
var specials = [...]named[func(*use)]{
	{"awk", (*use).awkInPlace},
	{"cmake", (*use).cmake},
	{"container", (*use).container},
	{"copy", (*use).copies},
	{"crontab", (*use).crontab},
	{"curl", (*use).curl},
	{"dd", (*use).dd},
	{"debugger", (*use).debugger},
	{"dotenv", (*use).dotenv},
	{"ed", (*use).typed},
	{"fd", (*use).fd},
	{"find", (*use).find},
	{"flock", (*use).shellOption},
	{"framework", (*use).framework},
	{"git", (*use).gitGlobal},
	{"git.checkout", (*use).gitCheckout},
	{"git.config", (*use).gitConfig},
	{"git.push", (*use).gitPush},
	{"git.shows", (*use).gitShows},
	{"httpie", func(*use) {}}, // sort has done it, before roles are given
	{"kubernetes", (*use).kubernetes},
	{"kubernetes.config", (*use).changeContext},
	{"kubernetes.context", (*use).useContext},
	{"make", (*use).make},
	{"mongo", (*use).mongo},
	{"netcat", (*use).netcat},
	{"nix", (*use).nix},
	{"npx", (*use).fetched},
	{"offers", (*use).offers},
	{"parallel", (*use).parallel},
	{"patch", (*use).patchText},
	{"php", (*use).phpServer},
	{"ps", (*use).processes},
	{"redis", (*use).redis},
	{"relays", (*use).relays},
	{"remote", (*use).remoteShell},
	{"rsync", (*use).rsync},
	{"scp", (*use).scp},
	{"screen", (*use).screen},
	{"script", (*use).shellOption},
	{"scripts", (*use).packageScript},
	{"search", (*use).searched},
	{"sed", (*use).sed},
	{"setarch", (*use).setarch},
	{"sqlstdin", (*use).sqlStdin},
	{"tar", (*use).tar},
	{"tee", (*use).tee},
	{"transfers", (*use).transfers},
	{"xargs", (*use).xargs},
}
