#!/bin/sh
# Linux and macOS: a script that device management runs as root, again and again
# until it ends with 0. gate is deployed first; keys.json and settings.json lie
# beside this script, and enroll.token where the fleet has a collector. Each step is held
# against what it should have brought about.
#   10 the program does not run    11 the files could not be put in their place
#   12 the key set cannot be read  13 a bundle was refused, or the machine is not in order
#   14 the hook is not installed   15 something on this machine weakens it
#   16 the collector did not take the machine
#   75 no source answered: the machine is enrolling; run this again
GATE=${GATE:-/usr/local/bin/gate}
case $(uname) in
Darwin) MANAGED=${MANAGED:-/Library/Application Support/gate} ;;
*) MANAGED=${MANAGED:-/etc/gate} STATE=${STATE-/var/lib/gate} ;; # as gate-sync.service
esac
HERE=$(cd "$(dirname "$0")" && pwd) || exit 11

fail() {
	status=$1
	shift
	echo "gate: enrolling ended with $status: $*" >&2
	exit "$status"
}

"$GATE" version >/dev/null || fail 10 "$GATE does not run"

umask 022
mkdir -p "$MANAGED" || fail 11 "$MANAGED cannot be made"
for file in keys.json settings.json; do
	# A machine that has a key set follows its successors: the first one never comes back.
	if [ "$file" = keys.json ] && [ -e "$MANAGED/keys.json" ]; then
		continue
	fi
	cp "$HERE/$file" "$MANAGED/$file.new" && mv "$MANAGED/$file.new" "$MANAGED/$file" ||
		fail 11 "$file could not be put into $MANAGED"
done
"$GATE" keys list --keys "$MANAGED/keys.json" >/dev/null || fail 12 "$MANAGED/keys.json is no key set"

# The hook first: what gate itself and the machine's own files say holds while the
# first bundle is on its way.
"$GATE" install claude --scope managed || fail 14 "the hook could not be installed"

# Before the first sync, so that it can send; a machine that is enrolled already stays so.
if [ -s "$HERE/enroll.token" ]; then
	"$GATE" enroll ${STATE:+--state-dir "$STATE"} --token-file "$HERE/enroll.token" ||
		fail 16 "the collector of the fleet did not take this machine"
fi

"$GATE" sync --now ${STATE:+--state-dir "$STATE"}
case $? in
0) ;;
4) fail 13 "a bundle, the key set or the channel was refused" ;;
*)
	"$GATE" doctor --json | grep '"enrolling": true' >/dev/null && fail 75 "no source answered; no bundle has come yet"
	fail 13 "the sync failed; what was in force stays"
	;;
esac

"$GATE" doctor || fail 15 "gate doctor says what is wrong"
echo "gate: this machine is enrolled"
