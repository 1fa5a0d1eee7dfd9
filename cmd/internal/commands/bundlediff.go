package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
	"gate/cmd/internal/markdown"
	"gate/cmd/internal/past"
	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/release"
	"gate/internal/replay"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/internal/strictjson"
)

// diffFlags are the flags of gate bundle diff.
type diffFlags struct {
	replay       replayFlags
	logs         []string
	failOnWeaker bool
	format       string
	writes       []string
}

// diffForms are the forms of what gate bundle diff says.
func diffForms() []string { return []string{"text", "json", "markdown"} }

func newBundleDiff(p process) *cobra.Command {
	f := diffFlags{replay: replayFlags{agent: "claude", facts: past.Recorded, limit: 5, format: "text"}}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "show what a new release of a bundle changes",
		Long: "Compares two bundles, or directories that bundles are built from: policies and rules\n" +
			"by what they mean, not by their text; settings by what they bring about; and with\n" +
			"--replay, every past call whose verdict changes. Each difference is weaker (something\n" +
			"is held back less), stricter, unclear (reading does not tell) or neutral. Nothing is\n" +
			"verified; gate bundle verify does that.",
		Example: "  gate bundle diff company-7.tar.gz company-8.tar.gz\n" +
			"  gate bundle diff company-7.tar.gz company --replay decisions.jsonl --fail-on-weaker",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usageError("give two bundles: the old one and the new one")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), p, args[0], args[1]) },
	}
	cmd.Flags().BoolVar(&f.failOnWeaker, "fail-on-weaker", false, "end with status 2 on anything weaker or unclear, and on calls that are held back less")
	cmd.Flags().StringSliceVar(&f.logs, "replay", nil, "decide the calls of this `PATH` by both, as gate replay does: a log, a transcript or a directory; several with commas")
	cmd.Flags().StringVar(&f.replay.facts, "facts", past.Recorded, "the facts to decide by: recorded, today or blind, as in gate replay")
	cmd.ValidArgsFunction = filesFor("PATH")
	oneOf(cmd, "facts", past.Bases()...)
	cmd.Flags().IntVar(&f.replay.limit, "limit", 5, "calls that are shown of each policy; 0: all")
	cmd.Flags().StringVar(&f.format, "format", "text", "text for people, json for programs, markdown for a comment of a pull request")
	oneOf(cmd, "format", diffForms()...)
	addWrite(cmd, &f.writes, diffForms())
	addDirFlags(cmd, &f.replay.dirs)
	return cmd
}

func (f *diffFlags) run(ctx context.Context, p process, oldPath, newPath string) error {
	if err := cmp.Or(f.replay.check(), checkWrites(f.writes, diffForms())); err != nil {
		return err
	}
	d, err := f.compare(ctx, p, oldPath, newPath)
	var failed error
	if err != nil {
		failed = err.error
	}
	if wrong := writeForms(f.writes, func(form string) (string, error) { return d.in(form, screen.Page{}, failed), nil }); wrong != nil {
		return errors.Join(failed, wrong)
	}
	if err != nil {
		return refused(p, err.path, f.format == "json", failed)
	}
	if err := printAll(p, d.in(f.format, p.page(), nil)); err != nil {
		return err
	}
	if f.failOnWeaker && d.wary() {
		return exitWith(exitReject)
	}
	return nil
}

// A releaseDiff is what a new release changes.
type releaseDiff struct {
	old, now *release.Release
	diffs    []release.Difference
	calls    *past.Report // nil: no past calls were decided
}

// A pathError is why two releases could not be compared, and which of them it is about.
type pathError struct {
	error
	path string
}

func (f *diffFlags) compare(ctx context.Context, p process, oldPath, newPath string) (releaseDiff, *pathError) {
	_, lib := sources.Library(hook.User)
	var list [2]*release.Release
	for i, path := range []string{oldPath, newPath} {
		var err error
		if list[i], err = release.Read(path, lib); err != nil {
			return releaseDiff{}, &pathError{fmt.Errorf("%s: %w", path, hostfs.Behind(path, err)), path}
		}
	}
	d := releaseDiff{old: list[0], now: list[1], diffs: release.Compare(list[0], list[1])}
	if len(f.logs) > 0 {
		var err error
		if d.calls, err = f.decideBoth(ctx, p, d.old, d.now); err != nil {
			return releaseDiff{}, &pathError{err, newPath}
		}
	}
	return d, nil
}

// wary reports that something is held back less, or may be.
func (d releaseDiff) wary() bool {
	return len(loosened(d.calls)) > 0 || slices.ContainsFunc(d.diffs, func(d release.Difference) bool {
		return d.Direction == release.Weaker || d.Direction == release.Unclear
	})
}

// in is a comparison in one of its forms; failed is why there is none.
func (d releaseDiff) in(form string, page screen.Page, failed error) string {
	switch {
	case failed != nil && form == "json":
		return strictjson.Indent(map[string]any{"failed": visible(failed.Error())})
	case failed != nil && form == "markdown":
		return markdown.Page("gate bundle diff: nothing was compared", "",
			markdown.Section{Title: "Look at both releases by hand", Entries: []string{"gate could not read one of them." + markdown.Block(failed.Error())}})
	case failed != nil:
		return "nothing was compared: " + oneLine(failed.Error()) + "\n"
	case form == "json":
		return strictjson.Indent(d.document())
	case form == "markdown":
		return d.markdown()
	}
	return d.text(page)
}

// decideBoth decides past calls by the old and by the new release, each in the
// place of the managed policies.
func (f *diffFlags) decideBoth(ctx context.Context, p process, old, now *release.Release) (*past.Report, error) {
	d, err := f.replay.dirs.ForPeople(p.lookupEnv)
	if err != nil {
		return nil, err
	}
	inputs, err := past.Files(d, f.logs)
	if err != nil {
		return nil, err
	}
	adapter, err := adapterFor(f.replay.agent)
	if err != nil {
		return nil, err
	}
	r := past.New(setup.Options{For: sources.For{Machine: p.machine(d, "")}}, past.ProposalOf(now), f.replay.facts)
	r.From(past.ProposalOf(old))
	bar := newProgressBar(p, false)
	bar.size = past.Size(inputs)
	report, err := r.Run(ctx, past.Calls(p.stdin, p.page(), f.logs, inputs, adapter, bar.took), bar.at)
	bar.end()
	report.Limit, report.Against = f.replay.limit, nil
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	return report, err
}

// loosened lists the calls that the new release holds back less, or cannot
// decide any more.
func loosened(r *past.Report) []replay.Entry {
	if r == nil {
		return nil
	}
	var out []replay.Entry
	for _, e := range r.Changed {
		if e.Now.Effect < e.Then.Effect && e.Now.Effect != 0 || e.Change == replay.NewlyAllowed {
			out = append(out, e)
		}
	}
	return out
}

// byDirection says how many differences go each way.
func byDirection(diffs []release.Difference) map[release.Direction]int {
	n := map[release.Direction]int{}
	for _, d := range diffs {
		n[d.Direction]++
	}
	return n
}

var diffMarks = map[string]string{"added": "+", "removed": "-", "changed": "~"}

// text shows differences to people.
func (d releaseDiff) text(s screen.Page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s → %s\n", visible(titleOf(d.old)), visible(titleOf(d.now)))
	for _, section := range []struct {
		kinds []string
		head  string
	}{{[]string{"bundle"}, "the bundle"}, {[]string{"policy", "rule"}, "policies"}, {[]string{"data"}, "data"}, {[]string{"setting"}, "settings"}, {[]string{"test"}, "tests"}} {
		first := true
		for _, d := range d.diffs {
			if !slices.Contains(section.kinds, d.Kind) {
				continue
			}
			if first {
				fmt.Fprintf(&b, "\n%s\n", s.Strong(section.head))
				first = false
			}
			at := ""
			if d.At != "" {
				at = "  " + visible(d.At)
			}
			fmt.Fprintf(&b, "  %s %-8s  %s: %s%s\n", diffMarks[d.Change], d.Direction, s.Name(oneLine(d.Name)), oneLine(d.Detail), at)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", d.sum())
	if d.calls != nil {
		fmt.Fprintf(&b, "%s\n%s", d.callsSum(), d.calls.Differences(s))
	}
	return b.String()
}

// sum says how many differences go each way.
func (d releaseDiff) sum() string {
	if len(d.diffs) == 0 {
		return "both releases mean the same"
	}
	n := byDirection(d.diffs)
	return fmt.Sprintf("%d weaker, %d unclear, %d stricter, %d neutral", n[release.Weaker], n[release.Unclear], n[release.Stricter], n[release.Neutral])
}

// callsSum says what became of the past calls.
func (d releaseDiff) callsSum() string {
	return fmt.Sprintf("%s decided by both: %d changed, %d of them held back less, %d not replayable", screen.Counted(d.calls.Calls, "call"),
		len(d.calls.Changed), len(loosened(d.calls)), len(d.calls.Lost))
}

// document shows differences to programs.
func (d releaseDiff) document() map[string]any {
	list := []any{}
	for _, d := range d.diffs {
		list = append(list, map[string]any{
			"kind": d.Kind, "name": d.Name, "change": d.Change, "direction": string(d.Direction), "detail": visible(d.Detail), "at": document.OrNull(d.At),
		})
	}
	n := byDirection(d.diffs)
	doc := map[string]any{
		"old": releaseDocument(d.old), "new": releaseDocument(d.now), "differences": list, "replay": nil,
		"counts": map[string]any{"weaker": n[release.Weaker], "unclear": n[release.Unclear], "stricter": n[release.Stricter], "neutral": n[release.Neutral]},
	}
	if d.calls != nil {
		doc["replay"] = d.calls.Document()
		doc["counts"].(map[string]any)["calls_held_back_less"] = len(loosened(d.calls))
	}
	return doc
}

// markdown shows differences in a comment of a pull request: what is held back less
// first, the rest folded.
func (d releaseDiff) markdown() string {
	by := map[release.Direction][]string{}
	for _, one := range d.diffs {
		entry := fmt.Sprintf("%s %s %s: %s", one.Change, one.Kind, markdown.Code(one.Name), markdown.Code(one.Detail))
		if one.At != "" {
			entry += " in " + markdown.Code(one.At)
		}
		by[one.Direction] = append(by[one.Direction], entry)
	}
	sections := []markdown.Section{
		{Title: "Weaker: something is held back less", Entries: by[release.Weaker]},
		{Title: "Unclear: reading does not tell", Entries: by[release.Unclear]},
		d.callsSection(),
		{Title: fmt.Sprintf("%d stricter", len(by[release.Stricter])), Folded: true, Entries: by[release.Stricter]},
		{Title: fmt.Sprintf("%d neutral", len(by[release.Neutral])), Folded: true, Entries: by[release.Neutral]},
	}
	return markdown.Page("gate bundle diff: "+d.sum(), markdown.Code(titleOf(d.old))+" → "+markdown.Code(titleOf(d.now)), sections...)
}

// callsSection is what became of past calls, unfolded where some are held back less.
func (d releaseDiff) callsSection() markdown.Section {
	if d.calls == nil {
		return markdown.Section{}
	}
	s := markdown.Section{Title: d.callsSum(), Folded: len(loosened(d.calls)) == 0, Entries: []string{"Nothing changed."}}
	if text := d.calls.Differences(screen.Page{}); text != "" {
		s.Entries = []string{"By kind of change:" + markdown.Block(text)}
	}
	return s
}

// titleOf names a release for people.
func titleOf(r *release.Release) string {
	return fmt.Sprintf("%s: %s version %d", r.Path, orNameless(r.Manifest.Gate.Name), r.Manifest.Gate.Version)
}

func releaseDocument(r *release.Release) map[string]any {
	doc := manifestDocument(r.Manifest)
	doc["file"], doc["digest"] = r.Path, r.Digest
	return doc
}
