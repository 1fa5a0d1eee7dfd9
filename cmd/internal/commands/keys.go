package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/bundles"
	"gate/internal/sealed"
	"gate/internal/strictjson"
)

// keysFile is the key set in the managed directory.
const keysFile = "keys.json"

func newKeys(p process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "keys",
		Short: "manage the keys that sign policy bundles",
		Long: "Makes keys, and changes the key set: which keys may sign which bundles, how many\n" +
			"must, and who may change that. A change is a new version of the set, which its root\n" +
			"keys sign; until enough have, it waits beside the set as NAME.next.json. Every version\n" +
			"is kept, in the directory that is named as the set without .json.",
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newKeysGenerate(p), newKeysAdd(p), newKeysRotate(p), newKeysRevoke(p), newKeysThreshold(p), newKeysSign(p), newKeysPublish(p), newKeysList(p))
	return cmd
}

// readKeys reads a key set.
func readKeys(path string) (*bundles.KeySet, error) {
	data, err := readFile(path, maxSealed)
	if err != nil {
		return nil, err
	}
	return bundles.ParseKeySet(data)
}

func newKeysGenerate(p process) *cobra.Command {
	var algorithm, dir string
	cmd := &cobra.Command{
		Use:   "generate ID",
		Short: "make a key",
		Long: "Writes ID.pem, the private key, which only you can read, and ID.pub.pem, which goes\n" +
			"into a key set. Ed25519 signs in envelopes; ES256, PS256 and their like also inside\n" +
			"bundles, where OPA looks.",
		Example: "  gate keys generate alice\n  gate keys generate release --algorithm ES256",
		Args:    oneArg("the key's name"),
		RunE:    func(_ *cobra.Command, args []string) error { return generateKey(p, args[0], algorithm, dir) },
	}
	cmd.Flags().StringVar(&algorithm, "algorithm", string(sealed.Ed25519), either(texts(sealed.Algorithms())))
	oneOf(cmd, "algorithm", texts(sealed.Algorithms())...)
	cmd.Flags().StringVar(&dir, "out", ".", "the directory `DIR` for both files")
	return cmd
}

func generateKey(p process, id, algorithm, dir string) error {
	if !sealed.IsName(id) {
		return usageError(quoted(id) + " is no name for a key: lower-case letters, digits, - and _")
	}
	if err := noAgent(p); err != nil {
		return err
	}
	private, public, err := keyPair(bundles.Algorithm(algorithm))
	if err != nil {
		return err
	}
	name := filepath.Join(dir, id)
	if err := createFile(name+".pem", private, 0o600); err != nil {
		return err
	}
	if err := createFile(name+".pub.pem", public, 0o644); err != nil {
		os.Remove(name + ".pem") // half a key is none
		return err
	}
	return printAll(p, fmt.Sprintf("%s.pem is the private key: keep it away from this machine\n%s.pub.pem is the public key: gate keys add %s %s.pub.pem\n",
		visible(name), visible(name), id, visible(name)))
}

// keyPair makes a key, and returns its halves as files have them.
func keyPair(a bundles.Algorithm) (private, public []byte, err error) {
	if private, err = bundles.GenerateKey(a); err != nil {
		return nil, nil, err
	}
	key, err := bundles.ParsePrivate(private)
	if err != nil {
		return nil, nil, err
	}
	public, err = key.Public()
	return private, public, err
}

func newKeysList(p process) *cobra.Command {
	var dirs dirFlags
	var file string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "show what each key may sign",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if file == "" {
				d, err := dirs.Absolute().ForHook()
				if err != nil {
					return err
				}
				file = filepath.Join(d.Managed, keysFile)
			}
			return listKeys(p, file, asJSON)
		},
	}
	addDirFlags(cmd, &dirs)
	cmd.Flags().StringVar(&file, "keys", "", "the `FILE` of the key set (default keys.json in the managed directory)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON for programs")
	return cmd
}

func listKeys(p process, file string, asJSON bool) error {
	set, err := readKeys(file)
	if errors.Is(err, fs.ErrNotExist) {
		return hintedError{err, "name a key set with --keys, or begin one with gate keys add --root"}
	}
	if err != nil {
		return refused(p, file, asJSON, err)
	}
	waiting, err := set.Waiting(set)
	if err != nil {
		return refused(p, file, asJSON, err)
	}
	if asJSON {
		return printAll(p, strictjson.Indent(keysDocument(set, waiting)))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "key set version %d, %s\n", set.Version, until(set.Expires))
	fmt.Fprintf(&b, "root: %d of %s\n", set.Root.Threshold, strings.Join(set.Root.Keys, ", "))
	if len(waiting) > 0 {
		fmt.Fprintf(&b, "not signed yet by enough root keys; waiting for %s\n", strings.Join(waiting, ", "))
	}
	for _, id := range slices.Sorted(maps.Keys(set.Keys)) {
		fmt.Fprintf(&b, "%-12s %s\n", id, keyLine(set.Keys[id]))
	}
	for _, name := range slices.Sorted(maps.Keys(set.Thresholds)) {
		fmt.Fprintf(&b, "bundles named %s need %d keys\n", visible(name), set.Thresholds[name])
	}
	return printAll(p, b.String())
}

func keyLine(k bundles.Key) string {
	parts := []string{string(k.Algorithm)}
	if k.Revoked {
		parts = append(parts, "revoked")
	}
	for _, of := range []struct {
		what string
		list []string
	}{{"bundles", k.Bundles}, {"labels", k.Audiences}, {"scopes", k.Scopes}} {
		if len(of.list) > 0 {
			parts = append(parts, of.what+" "+visible(strings.Join(of.list, ", ")))
		}
	}
	if len(k.Bundles) == 0 {
		parts = append(parts, "no bundles")
	}
	return strings.Join(parts, "; ")
}

func until(t time.Time) string {
	if t.IsZero() {
		return "without end"
	}
	return "good until " + t.UTC().Format(time.RFC3339)
}

func keysDocument(set *bundles.KeySet, waiting []string) map[string]any {
	keys := map[string]any{}
	for id, k := range set.Keys {
		keys[id] = map[string]any{
			"algorithm": string(k.Algorithm), "revoked": k.Revoked, "bundles": append([]string{}, k.Bundles...),
			"labels": append([]string{}, k.Audiences...), "scopes": append([]string{}, k.Scopes...),
			"audiences": append([]string{}, k.Audiences...), // as earlier releases said it
		}
	}
	thresholds := map[string]any{}
	for name, n := range set.Thresholds {
		thresholds[name] = n
	}
	doc := map[string]any{
		"version": set.Version, "expires": nil, "keys": keys, "thresholds": thresholds,
		"root":        map[string]any{"keys": append([]string{}, set.Root.Keys...), "threshold": set.Root.Threshold},
		"waiting_for": append([]string{}, waiting...),
	}
	if !set.Expires.IsZero() {
		doc["expires"] = set.Expires.UTC().Format(time.RFC3339)
	}
	return doc
}

var errNoSuchKey = errors.New("the key set has no such key")
