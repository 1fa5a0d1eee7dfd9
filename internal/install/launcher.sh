#!/bin/sh
# gate's plugin for @TITLE@ starts gate-hook by this file. It is made of gate's own tables:
# go test ./internal/install -run TestPlugins -update
#
# It looks for the program in the plugin, where packages and "gate install" put it, and on PATH,
# and takes none from the project or from a relative place. Without a program no call runs: it
# answers in the agent's own form, and says how to get gate.

unset -f cd echo id printf pwd test '[' 2>/dev/null # a shell may take functions from the environment
unset CDPATH
IFS=' '

[ "$#" = 4 ] && [ "$1" = --agent ] && [ "$2" = @AGENT@ ] && [ "$3" = --event ] || @SCOPED@{
	echo "gate's plugin for @TITLE@ is not started as its hooks file says, so this call does not run" >&2
	exit 2
}
event=$4

good() { [ -f "$1" ] && [ -x "$1" ] && [ -s "$1" ]; }

# A directory of PATH counts if it is absolute and leads out of the project.
foreign() {
	case $1 in /*) ;; *) return 1 ;; esac
	real=$(cd -P -- "$1" 2>/dev/null && pwd -P) || return 1
	for of in "$CLAUDE_PROJECT_DIR" "$COPILOT_PROJECT_DIR" "$CURSOR_PROJECT_DIR" .; do
		project=$(cd -P -- "${of:-/nowhere}" 2>/dev/null && pwd -P) || continue
		while [ -n "${project%/}" ]; do
			case $real/ in "$project"/*) return 1 ;; esac
			[ "$of" = . ] || break
			# Of the directory that the agent works in, the repository above it counts.
			while project=${project%/*}; [ -n "$project" ] && [ ! -e "$project/.git" ]; do :; done
		done
	done
}

# It sets hook to the program.
find_gate() {
	case $0 in /*) root=${0%/*} ;; *) root= ;; esac
	for hook in "${root:-/nowhere}/bin/gate-hook" /usr/bin/gate-hook /usr/local/bin/gate-hook /usr/local/lib/gate/gate-hook; do
		! good "$hook" || return 0
	done
	# The account database says where the person's own programs are, and not HOME.
	name=$(/usr/bin/id -un 2>/dev/null) || name=
	case $name in '' | [!A-Za-z_]* | *[!A-Za-z0-9._-]*) home= ;; *) eval "home=~$name" ;; esac
	hook=$home/.local/share/gate/programs/gate-hook
	case $home in /*) ! good "$hook" || return 0 ;; esac
	rest=$PATH:
	while [ -n "$rest" ]; do
		hook=${rest%%:*}/gate-hook
		rest=${rest#*:}
		! good "$hook" || ! foreign "${hook%/gate-hook}" || return 0
	done
	return 1
}

if find_gate; then
	set -- "$hook" "$@"
	case $event in
@START@	*) exec "$@" ;;
	esac
	exit
fi

# What is not plain does not go into an answer.
case $root in '' | *[!A-Za-z0-9/._@+-]*) root="PLUGIN" ;; esac
case $event in
@MISSING@esac
