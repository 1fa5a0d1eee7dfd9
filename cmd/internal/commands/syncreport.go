package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"gate/bundles"
	"gate/hook"
	"gate/internal/artifact/build"
	"gate/internal/load"
	"gate/internal/policytest"
	"gate/internal/strictjson"
	"gate/internal/sync"
	"gate/scopes"
)

// testTime bounds what the own tests of a bundle take, all together: whoever signs
// it must not hold up the sync of the others.
const testTime = 5 * time.Minute

// try loads a verified bundle as a call would, runs its own tests, and notes by
// the bundle's digest which policies differ in them between the engines.
func (known comparison) try(ctx context.Context, b *bundles.Bundle, beside map[string]fs.FS) error {
	for name, files := range beside {
		m, err := bundles.ReadManifest(files)
		if err != nil {
			continue // what is in force and broken is told elsewhere
		}
		if root, both := b.Manifest.Overlap(m); both {
			return fmt.Errorf("data.%s is the bundle %s's, too", path.Clean("/" + root)[1:], name)
		}
	}
	as := scopes.Source{Name: "managed", Scope: hook.Policy, Authority: hook.Managed,
		Bundle: &hook.Bundle{Name: b.Name(), Version: b.Manifest.Gate.Version, Digest: b.Digest}}
	c := load.Bundle(b.FS(), b.Manifest.Roots, b.Name(), as)
	var errs []error
	for _, f := range c.Source.Faults {
		errs = append(errs, f.Err)
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	suite, err := runTests(ctx, b.FS(), *c.Source, testTime)
	if err != nil {
		return err
	}
	known[b.Digest] = nil
	if suite != nil {
		known[b.Digest], err = differing(ctx, suite, *c.Source, build.Plan)
	}
	return err
}

// runTests runs the tests of a bundle, for no longer than limit. There is no suite
// of a bundle without tests.
func runTests(ctx context.Context, files fs.FS, as scopes.Source, limit time.Duration) (*policytest.Suite, error) {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	suite, err := testsOf(files, as)
	var results []policytest.Result
	if err == nil {
		results, err = suite.Run(within, policytest.Selection{})
	}
	switch {
	case within.Err() != nil && ctx.Err() == nil:
		return nil, fmt.Errorf("its own tests take longer than %s", limit)
	case err != nil && !errors.Is(err, policytest.ErrNoTests):
		return nil, err
	}
	var failed []string
	for _, r := range results {
		if r.Failed || r.Err != nil {
			failed = append(failed, r.Name)
		}
	}
	if len(failed) > 0 {
		return nil, fmt.Errorf("%d of its %d tests fail: %s", len(failed), len(results), strings.Join(failed[:min(3, len(failed))], ", "))
	}
	return suite, nil
}

// report says what happened, one line a bundle, and makes the exit status of it.
func (s *syncer) report(list []synced) error {
	status := exitOK
	docs := []any{}
	var out strings.Builder
	for _, b := range list {
		switch {
		case b.Err == nil:
		case !b.unjudged():
			status = exitRefused
		case status != exitRefused:
			status = exitFailed
		}
		if s.flags.json {
			docs = append(docs, b.document())
			continue
		}
		if b.Err == nil {
			fmt.Fprintln(&out, visible(b.line()))
			for _, line := range leftLines(b.left) {
				fmt.Fprintf(&out, "  %s\n", visible(line))
			}
			continue
		}
		fmt.Fprintf(s.stderr, "gate: %s\n", oneLine(strings.ReplaceAll(b.line(), "\n", "; ")))
		if b.hint != "" {
			fmt.Fprintf(s.stderr, "gate: hint: %s\n", b.hint)
		}
	}
	if s.flags.json {
		out.WriteString(strictjson.Indent(map[string]any{"bundles": docs}))
	}
	return errors.Join(printAll(s.process, out.String()), exitWith(status))
}

// line is what happened, for people.
func (b *synced) line() string {
	name := b.Name
	if name == "" {
		name = b.url
	}
	signed := ""
	if len(b.Signers) > 0 {
		signed = ", signed by " + strings.Join(b.Signers, ", ")
	}
	switch {
	case b.Trial:
		return name + ": " + b.trialLine(signed)
	case b.Err != nil:
		what := "refused: "
		if b.unjudged() {
			what = ""
		}
		return fmt.Sprintf("%s: %s%s; %s", name, what, b.Err, b.stays())
	case b.Before == (sync.Active{}):
		return fmt.Sprintf("%s: %s is in force, the first%s", name, releaseName(b.After), signed)
	case b.Before.Digest != b.After.Digest:
		return fmt.Sprintf("%s: %s is in force, after %s%s", name, releaseName(b.After), releaseName(b.Before), signed)
	case b.Changed():
		return fmt.Sprintf("%s: %s is in force, in another way%s", name, releaseName(b.After), signed)
	case b.Mended:
		return fmt.Sprintf("%s: %s was damaged here, and is whole again", name, releaseName(b.After))
	}
	return fmt.Sprintf("%s: nothing newer than %s", name, releaseName(b.After))
}

// trialLine is what happened to a trial.
func (b *synced) trialLine(signed string) string {
	switch stands := b.After != (sync.Active{}); {
	case b.Err != nil && stands:
		return fmt.Sprintf("the trial: %s; trial %s stays beside %s", b.Err, releaseName(b.After), releaseName(b.release))
	case b.Err != nil:
		return fmt.Sprintf("the trial: %s; no trial is beside %s", b.Err, releaseName(b.release))
	case !stands:
		return fmt.Sprintf("the trial of %s is over", releaseName(b.Before))
	}
	return besideText(b.release, b.After) + signed
}

// besideText says what is in force of a bundle, and what is on trial beside it.
func besideText(release, trial sync.Active) string {
	if release == (sync.Active{}) {
		return fmt.Sprintf("no release is in force, trial %s", releaseName(trial))
	}
	return fmt.Sprintf("release %s is in force, trial %s beside it", releaseName(release), releaseName(trial))
}

func releaseName(a sync.Active) string {
	switch {
	case a == (sync.Active{}):
		return "no release"
	case a.Version == 0:
		return a.Digest
	}
	return fmt.Sprintf("version %d", a.Version)
}

func (b *synced) stays() string {
	switch {
	case b.Name == "": // which one was offered is not known
		return "the release in force stays"
	case b.After == (sync.Active{}):
		return "no version is in force"
	}
	return releaseName(b.After) + " stays in force"
}

// document is what happened, for programs.
func (b *synced) document() map[string]any {
	left := []any{}
	for _, id := range slices.Sorted(maps.Keys(b.left)) {
		left = append(left, map[string]any{"id": id, "why": b.left[id]})
	}
	doc := map[string]any{
		"left": left, "name": b.Name, "trial": b.Trial, "url": b.url, "changed": b.Changed(), "unreachable": b.unreachable,
		"version": b.After.Version, "digest": b.After.Digest, "before": b.Before.Version, "signers": append([]string{}, b.Signers...),
		"error": nil, "refusals": refusalDocuments(bundles.Refusals(b.Err)),
	}
	if b.Err != nil {
		doc["error"] = visible(b.Err.Error())
	}
	return doc
}
