package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing/fstest"

	"gate/cmd/internal/recorded"
	"gate/cmd/internal/screen"
	"gate/cmd/internal/targets"
	"gate/internal/hostfs"
	"gate/internal/policytest"
)

// fromLog writes an event case from a decision of the log: to standard output,
// or into the file that --to names. The case is run at once: one that does not
// pass is written all the same, since it may only lack a part of the world, and
// that is said.
func (f *testFlags) fromLog(ctx context.Context, p process, args []string) (int, error) {
	r, err := findRecord(p, f.dirs, f.from)
	if err != nil {
		return exitFailed, err
	}
	past, err := recorded.Of(&r, p.home())
	if err != nil {
		return exitFailed, err
	}
	if f.to != "" {
		if !strings.HasSuffix(f.to, policytest.CasesSuffix) {
			return exitFailed, usageError("--to " + quoted(f.to) + ": files of event cases end in " + policytest.CasesSuffix)
		}
		args = []string{filepath.Dir(f.to)}
	}
	why := ""
	written, err := past.Case(func(c *policytest.Case) (bool, error) {
		why, err = f.tryCase(ctx, p, args, c)
		return why == "", err
	})
	if err != nil { // such as a directory without policies
		why = err.Error()
	}
	if err := f.putCase(p, written); err != nil {
		return exitFailed, err
	}
	for _, n := range past.Notes {
		fmt.Fprintf(p.stderr, "gate: note: %s\n", visible(n))
	}
	if why == "" {
		return exitOK, nil
	}
	fmt.Fprintf(p.stderr, "gate: the case does not pass: its world differs from that of the decision\n%s\n", visible(screen.Hang("  "+why)))
	fmt.Fprintln(p.stderr, "gate: hint: add the missing part under world: files, env, settings of the policies, sources, now; or correct the expectation")
	return exitReject, nil
}

// putCase writes a case where it belongs.
func (f *testFlags) putCase(p process, c policytest.Case) error {
	text, err := policytest.FormatCases(c)
	if err != nil {
		return err
	}
	if f.to == "" {
		return printAll(p, string(text))
	}
	old, err := hostfs.Files{}.ReadFile(f.to, maxCases)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = hostfs.Replace(f.to, text, 0o644)
	case err == nil:
		if text, err = policytest.AppendCase(f.to, old, c); err == nil {
			err = hostfs.Replace(f.to, text, 0o644)
		}
	}
	if err != nil {
		return hostfs.At(f.to, err)
	}
	return printAll(p, fmt.Sprintf("%s: %s\n", visible(f.to), visible(c.Name)))
}

// maxCases is the largest file of cases that is read, in bytes.
const maxCases = 4 << 20

// tryCase runs a case beside the policies that it is for, and says why it does
// not pass.
func (f *testFlags) tryCase(ctx context.Context, p process, args []string, c *policytest.Case) (why string, err error) {
	args, err = f.paths(p, args)
	if err != nil {
		return "", err
	}
	list, err := targets.OpenTests(args)
	if err != nil {
		return "", err
	}
	defer targets.CloseTests(list)
	t := list[0]
	files, err := t.Policies()
	if err != nil {
		return "", err
	}
	text, err := policytest.FormatCases(*c)
	if err != nil {
		return "", err
	}
	name := path.Join(t.Dir, "decided"+policytest.CasesSuffix)
	files[name] = &fstest.MapFile{Data: text}
	own := *t
	own.Files = files
	options := f.options(&own)
	options.Untested, options.Partly = true, false
	suite, err := policytest.Prepare(options)
	if err != nil {
		return "", t.Placed(err)
	}
	results, err := suite.Run(ctx, policytest.Selection{Files: []string{name}, Name: regexp.MustCompile("^" + regexp.QuoteMeta(c.Name))})
	if err != nil {
		return "", t.Placed(err)
	}
	for _, r := range results {
		switch {
		case r.Err != nil:
			return strings.TrimPrefix(r.Err.Error(), name+":"), nil
		case !r.Passed():
			_, diff, _ := strings.Cut(r.Message, "\n")
			return strings.TrimSpace(diff), nil
		}
	}
	return "", nil
}
