package commands

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gate/bundles"
	"gate/hook"
	"gate/internal/sealed"
	"gate/internal/setup"
)

// A channelCheck looks at a channel before anybody signs it: what no machine would
// take is refused to the publisher rather than to the fleet.
type channelCheck struct {
	keys     string
	releases []string // directories of the bundles that it may name
	now      time.Time
}

func (k channelCheck) check(c sealed.Channel, signers []string) error {
	if !c.Expires.IsZero() && !k.now.Before(c.Expires) {
		return sealed.Refuse(sealed.Expired, "the channel was good until %s", sealed.Day(c.Expires))
	}
	set, err := readKeys(k.keys)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range signers {
		if _, known := set.Keys[id]; known { // the others are told when they are to sign
			errs = append(errs, set.MaySignChannel(id, c))
		}
	}
	found, err := k.found()
	if err != nil {
		return err
	}
	for _, name := range c.Names() {
		for i, r := range slices.Concat(c.Releases[name], c.Trials[name]) {
			at := fmt.Sprintf("releases.%s[%d]", name, i)
			if n := len(c.Releases[name]); i >= n {
				at = fmt.Sprintf("trials.%s[%d]", name, i-n)
			}
			errs = append(errs, k.release(at, name, r.Digest, found, set))
		}
	}
	return errors.Join(errs...)
}

// found are the archives of the directories, by their digests.
func (k channelCheck) found() (map[string]bundleFile, error) {
	found := map[string]bundleFile{}
	for _, dir := range k.releases {
		if err := isDir(dir); err != nil {
			return nil, err
		}
		files, err := filepath.Glob(filepath.Join(globbed(dir), "*.tar.gz"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if b, err := readBundle(file); err == nil { // one that is no file has no digest either
				found[sealed.Digest(b.archive)] = b
			}
		}
	}
	return found, nil
}

// globbed quotes what a pattern would not take for itself.
func globbed(dir string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(dir)
}

// release looks at one release as a machine would for which it is meant.
func (k channelCheck) release(at, name, digest string, found map[string]bundleFile, set *bundles.KeySet) error {
	if strings.Trim(strings.TrimPrefix(digest, "sha256:"), "0") == "" {
		return sealed.Refuse(sealed.BadGrant, "%s: the digest is all zeros, which no bundle has", at)
	}
	b, ok := found[digest]
	if !ok {
		return sealed.Refuse(sealed.BadGrant, "%s: no bundle in %s is %s; --releases names the directory of the releases", at, strings.Join(k.releases, " or "), digest)
	}
	check := bundles.Check{
		Keys: set, Now: k.now, Name: name, Gate: setup.Version(), Facts: hook.FactsSchema, Labels: map[string]string{}, Pins: map[string]string{digest: name},
	}
	if c, err := sealed.Inspect(b.archive, nil, bundles.Limits{}); err == nil {
		for _, label := range c.Manifest.Gate.Audience { // some machine has them
			key, value, _ := strings.Cut(label, "=")
			check.Labels[key] = value
		}
	}
	if _, err := bundles.Open(b.archive, b.envelope, check); err != nil {
		return atRelease(at+": "+b.path, err)
	}
	return nil
}

// atRelease says of which release each refusal is.
func atRelease(at string, err error) error {
	var errs []error
	for _, r := range bundles.Refusals(err) {
		errs = append(errs, &bundles.Refusal{Reason: r.Reason, File: strings.Trim(at+": "+r.File, ": "), Err: r.Err})
	}
	if len(errs) == 0 {
		return fmt.Errorf("%s: %w", at, err)
	}
	return errors.Join(errs...)
}
