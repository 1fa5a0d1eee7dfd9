package commands

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"gate/internal/format"
	"gate/internal/hostfs"
	"gate/internal/sealed"
)

// nextFlags are the flags of gate collect promote and retreat.
type nextFlags struct {
	share  int
	labels []string
	out    string
}

// newCollectNext is promote or retreat. Both write a document and sign nothing: nothing
// that a collector holds can change a machine.
func newCollectNext(p process, name string) *cobra.Command {
	var f nextFlags
	cmd := &cobra.Command{
		Use:  name + " FILE BUNDLE",
		Args: twoArgs("the channel file and the name of a bundle"),
		RunE: func(_ *cobra.Command, args []string) error { return f.run(p, name, args[0], args[1]) },
	}
	cmd.Short = "write the next channel, in which a bundle's trial is its release, for others to sign"
	cmd.Long = "Reads a channel file and writes the next version of it without signatures, in which the\n" +
		"trial of a bundle is put in the place of its releases. gate bundle channel signs it; until\n" +
		"enough have signed no machine takes it."
	if name == "retreat" {
		cmd.Short = "write the next channel, in which a bundle has no trial, for others to sign"
		cmd.Long = "Reads a channel file and writes the next version of it without signatures, in which a\n" +
			"bundle has no trial any more. gate bundle channel signs it; until enough have signed no\n" +
			"machine takes it."
	} else {
		cmd.Flags().IntVar(&f.share, "share", 0, "how many `PERCENT` of the machines get it; the others keep their releases (all of them)")
		cmd.Flags().StringSliceVar(&f.labels, "label", nil, "only machines with one of these labels, as `NAME=VALUE`; the others keep their releases (repeatable)")
	}
	cmd.Example = "  gate collect " + name + " channel.2.json company --out next/channel.2.json"
	cmd.Flags().StringVar(&f.out, "out", "", "the `FILE` that is written (the channel file itself)")
	return cmd
}

func (f *nextFlags) run(p process, name, path, bundle string) error {
	data, err := readFile(path, maxSealed)
	if err != nil {
		return err
	}
	c, _, err := sealed.ParseChannel(data)
	if err != nil {
		return refused(p, path, false, err)
	}
	if err := f.next(&c, name, bundle); err != nil {
		return err
	}
	text, err := c.Unsigned()
	if err != nil {
		return refused(p, path, false, err)
	}
	if f.out == "" {
		f.out = path
	}
	if err := hostfs.Replace(f.out, text, 0o644); err != nil {
		return err
	}
	return printAll(p, fmt.Sprintf("%s has version %d, without a signature\n%shint: gate bundle channel %s signs it\n", visible(f.out), c.Version, channelText(c), visible(f.out)))
}

// next makes the channel that follows.
func (f *nextFlags) next(c *sealed.Channel, name, bundle string) error {
	trials := c.Trials[bundle]
	if len(trials) == 0 {
		return fmt.Errorf("the channel has no trial of %s", quoted(bundle))
	}
	if c.Format == 1 {
		return fmt.Errorf("the channel has format 1, which has no trials of its own: write the type %s", format.Channel.Mark())
	}
	c.Version++
	delete(c.Trials, bundle)
	if name == "retreat" {
		return nil
	}
	digest := trials[0].Digest
	if slices.ContainsFunc(trials, func(r sealed.Rollout) bool { return r.Digest != digest }) {
		return fmt.Errorf("the channel has several trials of %s: write the next one by hand", quoted(bundle))
	}
	release := sealed.Rollout{Digest: digest, Labels: f.labels, Share: f.share}
	if len(f.labels) > 0 || f.share > 0 && f.share < 100 { // the first that fits counts
		c.Releases[bundle] = append([]sealed.Rollout{release}, c.Releases[bundle]...)
		return nil
	}
	release.Share = 0
	c.Releases[bundle] = []sealed.Rollout{release}
	return nil
}
