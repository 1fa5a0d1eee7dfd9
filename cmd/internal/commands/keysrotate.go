package commands

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"gate/bundles"
	"gate/internal/sealed"
)

func newKeysRotate(p process) *cobra.Command {
	var f keysFlags
	var keep bool
	var algorithm string
	cmd := &cobra.Command{
		Use:   "rotate OLD NEW FILE",
		Short: "replace a key",
		Long: "The new key may sign what the old one may, and takes its place at the root. The old key\n" +
			"is revoked, and with it what it signed alone, unless --keep leaves it in force for\n" +
			"bundles; revoke it later.\n" + signerHelp,
		Example: "  gate keys rotate release release-2 release-2.pub.pem --keep --key alice=alice.pem",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 3 {
				return usageError("give three: the name of the old key, the name of the new one, and the file of its public key")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := readFile(args[2], 64<<10)
			if err != nil {
				return err
			}
			key, err := bundles.ImportKey(data, bundles.Algorithm(algorithm))
			if err != nil {
				return fmt.Errorf("%s: %w", args[2], err)
			}
			return f.edit(cmd.Context(), p, func(set *bundles.KeySet) error { return rotate(set, args[0], args[1], key, keep) })
		},
	}
	f.add(cmd)
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) < 2 {
			return first(f.names)(cmd, args, begun)
		}
		return filesFor("FILE")(cmd, args, begun)
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "leave the old key in force for bundles")
	cmd.Flags().StringVar(&algorithm, "algorithm", "", "the new key's signature algorithm: "+either(texts(sealed.Algorithms()))+" (default by the kind of key; PS256 for RSA)")
	oneOf(cmd, "algorithm", texts(sealed.Algorithms())...)
	return cmd
}

func rotate(set *bundles.KeySet, oldID, newID string, key bundles.Key, keep bool) error {
	old, there := set.Keys[oldID]
	if !there {
		return fmt.Errorf("%w: %s", errNoSuchKey, quoted(oldID))
	}
	if _, taken := set.Keys[newID]; taken {
		return fmt.Errorf("the key set has a key %s already; a name is never given to another key", newID)
	}
	key.Bundles, key.Audiences, key.Scopes = old.Bundles, old.Audiences, old.Scopes
	old.Revoked = !keep
	set.Keys[oldID], set.Keys[newID] = old, key
	if i := slices.Index(set.Root.Keys, oldID); i >= 0 {
		set.Root.Keys[i] = newID
	}
	return nil
}

func newKeysRevoke(p process) *cobra.Command {
	var f keysFlags
	cmd := &cobra.Command{
		Use:     "revoke ID",
		Short:   "revoke a key",
		Long:    "Its signatures are worth nothing from then on, old ones too. It leaves the root.",
		Example: "  gate keys revoke release --key alice=alice.pem --key bob=bob.pem",
		Args:    oneArg("the key's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.edit(cmd.Context(), p, func(set *bundles.KeySet) error {
				k, there := set.Keys[args[0]]
				if !there {
					return fmt.Errorf("%w: %s", errNoSuchKey, quoted(args[0]))
				}
				k.Revoked = true
				set.Keys[args[0]] = k
				set.Root.Keys = slices.DeleteFunc(set.Root.Keys, func(id string) bool { return id == args[0] })
				return nil
			})
		},
	}
	cmd.ValidArgsFunction = first(f.names)
	f.add(cmd)
	return cmd
}

func newKeysThreshold(p process) *cobra.Command {
	var f keysFlags
	var root bool
	cmd := &cobra.Command{
		Use:     "threshold [NAME] COUNT",
		Short:   "set how many keys must sign a bundle or a change of the key set",
		Example: "  gate keys threshold company 2 --key alice=alice.pem\n  gate keys threshold --root 2 --key alice=alice.pem",
		Args: func(_ *cobra.Command, args []string) error {
			if root && len(args) != 1 || !root && len(args) != 2 {
				return usageError("give a bundle's name and a number, or --root and a number")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[len(args)-1])
			if err != nil || n < 1 {
				return usageError(quoted(args[len(args)-1]) + " is no number of keys")
			}
			return f.edit(cmd.Context(), p, func(set *bundles.KeySet) error {
				if root {
					set.Root.Threshold = n
				} else {
					set.Thresholds[args[0]] = n
				}
				return nil
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&root, "root", false, "of root keys that change the key set")
	return cmd
}
