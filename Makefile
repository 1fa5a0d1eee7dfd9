# make release: everything that a release has, with checksums, the same bytes wherever the same commit is built
# with the same Go. It needs Go and git. VERSION, PLATFORMS and OUT change what is made; KEY=~/.ssh/id_ed25519
# signs it, by a key that is published. docs/releases.md has the steps.
# make release-key KEY=~/.ssh/id_ed25519: publishes the key.
# make release-keep: holds the release against each one before, and keeps what it writes for the next one.
# make bench: compares gate with other programs; BENCH="-sizes 25,100" has flags.
# make module MODULE=host.example/owner/gate: renames the module, in place.
# make fuzz: fuzzes every target; FUZZ="60 ./facts" has seconds and packages.

PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
OUT       ?= bin/release
SIGNERS   ?= packaging/allowed_signers

.PHONY: release release-key release-keep bench fuzz module clean

# make release: the program that does it is a module of its own, which its first run fetches. It takes care that
# a machine's settings of Go change no release; these two could keep it from being built.
MAKER = cd cmd/gate-release && GOWORK=off GOFLAGS=-mod=readonly go run . -key '$(KEY)' -signers '$(SIGNERS)'

release:
	$(MAKER) -version '$(VERSION)' -platforms '$(PLATFORMS)' -out '$(abspath $(OUT))'

release-key:
	$(MAKER) -publish

# make release-keep: of the release in OUT; .ci/with releases holds this tree against those that are kept.
release-keep:
	.ci/with releases
	.ci/keep '$(OUT)'

# make bench: what a decision costs beside other programs, as whole processes.
bench:
	go run ./cmd/gate-bench $(BENCH)

# make fuzz: what fuzzing finds depends on luck, so that .ci/run does not wait for it.
fuzz:
	.ci/fuzz $(FUZZ)

# make module: the module's path stands in go.mod, in imports, and on pages.
module:
	go run ./.ci/module '$(MODULE)'

clean:
	rm -rf $(OUT)
