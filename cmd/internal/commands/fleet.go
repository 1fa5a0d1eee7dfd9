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
	"gate/internal/sealed"
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
	var address, name string
	cmd := &cobra.Command{
		Use:   "init DIR --url URL",
		Short: "make a key, a key set, a bundle and the settings of machines",
		Long: "Writes what a fleet with one key begins with: release.pem, the private key, which only\n" +
			"you can read; keys.json and settings.json, which every machine has in its managed\n" +
			"directory; and a directory for the bundle. Machines fetch the bundle as NAME.tar.gz\n" +
			"below URL, and successors of the key set below URL/keys. gate overwrites no file: if\n" +
			"one of them is there already, none is written.",
		Example: "  gate fleet init fleet --url https://policy.acme.example",
		Args:    oneArg("a directory"),
		RunE:    func(_ *cobra.Command, args []string) error { return initFleet(p, args[0], name, address) },
	}
	cmd.Flags().StringVar(&address, "url", "", "the directory on a web server from which machines fetch (required)")
	cmd.Flags().StringVar(&name, "name", "company", "the bundle's name")
	return cmd
}

func initFleet(p process, dir, name, address string) error {
	if !sealed.IsName(name) {
		return usageError(quoted(name) + " is no name for a bundle: lower-case letters, digits, - and _")
	}
	address, err := webDirectory(address)
	if err != nil {
		return err
	}
	if err := noAgent(p); err != nil {
		return err
	}
	files, err := fleetFiles(name, address)
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
	return printAll(p, fmt.Sprintf("%s is the private key: keep it away from the machines\n"+
		"%s and %s are what every machine has in its managed directory\n"+
		"%s is a bundle named %s\n"+
		"next:\n"+
		"  write policies into %s, in packages below %s\n"+
		"  gate bundle build %s --expires 90d -o %s.tar.gz\n"+
		"  gate bundle sign %s.tar.gz --keys %s --key %s=%s\n"+
		"  put %s.tar.gz below %s\n"+
		"hint: docs/admin.md goes on from here\n",
		at(fleetKey+".pem"), at(keysFile), at(settingsFile), at(name), name,
		at(filepath.Join(name, "policies")), name, at(name), name,
		name, at(keysFile), fleetKey, at(fleetKey+".pem"), name, visible(address)))
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

// fleetFiles are those of a fleet with one key, which signs the bundle and the
// key set.
func fleetFiles(name, address string) ([]newFile, error) {
	private, public, err := keyPair(sealed.ES256)
	if err != nil {
		return nil, err
	}
	set, err := firstKeySet(name, private, public)
	if err != nil {
		return nil, err
	}
	settings := strictjson.Indent(map[string]any{"sync": []any{map[string]any{
		"name": name, "url": address + "/" + name + ".tar.gz", "keys": address + "/keys",
	}}})
	files := []newFile{
		{fleetKey + ".pem", private, 0o600}, {fleetKey + ".pub.pem", public, 0o644},
		{keysFile, set, 0o644}, {keptBeside(keysFile).file(1), set, 0o644},
		{settingsFile, []byte(settings + "\n"), 0o644},
	}
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
