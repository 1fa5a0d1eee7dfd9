package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/bundles"
	"gate/internal/hostfs"
	"gate/internal/sealed"
)

// keysFlags are the flags of commands that change a key set.
type keysFlags struct {
	signers signerFlags
	file    string
	after   int64 // a set that begins is the next version
}

func (f *keysFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "keys", keysFile, "the `FILE` of the key set")
	f.signers.add(cmd)
}

// names are the names of the keys in the set.
func (f *keysFlags) names() []string { return keyNames(readKeysIfThere(f.file)) }

// next is where a version waits for signatures.
func (f *keysFlags) next() string { return strings.TrimSuffix(f.file, ".json") + ".next.json" }

// edit makes the next version of the set, or goes on with the one that waits,
// signs it with what the flags name, and puts it in force if that is enough.
func (f *keysFlags) edit(ctx context.Context, p process, change func(*bundles.KeySet) error) error {
	if err := noAgent(p); err != nil {
		return err
	}
	current, err := readKeysIfThere(f.file)
	if err != nil {
		return refused(p, f.file, false, err)
	}
	next, err := readKeysIfThere(f.next())
	if err != nil {
		return refused(p, f.next(), false, err)
	}
	switch {
	case next == nil && change == nil:
		return fmt.Errorf("%s: no version waits for signatures", f.next())
	case next == nil && current != nil:
		next = current.Next()
	case next == nil:
		next = (&bundles.KeySet{Version: f.after}).Next()
	case change != nil: // what was signed is not what it will be
		version := next.Version
		next = next.Next()
		next.Version = version
	}
	if err := keptBeside(f.file).free(next.Version); err != nil {
		return err
	}
	if change != nil {
		if err := change(next); err != nil {
			return err
		}
	}
	if err := next.Check(); err != nil {
		return f.unchanged(p, err)
	}
	if err := f.sign(ctx, p, current, next); err != nil {
		return err
	}
	return f.settle(p, current, next)
}

// unchanged says what would be wrong with the set after a change, and that it
// stays as it is.
func (f *keysFlags) unchanged(p process, err error) error {
	list := bundles.Refusals(err)
	if len(list) == 0 {
		return err
	}
	for _, r := range list {
		fmt.Fprintf(p.stderr, "gate: %s stays as it is: with this change, %s\n", visible(f.file), oneRefusal(r))
	}
	return exitWith(exitRefused)
}

func readKeysIfThere(path string) (*bundles.KeySet, error) {
	set, err := readKeys(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return set, err
}

func (f *keysFlags) sign(ctx context.Context, p process, current, next *bundles.KeySet) error {
	signers, err := f.signers.signers(ctx, p)
	if err != nil {
		return err
	}
	for _, s := range signers {
		k, known := next.Keys[s.id]
		if !known && current != nil {
			k, known = current.Keys[s.id]
		}
		if !known {
			return fmt.Errorf("%w: %s", errNoSuchKey, quoted(s.id))
		}
		if err := next.Sign(s.id, k, s.by); err != nil {
			return err
		}
	}
	return nil
}

// settle writes the set: in force if enough root keys signed, else waiting.
func (f *keysFlags) settle(p process, current, next *bundles.KeySet) error {
	data, err := next.Encode()
	if err != nil {
		return err
	}
	waiting, err := next.Waiting(next)
	if current != nil && err == nil {
		var more []string
		more, err = next.Waiting(current)
		waiting = slices.Compact(slices.Sorted(slices.Values(append(waiting, more...))))
	}
	if err != nil {
		return refused(p, f.file, false, err)
	}
	if len(waiting) > 0 {
		if err := hostfs.Replace(f.next(), data, 0o644); err != nil {
			return err
		}
		return printAll(p, fmt.Sprintf("%s is version %d and not in force: it waits for %s\nnext: gate keys sign --keys %s --key ID=FILE\n",
			visible(f.next()), next.Version, strings.Join(waiting, ", "), visible(f.file)))
	}
	if current != nil {
		if err := current.Follow(next); err != nil {
			return refused(p, f.next(), false, err)
		}
	}
	if err := f.keep(current, next.Version, data); err != nil {
		return err
	}
	if err := hostfs.Replace(f.file, data, 0o644); err != nil {
		return err
	}
	if err := os.Remove(f.next()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return printAll(p, fmt.Sprintf("%s is version %d\n%s keeps it for machines that follow\n",
		visible(f.file), next.Version, visible(keptBeside(f.file).file(next.Version))))
}

// keep keeps a new version beside the set, and the one before if an older gate made
// it: machines take every version in turn.
func (f *keysFlags) keep(current *bundles.KeySet, version int64, data []byte) error {
	kept := keptBeside(f.file)
	if current != nil {
		old, err := readFile(f.file, maxSealed)
		if err == nil {
			err = kept.keep(current.Version, old)
		}
		if err != nil {
			return err
		}
	}
	return kept.keep(version, data)
}

func newKeysSign(p process) *cobra.Command {
	var f keysFlags
	cmd := &cobra.Command{
		Use:     "sign",
		Short:   "sign the pending version of the key set",
		Long:    "Adds the signatures of root keys to the version that waits. With enough of them, it\ncomes into force.\n" + signerHelp,
		Example: "  gate keys sign --key bob=bob.pem",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(f.signers.files)+len(f.signers.commands) == 0 {
				return usageError("name a signer: --key ID=FILE or --signer 'ID=COMMAND'")
			}
			return f.edit(cmd.Context(), p, nil)
		},
	}
	f.add(cmd)
	return cmd
}

// addFlags are the flags of gate keys add.
type addFlags struct {
	keysFlags
	algorithm, expires      string
	bundles, labels, scopes []string
	root                    bool
}

func newKeysAdd(p process) *cobra.Command {
	var f addFlags
	cmd := &cobra.Command{
		Use:   "add ID FILE",
		Short: "add a public key to the key set",
		Long: "Adds a key from a PEM or JWK file and says what it may sign. The first key begins the\n" +
			"set and must be a root key.\n" + signerHelp,
		Example: "  gate keys add alice alice.pub.pem --root --key alice=alice.pem\n" +
			"  gate keys add release release.pub.pem --bundle company --bundle 'team-*' --key alice=alice.pem",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError("give the key's name and the file with its public half")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), p, args[0], args[1]) },
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.algorithm, "algorithm", "", "the signature algorithm: "+either(texts(sealed.Algorithms()))+" (default by the kind of key; PS256 for RSA)")
	oneOf(cmd, "algorithm", texts(sealed.Algorithms())...)
	cmd.Flags().StringArrayVar(&f.bundles, "bundle", nil, "a bundle that it may sign, or a beginning with * (repeatable)")
	addLabelFlag(cmd, &f.labels, "a label of machines that it may sign for, as key=value (repeatable; default any)")
	cmd.Flags().StringArrayVar(&f.scopes, "scope", nil, "a value of OPA's scope claim (repeatable; default none)")
	cmd.Flags().BoolVar(&f.root, "root", false, "it may change the key set")
	cmd.Flags().StringVar(&f.expires, "expires", "", "when the key set ends: 2027-01-31, or 90d from now")
	cmd.Flags().Int64Var(&f.after, "after", 0, "the version that machines have, for a set that begins anew because its root keys are lost")
	return cmd
}

func (f *addFlags) run(ctx context.Context, p process, id, file string) error {
	data, err := readFile(file, 64<<10)
	if err != nil {
		return err
	}
	key, err := bundles.ImportKey(data, bundles.Algorithm(f.algorithm))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if f.after < 0 {
		return usageError("--after takes a version of a key set")
	}
	key.Bundles, key.Audiences, key.Scopes = f.bundles, f.labels, f.scopes
	return f.edit(ctx, p, func(set *bundles.KeySet) error {
		if _, there := set.Keys[id]; there {
			return fmt.Errorf("the key set has a key %s already; gate keys rotate puts another in its place", id)
		}
		if len(set.Root.Keys) == 0 && !f.root {
			return usageError("the first key of a key set is a root key: give --root, and --key " + id + "=FILE with its private half")
		}
		set.Keys[id] = key
		if f.root {
			set.Root.Keys = append(set.Root.Keys, id)
			set.Root.Threshold = max(set.Root.Threshold, 1)
		}
		if f.expires != "" {
			set.Expires, err = timeGiven(f.expires, time.Now())
		}
		return err
	})
}
