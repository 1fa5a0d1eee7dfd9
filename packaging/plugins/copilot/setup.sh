#!/bin/sh
# It puts gate before an agent in a cloud session or a container, from files of the repository
# alone: it needs no network. docs/plugins.md describes it.
#
#   sh packaging/cloud/setup.sh [--agent AGENT]... [--release DIR] [--signers FILE] [--into DIR]
#      [-- FLAGS of gate install and gate doctor]
#   sh packaging/cloud/setup.sh --programs --release DIR [--signers FILE] [--into DIR]
#
# DIR of --release has a release's archive and its SHA256SUMS: by default .gate/release, or the
# directory it is started in. Without an archive it builds gate, where it is started in gate's source.

unset -f cd echo id printf pwd test '[' 2>/dev/null # a shell may take functions from the environment
unset CDPATH

die() {
	echo "setup.sh: $1" >&2
	exit 1
}

value() { [ "$#" -gt 1 ] && [ -n "$2" ] || die "$1 needs a value"; }

agents='' release='' signers='' into='' only=''
while [ "$#" -gt 0 ]; do
	case $1 in
	--agent)
		value "$@"
		case $2 in *[!a-z-]* | -*) die "\"$2\" is no name of an agent" ;; esac
		agents="$agents $2"
		shift
		;;
	--release) value "$@" && release=$2 && shift ;;
	--signers) value "$@" && signers=$2 && shift ;;
	--into) value "$@" && into=$2 && shift ;;
	--programs) only=1 ;;
	--) shift && break ;;
	*) die "it does not know \"$1\"; its first lines say what there is" ;;
	esac
	shift
done
agents=${agents:- claude}

system=$(uname -s) machine=$(uname -m)
case $system in
Linux) system=linux ;;
Darwin) system=darwin ;;
*) die "it knows Linux and macOS, and this is $system: unpack the archive of a release by hand" ;;
esac
case $machine in
x86_64 | amd64) machine=amd64 ;;
aarch64 | arm64) machine=arm64 ;;
*) die "there are programs for amd64 and arm64, and this is $machine: build gate from source" ;;
esac

# programs are those of a release, in the order in which they are replaced: one that hands over
# follows the one that it hands over to.
programs='gate-server gate gate-hook'
[ "$system" != linux ] || programs="gate-run $programs" # what it confines with, Linux alone has

# digest FILE prints its SHA-256.
digest() {
	if command -v sha256sum >/dev/null; then
		sha256sum <"$1"
	elif command -v shasum >/dev/null; then
		shasum -a 256 <"$1"
	elif command -v openssl >/dev/null; then
		openssl dgst -sha256 -r <"$1"
	else
		die "there is no sha256sum, shasum or openssl to check the archive with"
	fi | cut -d ' ' -f 1
}

# find sets archive to the one archive of the release for this machine, or to nothing.
find_archive() {
	archive=''
	for file in "$1/gate-"*"-$system-$machine.tar.gz"; do
		[ -f "$file" ] || continue
		[ -z "$archive" ] || die "$1 has two archives for $system-$machine: leave one"
		archive=$file
	done
}

# verify checks the signature and the archive's sum.
verify() {
	sums=${archive%/*}/SHA256SUMS
	[ -f "$sums" ] || die "$sums is missing: the archive cannot be checked"
	if [ -n "$signers" ]; then
		[ -f "$signers" ] || die "$signers is missing: the signature cannot be checked"
		[ -f "$sums.sig" ] || die "$sums.sig is missing, and --signers asks for a signature"
		command -v ssh-keygen >/dev/null || die "ssh-keygen is missing, and --signers asks for a signature"
		ssh-keygen -Y verify -f "$signers" -I releases -n file -s "$sums.sig" <"$sums" >/dev/null 2>&1 ||
			die "the signature of $sums is not by a key in $signers: nothing was installed"
	fi
	want='' name=${archive##*/}
	while read -r sum file; do
		[ "${file#\*}" != "$name" ] || want=$sum
	done <"$sums"
	[ -n "$want" ] || die "$sums has no line for $name"
	is=$(digest "$archive") || exit 1
	[ "$want" = "$is" ] || die "$name is not what $sums says (sum $is): nothing was installed"
}

# place sets into to a directory for programs that the agent's project does not hold.
place() {
	umask go-w # whoever writes there could replace the programs
	[ "$(id -u)" != 0 ] || umask 022 # every account runs those of root
	if [ -z "$into" ]; then
		if [ "$(id -u)" = 0 ]; then
			into=/usr/local/lib/gate
		else
			name=$(id -un) # the account database says where its home is, and not HOME
			case $name in '' | [!A-Za-z_]* | *[!A-Za-z0-9._-]*) die "the account has no plain name: name a directory with --into" ;; esac
			eval "into=~$name/.local/share/gate/programs"
		fi
	fi
	case $into in /*) ;; *) die "$into is no absolute path" ;; esac
	mkdir -p -- "$into" || die "$into cannot be made"
	into=$(cd -P -- "$into" && pwd -P) || die "$into cannot be entered"
	case $into/ in "$(pwd -P)"/*) rmdir -- "$into" 2>/dev/null; die "$into is in the project, where the agent writes: name another directory with --into" ;; esac
}

# put moves the programs of a directory to their place, each in one step.
put() {
	for program in $programs; do
		[ -f "$1/$program" ] && [ ! -L "$1/$program" ] && [ -s "$1/$program" ] || die "the release has no $program"
	done
	for program in $programs; do
		chmod 755 "$1/$program" && mv -f "$1/$program" "$into/$program" || die "$into/$program cannot be written"
	done
}

# The programs alone are what a plugin sends a person for, wherever that person is: what lies there
# by chance must not become gate.
[ -z "$only" ] || [ -n "$release" ] || die "--programs wants --release DIR, where DIR has a release of gate"
if [ -z "$release" ]; then
	release=.gate/release
	find_archive "$release"
	[ -n "$archive" ] || release=.
fi
find_archive "$release"
from_source=''
if [ -z "$archive" ]; then
	[ -z "$only" ] && [ -f go.mod ] && [ -f cmd/gate-hook/main.go ] ||
		die "$release has no archive gate-*-$system-$machine.tar.gz: put one there with its SHA256SUMS"
	command -v go >/dev/null || die "there is no archive, and no Go to build gate from this source"
	from_source=1
fi
[ -n "$from_source" ] || verify
place
work=$(mktemp -d "$into/.setup-XXXXXX") || die "$into cannot be written"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
if [ -n "$from_source" ]; then
	echo "building gate from source, which takes minutes the first time"
	GOFLAGS= CGO_ENABLED=0 go build -trimpath -o "$work/" $(printf './cmd/%s ' $programs) || die "gate does not build"
else
	tar -xzf "$archive" -C "$work" $programs 2>/dev/null || die "$archive cannot be unpacked"
fi
put "$work"
echo "gate's programs are in $into"
[ -z "$only" ] || exit 0

for agent in $agents; do
	"$into/gate" install "$agent" "$@" </dev/null || die "gate install $agent failed: it does not guard $agent"
	"$into/gate" doctor --live "$agent" "$@" </dev/null || die "gate is installed for $agent and did not deny a trial call"
done
