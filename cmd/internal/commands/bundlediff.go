package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/document"
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
	json         bool
}

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
	cmd.Flags().StringSliceVar(&f.logs, "replay", nil, "decide the calls of these logs, transcripts or directories by both, as gate replay does")
	cmd.Flags().StringVar(&f.replay.facts, "facts", past.Recorded, "the facts to decide by: recorded, today or blind, as in gate replay")
	cmd.Flags().IntVar(&f.replay.limit, "limit", 5, "calls that are shown of each policy; 0: all")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON for programs")
	addDirFlags(cmd, &f.replay.dirs)
	return cmd
}

func (f *diffFlags) run(ctx context.Context, p process, oldPath, newPath string) error {
	if err := f.replay.check(); err != nil {
		return err
	}
	_, lib := sources.Library(hook.User)
	var list [2]*release.Release
	for i, path := range []string{oldPath, newPath} {
		var err error
		if list[i], err = release.Read(path, lib); err != nil {
			return refused(p, path, f.json, fmt.Errorf("%s: %w", path, hostfs.Behind(path, err)))
		}
	}
	old, now := list[0], list[1]
	diffs := release.Compare(old, now)
	var calls *past.Report
	if len(f.logs) > 0 {
		var err error
		if calls, err = f.decideBoth(ctx, p, old, now); err != nil {
			return err
		}
	}
	text := f.text(p, old, now, diffs, calls)
	if f.json {
		text = strictjson.Indent(f.document(old, now, diffs, calls))
	}
	if err := printAll(p, text); err != nil {
		return err
	}
	wary := func(d release.Difference) bool {
		return d.Direction == release.Weaker || d.Direction == release.Unclear
	}
	if f.failOnWeaker && (slices.ContainsFunc(diffs, wary) || len(loosened(calls)) > 0) {
		return exitWith(exitReject)
	}
	return nil
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
func (f *diffFlags) text(p process, old, now *release.Release, diffs []release.Difference, calls *past.Report) string {
	var b strings.Builder
	s := p.page()
	fmt.Fprintf(&b, "%s → %s\n", visible(titleOf(old)), visible(titleOf(now)))
	for _, section := range []struct {
		kinds []string
		head  string
	}{{[]string{"bundle"}, "the bundle"}, {[]string{"policy", "rule"}, "policies"}, {[]string{"data"}, "data"}, {[]string{"setting"}, "settings"}, {[]string{"test"}, "tests"}} {
		first := true
		for _, d := range diffs {
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
	n := byDirection(diffs)
	if len(diffs) == 0 {
		b.WriteString("\nboth releases mean the same\n")
	} else {
		fmt.Fprintf(&b, "\n%d weaker, %d unclear, %d stricter, %d neutral\n", n[release.Weaker], n[release.Unclear], n[release.Stricter], n[release.Neutral])
	}
	if calls != nil {
		fmt.Fprintf(&b, "%s decided by both: %d changed, %d of them held back less, %d not replayable\n", screen.Counted(calls.Calls, "call"),
			len(calls.Changed), len(loosened(calls)), len(calls.Lost))
		b.WriteString(calls.Differences(s))
	}
	return b.String()
}

// document shows differences to programs.
func (f *diffFlags) document(old, now *release.Release, diffs []release.Difference, calls *past.Report) map[string]any {
	list := []any{}
	for _, d := range diffs {
		list = append(list, map[string]any{
			"kind": d.Kind, "name": d.Name, "change": d.Change, "direction": string(d.Direction), "detail": visible(d.Detail), "at": document.OrNull(d.At),
		})
	}
	n := byDirection(diffs)
	doc := map[string]any{
		"old": releaseDocument(old), "new": releaseDocument(now), "differences": list, "replay": nil,
		"counts": map[string]any{"weaker": n[release.Weaker], "unclear": n[release.Unclear], "stricter": n[release.Stricter], "neutral": n[release.Neutral]},
	}
	if calls != nil {
		doc["replay"] = calls.Document()
		doc["counts"].(map[string]any)["calls_held_back_less"] = len(loosened(calls))
	}
	return doc
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
