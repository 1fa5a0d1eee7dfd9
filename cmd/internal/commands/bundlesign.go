package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gate/bundles"
	"gate/internal/hostfs"
	"gate/internal/sealed"
)

// signFlags are the flags of gate bundle sign.
type signFlags struct {
	signers           signerFlags
	keys, scope, name string
	detached          bool
}

func newBundleSign(p process) *cobra.Command {
	var f signFlags
	cmd := &cobra.Command{
		Use:   "sign FILE",
		Short: "sign a bundle",
		Long: "Signs a bundle with keys of a key set. The first ES, PS or RS key signs inside, as opa\n" +
			"sign does, unless the bundle is signed already; every other one signs in the envelope\n" +
			"beside it, FILE" + envelopeSuffix + ". Several people can sign one after the other.\n" + signerHelp,
		Example: "  gate bundle sign company.tar.gz --keys keys.json --key release=release.pem\n" +
			"  gate bundle sign company.tar.gz --keys keys.json --signer 'alice=kms-sign alice'",
		Args: oneArg("a bundle's file"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), p, args[0]) },
	}
	f.signers.add(cmd)
	cmd.Flags().StringVar(&f.keys, "keys", "", "the `FILE` of the key set (required)")
	cmd.Flags().StringVar(&f.scope, "scope", "", "OPA's scope claim")
	cmd.Flags().StringVar(&f.name, "name", "", "the name under which a bundle without metadata.gate will be pinned")
	cmd.Flags().BoolVar(&f.detached, "detached", false, "leave the bundle as it is; sign in the envelope only")
	return cmd
}

func (f *signFlags) run(ctx context.Context, p process, path string) error {
	if f.keys == "" {
		return usageError("give the key set: --keys FILE")
	}
	set, err := readKeys(f.keys)
	if err != nil {
		return refused(p, f.keys, false, err)
	}
	signers, err := f.signers.signers(ctx, p)
	if err != nil {
		return err
	}
	if len(signers) == 0 {
		return usageError("name a signer: --key ID=FILE or --signer 'ID=COMMAND'")
	}
	b, err := readBundle(path)
	if err != nil {
		return err
	}
	said, err := f.sign(&b, set, signers)
	if err != nil {
		return refused(p, path, false, err)
	}
	if err := b.write(); err != nil {
		return err
	}
	return printAll(p, said)
}

// sign adds all signatures and says where they are.
func (f *signFlags) sign(b *bundleFile, set *bundles.KeySet, signers []namedSigner) (string, error) {
	c, err := sealed.Inspect(b.archive, b.envelope, bundles.Limits{})
	var said strings.Builder
	if errors.Is(err, sealed.WrongDigest) {
		fmt.Fprintf(&said, "the old envelope was for other bytes; this is a new one\n")
		b.envelope = nil
		c, err = sealed.Inspect(b.archive, nil, bundles.Limits{})
	}
	if err != nil {
		return "", err
	}
	inside := f.detached || len(c.Signatures) > 0
	var acts []bundles.Signing
	for _, s := range signers {
		k, known := set.Keys[s.id]
		if !known {
			return "", fmt.Errorf("the key set has no key %s", quoted(s.id))
		}
		act := bundles.Signing{ID: s.id, Key: k, By: s.by, Scope: f.scope}
		if inside || k.Algorithm == sealed.Ed25519 {
			acts = append(acts, act)
			continue
		}
		inside = true
		if b.archive, err = bundles.SignInside(b.archive, act); err != nil {
			return "", err
		}
		fmt.Fprintf(&said, "%s signed %s\n", s.id, visible(b.path))
	}
	for _, act := range acts {
		if b.envelope, err = bundles.SignBeside(b.archive, b.envelope, f.name, act); err != nil {
			return "", err
		}
		fmt.Fprintf(&said, "%s signed %s\n", act.ID, visible(b.path+envelopeSuffix))
	}
	fmt.Fprintln(&said, sealed.Digest(b.archive))
	return said.String(), nil
}

// write puts the signed files in the place of the old ones: the envelope first,
// which fits nothing until the bundle is there.
func (b bundleFile) write() error {
	if b.envelope != nil {
		if err := hostfs.Replace(b.path+envelopeSuffix, b.envelope, 0o644); err != nil {
			return err
		}
	}
	return hostfs.Replace(b.path, b.archive, 0o644)
}
