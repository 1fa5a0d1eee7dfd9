package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gate/bundles"
	"gate/docs"
	"gate/internal/outgoing"
	"gate/internal/sealed"
	"gate/internal/setting"
	"gate/internal/strictjson"
)

func newFleet(p process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "begin with signed policy for many machines",
		Long:  "docs/admin.md leads from files on each machine (level 0) to one key (level 1), and to\nthresholds, channels and shares (level 2).",
		Args:  subcommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newFleetInit(p))
	return cmd
}

// fleetKey is the one key of a fleet that begins.
const fleetKey = "release"

// settingsFile is what the machines of a fleet have beside the key set.
const settingsFile = "settings.json"

func newFleetInit(p process) *cobra.Command {
	var address, name, collector string
	cmd := &cobra.Command{
		Use:   "init DIR --url URL",
		Short: "make a key, a key set, a bundle and the settings of machines",
		Long: "Writes what a fleet with one key begins with: release.pem, the private key, which only\n" +
			"you can read; keys.json and settings.json, which every machine has in its managed\n" +
			"directory; a directory for the bundle; and mdm with samples for device management.\n" +
			"Machines fetch the bundle as NAME.tar.gz below URL, and successors of the key set below\n" +
			"URL/keys. With --collector they send their decisions and status there, without texts.\n" +
			"gate overwrites no file: if one of them is there already, none is written.",
		Example: "  gate fleet init fleet --url https://policy.acme.example\n  gate fleet init fleet --url https://policy.acme.example --collector https://fleet.acme.example",
		Args:    oneArg("a directory"),
		RunE:    func(_ *cobra.Command, args []string) error { return initFleet(p, args[0], name, address, collector) },
	}
	cmd.Flags().StringVar(&address, "url", "", "the directory on a web server from which machines fetch (required)")
	cmd.Flags().StringVar(&collector, "collector", "", "the address of the fleet's collector, which gate collect serves")
	cmd.Flags().StringVar(&name, "name", "company", "the bundle's name")
	return cmd
}

func initFleet(p process, dir, name, address, collector string) error {
	if !sealed.IsName(name) {
		return usageError(quoted(name) + " is no name for a bundle: lower-case letters, digits, - and _")
	}
	address, err := webDirectory(address)
	if err != nil {
		return err
	}
	if collector != "" {
		if err := outgoing.CheckAddress(collector); err != nil {
			return usageError("--collector " + err.Error())
		}
	}
	if err := noAgent(p); err != nil {
		return err
	}
	files, err := fleetFiles(name, address, collector)
	if err != nil {
		return err
	}
	if err := createAll(dir, files); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, name, "policies"), 0o755); err != nil {
		return err
	}
	at := func(file string) string { return visible(filepath.Join(dir, file)) }
	tokens := ""
	if collector != "" {
		tokens = "  make a token for each machine at the collector, and put it beside them as " + tokenFile + "\n"
	}
	return printAll(p, fmt.Sprintf("%s is the private key: keep it away from the machines\n"+
		"%s and %s are what every machine has in its managed directory\n"+
		"%s is a bundle named %s\n"+
		"%s has samples for device management\n"+
		"next:\n"+
		"  write policies into %s, in packages below %s\n"+
		"  gate bundle build %s --expires 90d -o %s.tar.gz\n"+
		"  gate bundle sign %s.tar.gz --keys %s --key %s=%s\n"+
		"  put %s.tar.gz below %s\n"+
		"  give device management %s with %s and %s beside it\n%s"+
		"hint: docs/admin.md goes on from here\n",
		at(fleetKey+".pem"), at(keysFile), at(settingsFile), at(name), name, at(mdmDir),
		at(filepath.Join(name, "policies")), name, at(name), name,
		name, at(keysFile), fleetKey, at(fleetKey+".pem"), name, visible(address), at(filepath.Join(mdmDir, "enrol.sh")), keysFile, settingsFile, tokens))
}

// webDirectory returns the address of a directory on a web server, without the
// slash at its end.
func webDirectory(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", usageError("--url takes the address of a directory on a web server, such as https://policy.acme.example; docs/sync.md says how settings name registries, shares and tokens")
	}
	return strings.TrimRight(address, "/"), nil
}

// mdmDir has the samples for device management, and tokenFile is what they enrol a machine
// with at a collector.
const (
	mdmDir    = "mdm"
	tokenFile = "enroll.token"
)

// samples are the files for device management.
func samples() ([]newFile, error) {
	var list []newFile
	err := fs.WalkDir(docs.Files(), mdmDir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(docs.Files(), name)
		perm := fs.FileMode(0o644)
		if filepath.Ext(name) == ".sh" {
			perm = 0o755
		}
		list = append(list, newFile{filepath.FromSlash(name), data, perm})
		return err
	})
	return list, err
}

// fleetFiles are those of a fleet with one key, which signs the bundle and the
// key set.
func fleetFiles(name, address, collector string) ([]newFile, error) {
	private, public, err := keyPair(sealed.ES256)
	if err != nil {
		return nil, err
	}
	set, err := firstKeySet(name, private, public)
	if err != nil {
		return nil, err
	}
	said := map[string]any{"sync": []any{map[string]any{
		"name": name, "url": address + "/" + name + ".tar.gz", "keys": address + "/keys",
	}}}
	if collector != "" {
		said["decisionLogs"] = map[string]any{"url": collector, "form": setting.FormCollector, "level": setting.SendEffects}
	}
	settings := strictjson.Indent(said)
	list, err := samples()
	if err != nil {
		return nil, err
	}
	files := append([]newFile{
		{fleetKey + ".pem", private, 0o600}, {fleetKey + ".pub.pem", public, 0o644},
		{keysFile, set, 0o644}, {keptBeside(keysFile).file(1), set, 0o644},
		{settingsFile, []byte(settings + "\n"), 0o644},
	}, list...)
	for _, f := range newBundleFiles(name) {
		f.path = filepath.Join(name, f.path)
		files = append(files, f)
	}
	return files, nil
}

// firstKeySet is version 1 of a key set whose one key may sign a bundle and change
// the set.
func firstKeySet(name string, private, public []byte) ([]byte, error) {
	key, err := bundles.ImportKey(public, sealed.ES256)
	if err != nil {
		return nil, err
	}
	key.Bundles = []string{name}
	set := (&bundles.KeySet{}).Next()
	set.Keys[fleetKey] = key
	set.Root.Keys, set.Root.Threshold = []string{fleetKey}, 1
	signer, err := bundles.ParsePrivate(private)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(set.Check(), set.Sign(fleetKey, key, signer)); err != nil {
		return nil, err
	}
	return set.Encode()
}

// createAll makes all of the files in a directory, each with its mode whatever the
// umask, or none of them.
func createAll(dir string, files []newFile) (err error) {
	for _, f := range files {
		path := filepath.Join(dir, f.path)
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%s: it exists already; nothing was written", path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	var made []string
	defer func() {
		if err != nil {
			for _, path := range made {
				os.Remove(path)
			}
		}
	}()
	for _, f := range files {
		path := filepath.Join(dir, f.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := createFile(path, f.data, f.perm); err != nil {
			return err
		}
		made = append(made, path)
		if err := os.Chmod(path, f.perm); err != nil {
			return err
		}
	}
	return nil
}
