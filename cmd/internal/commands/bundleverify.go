package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/bundles"
	"gate/hook"
	"gate/internal/sealed"
	"gate/internal/setup"
	"gate/internal/strictjson"
)

// verifyFlags are the flags of gate bundle verify.
type verifyFlags struct {
	dirs             dirFlags
	keys, name, at   string
	seen, pin        string
	labels           []string
	envelope, asGate string
	json             bool
}

func newBundleVerify(p process) *cobra.Command {
	var f verifyFlags
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "check whether a machine would accept a bundle",
		Long: "Checks a bundle, and the envelope beside it, as a machine does that is about to take\n" +
			"it: it also loads its policies, runs its own tests, and asks them about a few events.\n" +
			"Exit status 0: it would; 4: it would not, and why.",
		Example: "  gate bundle verify company.tar.gz --keys keys.json\n  gate bundle verify company.tar.gz --label ring=canary --seen seen.json",
		Args:    oneArg("a bundle's file"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), p, args[0]) },
	}
	addDirFlags(cmd, &f.dirs)
	cmd.Flags().StringVar(&f.keys, "keys", "", "the `FILE` of the key set (default keys.json in the managed directory)")
	cmd.Flags().StringVar(&f.name, "name", "", "the bundle that it must be")
	cmd.Flags().StringVar(&f.envelope, "envelope", "", "the envelope's `FILE` (default the bundle's"+envelopeSuffix+", if it is there)")
	cmd.Flags().StringArrayVar(&f.labels, "label", nil, "a label of the machine, as key=value (repeatable)")
	cmd.Flags().StringVar(&f.seen, "seen", "", "the `FILE` with the machine's memory of versions, a seen.json")
	cmd.Flags().StringVar(&f.pin, "pin", "", "take this digest without metadata.gate, as the bundle of --name")
	cmd.Flags().StringVar(&f.at, "at", "", "the moment of the check (default now)")
	cmd.Flags().StringVar(&f.asGate, "gate", setup.Version(), "the version of gate on the machine")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON for programs")
	return cmd
}

func (f *verifyFlags) run(ctx context.Context, p process, path string) error {
	check, err := f.check(path)
	if err != nil {
		return refused(p, f.keys, f.json, err)
	}
	b, err := readBundle(path)
	if err != nil {
		return err
	}
	if f.envelope != "" {
		if b.envelope, err = readFile(f.envelope, maxSealed); err != nil {
			return err
		}
	}
	opened, err := bundles.Open(b.archive, b.envelope, check)
	if err != nil {
		return refused(p, path, f.json, err)
	}
	m := opened.Manifest
	m.Gate.Name = opened.Name()
	if _, err := tried(ctx, opened.FS(), m, opened.Digest); err != nil {
		return unfit(p, path, f.json, err)
	}
	if f.json {
		doc := manifestDocument(opened.Manifest)
		doc["file"], doc["ok"], doc["digest"], doc["signatures"] = path, true, opened.Digest, signatureDocuments(opened.Signatures)
		return printAll(p, strictjson.Indent(doc))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s is good: %s version %d\n  %-10s %s\n", visible(path), opened.Name(), opened.Manifest.Gate.Version, "digest", opened.Digest)
	for _, s := range opened.Signatures {
		note := ""
		if !s.Counts {
			note = "; does not count: " + s.Reason.Sentence()
		}
		fmt.Fprintf(&out, "  %-10s %s%s\n", "signed by", signatureLine(s), note)
	}
	manifestLines(&out, opened.Manifest)
	return printAll(p, out.String())
}

// check is what the flags say about the machine that is to take a file.
func (f *verifyFlags) check(path string) (c bundles.Check, err error) {
	c = bundles.Check{Now: time.Now(), Name: f.name, Gate: f.asGate, Facts: hook.FactsSchema, Labels: map[string]string{}}
	machine := f.keys == ""
	if machine {
		d, err := f.dirs.Absolute().ForHook()
		if err != nil {
			return c, err
		}
		f.keys = filepath.Join(d.Managed, keysFile)
	}
	if c.Keys, err = readKeys(f.keys); machine && errors.Is(err, fs.ErrNotExist) {
		return c, hintedError{fmt.Errorf("this machine has no key set: %w", err),
			"name one with --keys, or look without verifying: gate bundle inspect " + path}
	} else if err != nil {
		return c, err
	}
	if f.at != "" {
		if c.Now, err = timeGiven(f.at, c.Now); err != nil {
			return c, err
		}
	}
	for _, label := range f.labels {
		key, value, ok := strings.Cut(label, "=")
		if !ok {
			return c, usageError("--label " + quoted(label) + ": give key=value")
		}
		c.Labels[key] = value
	}
	if f.pin != "" {
		if !sealed.IsDigest(f.pin) || f.name == "" {
			return c, usageError("--pin takes a digest such as sha256:0123…, and --name")
		}
		c.Pins = map[string]string{f.pin: f.name}
	}
	if f.seen != "" {
		data, err := readFile(f.seen, maxSealed)
		if err != nil {
			return c, err
		}
		if c.Seen, err = sealed.ParseSeen(data); err != nil {
			return c, fmt.Errorf("%s: %w", f.seen, err)
		}
	}
	return c, nil
}

func newBundleInspect(p process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inspect FILE",
		Short: "show the contents of a bundle",
		Long: "Shows the manifest, the files and who claims to have signed. Nothing is verified;\n" +
			"gate bundle verify does that.",
		Args: oneArg("a bundle's file"),
		RunE: func(_ *cobra.Command, args []string) error { return inspectBundle(p, args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON for programs")
	return cmd
}

func inspectBundle(p process, path string, asJSON bool) error {
	b, err := readBundle(path)
	if err != nil {
		return err
	}
	c, err := sealed.Inspect(b.archive, b.envelope, bundles.Limits{})
	if err != nil {
		return refused(p, path, asJSON, err)
	}
	if asJSON {
		files := []any{}
		for _, f := range c.Files {
			files = append(files, map[string]any{"name": f.Name, "size": f.Size})
		}
		doc := manifestDocument(c.Manifest)
		doc["file"], doc["verified"], doc["digest"], doc["files"] = path, false, c.Digest, files
		doc["signatures"] = signatureDocuments(c.Signatures)
		return printAll(p, strictjson.Indent(doc))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s version %d (not verified)\n  %-10s %s\n", visible(path), orNameless(c.Manifest.Gate.Name), c.Manifest.Gate.Version, "digest", c.Digest)
	manifestLines(&out, c.Manifest)
	for _, s := range c.Signatures {
		fmt.Fprintf(&out, "  %-10s %s\n", "signature", signatureLine(s))
	}
	if len(c.Signatures) == 0 {
		fmt.Fprintf(&out, "  %-10s none\n", "signature")
	}
	for _, f := range c.Files {
		fmt.Fprintf(&out, "%10d  %s\n", f.Size, visible(f.Name))
	}
	return printAll(p, out.String())
}

func orNameless(name string) string {
	if name == "" {
		return "a bundle without metadata.gate"
	}
	return name
}
