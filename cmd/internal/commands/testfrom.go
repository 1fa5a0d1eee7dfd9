package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing/fstest"

	"gate/cmd/internal/recorded"
	"gate/cmd/internal/screen"
	"gate/cmd/internal/story"
	"gate/cmd/internal/targets"
	"gate/internal/audit"
	"gate/internal/hostfs"
	"gate/internal/policytest"
)

// fromLog writes an event case from a decision or a session of the log: to standard
// output, or into the file that --to names. The case is run at once: one that does not
// pass is written all the same, since it may only lack a part of the world, and
// that is said.
func (f *testFlags) fromLog(ctx context.Context, p process, args []string) (int, error) {
	past, err := f.logged(p)
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
	written, err := past.of(func(c *policytest.Case) (bool, error) {
		why, err = f.tryCase(ctx, p, args, c)
		return why == "", err
	})
	if err != nil { // such as a directory without policies
		why = err.Error()
	}
	if err := f.putCase(p, written); err != nil {
		return exitFailed, err
	}
	for _, n := range past.notes() {
		fmt.Fprintf(p.stderr, "gate: note: %s\n", visible(n))
	}
	if why == "" {
		return exitOK, nil
	}
	fmt.Fprintf(p.stderr, "gate: the case does not pass: its world differs from that of the decision\n%s\n", visible(screen.Hang("  "+why)))
	fmt.Fprintln(p.stderr, "gate: hint: add the missing part under world: files, env, settings of the policies, sources, now; or correct the expectation")
	return exitReject, nil
}

// A logged is what of the log becomes a case.
type logged struct {
	of    func(passes func(*policytest.Case) (bool, error)) (policytest.Case, error)
	notes func() []string
}

// logged finds the decision that --from names, else the session.
func (f *testFlags) logged(p process) (logged, error) {
	r, err := findRecord(p, f.dirs, f.from)
	if whole := err == nil && (r.ID == f.from || f.from == "last"); !whole { // else the beginning of an id
		switch s, err := f.session(p); {
		case err != nil:
			return logged{}, fmt.Errorf("session %s: %w", quoted(f.from), err)
		case s != nil:
			return logged{s.Case, func() []string { return s.Notes }}, nil
		}
	}
	if err != nil {
		return logged{}, err
	}
	call, err := recorded.Of(&r, p.home())
	if err != nil {
		return logged{}, err
	}
	return logged{call.Case, func() []string { return call.Notes }}, nil
}

// session reads the session that --from names, nil if there is none, with the calls of
// others that led to something in it. Of sessions of several agents it is the one that was
// heard of last.
func (f *testFlags) session(p process) (*recorded.Session, error) {
	h, err := openHistory(p, f.dirs)
	if err != nil {
		return nil, err
	}
	var records []audit.Record
	for r, err := range h.Newest() {
		if err == nil && r.IsDecision() && r.Session == f.from && (len(records) == 0 || r.Agent == records[0].Agent) {
			records = append(records, r)
		}
	}
	if len(records) == 0 {
		return nil, nil
	}
	agent := records[0].Agent
	decisions := make([]*audit.Record, len(records))
	for i, r := range records { // which are put in order below
		decisions[i] = &r
	}
	links, _, err := story.Find(decisions, h.Newest())
	if err != nil {
		return nil, err
	}
	for i := range links {
		from := links[i].From
		if from != nil && !slices.ContainsFunc(records, func(r audit.Record) bool { return r.ID == from.ID && r.Time.Equal(from.Time) }) {
			records = append(records, *from)
		}
	}
	slices.Reverse(records[:len(decisions)])
	slices.SortStableFunc(records, func(a, b audit.Record) int { return a.Time.Compare(b.Time) })
	return recorded.OfSession(agent, f.from, records, links, p.home())
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
			diff = strings.TrimSpace(diff)
			if step, whole := strings.CutPrefix(r.Name, c.Name+": "); whole && c.Session != nil {
				diff = step + "\n  " + diff
			}
			return diff, nil
		}
	}
	return "", nil
}
