// Command gate-release makes a release of the tree that it runs in: archives, packages and
// images of the same programs, with their checksums. make release runs it.
//
// It is a module of its own: what makes packages needs modules that gate does not link,
// and nobody who builds or tests gate shall wait for them. Each door has a file: it takes
// the staged files of a platform ([Staged]) and writes its own form of them below the
// output directory. The same commit gives the same bytes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

const defaultPlatforms = "linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64"

func main() {
	var r Release
	tree := flag.String("tree", "../..", "the root of gate's source tree")
	platforms := flag.String("platforms", defaultPlatforms, "what programs are built for, as GOOS/GOARCH words")
	flag.StringVar(&r.Version, "version", "", "the release's name (default: of git describe)")
	flag.StringVar(&r.Out, "out", "", "the directory of the release (default: bin/release of the tree)")
	flag.StringVar(&r.signer.key, "key", "", "the key of OpenSSH that signs the checksums (default: the release is unsigned)")
	flag.StringVar(&r.signer.allowed, "signers", allowedSigners, "the published public keys; other relative paths begin at the root of the tree, too")
	addKey := flag.Bool("publish", false, "add the public half of the key to the published ones, and make no release")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := r.complete(ctx, *tree, strings.Fields(*platforms))
	switch {
	case err != nil:
	case *addKey:
		err = r.publish()
	default:
		if err = r.Make(ctx); err == nil {
			err = r.report(os.Stdout, os.Stderr)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gate-release:", err)
		os.Exit(1)
	}
}
