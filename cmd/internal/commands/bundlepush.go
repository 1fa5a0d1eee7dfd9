package commands

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gate/bundles"
	"gate/internal/hostfs"
	"gate/internal/sealed"
)

func newBundlePush(p process) *cobra.Command {
	var f syncFlags
	cmd := &cobra.Command{
		Use:   "push FILE ADDRESS",
		Short: "push a bundle to a container registry",
		Long: "Pushes a bundle, and the envelope beside it, to oci://host/repository:tag, where gate\n" +
			"sync, OPA and oras find it. For web servers and object stores copy the two files.",
		Example: "  gate bundle push company.tar.gz oci://registry.acme.example/gate/company:stable",
		Args:    twoArgs("a bundle's file and an address"),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := readBundle(args[0])
			if err != nil {
				return err
			}
			c, err := sealed.Inspect(b.archive, b.envelope, bundles.Limits{})
			if err != nil {
				return refused(p, args[0], false, err)
			}
			o := optionsOf(f.feed)
			if o.URL = args[1]; o.Name == "" {
				o.Name = c.Manifest.Gate.Name
			}
			digest, err := p.clients.Bundles.Push(cmd.Context(), o, b.archive, b.envelope)
			if err != nil {
				return err
			}
			return printAll(p, fmt.Sprintf("%s is at %s\n%s\n", visible(args[0]), visible(args[1]), digest))
		},
	}
	f.addFeed(cmd)
	cmd.Flags().Lookup("pin").Hidden = true
	return cmd
}

func newBundlePull(p process) *cobra.Command {
	var f syncFlags
	cmd := &cobra.Command{
		Use:   "pull ADDRESS FILE",
		Short: "fetch a bundle into a file, without verifying it",
		Long: "Fetches a bundle, and its envelope if there is one, as gate sync does (https, http, oci\n" +
			"or a path), and writes them beside each other. gate bundle verify says what they are worth.",
		Example: "  gate bundle pull oci://registry.acme.example/gate/company:stable company.tar.gz",
		Args:    twoArgs("an address and a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := optionsOf(f.feed)
			o.URL = args[0]
			from, err := p.clients.Bundles.Open(o)
			if err != nil {
				return err
			}
			found, err := from.Fetch(cmd.Context(), "")
			if err != nil {
				return err
			}
			if err := hostfs.Replace(args[1], found.Archive, 0o644); err != nil {
				return err
			}
			text := visible(args[1])
			if found.Envelope != nil {
				if err := hostfs.Replace(args[1]+envelopeSuffix, found.Envelope, 0o644); err != nil {
					return err
				}
				text = strings.Join([]string{text, visible(args[1] + envelopeSuffix)}, "\n")
			}
			return printAll(p, text+"\n"+sealed.Digest(found.Archive)+"\n")
		},
	}
	f.addFeed(cmd)
	cmd.Flags().Lookup("pin").Hidden = true
	return cmd
}

// twoArgs takes exactly two arguments, which what names.
func twoArgs(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 2 {
			return usageError("give " + what)
		}
		return nil
	}
}
