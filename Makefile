# make release: archives of gate, gate-hook and gate-server with checksums, the same bytes wherever the same
# commit is built with the same Go. It needs Go, git and GNU tar.
# make bench: compares gate with other programs; BENCH="-sizes 25,100" has flags.
# make module MODULE=host.example/owner/gate: renames the module, in place.
# make fuzz: fuzzes every target; FUZZ="60 ./facts" has seconds and packages.

VERSION   ?= $(shell git describe --tags --always --dirty)
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
OUT       ?= bin/release
TAR       ?= tar
SHA256    ?= sha256sum

archives = $(foreach p,$(PLATFORMS),$(OUT)/gate-$(VERSION)-$(subst /,-,$(p)).tar.gz)

.PHONY: release bench fuzz module clean
release: $(OUT)/SHA256SUMS
	@cat $<

$(OUT)/SHA256SUMS: $(archives)
	cd $(OUT) && $(SHA256) $(notdir $(archives)) > SHA256SUMS

# Without cgo the program is static: nothing preloads into it (LD_PRELOAD), and
# the account database is read as it stands.
$(OUT)/gate-$(VERSION)-%.tar.gz: .FORCE
	rm -rf $(OUT)/$*
	mkdir -p $(OUT)/$*
	CGO_ENABLED=0 GOOS=$(word 1,$(subst -, ,$*)) GOARCH=$(word 2,$(subst -, ,$*)) \
		go build -trimpath -buildvcs=true -ldflags '-s -w -buildid=' -o $(OUT)/$*/ ./cmd/gate ./cmd/gate-hook ./cmd/gate-server
	cp README.md $(OUT)/$*/
	cp -R docs $(OUT)/$*/
	$(TAR) --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
		-C $(OUT)/$* -cf - . | gzip -9n > $@.part
	mv $@.part $@
	rm -rf $(OUT)/$*

# make bench: what a decision costs beside other programs, as whole processes.
bench:
	go run ./cmd/gate-bench $(BENCH)

# make fuzz: what fuzzing finds depends on luck, so that .ci/run does not wait for it.
fuzz:
	.ci/fuzz $(FUZZ)

# make module: the module's path stands in go.mod, in imports, and on pages.
module:
	go run ./.ci/module '$(MODULE)'

.PHONY: .FORCE
.FORCE:

clean:
	rm -rf $(OUT)
