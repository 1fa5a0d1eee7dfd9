package judge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"gate/internal/paths"
)

// expression is what a search is for.
func expression(in input) (*regexp.Regexp, error) {
	re, err := regexp.Compile(in.text("pattern"))
	if err != nil {
		return nil, errors.New("pattern is no regular expression (RE2)")
	}
	return re, nil
}

// grep is the tool Grep.
func (f *files) grep(ctx context.Context, in input) (string, error) {
	re, err := expression(in)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	found, scanned := 0, 0
	err = f.walk(ctx, in, func(name string) error {
		text, err := f.text(name)
		if err != nil {
			return nil // not to be read: not to be found
		}
		if scanned += len(text); scanned > maxScanned {
			return errEnough
		}
		n := 0
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\n")
			if n++; !re.MatchString(line) {
				continue
			}
			fmt.Fprintf(&b, "%q:%d: %s\n", name, n, clip(line, maxLine/10))
			if found++; found == maxFound || b.Len() > maxResult-maxLine {
				return errEnough
			}
		}
		return nil
	})
	return searched(&b, err)
}

// conversation is the tool Transcript.
func (f *files) conversation(ctx context.Context, in input) (string, error) {
	re, err := expression(in)
	if err != nil {
		return "", err
	}
	if f.transcript == "" {
		return "", errors.New("the agent names no transcript")
	}
	return search(ctx, f.transcript, re, f.masker)
}

// glob is the tool Glob.
func (f *files) glob(ctx context.Context, in input) (string, error) {
	var b strings.Builder
	found := 0
	err := f.walk(ctx, in, func(name string) error {
		fmt.Fprintf(&b, "%q\n", f.masker.Text(name))
		if found++; found == maxFound || b.Len() > maxResult-maxLine {
			return errEnough
		}
		return nil
	})
	return searched(&b, err)
}

var errEnough = errors.New("enough was found")

func searched(b *strings.Builder, err error) (string, error) {
	switch {
	case errors.Is(err, errEnough):
		b.WriteString("0\t… and perhaps more; search for less\n")
	case err != nil:
		return "", err
	case b.Len() == 0:
		b.WriteString("0\t(nothing was found)\n")
	}
	return b.String(), nil
}

// walk visits the regular files that may be seen, in a fixed order: below path,
// and of names that fit glob, if these are given.
func (f *files) walk(ctx context.Context, in input, visit func(name string) error) error {
	fits, err := globOf(in.text("glob"))
	if err != nil {
		return err
	}
	from, err := f.local(in.text("path"))
	if err != nil {
		return err
	}
	visits := 0
	return fs.WalkDir(f.root.FS(), from, func(name string, e fs.DirEntry, err error) error {
		if visits++; visits > maxVisits {
			return errEnough
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil // what cannot be looked into
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case !e.Type().IsRegular() || !fits(name) || f.hidden(name):
			return nil
		}
		return visit(name)
	})
}

// globOf reads a glob as searches have it: without a slash it is about the name of
// a file, {a,b} stands for one of them; the rest is package paths'.
func globOf(glob string) (func(name string) bool, error) {
	if glob == "" {
		return func(string) bool { return true }, nil
	}
	ways, ok := paths.Alternatives(glob)
	wrong := func(way string) bool { _, err := paths.New(way); return err != nil }
	if !ok || slices.ContainsFunc(ways, wrong) {
		return nil, errors.New("glob is none")
	}
	return func(name string) bool {
		if !strings.Contains(glob, "/") {
			name = path.Base(name)
		}
		return slices.ContainsFunc(ways, func(way string) bool { return paths.Pattern(way).Matches(name) })
	}, nil
}
