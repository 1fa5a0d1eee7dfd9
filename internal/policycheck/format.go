package policycheck

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"

	"gate/internal/load"
)

// MaxFile is the size in bytes up to which a Rego file is read.
const MaxFile = 1 << 20

// Format returns a Rego file as opa fmt prints it, in Rego v1. The error says
// with file and line why the text cannot be parsed.
func Format(name string, text []byte) (formatted []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: the formatter failed: %v", name, r)
		}
	}()
	if len(text) > MaxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", name, MaxFile)
	}
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%s: not valid UTF-8", name)
	}
	if len(strings.TrimSpace(string(text))) == 0 {
		return nil, fmt.Errorf("%s:1: the file is empty", name)
	}
	formatted, err = format.SourceWithOpts(name, text, format.Opts{RegoVersion: ast.RegoV1})
	if err != nil {
		return nil, positioned(name, err)
	}
	if bytes.Equal(formatted, text) {
		return formatted, nil
	}
	// OPA's formatter repeats text where the body of an else on one line has a call in a
	// call. What it makes is used only where it stays the same when it is formatted again.
	again, err := format.SourceWithOpts(name, formatted, format.Opts{RegoVersion: ast.RegoV1})
	if err != nil || !bytes.Equal(again, formatted) {
		return nil, fmt.Errorf("%s: OPA's formatter would spoil this file, so it is left as it is; write the body of an else on lines of its own", name)
	}
	return formatted, nil
}

// positioned writes OPA's errors as file:line: what is wrong, one a line.
func positioned(name string, err error) error {
	var list ast.Errors
	if !errors.As(err, &list) {
		return err
	}
	errs := make([]error, 0, len(list))
	for _, e := range list {
		row := 1
		if e.Location != nil {
			row = max(e.Location.Row, 1)
		}
		errs = append(errs, fmt.Errorf("%s:%d: %s", name, row, e.Message))
	}
	return errors.Join(errs...)
}

// maxEntries bounds the files and directories that are looked at.
const maxEntries = 50_000

// Files returns the Rego files in fsys, tests among them, in the order of their
// names. Files and directories whose names begin with a dot are left out.
func Files(fsys fs.FS) ([]string, error) {
	var names []string
	entries := 0
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if entries++; entries > maxEntries {
			return fmt.Errorf("more than %d files and directories", maxEntries)
		}
		hidden := name != "." && strings.HasPrefix(path.Base(name), ".")
		switch {
		case err != nil:
			return err
		case hidden && d.IsDir():
			return fs.SkipDir
		case !hidden && d.Type().IsRegular() && strings.HasSuffix(name, ".rego"):
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// formatting reports files that are not as the formatter prints them.
func (c *checker) formatting(o Options) {
	names, err := Files(o.Files)
	if err != nil {
		c.failure(err)
	}
	for _, name := range names {
		if c.stopped() {
			return
		}
		text, err := load.ReadFile(o.Files, name, MaxFile)
		if err != nil {
			c.failure(err)
			continue
		}
		formatted, err := c.kept.format(name, text)
		if err != nil && strings.HasSuffix(name, "_test.rego") {
			for _, line := range strings.Split(err.Error(), "\n") { // of policies load says it
				c.failure(errors.New(line))
			}
		}
		if err != nil || string(formatted) == string(text) {
			continue
		}
		c.add(Finding{
			File: name, Line: firstChange(string(text), string(formatted)), Severity: Error, Rule: "format",
			Message: "not formatted", Hint: "run gate fmt, or gate check --fix",
		})
	}
}

// firstChange returns the first line that differs.
func firstChange(a, b string) int {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range x {
		if i >= len(y) || x[i] != y[i] {
			return i + 1
		}
	}
	return len(x)
}
