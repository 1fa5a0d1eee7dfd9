package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/internal/format"
	"gate/internal/hostfs"
	"gate/internal/sealed"
)

// channelFlags are the flags of gate bundle channel.
type channelFlags struct {
	signers   signerFlags
	keys      string
	releases  []string
	inventory []string
}

func newBundleChannel(p process) *cobra.Command {
	var f channelFlags
	cmd := &cobra.Command{
		Use:   "channel FILE",
		Short: "check and sign a channel file, which assigns releases and trials to machines",
		Long: "Signs a channel file in place. It names for each bundle the releases, the trials beside\n" +
			"them, and whom they are for; docs/bundles.md describes it. A change is written with the\n" +
			"next version and without signatures, and signed again. As many keys must sign as the\n" +
			"bundles need. Nothing is signed that no machine would take: the bundles are looked for\n" +
			"in the directory of FILE and in those of --releases, and each is verified as a machine\n" +
			"does.\n\n" +
			"Older gates read " + format.Channel.MarkOf(1) + " only. So channel.2.json is the name of FILE, and channel.json\n" +
			"is written beside it: the same releases, without trials. With --inventory it is written\n" +
			"only while one of those machines needs it.\n" + signerHelp,
		Example: "  gate bundle channel channel.2.json --keys keys.json --key alice=alice.pem",
		Args:    oneArg("the channel file"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), p, args[0]) },
	}
	f.signers.add(cmd)
	cmd.Flags().StringVar(&f.keys, "keys", "", "the `FILE` of the key set (required)")
	cmd.Flags().StringArrayVar(&f.releases, "releases", nil, "a `DIR` with bundles that the channel names (repeatable)")
	cmd.Flags().StringArrayVar(&f.inventory, "inventory", nil, "a `FILE` with what gate doctor --json printed on a machine (repeatable)")
	return cmd
}

func (f *channelFlags) run(ctx context.Context, p process, path string) error {
	data, err := readFile(path, maxSealed)
	if err != nil {
		return err
	}
	c, signed, err := sealed.ParseChannel(data)
	if err != nil {
		return refused(p, path, false, err)
	}
	look := channelCheck{keys: f.keys, releases: append([]string{filepath.Dir(path)}, f.releases...), now: time.Now()}
	if err := look.check(c, f.signers.ids()); err != nil && f.keys != "" {
		return refused(p, path, false, err)
	}
	older, beside, err := f.older(path, c)
	if err != nil {
		return err
	}
	if !signed {
		data = nil
	}
	text, err := f.sign(ctx, p, path, data, c)
	if err != nil {
		return err
	}
	text += channelText(c)
	if beside != "" {
		data, err := readFile(beside, maxSealed)
		if was, signed, bad := sealed.ParseChannel(data); err != nil || bad != nil || !signed || !reflect.DeepEqual(was, older) {
			data = nil // of an older version: its signatures are worth nothing here
		}
		also, err := f.sign(ctx, p, beside, data, older)
		if err != nil {
			return err
		}
		text += also + "  it has the releases without the trials, for machines whose gate reads format 1 only\n"
	} else if c.Format != 1 {
		text += fmt.Sprintf("no file of format 1 is written beside it: %s\n", f.unneeded(c))
	}
	return printAll(p, text)
}

// sign adds the signatures of all signers to one file, and says so.
func (f *channelFlags) sign(ctx context.Context, p process, path string, old []byte, c sealed.Channel) (string, error) {
	data, by, err := f.signers.sealed(ctx, p, f.keys, old, c)
	if err != nil {
		return "", refused(p, path, false, err)
	}
	return fmt.Sprintf("%s signed version %d of %s\n", by, c.Version, visible(path)), hostfs.Replace(path, data, 0o644)
}

// older is the channel for older gates, and its place beside the one of format 2; ""
// where nobody needs it.
func (f *channelFlags) older(path string, c sealed.Channel) (older sealed.Channel, beside string, err error) {
	older, some := c.Older()
	if c.Format == 1 || !some {
		return older, "", nil
	}
	needs, err := f.needed()
	if err != nil || needs == "" {
		return older, "", err
	}
	ext := filepath.Ext(path)
	stem, ok := strings.CutSuffix(strings.TrimSuffix(path, ext), ".2")
	if !ok || filepath.Base(stem) == "." {
		return older, "", fmt.Errorf("%s, and %s is where it looks: name this file %s, and that one is written beside it", needs, quoted(filepath.Base(path)),
			quoted(filepath.Base(sealed.ChannelBeside(path))))
	}
	return older, stem + ext, nil
}

// needed says which machine needs format 1: any may, where nobody knows the machines.
func (f *channelFlags) needed() (who string, err error) {
	if len(f.inventory) == 0 {
		return "without --inventory a machine may have an older gate", nil
	}
	for _, path := range f.inventory {
		data, err := readFile(path, maxInventory)
		if err != nil {
			return "", err
		}
		var doctor struct {
			Inventory *struct {
				Gate struct {
					Channel int `json:"channel"`
				} `json:"gate"`
			} `json:"inventory"`
		}
		if err = json.Unmarshal(data, &doctor); err == nil && doctor.Inventory == nil {
			err = errors.New("it has no inventory")
		}
		if err != nil {
			return "", fmt.Errorf("%s: what gate doctor --json printed is wanted: %w", quoted(path), err)
		}
		if doctor.Inventory.Gate.Channel < format.Channel.Number() {
			return fmt.Sprintf("the machine of %s has an older gate", quoted(path)), nil
		}
	}
	return "", nil
}

// maxInventory bounds what one machine says of itself.
const maxInventory = 16 << 20

// unneeded says why nothing is written for older gates.
func (f *channelFlags) unneeded(c sealed.Channel) string {
	if len(c.Releases) == 0 {
		return "it has trials only"
	}
	return fmt.Sprintf("none of %d machines needs it", len(f.inventory))
}

// channelText says whom a channel gives what.
func channelText(c sealed.Channel) string {
	var b strings.Builder
	line := func(name, trial string, r sealed.Rollout) {
		whom := "everybody"
		if len(r.Labels) > 0 {
			whom = strings.Join(r.Labels, " or ")
		}
		if r.Share > 0 {
			whom = fmt.Sprintf("%d%% of %s", r.Share, whom)
		}
		fmt.Fprintf(&b, "%s: %s%s for %s\n", name, trial, r.Digest, visible(whom))
	}
	for _, name := range c.Names() {
		for _, r := range c.Releases[name] {
			line(name, "", r)
		}
		for _, r := range c.Trials[name] {
			line(name, "trial ", r)
		}
	}
	return b.String()
}
