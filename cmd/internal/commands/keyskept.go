package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gate/bundles"
	"gate/internal/hostfs"
)

// keptKeys is a directory with versions of a key set, as N.json: those that were
// made beside the set, or those that machines follow where they were published.
type keptKeys string

// keptBeside is where the versions of a key set are kept.
func keptBeside(set string) keptKeys {
	if dir, ok := strings.CutSuffix(set, ".json"); ok {
		return keptKeys(dir)
	}
	return keptKeys(set + ".versions")
}

func (k keptKeys) file(version int64) string {
	return filepath.Join(string(k), strconv.FormatInt(version, 10)+".json")
}

// versions lists what is there, in order.
func (k keptKeys) versions() ([]int64, error) {
	entries, err := os.ReadDir(string(k))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, hostfs.At(string(k), err)
	}
	var list []int64
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if n, err := strconv.ParseInt(name, 10, 64); ok && err == nil && n > 0 && strconv.FormatInt(n, 10) == name {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

// free reports why a version may not be made: a machine may have another one of
// that number, or a later one, and would follow this one never.
func (k keptKeys) free(version int64) error {
	list, err := k.versions()
	if err != nil || len(list) == 0 {
		return err
	}
	if last := list[len(list)-1]; last >= version {
		return fmt.Errorf("%s: version %d was made already; put it in the place of the key set and go on from there, or remove it if nobody published it", k.file(last), last)
	}
	return nil
}

// keep writes a version that is in force, unless it is there.
func (k keptKeys) keep(version int64, data []byte) error {
	old, err := readFile(k.file(version), maxSealed)
	switch {
	case err == nil && string(old) == string(data):
		return nil
	case err == nil:
		return fmt.Errorf("%s: it is another version %d; a version is never given twice", k.file(version), version)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(string(k), 0o755); err != nil {
		return err
	}
	return hostfs.Replace(k.file(version), data, 0o644)
}

func newKeysPublish(p process) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "publish DIR",
		Short: "copy every version of the key set to where machines follow it",
		Long: "Copies the versions that are kept beside the key set, in the directory that is named as\n" +
			"the set without .json, into DIR, which machines read as the address keys of their\n" +
			"settings. The oldest one that is missing goes first, and none is skipped: a machine that\n" +
			"was away takes each in turn. What is there stays.",
		Example: "  gate keys publish /srv/policy/keys",
		Args:    oneArg("the directory"),
		RunE:    func(_ *cobra.Command, args []string) error { return publishKeys(p, file, keptKeys(args[0])) },
	}
	cmd.Flags().StringVar(&file, "keys", keysFile, "the `FILE` of the key set")
	return cmd
}

// publishKeys completes the chain in a directory. It looks at all of it before it
// writes anything.
func publishKeys(p process, file string, to keptKeys) error {
	data, err := readFile(file, maxSealed)
	if err != nil {
		return err
	}
	current, err := bundles.ParseKeySet(data)
	if err != nil {
		return refused(p, file, false, err)
	}
	from := keptBeside(file)
	chain, err := chained(from, to, current.Version)
	if err != nil {
		if len(bundles.Refusals(err)) > 0 {
			return refused(p, string(to), false, err)
		}
		return err
	}
	if last := chain[len(chain)-1]; string(last.data) != string(data) {
		return fmt.Errorf("%s is not what %s keeps as version %d", file, from.file(current.Version), current.Version)
	}
	var new []string
	for _, link := range chain {
		if link.published {
			continue
		}
		if err := to.keep(link.set.Version, link.data); err != nil {
			return err
		}
		new = append(new, strconv.FormatInt(link.set.Version, 10))
	}
	if len(new) == 0 {
		return printAll(p, fmt.Sprintf("%s has every version up to %d\n", visible(string(to)), current.Version))
	}
	return printAll(p, fmt.Sprintf("%s has every version up to %d; new: %s\n", visible(string(to)), current.Version, strings.Join(new, ", ")))
}

// A keyLink is one version of a chain.
type keyLink struct {
	set       *bundles.KeySet
	data      []byte
	published bool
}

// chained reads all versions up to the last one, from the first that is in either
// directory, and holds that each follows the one before.
func chained(from, to keptKeys, last int64) ([]keyLink, error) {
	made, err := from.versions()
	if err != nil {
		return nil, err
	}
	there, err := to.versions()
	if err != nil {
		return nil, err
	}
	if n := len(there); n > 0 && there[n-1] > last {
		return nil, fmt.Errorf("%s: version %d is published, and the key set is version %d; go on from the one that is published", to.file(there[n-1]), there[n-1], last)
	}
	first := slices.Min(slices.Concat(made, there, []int64{last}))
	var chain []keyLink
	for v := first; v <= last; v++ {
		link, err := linkOf(from, to, v)
		if err != nil {
			return nil, err
		}
		if n := len(chain); n > 0 {
			if err := chain[n-1].set.Follow(link.set); err != nil {
				return nil, err
			}
		}
		chain = append(chain, link)
	}
	return chain, nil
}

// linkOf reads one version. What is published is what machines have.
func linkOf(from, to keptKeys, version int64) (link keyLink, err error) {
	mine, err := readFile(from.file(version), maxSealed)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return link, err
	}
	theirs, missing := readFile(to.file(version), maxSealed)
	switch {
	case missing == nil:
		link.data, link.published = theirs, true
		if err == nil && string(mine) != string(theirs) {
			return link, fmt.Errorf("%s is another version %d than %s; machines follow one chain", from.file(version), version, to.file(version))
		}
	case !errors.Is(missing, fs.ErrNotExist):
		return link, missing
	case err != nil:
		return link, fmt.Errorf("version %d of the key set is neither in %s nor in %s; put it there, for no machine skips one", version, from, to)
	default:
		link.data = mine
	}
	link.set, err = bundles.ParseKeySet(link.data)
	if err == nil && link.set.Version != version {
		err = fmt.Errorf("%d.json is version %d", version, link.set.Version)
	}
	return link, err
}
