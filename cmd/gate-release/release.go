package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Release is what is made of one commit of a tree.
type Release struct {
	Tree    string    // the root of the source tree, an absolute path
	Version string    // such as "v1.2.0", or what git describe says; one plain word
	Commit  string    // the whole hash; "" where git does not know
	Time    time.Time // of the commit: the time of every file, whenever it is made
	Out     string    // the directory that the release is written to, an absolute path

	Dirty     bool // the tree has changes that the commit lacks; the version says so
	Platforms []Platform

	signer signer
	env    []string // of the programs that it runs
}

// A Platform is what programs are built for, in Go's words.
type Platform struct{ OS, Arch string }

// String is the platform as names of files have it.
func (p Platform) String() string { return p.OS + "-" + p.Arch }

// A door writes its form of the release and returns the paths of its files below Out,
// whose checksums the release then states. It gets every platform's staged files.
type door struct {
	name string
	make func(context.Context, *Release, []Staged) ([]string, error)
}

// doors are all of them, in the order in which they are made.
func doors() []door {
	return []door{
		{"archives", archives},
		{"deb", debs},
		{"rpm", rpms},
		{"image", images},
		{"feature", feature},
		{"recipes", recipes},
		{"npm", npm},
		{"plugins", plugins},
		{"sbom", sbom},
	}
}

// dirtyMark ends the version of a release whose tree has changes that no commit has. The go
// tool has its programs say so by the same rule: files that git does not know count.
const dirtyMark = "-dirty"

var plainWord = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._+-]*$`)

// complete fills in what was not given.
func (r *Release) complete(ctx context.Context, tree string, platforms []string) error {
	var err error
	if r.Tree, err = filepath.Abs(tree); err != nil {
		return err
	}
	if r.Out == "" {
		r.Out = filepath.Join(r.Tree, "bin", "release")
	}
	if r.Out, err = filepath.Abs(r.Out); err != nil {
		return err
	}
	if r.signer.allowed, err = r.located(r.signer.allowed); err != nil {
		return err
	}
	if r.signer.key != "" {
		if r.signer.key, err = r.located(r.signer.key); err != nil {
			return err
		}
	}
	for _, word := range platforms {
		goos, arch, ok := strings.Cut(word, "/")
		if !ok || !plainWord.MatchString(goos) || !plainWord.MatchString(arch) {
			return fmt.Errorf("platform %q: write GOOS/GOARCH", word)
		}
		r.Platforms = append(r.Platforms, Platform{goos, arch})
	}
	if len(r.Platforms) == 0 {
		return errors.New("no platform is named")
	}
	if r.Version == "" {
		// A clone chooses the length of short names by what it has.
		if r.Version, err = r.git(ctx, "describe", "--tags", "--match=v[0-9]*", "--always", "--abbrev=12"); err != nil {
			return err
		}
	}
	changed, err := r.git(ctx, "status", "--porcelain", "--untracked-files=normal")
	if err != nil {
		return err
	}
	if r.Dirty = changed != ""; r.Dirty && !strings.HasSuffix(r.Version, dirtyMark) {
		r.Version += dirtyMark
	}
	if !plainWord.MatchString(r.Version) {
		return fmt.Errorf("version %q: it becomes part of names of files; letters, digits, and . _ + - are possible", r.Version)
	}
	if r.Commit, err = r.git(ctx, "rev-parse", "HEAD"); err != nil {
		return err
	}
	seconds, err := r.git(ctx, "-c", "log.showSignature=false", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("the time of the commit: %w", err)
	}
	r.Time = time.Unix(n, 0).UTC()
	return nil
}

// checksums is the file with the digests of all others, in the form of sha256sum.
const checksums = "SHA256SUMS"

// Make builds the programs, writes every door's form of them, then how they were made, and
// the checksums last.
func (r *Release) Make(ctx context.Context) error {
	if err := os.MkdirAll(r.Out, 0o755); err != nil {
		return err
	}
	// Those of an earlier release must not seem to be this one's, should it fail.
	for _, name := range []string{checksums, signature} {
		if err := os.Remove(filepath.Join(r.Out, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if r.signer.key != "" {
		if err := r.signer.try(ctx, r); err != nil {
			return err
		}
	}
	made, err := r.open(ctx)
	if err != nil {
		return err
	}
	name, err := r.provenance(ctx, made)
	if err != nil {
		return fmt.Errorf("provenance: %w", err)
	}
	return r.seal(ctx, append(made, name))
}

// open opens every door for the programs of all platforms, and returns what came of it.
func (r *Release) open(ctx context.Context) ([]string, error) {
	var staged []Staged
	for _, p := range r.Platforms {
		s, err := r.stage(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p, err)
		}
		staged = append(staged, s)
	}
	var made []string
	for _, d := range doors() {
		paths, err := d.make(ctx, r, staged)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		made = append(made, paths...)
	}
	return made, nil
}

// seal writes the checksums of files below Out, and their signature where there is a key.
func (r *Release) seal(ctx context.Context, paths []string) error {
	var list bytes.Buffer
	slices.Sort(paths)
	for _, path := range paths {
		data, err := os.ReadFile(filepath.Join(r.Out, filepath.FromSlash(path)))
		if err != nil {
			return err
		}
		fmt.Fprintf(&list, "%s  %s\n", digest(data), path)
	}
	if r.signer.key != "" {
		signed, err := r.signer.sign(ctx, r, list.Bytes())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.Out, signature), signed, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(r.Out, checksums), list.Bytes(), 0o644)
}

// report says what was made: the checksums, and what a person should know of them.
func (r *Release) report(w, notes io.Writer) error {
	list, err := os.ReadFile(filepath.Join(r.Out, checksums))
	if err != nil {
		return err
	}
	if _, err := w.Write(list); err != nil {
		return err
	}
	if r.Dirty {
		fmt.Fprintf(notes, "gate-release: the tree has changes that no commit has: the release is called %s\n", r.Version)
	}
	if r.signer.key == "" {
		fmt.Fprintln(notes, "gate-release: the release is unsigned: KEY=~/.ssh/id_ed25519 signs it")
	} else {
		fmt.Fprintf(notes, "gate-release: signed by %s, and verified by the keys of %s\n", r.signer.key, r.signer.allowed)
	}
	return nil
}
