package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/bundles"
	"gate/internal/hostfs"
	"gate/internal/places"
	"gate/internal/sealed"
	"gate/internal/sources"
)

func newBundleMachine(p process) *cobra.Command {
	var f dirFlags
	cmd := &cobra.Command{
		Use:   "machine",
		Short: "print the name of this machine in channel and recovery files",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			d, err := f.ForPeople(p.lookupEnv)
			if err != nil {
				return err
			}
			managed := places.Open(d.Managed, ".", places.ManagedFiles(d))
			defer managed.Close()
			name, err := sources.MachineName(managed)
			if err != nil {
				return err
			}
			return printAll(p, name+"\n")
		},
	}
	addDirFlags(cmd, &f)
	return cmd
}

// recoveryFlags are the flags of gate bundle recovery.
type recoveryFlags struct {
	signers       signerFlags
	keys, machine string
	off, aged     []string
	life          time.Duration
	owner, reason string
}

func newBundleRecovery(p process) *cobra.Command {
	var f recoveryFlags
	cmd := &cobra.Command{
		Use:   "recovery FILE",
		Short: "free one machine from a bundle for a short time",
		Long: "Writes a recovery file, for a machine on which a bundle refuses what it should not. The\n" +
			"administrator puts it into the managed directory as " + sources.RecoveryFile + ". It says which machine it\n" +
			"is for (gate bundle machine) and what it relaxes; as many keys must sign it as the bundle\n" +
			"needs. If FILE is there already, it gets a further signature.\n" + signerHelp,
		Example: "  gate bundle recovery recovery.json --machine 5f2a… --off company --for 4h \\\n" +
			"    --owner ana@acme.example --reason OPS-17 --keys keys.json --key alice=alice.pem",
		Args: oneArg("the recovery file"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), p, args[0]) },
	}
	f.signers.add(cmd)
	cmd.Flags().StringVar(&f.keys, "keys", "", "the `FILE` of the key set (required)")
	cmd.Flags().StringVar(&f.machine, "machine", "", "the machine, as gate bundle machine names it there")
	cmd.Flags().StringArrayVar(&f.off, "off", nil, "a bundle that is not in force meanwhile (repeatable)")
	cmd.Flags().StringArrayVar(&f.aged, "aged", nil, "a bundle whose age only warns meanwhile (repeatable)")
	cmd.Flags().DurationVar(&f.life, "for", 4*time.Hour, fmt.Sprintf("how long it is good for, at most %s", sealed.MaxRecovery))
	cmd.Flags().StringVar(&f.owner, "owner", "", "the person responsible")
	cmd.Flags().StringVar(&f.reason, "reason", "", "why")
	return cmd
}

func (f *recoveryFlags) run(ctx context.Context, p process, path string) error {
	old, err := readFile(path, maxSealed)
	now := time.Now().UTC().Truncate(time.Second)
	r := sealed.Recovery{
		Machine: f.machine, From: now, Until: now.Add(f.life), Off: f.off, Aged: f.aged, Owner: f.owner, Reason: f.reason,
	}
	switch {
	case err == nil && f.machine != "":
		return usageError(quoted(path) + " is there already: it gets a further signature, and says what it says")
	case err == nil:
		if r, err = sealed.ParseRecovery(old); err != nil {
			return refused(p, path, false, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		old = nil
	}
	data, signed, err := f.signers.sealed(ctx, p, f.keys, old, r)
	if err != nil {
		return refused(p, path, false, err)
	}
	if err := hostfs.Replace(path, data, 0o644); err != nil {
		return err
	}
	return printAll(p, fmt.Sprintf("%s signed %s, good until %s\n", signed, visible(path), r.Until.UTC().Format(time.RFC3339)))
}

// A signable is a document beside which signatures stand.
type signable interface {
	Sign(old []byte, s bundles.Signing) ([]byte, error)
}

// sealed adds the signatures of all signers to a document, and says whose they
// are.
func (f *signerFlags) sealed(ctx context.Context, p process, keys string, old []byte, doc signable) (data []byte, by string, err error) {
	if keys == "" {
		return nil, "", usageError("give the key set: --keys FILE")
	}
	set, err := readKeys(keys)
	if err != nil {
		return nil, "", err
	}
	signers, err := f.signers(ctx, p)
	if err != nil {
		return nil, "", err
	}
	if len(signers) == 0 {
		return nil, "", usageError("name a signer: --key ID=FILE or --signer 'ID=COMMAND'")
	}
	var names []string
	for _, s := range signers {
		k, known := set.Keys[s.id]
		if !known {
			return nil, "", fmt.Errorf("the key set has no key %s", quoted(s.id))
		}
		if old, err = doc.Sign(old, bundles.Signing{ID: s.id, Key: k, By: s.by}); err != nil {
			return nil, "", err
		}
		names = append(names, s.id)
	}
	return old, strings.Join(names, ", "), nil
}

func newBundleRepublish(p process) *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "republish OLD --as VERSION",
		Short: "go back: build the old content under a new version",
		Long: "Machines take no older version. To go back, an old release is published again under\n" +
			"a version that is higher than the last one. What it says is what OLD says, but for the\n" +
			"version, its end and the release before; it is to be signed anew.",
		Example: "  gate bundle republish company-7.tar.gz --as 9 --previous company-8.tar.gz -o company-9.tar.gz",
		Args:    oneArg("the old bundle"),
		RunE: func(_ *cobra.Command, args []string) error {
			if f.version == 0 {
				return usageError("give the new version: --as VERSION")
			}
			if f.out == "" {
				return usageError("give the new file: -o FILE")
			}
			old, err := readFile(args[0], maxArchive)
			if err != nil {
				return err
			}
			change, err := f.change()
			if err != nil {
				return err
			}
			archive, err := sealed.Republish(old, change)
			if err != nil {
				return refused(p, args[0], false, err)
			}
			if err := hostfs.Replace(f.out, archive, 0o644); err != nil {
				return err
			}
			return printAll(p, fmt.Sprintf("%s is %s as version %d, unsigned\n%s\nnext: gate bundle sign %s\n",
				visible(f.out), visible(args[0]), f.version, sealed.Digest(archive), visible(f.out)))
		},
	}
	cmd.ValidArgsFunction = filesFor("FILE")
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "the `FILE` of the new bundle (required)")
	cmd.Flags().Int64Var(&f.version, "as", 0, "the version, higher than that of every release before (required)")
	cmd.Flags().StringVar(&f.expires, "expires", "", "when it ends: 2027-01-31, or 90d from now (default as OLD)")
	cmd.Flags().StringVar(&f.previous, "previous", "", "the release before: its `FILE` or its digest")
	return cmd
}
