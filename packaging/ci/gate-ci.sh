#!/bin/sh
# Checks policies, and guards agents, in a job of continuous integration: on GitHub
# (action.yml), on GitLab (gitlab.yml), and in any other shell. It needs sh and git, and
# what the way to gate needs: tar and sha256sum for an archive, Go for the source.
#
# GATE_STEPS says what it does, in this order; by default check, test and diff, and guard
# where there is a GATE_AGENT:
#   check  gate check: every mistake in the policies          check.sarif, check.md
#   test   gate test: the tests of the policies               junit.xml, test.md
#   diff   gate bundle diff --fail-on-weaker: the policies
#          against those of the base                          diff.md
#   guard  gate install, and a call that must be denied
#
# All steps are done. The exit status is that of the first that failed, as gate help
# exit-codes has it; 1 is also a mistake of this script's own. docs/ci.md has the rest.
set -u
unset CDPATH # cd would print, and go elsewhere

say() { printf 'gate-ci: %s\n' "$*"; }

die() {
	printf 'gate-ci: %s\n' "$*" >&2
	exit 1
}

# A line of somebody else's that begins with two colons is a command to GitHub's runner.
# From here to the end it is text.
word=
quiet() {
	if [ "${GITHUB_ACTIONS:-}" = true ]; then
		word=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
		[ ${#word} = 32 ] || die "/dev/urandom cannot be read"
		echo "::stop-commands::$word"
	fi
}

work=
finish() {
	[ -z "$word" ] || echo "::$word::"
	if [ -n "$work" ]; then
		rm -rf "$work/base" "$work/new" "$work/index"
		rmdir "$work" 2>/dev/null || true # programs stay: hooks start them
	fi
}

settle() {
	here=$(cd "$(dirname "$0")" && pwd) || die "$0: its directory cannot be read"
	tree=$(cd "$here/../.." && pwd) || die "$here/../..: it cannot be read"
	policies=${GATE_POLICIES:-policies}
	agent=${GATE_AGENT:-}
	steps=${GATE_STEPS:-check test diff${agent:+ guard}}
	out=${GATE_OUT:-gate-ci}
	case $out in
	*'
'*) die "GATE_OUT has a line break in it" ;;
	/*) files=$out ;;
	*) files=$PWD/$out ;;
	esac
	for step in $steps; do
		case $step in
		check | test | diff | guard) ;;
		*) die "$step is no step; steps are: check, test, diff, guard" ;;
		esac
	done
	case $steps in *guard*)
		case $agent in
		'') die "guard needs GATE_AGENT: the name of the agent, as gate install has it" ;;
		-* | *[!a-z0-9-]*) die "GATE_AGENT is a name such as claude" ;;
		esac
		;;
	esac
	if ! mkdir -p "$files" || ! rm -f "$files/check.sarif" "$files/check.md" "$files/junit.xml" "$files/test.md" "$files/diff.md"; then
		die "$out: nothing can be written there"
	fi
	work=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/gate-ci.XXXXXX") || die "no temporary directory can be made"
}

# get sets gate to a program, by its whole path.
get() {
	if [ -n "${GATE_ARCHIVE:-}" ]; then
		from_archive
	elif [ -n "${GATE_PROGRAM:-}" ]; then
		gate=$(command -v "$GATE_PROGRAM") || die "$GATE_PROGRAM: there is no such program"
	elif [ -f "$tree/go.mod" ] && [ -d "$tree/cmd/gate" ]; then
		from_source
	else
		gate=$(command -v gate) || die "gate is not in PATH; set GATE_ARCHIVE to a release archive, or GATE_PROGRAM to a program"
	fi
	case $gate in /*) ;; *) gate=$PWD/$gate ;; esac
	"$gate" version || die "$gate does not run"
}

from_source() {
	command -v go >/dev/null || die "go is missing, which builds gate; set up Go before, or GATE_ARCHIVE to a release archive"
	say "building gate of $tree"
	if ! mkdir "$work/bin" || ! (cd "$tree" && CGO_ENABLED=0 go build -trimpath -o "$work/bin/" ./cmd/gate ./cmd/gate-hook ./cmd/gate-server); then
		die "gate could not be built"
	fi
	gate=$work/bin/gate
}

from_archive() {
	archive=$GATE_ARCHIVE
	if [ -d "$archive" ]; then
		[ -n "${GATE_VERSION:-}" ] || die "$archive is a directory; GATE_VERSION says which release of it"
		archive=$archive/gate-$GATE_VERSION-$(platform).tar.gz
	fi
	[ -f "$archive" ] || die "$archive: there is no such archive"
	want=${GATE_SHA256:-$(listed "$archive")}
	[ -n "$want" ] || die "$archive: nothing says its checksum; put SHA256SUMS beside it, or set GATE_SHA256"
	got=$(sha256 "$archive") || exit 1
	[ "$got" = "$want" ] || die "$archive has the checksum $got, and $want is wanted"
	command -v tar >/dev/null || die "tar is missing"
	if ! mkdir "$work/bin" || ! tar -xzf "$archive" -C "$work/bin" gate gate-hook gate-server; then
		die "$archive could not be unpacked"
	fi
	gate=$work/bin/gate
}

# platform is this machine's, as archives are named.
platform() {
	case $(uname -m) in
	x86_64 | amd64) cpu=amd64 ;;
	aarch64 | arm64) cpu=arm64 ;;
	*) cpu=$(uname -m) ;;
	esac
	echo "$(uname -s | tr '[:upper:]' '[:lower:]')-$cpu"
}

# listed is the checksum of a file in SHA256SUMS beside it, or nothing.
listed() {
	[ -f "$(dirname "$1")/SHA256SUMS" ] || return 0
	while read -r sum name; do
		if [ "${name#\*}" = "$(basename "$1")" ]; then
			echo "$sum"
			break
		fi
	done <"$(dirname "$1")/SHA256SUMS"
}

sha256() {
	if command -v sha256sum >/dev/null; then
		sum=$(sha256sum <"$1")
	elif command -v shasum >/dev/null; then
		sum=$(shasum -a 256 <"$1")
	else
		die "sha256sum is missing"
	fi || die "$1 cannot be read"
	echo "${sum%% *}"
}

check() {
	set -- --write "sarif=$files/check.sarif" --write "markdown=$files/check.md" -- "$policies"
	case ${GATE_STRICT:-false} in
	false) ;;
	true) set -- --strict "$@" ;;
	*) die "GATE_STRICT is true or false" ;;
	esac
	"$gate" check "$@"
}

tests() { "$gate" test --write "junit=$files/junit.xml" --write "markdown=$files/test.md" -- "$policies"; }

# diff compares with GATE_BASE, a bundle, or with the policies as they are in a commit.
# It runs in a shell of its own.
diff() (
	ref=${GATE_BASE_REF:-${GITHUB_BASE_REF:+origin/$GITHUB_BASE_REF}}
	ref=${ref:-${CI_MERGE_REQUEST_DIFF_BASE_SHA:-}}
	if [ -z "${GATE_BASE:-}" ] && [ -z "$ref" ]; then
		say "diff: there is no base (GATE_BASE, GATE_BASE_REF), so nothing was compared"
		exit 0
	fi
	printf '### gate bundle diff: nothing was compared\n\nThe log of the job says why.\n' >"$files/diff.md" || exit 1
	[ -d "$policies" ] || die "$policies: there is no such directory"
	if [ -n "${GATE_BASE:-}" ]; then
		[ -e "$GATE_BASE" ] || die "$GATE_BASE: the base is not there"
		case $GATE_BASE in /*) base=$GATE_BASE ;; *) base=$PWD/$GATE_BASE ;; esac
	else
		committed "$ref"
		base=$work/base
	fi
	[ ! -d "$base" ] || [ "$base" = "$work/base" ] || copied "$base" base
	[ ! -d "$base" ] || base=base
	copied "$policies" new
	cd "$work" || exit 1
	named base || exit 1
	named new || exit 1
	"$gate" bundle diff --fail-on-weaker --write "markdown=$files/diff.md" -- "$base" new
)

# committed puts the policies of a commit into base: of the last one that the job's and
# the named one have in common.
committed() {
	command -v git >/dev/null || die "git is missing, which the base is read with"
	top=$(git rev-parse --show-toplevel) || die "$PWD lies in no repository, so there is no base $1"
	ref=$(git rev-parse --quiet --verify --end-of-options "$1^{commit}") ||
		die "the base $1 is not here; fetch it, such as by a checkout of the whole history (fetch-depth: 0, GIT_DEPTH: 0)"
	commit=$(git merge-base "$ref" HEAD) ||
		die "the base $1 and this commit have no commit in common here; fetch the whole history (fetch-depth: 0, GIT_DEPTH: 0)"
	inside=$(cd "$policies" && git rev-parse --show-prefix) || die "$policies lies in no repository"
	mkdir "$work/base" || exit 1
	there=$(git -C "$top" ls-tree -d "$commit" ${inside:+"${inside%/}"}) || die "the base $commit cannot be read"
	if [ -n "$inside" ] && [ -z "$there" ]; then
		printf '### gate bundle diff: the base has no such policies\n\nAll of them are new.\n' >"$files/diff.md" || exit 1
		say "diff: the base $commit has no ${inside%/}, so all policies are new"
		exit 0
	fi
	if ! GIT_INDEX_FILE=$work/index git -C "$top" read-tree "$commit:${inside%/}" ||
		! GIT_INDEX_FILE=$work/index git -C "$top" checkout-index -a -f --prefix="$work/base/"; then
		die "the policies of the base $commit cannot be read"
	fi
}

copied() {
	if ! mkdir "$work/$2" || ! cp -RP "$1/." "$work/$2"; then
		die "$1 cannot be copied"
	fi
}

# named makes a bundle of a directory of policies that is none.
named() {
	if [ -d "$1" ] && [ ! -e "$1/.manifest" ]; then
		# By a link that leads nowhere, this would write a file that the policies name.
		[ ! -L "$1/.manifest" ] || die "$1/.manifest is a link that leads nowhere"
		say "diff: $1 is no bundle: its rules and data are compared, its settings and hook files are not"
		echo '{"roots": [""], "metadata": {"gate": {"name": "policies", "version": 1}}}' >"$1/.manifest"
	fi
}

# guard puts gate in front of an agent of this job, and tries a call that it must deny.
guard() { "$gate" install "$agent" && "$gate" doctor --live "$agent"; }

# tell has GitHub show what came of it, and later steps find it.
tell() {
	if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
		for page in "$files/check.md" "$files/test.md" "$files/diff.md"; do
			[ ! -f "$page" ] || cat "$page" >>"$GITHUB_STEP_SUMMARY" || die "$GITHUB_STEP_SUMMARY cannot be written"
		done
	fi
	if [ -n "${GITHUB_OUTPUT:-}" ]; then
		for pair in sarif=check.sarif junit=junit.xml summary=test.md comment=diff.md; do
			[ ! -f "$files/${pair#*=}" ] || echo "${pair%%=*}=$out/${pair#*=}"
		done >>"$GITHUB_OUTPUT" || die "$GITHUB_OUTPUT cannot be written"
		printf 'program=%s\nweaker=%s\n' "$gate" "$weaker" >>"$GITHUB_OUTPUT" || die "$GITHUB_OUTPUT cannot be written"
	fi
}

trap finish EXIT
quiet
settle
get
status=0 weaker=
for step in $steps; do
	say "$step"
	case $step in
	check) check ;;
	test) tests ;;
	diff) diff ;;
	guard) guard ;;
	esac
	this=$?
	if [ "$step" = diff ] && [ -f "$files/diff.md" ]; then # something was compared
		case $this in 0) weaker=false ;; 2) weaker=true ;; esac
	fi
	[ "$this" = 0 ] || say "$step ended with status $this"
	[ "$status" != 0 ] || status=$this
done
tell
exit "$status"
