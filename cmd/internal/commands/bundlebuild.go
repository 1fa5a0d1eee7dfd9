package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gate/bundles"
	"gate/internal/hostfs"
	"gate/internal/sealed"
	"gate/internal/strictjson"
)

func newBundleInit(p process) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:     "init DIR",
		Short:   "begin a bundle in a directory",
		Long:    "Writes .manifest and a place for the bundle's settings. The bundle is named as its\ndirectory unless --name says otherwise.",
		Example: "  gate bundle init company",
		Args:    oneArg("a directory"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if name == "" {
				name = filepath.Base(dir)
			}
			return initBundle(p, args[0], name)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "the bundle's name")
	return cmd
}

// initBundle writes the files of a new bundle; what is there stays.
func initBundle(p process, dir, name string) error {
	if !sealed.IsName(name) {
		return usageError(quoted(name) + " is no name for a bundle: lower-case letters, digits, - and _; give --name")
	}
	for _, f := range newBundleFiles(name) {
		path := filepath.Join(dir, f.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := createFile(path, f.data, f.perm); err != nil {
			return err
		}
	}
	policies := filepath.Join(dir, "policies")
	if err := os.MkdirAll(policies, 0o755); err != nil {
		return err
	}
	return printAll(p, fmt.Sprintf("%s is a bundle named %s\nnext: write policies into %s, in packages below %s, then gate bundle build %s\n",
		visible(dir), name, visible(policies), name, visible(dir)))
}

// A newFile is a file to be made, at a path within a directory.
type newFile struct {
	path string
	data []byte
	perm fs.FileMode
}

// newBundleFiles are those that a bundle begins with.
func newBundleFiles(name string) []newFile {
	manifest := map[string]any{
		"revision": "", "roots": []string{name, "gate/bundles/" + name},
		"metadata": map[string]any{"gate": map[string]any{"name": name, "version": 1}},
	}
	settings := map[string]any{"settings": map[string]any{}}
	return []newFile{
		{sealed.ManifestFile, []byte(strictjson.Indent(manifest)), 0o644},
		{filepath.Join("gate", "bundles", name, "data.json"), []byte(strictjson.Indent(settings)), 0o644},
	}
}

// createFile writes a file that is not there yet.
func createFile(path string, data []byte, perm fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: it exists already; gate keeps it unchanged", path)
	}
	if err != nil {
		return hostfs.At(path, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path)
	}
	return err
}

// buildFlags are the flags of gate bundle build; empty ones leave the manifest
// as it is.
type buildFlags struct {
	out, expires, minGate, previous string
	version, facts                  int64
	labels                          []string
}

func newBundleBuild(p process) *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build DIR",
		Short: "pack a directory into a bundle",
		Long: "Packs .manifest and the .rego and data.json files of a directory. The same files\n" +
			"make the same bytes. The flags change metadata.gate in the bundle only, not in the\n" +
			"directory. Nothing is packed that no machine would put in force: its policies load,\n" +
			"its own tests pass, and no policy fails to answer about a few events of all tools.\n" +
			"What only gate has comes into the bundle, so that opa test runs its tests,\n" +
			"too: the library, the defaults of parameters, what gate.event says.",
		Example: "  gate bundle build company --version 8 --expires 90d --previous company-7.tar.gz",
		Args:    oneArg("a directory"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), p, args[0]) },
	}
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "the bundle's `FILE` (default NAME.tar.gz here)")
	cmd.Flags().Int64Var(&f.version, "version", 0, "the version, higher than that of every release before")
	cmd.Flags().StringVar(&f.expires, "expires", "", "when it ends: 2027-01-31, or 90d from now")
	addLabelFlag(cmd, &f.labels, "a label of the machines it is for, as key=value (repeatable)")
	cmd.Flags().StringVar(&f.minGate, "min-gate", "", "the oldest gate that understands it, such as v1.4.0")
	cmd.Flags().Int64Var(&f.facts, "facts", 0, "the schema of facts that its policies are written for; without it the first")
	cmd.Flags().StringVar(&f.previous, "previous", "", "the release before: its `FILE` or its digest")
	return cmd
}

// addLabelFlag adds --label, which scripts of earlier releases call --audience.
func addLabelFlag(cmd *cobra.Command, to *[]string, usage string) {
	cmd.Flags().StringArrayVar(to, "label", nil, usage)
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "audience" {
			name = "label"
		}
		return pflag.NormalizedName(name)
	})
}

func (f *buildFlags) run(ctx context.Context, p process, dir string) error {
	change, err := f.change()
	if err != nil {
		return err
	}
	root, err := hostfs.OpenDir(dir)
	if err != nil {
		return hostfs.At(dir, err)
	}
	defer root.Close()
	files := hostfs.Dir{Root: root}
	archive, err := bundles.Pack(files, change)
	if err != nil {
		return refused(p, dir, false, err)
	}
	c, err := sealed.Inspect(archive, nil, bundles.Limits{})
	if err != nil {
		return refused(p, dir, false, err)
	}
	t, err := tried(ctx, files, c.Manifest, c.Digest)
	if err != nil {
		return unfit(p, dir, false, err)
	}
	record, err := recordOf(files, c, t)
	if err == nil && len(record.files) > 0 {
		if archive, err = sealed.Add(archive, record.files); err != nil {
			return refused(p, dir, false, err)
		}
		if c, err = sealed.Inspect(archive, nil, bundles.Limits{}); err != nil {
			return refused(p, dir, false, err)
		}
		err = record.check(ctx, archive)
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "gate: note: opa test does not do as gate test does: %s\n", visible(err.Error()))
	}
	out := f.out
	if out == "" {
		out = c.Manifest.Gate.Name + ".tar.gz"
	}
	if err := hostfs.Replace(out, archive, 0o644); err != nil {
		return err
	}
	if !slices.ContainsFunc(c.Files, isPolicy) {
		fmt.Fprintf(p.stderr, "gate: note: no policy is in it, as no file of %s ends in .rego\n", visible(dir))
	}
	if end := c.Manifest.Gate.Expires; !end.IsZero() && !time.Now().Before(end) {
		fmt.Fprintf(p.stderr, "gate: note: no machine takes it, as it expired on %s\n", end.UTC().Format(time.DateOnly))
	}
	return printAll(p, fmt.Sprintf("%s is %s version %d: %d files, %d bytes\n%s\n",
		visible(out), c.Manifest.Gate.Name, c.Manifest.Gate.Version, len(c.Files), len(archive), c.Digest))
}

// isPolicy reports a file of a bundle that may hold a policy.
func isPolicy(f sealed.File) bool {
	return strings.HasSuffix(f.Name, ".rego") && !strings.HasSuffix(f.Name, "_test.rego")
}

// change returns what the flags say about metadata.gate.
func (f *buildFlags) change() (func(*bundles.Metadata), error) {
	var expires time.Time
	var err error
	if f.expires != "" {
		if expires, err = timeGiven(f.expires, time.Now()); err != nil {
			return nil, err
		}
	}
	previous := f.previous
	if previous != "" && !sealed.IsDigest(previous) {
		before, err := readFile(previous, maxArchive)
		if err != nil {
			return nil, err
		}
		previous = sealed.Digest(before)
	}
	return func(m *bundles.Metadata) {
		if f.version != 0 {
			m.Version = f.version
		}
		if f.expires != "" {
			m.Expires = expires
		}
		if len(f.labels) > 0 {
			m.Audience = f.labels
		}
		if f.minGate != "" {
			m.MinGate = f.minGate
		}
		if f.facts != 0 {
			m.Facts = f.facts
		}
		if previous != "" {
			m.Previous = previous
		}
	}, nil
}
