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

	"gate/bundles"
	"gate/internal/artifact/build"
	"gate/internal/strictjson"
	"gate/internal/sync"
)

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
	m := b.Manifest
	m.Gate.Name = b.Name() // a pin may name it
	t, err := tried(ctx, b.FS(), m, b.Digest)
	if err != nil {
		return err
	}
	known[b.Digest] = nil
	if t.suite != nil {
		known[b.Digest], err = differing(ctx, t.suite, t.source, build.Plan)
	}
	return err
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
