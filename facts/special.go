package facts

// special returns the function a row names for what a table cannot say.
func special(name string) func(*use) {
	switch name {
	case "git.push":
		return (*use).gitPush
	case "git.checkout":
		return (*use).gitCheckout
	case "git.config":
		return (*use).gitConfig
	case "git":
		return (*use).gitGlobal
	case "patch":
		return (*use).patchText
	case "find":
		return (*use).find
	case "xargs":
		return (*use).xargs
	case "parallel":
		return (*use).parallel
	case "dd":
		return (*use).dd
	case "kubernetes":
		return (*use).kubernetes
	case "kubernetes.context":
		return (*use).useContext
	case "kubernetes.config":
		return (*use).changeContext
	case "sed":
		return (*use).sed
	case "rsync":
		return (*use).rsync
	case "tee":
		return (*use).tee
	case "remote":
		return (*use).remoteShell
	case "container":
		return (*use).container
	case "netcat":
		return (*use).netcat
	case "copy":
		return (*use).copies
	case "redis":
		return (*use).redis
	case "mongo":
		return (*use).mongo
	case "sqlstdin":
		return (*use).sqlStdin
	case "scp":
		return (*use).scp
	case "crontab":
		return (*use).crontab
	case "tar":
		return (*use).tar
	case "setarch":
		return (*use).setarch
	case "flock", "script":
		return (*use).shellOption
	case "screen":
		return (*use).screen
	case "fd":
		return (*use).fd
	case "httpie":
		return func(*use) {} // sort has done it, before roles are given
	case "curl":
		return (*use).ownOptions
	case "search":
		return (*use).searched
	case "git.shows":
		return (*use).gitShows
	case "debugger":
		return (*use).debugger
	case "ps":
		return (*use).processes
	case "ed":
		return (*use).typed
	case "dotenv":
		return (*use).dotenv
	case "npx":
		return (*use).fetched
	case "scripts":
		return (*use).packageScript
	case "make":
		return (*use).make
	}
	return nil
}
