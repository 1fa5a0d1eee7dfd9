#!/bin/sh
# A feature of development containers: runs as root while the image is made. The programs
# lie beside this script, since there is nowhere to fetch them from. AGENTS and SCOPE are
# the feature's options; _REMOTE_USER is who works in the container.
set -eu
unset CDPATH # cd would print, and go elsewhere
AGENTS=${AGENTS:-claude}
SCOPE=${SCOPE:-user}
USER_THERE=${_REMOTE_USER:-root}
PROGRAMS=/usr/local/bin

fail() {
	echo "gate: the feature was not installed: $*" >&2
	exit 1
}

here=$(cd "$(dirname "$0")" && pwd) || fail "its own directory cannot be read"
[ "$(id -u)" = 0 ] || fail "it has to run as root"
case $(uname -m) in
x86_64 | amd64) from=$here/linux-amd64 ;;
aarch64 | arm64) from=$here/linux-arm64 ;;
*) fail "it has no programs for a machine of type $(uname -m)" ;;
esac
[ -d "$from" ] || fail "it was packed without programs for a machine of type $(uname -m)"
case $AGENTS in
'' | *[!a-z\ ]*) fail "agents \"$AGENTS\": names of agents are small letters, with spaces between" ;;
esac
case $AGENTS in
*[a-z]*) ;;
*) fail "agents \"$AGENTS\": there is no name; none is for the programs alone" ;;
esac
case $SCOPE in
user | managed) ;;
*) fail "scope \"$SCOPE\": user or managed is wanted" ;;
esac

mkdir -p "$PROGRAMS"
for program in gate-run gate-server gate gate-hook; do
	cp "$from/$program" "$PROGRAMS/.$program.new" && chown 0:0 "$PROGRAMS/.$program.new" &&
		chmod 755 "$PROGRAMS/.$program.new" && mv "$PROGRAMS/.$program.new" "$PROGRAMS/$program" ||
		fail "$PROGRAMS/$program could not be written"
done

[ "$AGENTS" != none ] || AGENTS=
for agent in $AGENTS; do
	if [ "$SCOPE" = managed ] || [ "$USER_THERE" = root ]; then
		"$PROGRAMS/gate" install "$agent" --scope "$SCOPE" || fail "gate install $agent failed"
	else
		su "$USER_THERE" -s /bin/sh -c "$PROGRAMS/gate install $agent --scope user" || fail "gate install $agent failed for $USER_THERE"
	fi
done
